//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What another user has put into the place of the cache could say anything of conversations: it is not read, and nothing
// is written there.
func TestCacheOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a directory of another user")
	}
	const nobody = 65534
	for _, foreign := range []string{"convtools", "convtools/index", "link"} {
		dir := t.TempDir()
		cache, home := filepath.Join(dir, "cache"), filepath.Join(dir, "home")
		at := filepath.Join(cache, filepath.FromSlash(foreign))
		if foreign == "link" {
			at = filepath.Join(dir, "elsewhere")
			if err := os.Mkdir(cache, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(at, filepath.Join(cache, "convtools")); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(at, nobody, nobody); err != nil {
			t.Skip(err)
		}
		run := func(args ...string) string {
			cmd := exec.CommandContext(t.Context(), "convtools", args...) // the test binary, see TestMain
			cmd.Dir = filepath.Join("..", "..", "testdata", "workspaces", "sample")
			cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+cache, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "JP_USER_DATA_DIR="+filepath.Join(dir, "data"))
			out, err := cmd.CombinedOutput()
			if err != nil && args[0] != "doctor" { // which has more to say
				t.Errorf("%s, %q: %v", foreign, args, err)
			}
			return string(out)
		}
		want := "cache/" + strings.TrimPrefix(foreign, "link") + " belongs to another user"
		if foreign == "link" {
			want = "cache/convtools belongs to another user"
		}
		for command, want := range map[string]string{"search index": "belongs to another user: doctor names it", "doctor": want} {
			if said := run(strings.Fields(command)...); !strings.Contains(strings.Join(strings.Fields(said), " "), want) {
				t.Errorf("%s: %q is not said in:\n%s", command, want, said)
			}
		}
		run("conversation", "ls")
		if entries, err := os.ReadDir(at); err != nil || len(entries) > 0 {
			t.Errorf("%s has %v, %v", foreign, entries, err)
		}
		if err := os.Chown(at, 0, 0); err != nil {
			t.Fatal(err)
		}
		if said := run("search", "index"); strings.Contains(said, "belongs") || !strings.Contains(said, "jp") {
			t.Errorf("%s of one's own: %s", foreign, said)
		}
		if entries, err := os.ReadDir(at); err != nil || len(entries) == 0 {
			t.Errorf("%s of one's own has %v, %v", foreign, entries, err)
		}
	}
}
