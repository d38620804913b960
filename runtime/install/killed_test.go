package install_test

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/install"
)

// runsForever has the test binary install and uninstall in a directory until it
// is killed.
const runsForever = "INSTALL_TEST_RUNS_FOREVER"

func TestMain(m *testing.M) {
	dir := os.Getenv(runsForever)
	if dir == "" {
		os.Exit(m.Run())
	}
	opts := deskOptions(dir, map[string]string{"HOME": filepath.Join(dir, "home")})
	os.Stdout.WriteString("running\n")
	for {
		for _, plan := range []func(install.Host, install.Options) (*install.Change, error){install.PlanInstall, install.PlanUninstall} {
			h, _ := install.Lookup("codex")
			change, err := plan(h, opts)
			if err == nil {
				err = change.Apply(context.Background())
			}
			if err != nil {
				os.Stdout.WriteString(err.Error() + "\n")
				os.Exit(1)
			}
		}
	}
}

// TestKilled kills installations at any moment. The next run cleans up behind
// them, whether or not it has anything else to do.
func TestKilled(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const before = "# mine\n"
	for range 8 {
		d := newDesk(t)
		d.write("home/.codex/config.toml", before)
		start := d.files()
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), runsForever+"="+d.dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan()
		for range rand.IntN(2000) {
			runtime.Gosched()
			_, _ = os.Stat(d.dir)
		}
		_ = cmd.Process.Kill()
		for lines.Scan() {
			t.Errorf("it failed: %s", lines.Text())
		}
		_ = cmd.Wait()
		d.install("codex")
		for name := range d.files() {
			if strings.HasPrefix(filepath.Base(name), ".convtools-") {
				t.Errorf("%s stays behind", name)
			}
		}
		d.uninstall("codex")
		got := d.files()
		for name, text := range got {
			if strings.HasSuffix(name, ".before") && text == before {
				delete(got, name) // of a run that was killed before it removed it
			}
		}
		delete(got, "home/")
		if got["home/.codex/config.toml"] != start["home/.codex/config.toml"] {
			t.Errorf("after uninstalling (-want +got):\n%s", cmp.Diff(start, got))
		}
	}
}
