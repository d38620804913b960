package plan_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/plan"
	"github.com/convtools/convtools/runtime/base/safefile"
)

var errKilled = errors.New("killed")

// killed is a writer that does nothing more after some steps, as a process that was
// killed: it tidies nothing up either.
type killed struct {
	plan.Writer
	mu    sync.Mutex // around left and taken
	left  int        // steps until it is killed
	taken int
}

func (k *killed) step() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left == 0 {
		return errKilled
	}
	k.left--
	k.taken++
	return nil
}

func (k *killed) MkdirAll(name string, mode fs.FileMode) error {
	if err := k.step(); err != nil {
		return err
	}
	return k.Writer.MkdirAll(name, mode)
}

// Stage and Rename take a step for each file.
func (k *killed) Stage(folder string, files []emit.File) ([]string, error) {
	var temps []string
	for i := range files {
		if err := k.step(); err != nil {
			return temps, err
		}
		temp, err := k.Writer.Stage(folder, files[i:i+1])
		if err != nil {
			return temps, err
		}
		temps = append(temps, temp...)
	}
	return temps, nil
}

func (k *killed) Rename(folder string, from, to []string) error {
	for i := range from {
		if err := k.step(); err != nil {
			return err
		}
		if err := k.Writer.Rename(folder, from[i:i+1], to[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (k *killed) Remove(name string) error {
	if err := k.step(); err != nil {
		return err
	}
	return k.Writer.Remove(name)
}

// A run is killed after each step that it takes. What is there is whole, of the run
// before or of this one; the contract that changes are told against is the old one
// while anything else is; and the next run leaves what one that was not killed does,
// save folders that hold nothing.
func TestKilledRuns(t *testing.T) {
	t.Parallel()
	files := notesProject()
	files["specs/tags/all.toml"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(toolTOML, "notes_list", "tags_all"))}
	changed := newProject(t, files)
	changed.mustGenerate()
	changed.write("generated/notes/mine.go", "package notes\n")
	before := changed.files()
	// One tool changes, one comes and one goes.
	changed.write("specs/notes/list.toml", strings.Replace(toolTOML, `from = "id"`, `from = "id", presence = "optional"`, 1))
	changed.write("specs/marks/set.toml", strings.ReplaceAll(toolTOML, "notes_list", "marks_set"))
	changed.remove("specs/tags")
	copied := func() *project {
		p := &project{t: t, dir: t.TempDir()}
		if err := os.CopyFS(p.dir, os.DirFS(changed.dir)); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(p.dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		p.root = root
		return p
	}
	whole := copied()
	result, differences := whole.mustGenerate()
	after := whole.files()

	for steps := 0; ; steps++ {
		p := copied()
		w := &killed{Writer: plan.Disk(p.root), left: steps}
		if err := plan.WriteWith(w, result, differences); err == nil && w.left > 0 {
			if w.taken < 2*len(differences) {
				t.Errorf("%d files were written in %d steps", len(differences), w.taken)
			}
			return
		}
		left := p.files()
		for name, text := range left {
			if text != before[name] && text != after[name] && !safefile.Temporary(path.Base(name)) {
				t.Errorf("after %d steps %s is neither old nor new", steps, name)
			}
		}
		for name := range after {
			if _, there := left[name]; !there && before[name] != "" {
				t.Errorf("after %d steps %s is gone", steps, name)
			}
		}
		const contract = "generated/contract.lock"
		if left[contract] == after[contract] {
			for name, text := range after {
				if left[name] != text {
					t.Errorf("after %d steps the contract is new and %s is not", steps, name)
				}
			}
		}
		p.mustGenerate()
		got := p.files()
		maps.DeleteFunc(got, func(name, text string) bool { return text == "/" && after[name] == "" })
		if diff := cmp.Diff(after, got); diff != "" {
			t.Fatalf("killed after %d steps, and then run again (-never killed +killed):\n%s", steps, diff)
		}
	}
}
