package jp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// faults fails at a step: once, or at all that follow too, as if the process had been killed.
type faults struct {
	at     int // the step that fails, from 1
	killed bool
	steps  int
}

var (
	errKilled = errors.New("killed")
	errFull   = syscall.ENOSPC
)

// take counts a step and returns its error.
func (d *faults) take() error {
	d.steps++
	switch {
	case d.killed && d.steps >= d.at:
		return errKilled
	case d.steps == d.at:
		return errFull
	}
	return nil
}

// before counts two steps for writing a file, which may be half written, and for removing a directory,
// which may lose one file.
func (d *faults) before(root *os.Root, step, name string) error {
	if err := d.take(); err != nil {
		return err
	}
	switch step {
	case "stage":
		if err := d.take(); err != nil {
			return errors.Join(err, root.WriteFile(path.Join(path.Dir(name), ".convtools-half"), []byte(`{"ti`), newFileMode))
		}
	case "remove":
		dir, err := root.Open(name)
		if err != nil {
			return err
		}
		names, _ := dir.Readdirnames(-1)
		dir.Close()
		if err := d.take(); err != nil && len(names) > 0 {
			return errors.Join(err, root.Remove(name+"/"+names[0]))
		}
	}
	return nil
}

// faulty returns a writer with faults. It does not sync files: a process that is killed loses nothing
// by that.
func (f *fixture) faulty(d *faults) *Writer {
	w := f.writer()
	w.before, w.stage = d.before, safefile.StageUnsynced
	return w
}

// operations returns all changes of a writer, each in its longest form.
func operations() map[string]func(context.Context, *Writer) error {
	event := NewEvent{At: time.Date(2026, 6, 1, 12, 0, 1, 0, time.UTC), Kind: transcript.KindUser, Text: "more"}
	all := []transcript.ID{projected, userOnly, external, archived}
	each := func(change func(context.Context, *Writer, transcript.ID) error) func(context.Context, *Writer) error {
		return func(ctx context.Context, w *Writer) error {
			for _, id := range all {
				if err := change(ctx, w, id); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return map[string]func(context.Context, *Writer) error{
		"edit": each(func(ctx context.Context, w *Writer, id transcript.ID) error {
			_, err := w.Edit(ctx, id, always(Change{Title: to("New title"), Hidden: to(true)}))
			return err
		}),
		"archive": each(func(ctx context.Context, w *Writer, id transcript.ID) error {
			_, err := w.SetArchived(ctx, id, true)
			return err
		}),
		"unarchive": each(func(ctx context.Context, w *Writer, id transcript.ID) error {
			_, err := w.SetArchived(ctx, id, false)
			return err
		}),
		"append": each(func(ctx context.Context, w *Writer, id transcript.ID) error { return w.Append(ctx, id, event) }),
		"local": each(func(ctx context.Context, w *Writer, id transcript.ID) error {
			_, err := w.SetLocal(ctx, id, true)
			return err
		}),
		"not local": each(func(ctx context.Context, w *Writer, id transcript.ID) error {
			_, err := w.SetLocal(ctx, id, false)
			return err
		}),
		"remove": each(func(ctx context.Context, w *Writer, id transcript.ID) error { return w.Remove(ctx, id) }),
		"fork": each(func(ctx context.Context, w *Writer, id transcript.ID) error {
			_, err := w.Fork(ctx, id, ForkOptions{})
			return err
		}),
	}
}

// TestKilledAtEveryStep fails each change at each of its steps, as if the process had been killed or
// the disk were full. Each conversation must be as before or as after the change, JP must be able to
// load it, and it must be possible to make the change again.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for name, operation := range operations() {
		for _, killed := range []bool{true, false} {
			t.Run(name+map[bool]string{true: " killed", false: " disk full"}[killed], func(t *testing.T) {
				t.Parallel()
				whole := newWritten(t)
				before := whole.state()
				if err := operation(t.Context(), whole.writer()); err != nil {
					t.Fatal(err)
				}
				after := whole.state()
				for at := 1; ; at++ {
					f := newWritten(t)
					disk := &faults{at: at, killed: killed}
					err := operation(t.Context(), f.faulty(disk))
					if disk.steps < at {
						if at < 3 {
							t.Errorf("only %d steps", disk.steps)
						}
						break
					}
					between := f.state()
					if err == nil && !cmp.Equal(between, after) {
						t.Errorf("step %d failed, which nobody was told: %s", at, cmp.Diff(after, between))
					}
					for id, now := range between {
						if now != before[id] && now != after[id] {
							t.Errorf("step %d: %s is %s\n before %s\n after %s", at, id, now, before[id], after[id])
						}
					}
					for id := range before {
						if between[id] == "" {
							t.Errorf("step %d: %s is lost", at, id)
						}
					}
					f.checkForJP()
					if err := again(t.Context(), name, operation, f.faulty(&faults{})); err != nil {
						t.Errorf("step %d: again: %v", at, err)
					}
					final := f.state()
					for id := range after {
						if name != "fork" && name != "append" && final[id] != after[id] {
							t.Errorf("step %d: again, %s is %s\nwant %s", at, id, final[id], after[id])
						}
					}
					for _, file := range f.files() {
						if strings.Contains(file, ".convtools-") {
							t.Errorf("step %d: again, %s is left", at, file)
						}
					}
					if t.Failed() {
						return
					}
				}
			})
		}
	}
}

// again makes a change again after it failed. Conversations may be removed already.
func again(ctx context.Context, name string, operation func(context.Context, *Writer) error, w *Writer) error {
	if name != "remove" {
		return operation(ctx, w)
	}
	for _, id := range []transcript.ID{projected, userOnly, external, archived} {
		var gone *store.NotFoundError
		if err := w.Remove(ctx, id); err != nil && !errors.As(err, &gone) {
			return err
		}
	}
	return nil
}

// checkForJP tests each live conversation as JP does when it starts.
func (f *fixture) checkForJP() {
	f.t.Helper()
	for _, parent := range []string{inUser, inProject} {
		entries, err := os.ReadDir(filepath.Join(f.base, parent))
		if err != nil {
			f.t.Fatal(err)
		}
		for _, entry := range entries {
			if !strings.HasPrefix(entry.Name(), ".") {
				if why := refusedByJP(filepath.Join(f.base, parent, entry.Name())); why != nil {
					f.t.Errorf("JP throws %s away: %v", entry.Name(), why)
				}
			}
		}
	}
}

// refusedByJP returns the reason for which JP moves a directory to the trash, or nil.
func refusedByJP(dir string) error {
	if _, ok := parseDirName(filepath.Base(dir)); !ok {
		return errors.New("its name is no id")
	}
	var metadata struct {
		LastActivatedAt string `json:"last_activated_at"`
	}
	data, err := os.ReadFile(filepath.Join(dir, MetadataFile))
	if err == nil {
		err = json.Unmarshal(data, &metadata)
	}
	if err == nil && metadata.LastActivatedAt == "" {
		err = errors.New("it was never activated")
	}
	if err != nil {
		return err
	}
	if data, err := os.ReadFile(filepath.Join(dir, BaseConfigFile)); err == nil && !json.Valid(data) {
		return errors.New("bad base_config.json")
	}
	if data, err = os.ReadFile(filepath.Join(dir, EventsFile)); err != nil {
		return err
	}
	var events []struct{ Timestamp, Type string }
	if err := json.Unmarshal(data, &events); err != nil {
		return err
	}
	for _, e := range events {
		if e.Timestamp == "" || e.Type == "" {
			return errors.New("an event without a timestamp or a type")
		}
	}
	return nil
}

// readOnly fails steps that change the project.
func readOnly(project string) func(root *os.Root, step, name string) error {
	return func(root *os.Root, _, _ string) error {
		if filepath.IsAbs(root.Name()) && root.Name() != project { // see fixture.path
			return nil
		}
		return syscall.EROFS
	}
}

// TestReadOnlyProject tests a project that is read-only: a conversation in it is changed nowhere, and
// the error names the store.
func TestReadOnlyProject(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(context.Context, *Writer) error{
		"edit": func(ctx context.Context, w *Writer) error {
			_, err := w.Edit(ctx, projected, always(Change{Title: to("New title")}))
			return err
		},
		"archive": func(ctx context.Context, w *Writer) error {
			_, err := w.SetArchived(ctx, projected, true)
			return err
		},
		"append": func(ctx context.Context, w *Writer) error {
			return w.Append(ctx, projected, NewEvent{At: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), Kind: transcript.KindTurnStart})
		},
		"local": func(ctx context.Context, w *Writer) error {
			_, err := w.SetLocal(ctx, projected, true)
			return err
		},
		"not local": func(ctx context.Context, w *Writer) error {
			_, err := w.SetLocal(ctx, userOnly, false)
			return err
		},
		"remove": func(ctx context.Context, w *Writer) error { return w.Remove(ctx, projected) },
		"fork": func(ctx context.Context, w *Writer) error {
			_, err := w.Fork(ctx, projected, ForkOptions{})
			return err
		},
	} {
		f := newWritten(t)
		files, state, w := f.files(), f.state(), f.writer()
		w.before = readOnly(filepath.Join(f.root, ".jp", "conversations"))
		want := filepath.Join(f.root, ".jp", "conversations") + " cannot be changed: read-only file system"
		if err := change(t.Context(), w); !errors.Is(err, syscall.EROFS) || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if diff := cmp.Diff(files, f.files()); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
		if diff := cmp.Diff(state, f.state()); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}
}

