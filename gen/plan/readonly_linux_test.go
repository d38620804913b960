package plan_test

import (
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A folder nobody may write to: the error names what could not be written, and
// files that could have been are as they were.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	p := newProject(t, notesProject())
	p.mustGenerate()
	p.write("specs/notes/list.toml", strings.Replace(toolTOML, "List notes", "List all notes", 1))
	before := p.files()
	if err := os.Chmod(p.path("generated/schemas"), 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(p.path("generated/schemas"), 0o755) })
	err := make(chan error, 1)
	go func() {
		defer close(err)
		if os.Geteuid() == 0 {
			// Root may write everywhere, so this thread becomes nobody to the
			// file system. It ends with the goroutine: it stays locked.
			runtime.LockOSThread()
			openToAll(t, p)
			if err := syscall.Setfsuid(65534); err != nil {
				t.Errorf("becoming nobody: %v", err)
			}
		}
		_, _, failure := p.generate()
		err <- failure
	}()
	failure := <-err
	if failure == nil || !strings.Contains(failure.Error(), "generated/schemas/notes_list.json") || !strings.Contains(failure.Error(), "permission denied") {
		t.Errorf("the error is %v", failure)
	}
	if diff := cmp.Diff(before, p.files()); diff != "" {
		t.Errorf("something has changed (-before +after):\n%s", diff)
	}
}

// openToAll lets everybody write to a project, except to the folder that the
// test has closed.
func openToAll(t *testing.T, p *project) {
	t.Helper()
	err := fs.WalkDir(p.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "generated/schemas" {
			return err
		}
		if d.IsDir() {
			return os.Chmod(p.path(name), 0o777)
		}
		return os.Chmod(p.path(name), 0o666)
	})
	if err != nil {
		t.Error(err)
	}
}
