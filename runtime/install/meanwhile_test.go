package install_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/install"
)

// TestLosesNoWrite has another program write the file while a change is applied,
// in each of the ways in which programs do that. Whatever comes of the change,
// what was written is in the file then, or in a copy of it.
func TestLosesNoWrite(t *testing.T) {
	t.Parallel()
	writers := map[string]func(path, text string) error{
		"in place": func(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) },
		"renamed": func(path, text string) error {
			err := os.WriteFile(path+".theirs", []byte(text), 0o600)
			return errors.Join(err, os.Rename(path+".theirs", path))
		},
	}
	plans := map[string]func(install.Host, install.Options) (*install.Change, error){
		"install": install.PlanInstall, "uninstall": install.PlanUninstall,
	}
	for how, write := range writers {
		for what, plan := range plans {
			for _, before := range []string{`{"n": "none"}`, ""} {
				t.Run(fmt.Sprintf("%s %s %q", how, what, before), func(t *testing.T) {
					t.Parallel()
					meanwhile(t, before, what == "uninstall", plan, write)
				})
			}
		}
	}
}

func meanwhile(t *testing.T, before string, installed bool, plan func(install.Host, install.Options) (*install.Change, error), write func(path, text string) error) {
	const rounds = 12
	for round := range rounds {
		d := newDesk(t)
		path := d.path("home/.claude.json")
		if before != "" {
			d.write("home/.claude.json", before)
		}
		if installed {
			d.install("claude-code")
		}
		change, err := plan(host(t, "claude-code"), d.opts)
		if err != nil {
			t.Fatal(err)
		}
		var applying sync.WaitGroup
		var applied error
		applying.Go(func() { applied = change.Apply(t.Context()) })
		// A program that writes all the time: what matters is its last word.
		said := ""
		for i := range 1 + rand.IntN(40) {
			for range rand.IntN(200) {
				runtime.Gosched()
			}
			said = fmt.Sprintf(`{"n": "round %d, %d"}`, round, i)
			if err := write(path, said); err != nil {
				t.Fatal(err)
			}
		}
		applying.Wait()
		kept := ""
		for name, text := range d.files() {
			if strings.Contains(text, said[1:len(said)-1]) {
				kept = name
			}
			if strings.HasPrefix(filepath.Base(name), ".convtools-") {
				t.Errorf("%s stays behind", name)
			}
		}
		if kept == "" {
			t.Fatalf("round %d: %s was lost; applying: %v\n%v", round, said, applied, d.files())
		}
	}
}

// TestSameAtOnce makes two plans for the same thing and applies both. The later one
// finds done what it was to do.
func TestSameAtOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"codex", "jp"} {
		for _, before := range []string{"", "# mine\n"} {
			d := newDesk(t)
			if before != "" {
				d.write("home/.codex/config.toml", before)
			}
			start := d.files()
			twice := func(plan func(install.Host, install.Options) (*install.Change, error)) (files [2]map[string]string) {
				t.Helper()
				var changes [2]*install.Change
				for i := range changes {
					var err error
					if changes[i], err = plan(host(t, name), d.opts); err != nil {
						t.Fatal(err)
					}
				}
				for i, change := range changes {
					if err := change.Apply(t.Context()); err != nil {
						t.Errorf("%s, %q: applying %d: %v", name, before, i, err)
					}
					files[i] = d.files()
				}
				return files
			}
			files := twice(install.PlanInstall)
			if diff := cmp.Diff(files[0], files[1]); diff != "" {
				t.Errorf("%s, %q: the second installation changed (-want +got):\n%s", name, before, diff)
			}
			files = twice(install.PlanUninstall)
			if diff := cmp.Diff([2]map[string]string{start, start}, files); diff != "" {
				t.Errorf("%s, %q: after uninstalling (-want +got):\n%s", name, before, diff)
			}
		}
	}
}

// TestOtherAtOnce makes two plans that write the same file and differ in what can
// be undone. The later one is not what was done.
func TestOtherAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("home/.codex/config.toml", "# mine\n")
	change, err := install.PlanInstall(host(t, "codex"), d.opts)
	if err != nil {
		t.Fatal(err)
	}
	d.install("codex")
	for name := range d.files() {
		if strings.HasPrefix(name, "home/.local/state/") && strings.HasSuffix(name, ".json") {
			if err := os.Remove(d.path(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := change.Apply(t.Context()); err == nil || !strings.Contains(err.Error(), "in the meantime") {
		t.Errorf("without the record: error %v", err)
	}
}

// TestAtOnce registers with different settings, all at once. Uninstalling then
// has to give back what there was.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "# mine\n"} {
		for range 8 {
			d := newDesk(t)
			if before != "" {
				d.write("home/.codex/config.toml", before)
			}
			start := d.files()
			var installing sync.WaitGroup
			for i := range 6 {
				installing.Go(func() {
					opts := d.opts
					opts.Program = fmt.Sprintf("/opt/%d/convtools", i)
					change, err := install.PlanInstall(host(t, "codex"), opts)
					if err == nil {
						err = change.Apply(d.t.Context())
					}
					if err != nil && !strings.Contains(err.Error(), "in the meantime") {
						t.Error(err)
					}
				})
			}
			installing.Wait()
			if found := install.Registrations(host(t, "codex"), d.opts); len(found) != 1 || found[0].Err != nil {
				t.Fatalf("registrations %+v", found)
			}
			d.uninstall("codex")
			if diff := cmp.Diff(start, d.files()); diff != "" {
				t.Fatalf("after uninstalling (-want +got):\n%s", diff)
			}
		}
	}
}