// TestForkOfWhatIsRenamed renames the directory of the source while its events are opened.
func TestForkOfWhatIsRenamed(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	w := f.writer()
	renamed := 0
	w.w.beforeRead = func(path string) {
		if _, err := os.Stat(path); err != nil || filepath.Base(path) != EventsFile || renamed == 3 {
			return
		}
		renamed++
		for _, parent := range []string{inUser, inProject} {
			f.rename(filepath.ToSlash(filepath.Join(parent, filepath.Base(filepath.Dir(path)))), fmt.Sprintf("%s17000000001-title-%d", parent, renamed))
		}
	}
	id, err := w.Fork(t.Context(), projected, ForkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := numberOf(id)
	if got := f.events(f.find(n)); got != oddEvents || renamed != 3 {
		t.Errorf("renamed %d times, the events are %q", renamed, got)
	}
}

// TestFailedEditOfArchived fails an edit of an archived conversation at each step: its metadata must
// be the same after it is live again, when another copy may count.
func TestFailedEditOfArchived(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		f := newWritten(t)
		disk := &faults{at: at}
		_, err := f.faulty(disk).Edit(t.Context(), archived, always(Change{Labels: map[string]*string{"area": nil}}))
		if disk.steps < at {
			return
		}
		before := f.find(17000000004).Labels
		if _, unarchiveErr := f.writer().SetArchived(t.Context(), archived, false); unarchiveErr != nil {
			t.Fatal(unarchiveErr)
		}
		if diff := cmp.Diff(before, f.find(17000000004).Labels); diff != "" {
			t.Errorf("step %d, %v: live again (-archived +live):\n%s", at, err, diff)
		}
	}
}
