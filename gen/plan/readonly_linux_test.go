package plan_test

import (
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/plan"
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
	openToAll(t, p)
	result, err := plan.Generate(p.root.FS())
	if err != nil {
		t.Fatal(err)
	}
	differences, err := plan.Compare(p.root.FS(), result)
	if err != nil {
		t.Fatal(err)
	}
	failure := plan.WriteWith(nobody{plan.Disk(p.root)}, result, differences)
	if failure == nil || !strings.Contains(failure.Error(), "generated/schemas/notes_list.json") || !strings.Contains(failure.Error(), "permission denied") {
		t.Errorf("the error is %v", failure)
	}
	if diff := cmp.Diff(before, p.files()); diff != "" {
		t.Errorf("something has changed (-before +after):\n%s", diff)
	}
}

// nobody is a writer without root's right to write everywhere.
type nobody struct{ plan.Writer }

func (n nobody) Stage(folder string, files []emit.File) (temps []string, err error) {
	if os.Geteuid() != 0 {
		return n.Writer.Stage(folder, files)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The thread becomes nobody to the file system. It ends with the goroutine: it
		// stays locked.
		runtime.LockOSThread()
		if err = syscall.Setfsuid(65534); err == nil {
			temps, err = n.Writer.Stage(folder, files)
		}
	}()
	<-done
	return temps, err
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
