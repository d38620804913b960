package conversations_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// cached is what a cache directory has of texts and titles.
type cached struct {
	indexed map[string]int // conversations, by kind of store
	titles  int            // with the text, of files
	kept    int            // bytes of what is known of files
}

func readCache(t *testing.T, cache, text string) cached {
	t.Helper()
	found := cached{indexed: map[string]int{}}
	entries, err := os.ReadDir(cache)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		dir := filepath.Join(cache, e.Name())
		indexes, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range indexes {
			x := index.Open(filepath.Join(dir, e.Name()))
			view, err := x.View()
			if err != nil {
				t.Fatal(err)
			}
			kind, _, _ := strings.Cut(e.Name(), "-")
			found.titles += bytes.Count(view.Kept, []byte(text))
			found.kept += len(view.Kept)
			found.indexed[kind] += len(view.Conversations)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return found
}

// What is excluded leaves the cache when that is refreshed: texts, titles, and what was kept of
// a workspace.
func TestExcludedLeavesTheCache(t *testing.T) {
	t.Parallel()
	for name, exclude := range map[string]func(t *testing.T, dir string, env map[string]string){
		"by a file": func(t *testing.T, dir string, _ map[string]string) {
			if err := os.WriteFile(filepath.Join(dir, ".convtools-exclude"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"by the settings": func(t *testing.T, dir string, env map[string]string) {
			config := filepath.Join(env["XDG_CONFIG_HOME"], "convtools")
			if err := os.MkdirAll(config, 0o700); err != nil {
				t.Fatal(err)
			}
			text := "[stores]\nexclude = ['" + dir + "']\n"
			if err := os.WriteFile(filepath.Join(config, "convtools.toml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			in := func(elem ...string) string { return filepath.Join(append([]string{base}, elem...)...) }
			env := map[string]string{
				"CLAUDE_CONFIG_DIR": in("claude"), "CODEX_HOME": in("codex"), "XDG_DATA_HOME": in("data"), "JP_USER_DATA_DIR": in("jp"),
				"XDG_CONFIG_HOME": in("config"), "AppData": in("config"), "XDG_STATE_HOME": in("state"), "LOCALAPPDATA": in("state"),
				"HOME": in("home"), "USERPROFILE": in("home"),
			}
			secret, open := in("work", "secret"), in("work", "open")
			for dir, text := range map[string]string{secret: "retry", open: "tide"} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				w := jptest.New(filepath.Join(dir, "ws"), map[string]string{"retry": "hb7k2", "tide": "hb7k3"}[text])
				w.UserStore(in("jp"))
				w.Conversation("17648402467", "c").Title("Why do we " + text).TurnStart().User("Why do we " + text + "?")
				if err := w.Write(); err != nil {
					t.Fatal(err)
				}
			}
			writeHistories(t, secret, env)
			put := func(name string, lines ...string) {
				t.Helper()
				file := in("claude", "projects", name)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			const session = "5afd8764-1e4a-4af6-951b-d71a909fd1bc.jsonl"
			line := `{"type":"user","uuid":"u1","timestamp":"2020-05-01T10:00:00Z","cwd":"` + filepath.ToSlash(open) + `","message":{"content":"Why is the tide late?"}}`
			put("open/"+session, line)
			put("copy/"+session, line) // a problem for ever: not all of the store can be read

			refreshed := func() cached {
				t.Helper()
				x := conversations.NewIndexes(in("cache"))
				defer x.Close()
				l, err := conversations.Open(conversations.Options{
					AllProjects: true, Dir: in(), Getenv: func(name string) string { return env[name] }, Indexes: x,
				})
				if err != nil {
					t.Fatal(err)
				}
				refresh(t, l)
				return readCache(t, in("cache"), "retry")
			}
			before := refreshed()
			if before.titles == 0 || before.indexed["claude"] < 5 || before.indexed["codex"] == 0 || before.indexed["jp"] != 2 || before.indexed["convtools"] == 0 {
				t.Fatalf("%+v", before)
			}
			exclude(t, secret, env)
			after := refreshed()
			if after.titles > 0 || after.indexed["claude"] != 1 || after.indexed["codex"] > 0 || after.indexed["jp"] != 1 || after.indexed["convtools"] > 0 {
				t.Errorf("kept of what is excluded: %+v", after)
			}
			// What is kept of others is used.
			if again := refreshed(); again.titles > 0 || again.indexed["claude"] != 1 || again.indexed["jp"] != 1 {
				t.Errorf("%+v", again)
			}
			if refreshed().kept < 500 {
				t.Error("nothing is kept of what is not excluded")
			}
		})
	}
}
