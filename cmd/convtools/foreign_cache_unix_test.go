//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A cache directory that belongs to another user could hold false texts of conversations. convtools neither reads it
// nor writes to it.
func TestCacheOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a directory of another user")
	}
	const nobody = 65534
	for _, foreign := range []string{"convtools", "convtools/index", "link"} {
		dir := t.TempDir()
		cache, home := filepath.Join(dir, "cache"), filepath.Join(dir, "home")
		foreignDir := filepath.Join(cache, filepath.FromSlash(foreign))
		if foreign == "link" {
			foreignDir = filepath.Join(dir, "elsewhere")
			if err := os.Mkdir(cache, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(foreignDir, filepath.Join(cache, "convtools")); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(foreignDir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(foreignDir, nobody, nobody); err != nil {
			t.Skip(err)
		}
		run := func(args ...string) string {
			cmd := exec.CommandContext(t.Context(), "convtools", args...) // the test binary, see TestMain
			cmd.Dir = filepath.Join("..", "..", "testdata", "workspaces", "sample")
			cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+cache, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "JP_USER_DATA_DIR="+filepath.Join(dir, "data"))
			out, err := cmd.CombinedOutput()
			if err != nil && args[0] != "doctor" { // doctor fails for other reasons too
				t.Errorf("%s, %q: %v", foreign, args, err)
			}
			return string(out)
		}
		want := "cache/" + strings.TrimPrefix(foreign, "link") + " belongs to another user"
		if foreign == "link" {
			want = "cache/convtools belongs to another user"
		}
		for command, want := range map[string]string{"search index": "belongs to another user: doctor names it", "doctor": want} {
			if output := run(strings.Fields(command)...); !strings.Contains(strings.Join(strings.Fields(output), " "), want) {
				t.Errorf("%s: %q is not said in:\n%s", command, want, output)
			}
		}
		run("conversation", "ls")
		if entries, err := os.ReadDir(foreignDir); err != nil || len(entries) > 0 {
			t.Errorf("%s has %v, %v", foreign, entries, err)
		}
		if err := os.Chown(foreignDir, 0, 0); err != nil {
			t.Fatal(err)
		}
		if output := run("search", "index"); strings.Contains(output, "belongs") || !strings.Contains(output, "jp") {
			t.Errorf("%s of one's own: %s", foreign, output)
		}
		if entries, err := os.ReadDir(foreignDir); err != nil || len(entries) == 0 {
			t.Errorf("%s of one's own has %v, %v", foreign, entries, err)
		}
	}
}
