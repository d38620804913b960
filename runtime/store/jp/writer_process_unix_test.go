//go:build unix && !solaris && !aix

package jp

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// TestMain also runs the programs that write at the same time in [TestWritersTogether] and are killed
// in [TestKilled].
func TestMain(m *testing.M) {
	base, count := os.Getenv("JP_TEST_BASE"), os.Getenv("JP_TEST_COUNT")
	n, _ := strconv.Atoi(count)
	var err error
	switch os.Getenv("JP_TEST_PROGRAM") {
	case "":
		os.Exit(m.Run())
	case "convtools":
		err = writeAsConvtools(base, n)
	case "jp":
		err = writeAsJP(base, n)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// program starts one of the programs. It makes count changes and prints a line after each: an id, and
// the key of a new label or "event".
func (f *fixture) program(name string, count int) (*exec.Cmd, *bufio.Scanner) {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "JP_TEST_PROGRAM="+name, "JP_TEST_BASE="+f.base, "JP_TEST_COUNT="+strconv.Itoa(count))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// writeAsConvtools makes changes of all kinds with a [Writer].
func writeAsConvtools(base string, count int) error {
	f := &fixture{base: base, root: filepath.Join(base, "project"), data: filepath.Join(base, "data")}
	workspace, err := Open(Options{Dir: f.root, Getenv: f.getenv})
	if err != nil {
		return err
	}
	w := workspace.Writer(WriterOptions{Wait: time.Minute})
	ids := []transcript.ID{projected, userOnly, external}
	ctx := context.Background()
	for i := range count {
		id := ids[i%len(ids)]
		key := fmt.Sprintf("c%d-%d", os.Getpid(), i)
		edit := func(c transcript.Conversation) Change {
			return Change{Labels: map[string]*string{key: to("")}, Title: to(fmt.Sprintf("Title %d", i%5)), Hidden: to(!c.Hidden)}
		}
		_, err := w.Edit(ctx, id, edit)
		var missing *store.NotFoundError
		// Another process has removed it and is about to restore it, or moves it.
		for errors.As(err, &missing) || errors.Is(err, errVanished) {
			_, err = w.Edit(ctx, id, edit)
		}
		if err != nil {
			return err
		}
		fmt.Println(id, key)
		switch i % 4 {
		case 0:
			err = w.Append(ctx, id, NewEvent{At: time.Date(2026, 6, 1, 12, 0, 1, 0, time.UTC), Kind: transcript.KindUser, Text: key})
			if err == nil {
				fmt.Println(id, "event", key)
			}
		case 1:
			_, err = w.Fork(ctx, id, ForkOptions{Change: Change{Labels: map[string]*string{"fork": to("")}}})
		case 2:
			if _, err = w.SetArchived(ctx, id, true); err == nil {
				_, err = w.SetArchived(ctx, id, false)
			}
		case 3:
			if err = w.Remove(ctx, id); err == nil {
				err = w.Restore(ctx, id)
			}
			for errors.Is(err, errVanished) { // else nobody would restore it
				err = w.Restore(ctx, id)
				if errors.As(err, &missing) {
					break // it was not removed
				}
			}
		}
		if err != nil && !errors.As(err, &missing) && !errors.Is(err, ErrExists) && !errors.Is(err, errVanished) {
			return err
		}
	}
	return nil
}

// writeAsJP sets labels as JP does, without the code under test: it removes temporary files, locks a
// conversation, reads the newer copy, drops the keys that it does not know, and replaces the file in
// both stores through a file with the suffix ".tmp". Unlike JP it reads after it has the lock, so that
// no change may be lost.
func writeAsJP(base string, count int) error {
	user := filepath.Join(base, "data", "workspace", "project-"+testID)
	roots := []string{filepath.Join(user, "conversations"), filepath.Join(base, "project", ".jp", "conversations")}
	for i := range count {
		for _, root := range roots {
			if err := sanitizeAsJP(root); err != nil {
				return err
			}
		}
		id := []string{"17000000001", "17000000002", "17000000003"}[i%3]
		key := fmt.Sprintf("j%d-%d", os.Getpid(), i)
		done, err := labelAsJP(filepath.Join(user, "locks"), roots, id, key)
		if err != nil {
			return err
		}
		if done {
			fmt.Println("jp-c"+id, key)
		}
	}
	return nil
}

func sanitizeAsJP(root string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		dir := filepath.Join(root, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		temps, _ := filepath.Glob(filepath.Join(dir, "*.tmp"))
		for _, temp := range temps {
			_ = os.Remove(temp)
		}
		why := refusedByJP(dir)
		if _, err := os.Stat(dir); why == nil || err != nil {
			continue // it was moved meanwhile
		}
		if why = refusedByJP(dir); why != nil && !errors.Is(why, fs.ErrNotExist) {
			return fmt.Errorf("jp would throw %s away: %w", dir, why)
		}
	}
	return nil
}

func labelAsJP(locks string, roots []string, id, key string) (done bool, err error) {
	if err := os.MkdirAll(locks, 0o755); err != nil {
		return false, err
	}
	name := filepath.Join(locks, "jp-c"+id+".lock")
	lock, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return false, nil // somebody has it: jp gives up
	}
	mine, _ := lock.Stat()
	if there, err := os.Stat(name); err != nil || !os.SameFile(mine, there) {
		return false, nil
	}
	defer os.Remove(name)
	var dirs []string
	var newest time.Time
	var data []byte
	for _, root := range roots {
		found, _ := filepath.Glob(filepath.Join(root, id+"*"))
		if len(found) == 0 {
			continue
		}
		dirs = append(dirs, found[0])
		info, err := os.Stat(filepath.Join(found[0], MetadataFile))
		if err != nil {
			return false, err
		}
		if info.ModTime().After(newest) {
			newest = info.ModTime()
			if data, err = os.ReadFile(filepath.Join(found[0], MetadataFile)); err != nil {
				return false, err
			}
		}
	}
	if len(dirs) == 0 {
		return false, nil // archived or removed at the moment
	}
	var known struct {
		Title           string            `json:"title,omitempty"`
		LastActivatedAt string            `json:"last_activated_at"`
		PinnedAt        string            `json:"pinned_at,omitempty"`
		ArchivedAt      string            `json:"archived_at,omitempty"`
		ExpiresAt       string            `json:"expires_at,omitempty"`
		Labels          map[string]string `json:"labels,omitempty"`
	}
	if err := json.Unmarshal(data, &known); err != nil {
		return false, fmt.Errorf("%s: %w", dirs, err)
	}
	known.Labels[key] = ""
	if data, err = json.MarshalIndent(known, "", "  "); err != nil {
		return false, err
	}
	for _, dir := range dirs {
		temp := filepath.Join(dir, MetadataFile+".tmp")
		for { // others of its kind remove it when they start
			err := os.WriteFile(temp, append(data, '\n'), 0o644)
			if err == nil {
				err = os.Rename(temp, filepath.Join(dir, MetadataFile))
			}
			if err == nil {
				break
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return false, err
			}
		}
	}
	return true, nil
}

// check tests that the changes that programs printed are there, and nothing was lost.
func (f *fixture) check(said []string) {
	f.t.Helper()
	list, problems, err := f.open().conversations(f.t.Context(), store.Live|store.Archived)
	if err != nil || len(problems) > 0 {
		f.t.Fatalf("listing: %v, %v", problems, err)
	}
	f.checkForJP()
	for _, line := range said {
		id, rest, _ := strings.Cut(line, " ")
		at := slices.IndexFunc(list, func(c store.Conversation) bool { return string(c.ID) == id })
		if at < 0 {
			f.t.Errorf("%s is lost", id)
			return
		}
		if content, ok := strings.CutPrefix(rest, "event "); ok {
			n, _ := numberOf(list[at].ID)
			if !strings.Contains(f.events(f.find(n)), strconv.Quote(content)) {
				f.t.Errorf("%s lost the event %s", id, content)
			}
		} else if _, ok := list[at].Labels[rest]; !ok {
			f.t.Errorf("%s lost the label %s", id, rest)
		}
	}
	for _, c := range list {
		if _, ok := c.Labels["fork"]; ok && c.Parent == "" {
			f.t.Errorf("%s has no parent", c.ID)
		}
	}
}

// TestWritersTogether runs two writers and a jp at the same time.
func TestWritersTogether(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	const changes = 30
	var mutex sync.Mutex
	var said []string
	var programs sync.WaitGroup
	for _, name := range []string{"convtools", "convtools", "jp"} {
		cmd, lines := f.program(name, cmp.Or(map[string]int{"jp": 5 * changes}[name], changes))
		programs.Go(func() {
			for lines.Scan() {
				mutex.Lock()
				said = append(said, lines.Text())
				mutex.Unlock()
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	programs.Wait()
	if len(said) < 2*changes {
		t.Errorf("only %d changes were made", len(said))
	}
	f.check(said)
}

// TestKilled kills a writer at random times.
func TestKilled(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	const rounds = 20
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, seed))
	var said []string
	for range rounds {
		cmd, lines := f.program("convtools", 1000)
		stop := 1 + random.IntN(8)
		for range stop {
			if lines.Scan() {
				said = append(said, lines.Text())
			}
		}
		for range random.IntN(1 << 20) { // some way into what follows
			random.Uint64()
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			said = append(said, lines.Text())
		}
		_ = cmd.Wait()
		// A conversation that was removed and not restored is in the trash.
		w := f.writer()
		for _, id := range []transcript.ID{projected, userOnly, external} {
			var missing *store.NotFoundError
			if err := w.Restore(t.Context(), id); err != nil && !errors.As(err, &missing) && !errors.Is(err, ErrExists) && !errors.Is(err, errVanished) {
				t.Fatal(err)
			}
		}
		f.check(said)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
