package install_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/install"
)

func TestVariablesNotPassedOn(t *testing.T) {
	t.Parallel()
	const entry = "[mcp_servers.convtools]\ncommand = \"/opt/bin/convtools\"\nargs = [\"mcp\"]\n"
	for name, test := range map[string]struct{ before, env, want string }{
		"none is set":          {"", "", entry},
		"one is set":           {"", "B_HOME", entry + "env_vars = [\"B_HOME\"]\n"},
		"one is there already": {entry + "env_vars = [\"TOKEN\"]\n", "B_HOME", entry + "env_vars = [\"TOKEN\", \"B_HOME\"]\n"},
		"nothing to add":       {entry + "env_vars = [ \"B_HOME\" ]\n", "B_HOME", entry + "env_vars = [ \"B_HOME\" ]\n"},
		"another form":         {entry + "env_vars = [{ name = \"T\" }]\n", "B_HOME", entry + "env_vars = [{ name = \"T\" }]\n"},
		"no list":              {entry + "env_vars = 5\n", "B_HOME", entry + "env_vars = 5\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.opts.Variables = []string{"A_HOME", "B_HOME"}
			getenv := d.opts.Getenv
			d.opts.Getenv = func(name string) string {
				if name == test.env {
					return "/b"
				}
				return getenv(name)
			}
			if test.before != "" {
				d.write("home/.codex/config.toml", test.before)
			}
			d.install("codex")
			if diff := cmp.Diff(test.want, d.read("home/.codex/config.toml")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			d.uninstall("codex")
			if diff := cmp.Diff(map[string]string{"project/.jp/": ""}, d.beside()); diff != "" {
				t.Errorf("after uninstalling (-want +got):\n%s", diff)
			}
		})
	}
}

// A host that passes on its environment needs no list.
func TestVariablesPassedOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	want := d.install("claude-code").Diff()
	d.uninstall("claude-code")
	d.opts.Variables = []string{"HOME"} // which is set
	change, err := install.PlanInstall(host(t, "claude-code"), d.opts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, change.Diff()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
