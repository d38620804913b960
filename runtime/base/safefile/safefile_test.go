package safefile_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/convtools/convtools/runtime/base/safefile"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func link(t *testing.T, target, name string) string {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	return name
}

func openRoot(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "file"), "five!")
	link(t, "file", filepath.Join(dir, "link"))
	link(t, filepath.Join("..", "out"), filepath.Join(dir, "leaves"))
	write(t, filepath.Join(filepath.Dir(dir), "out"), "")
	root := openRoot(t, dir)

	for _, name := range []string{"file", "link"} {
		if data, err := safefile.Read(filepath.Join(dir, name), 5); string(data) != "five!" || err != nil {
			t.Errorf("Read %s: %q, %v", name, data, err)
		}
		if data, err := safefile.ReadIn(root, name, 5); string(data) != "five!" || err != nil {
			t.Errorf("ReadIn %s: %q, %v", name, data, err)
		}
	}
	var large *safefile.TooLargeError
	if _, err := safefile.Read(file, 4); !errors.As(err, &large) || large.Most != 4 {
		t.Errorf("a byte too much: %v", err)
	}
	if _, err := safefile.Read(dir, 4); !errors.Is(err, safefile.ErrNotRegular) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := safefile.Read(filepath.Join(dir, "none"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
	if _, err := safefile.ReadIn(root, "leaves", 4); err == nil {
		t.Error("a link out of the root was followed")
	}
}

func TestOpenDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "inner", "file"), "")
	link(t, "inner", filepath.Join(dir, "link"))
	link(t, "..", filepath.Join(dir, "leaves"))
	root := openRoot(t, dir)
	for name, ok := range map[string]bool{".": true, "inner": true, "link": true, "inner/file": false, "none": false} {
		for from, open := range map[string]func() (*os.Root, error){
			"OpenDir":   func() (*os.Root, error) { return safefile.OpenDir(filepath.Join(dir, name)) },
			"OpenDirIn": func() (*os.Root, error) { return safefile.OpenDirIn(root, name) },
		} {
			opened, err := open()
			if (err == nil) != ok || errors.Is(err, fs.ErrNotExist) != (name == "none") {
				t.Errorf("%s of %s: %v", from, name, err)
			}
			if err == nil {
				opened.Close()
			}
		}
	}
	if opened, err := safefile.OpenDirIn(root, "leaves"); err == nil {
		opened.Close()
		t.Error("OpenDirIn follows a link out of the root")
	}
}

func TestOpenNoFollow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "b", "file"), "text")
	link(t, "file", filepath.Join(dir, "a", "b", "link"))
	link(t, "b", filepath.Join(dir, "a", "folder"))
	root := openRoot(t, dir)
	tests := []struct {
		name string
		want error
	}{
		{"a/b/file", nil},
		{"a/b/link", safefile.ErrLink},
		{"a/folder/file", safefile.ErrLink},
		{"a/b", safefile.ErrNotRegular},
		{"a/b/none", fs.ErrNotExist},
		{"a/none/file", fs.ErrNotExist},
	}
	for _, test := range tests {
		f, _, err := safefile.OpenNoFollow(root, test.name)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		if err == nil {
			f.Close()
		}
	}
	for _, name := range []string{"..", "../x", "a/../../x", "/etc/passwd"} {
		if f, _, err := safefile.OpenNoFollow(root, name); err == nil {
			f.Close()
			t.Errorf("%s was opened", name)
		}
	}
}

// TestOpenNoFollowRace keeps replacing a file by a link and the link by a file: the target of the link is never
// opened.
func TestOpenNoFollowRace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := write(t, filepath.Join(dir, "folder", "file"), "mine")
	write(t, filepath.Join(dir, "folder", "secret"), "secret")
	next := filepath.Join(dir, "next")
	link(t, "secret", next)
	root := openRoot(t, dir)
	stop := make(chan struct{})
	var replacing sync.WaitGroup
	replacing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(next, at)
			_ = os.WriteFile(next, []byte("mine"), 0o600)
			_ = os.Rename(next, at)
			_ = os.Symlink("secret", next)
		}
	})
	for range 20_000 {
		f, _, err := safefile.OpenNoFollow(root, "folder/file")
		if err != nil {
			continue
		}
		data, err := safefile.ReadAll(f, 10)
		f.Close()
		if err != nil || string(data) != "mine" {
			t.Errorf("read %q, %v", data, err)
			break
		}
	}
	close(stop)
	replacing.Wait()
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	for _, text := range []string{"first", "second, longer", ""} {
		if err := safefile.Write(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(name); string(data) != text || err != nil {
			t.Errorf("%q, %v, want %q", data, err, text)
		}
	}
	info, err := os.Stat(name)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	elsewhere := write(t, filepath.Join(dir, "elsewhere"), "stays")
	at := link(t, "elsewhere", filepath.Join(dir, "link"))
	if err := safefile.Write(at, []byte("new"), 0o600); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(elsewhere); string(data) != "stays" {
		t.Errorf("what a link led to is %q now", data)
	}
}

func TestWriteLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "folder", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := safefile.Write(filepath.Join(dir, "folder"), []byte("text"), 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestStage(t *testing.T) {
	t.Parallel()
	root := openRoot(t, t.TempDir())
	if err := root.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, stage := range []func(*os.Root, string, []byte, fs.FileMode) (string, error){safefile.Stage, safefile.StageUnsynced} {
		temp, err := stage(root, "folder/file", []byte("text"), 0o644)
		if err != nil {
			t.Fatal(err)
		}
		folder, base, _ := strings.Cut(temp, "/")
		if folder != "folder" || !safefile.Temporary(base) || safefile.Temporary("file") {
			t.Errorf("the temporary file is %s", temp)
		}
		if data, err := safefile.ReadIn(root, temp, 10); string(data) != "text" || err != nil {
			t.Errorf("%q, %v", data, err)
		}
		if _, err := stage(root, "../file", nil, 0o644); err == nil {
			t.Error("a file was made outside of the root")
		}
	}
}

// holder is an owner of a lock.
type holder struct{ there atomic.Bool }

// alone checks that there is no other owner while it runs.
func (h *holder) alone(t *testing.T) {
	if !h.there.CompareAndSwap(false, true) {
		t.Error("two have the lock at once")
		return
	}
	for range 100 {
		runtime.Gosched()
	}
	h.there.Store(false)
}

func TestLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{dir, write(t, filepath.Join(dir, "file"), "")} {
		var held holder
		var counting sync.WaitGroup
		for range 8 {
			counting.Go(func() {
				unlock, err := safefile.Lock(t.Context(), name)
				if err != nil {
					t.Error(err)
					return
				}
				defer unlock()
				held.alone(t)
			})
		}
		counting.Wait()
	}
	if _, err := safefile.Lock(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
}

func TestLockEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := safefile.Lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if _, err := safefile.Lock(ctx, dir); !errors.Is(err, enough) {
		t.Errorf("locked twice: %v", err)
	}
}

// TestLockOfWhatIsRemoved removes the folder and makes it again while a call waits: the lock of the removed folder
// must not count.
func TestLockOfWhatIsRemoved(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "folder")
	var held holder
	var counting sync.WaitGroup
	for range 8 {
		counting.Go(func() {
			for {
				if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
					t.Error(err)
					return
				}
				unlock, err := safefile.Lock(t.Context(), dir)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				held.alone(t)
				_ = os.Remove(dir)
				unlock()
				return
			}
		})
	}
	counting.Wait()
}
