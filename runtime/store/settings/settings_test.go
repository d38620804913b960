package settings_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/convtools/convtools/runtime/store/settings"
)

// user is a home directory with a configuration file.
type user struct{ home, file string }

func newUser(t *testing.T, content string) *user {
	t.Helper()
	home := t.TempDir()
	u := &user{home, filepath.Join(home, ".config", "convtools", "convtools.toml")}
	if err := os.MkdirAll(filepath.Dir(u.file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(u.file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return u
}

func (u *user) getenv(name string) string {
	switch name {
	case "HOME", "USERPROFILE":
		return u.home
	case "AppData":
		return filepath.Join(u.home, ".config")
	}
	return ""
}

func (u *user) read() (settings.Settings, error) {
	return settings.Read(u.getenv, []string{"jp", "claude-code", "codex"}, []string{"english", "german", "none"})
}

func TestRead(t *testing.T) {
	t.Parallel()
	root := "/srv/acme"
	if runtime.GOOS == "windows" {
		root = "C:/srv/acme"
	}
	for name, test := range map[string]struct {
		file string
		want settings.Settings // with HOME in paths
	}{
		"no table":      {"[kb.topic.a]\nsubjects = \"a\"", settings.Settings{}},
		"an empty one":  {"[stores]", settings.Settings{}},
		"an empty file": {"\ufeff", settings.Settings{}},
		"by name":       {"[stores]\ncodex = false\njp = true\noff = [\"claude-code\"]", settings.Settings{Off: []string{"codex", "claude-code"}, On: []string{"jp"}}},
		"no index":      {"[index]\noff = true", settings.Settings{NoIndex: true}},
		"an index":      {"[index]\noff = false", settings.Settings{}},
		"a wrong index": {"[index]\noff = false\nsize = 3", settings.Settings{NoIndex: true, Warnings: []string{
			`~/.config/convtools/convtools.toml: unknown key "size" in [index], so that no index is kept; known here: off`,
		}}},
		"what nothing reads": {"colour = 1\n[modle.x]\n[trust]\n[session]\nmodle = 1", settings.Settings{Warnings: []string{
			`~/.config/convtools/convtools.toml: unknown key "colour", which is not read; known here: kb, mcp, model, session, index, recall, stores, trust`,
			`~/.config/convtools/convtools.toml: unknown key "modle", which is not read; did you mean [model]?`,
		}}},
		"patterns": {
			"[stores]\nexclude = [\"~/a\", \"~/b/*/\", \"" + root + "/{x,y}/./[z]\"]",
			settings.Settings{
				Exclude: []string{"HOME/a", "HOME/b/*", root + "/{x,y}/[z]"}, Patterns: []string{"HOME/b/*", root + "/{x,y}/[z]"},
			},
		},
		"everything": {
			"[stores]\noff = [\"jp\", \"codex\"]\nexclude = [\"" + root + "/\", \"~/private\", \"~\"]\n[stores.directories]\nclaude-code = [\"~/backup/.claude\"]\ncodex = []",
			settings.Settings{
				Off: []string{"jp", "codex"}, Exclude: []string{root, "HOME/private", "HOME"},
				Directories: map[string][]string{"claude-code": {"HOME/backup/.claude"}, "codex": {}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, test.file)
			got, err := u.read()
			if err != nil {
				t.Fatal(err)
			}
			for _, paths := range append([][]string{got.Exclude, got.Patterns}, got.Directories["claude-code"]) {
				for i, path := range paths {
					paths[i] = strings.Replace(filepath.ToSlash(path), filepath.ToSlash(u.home), "HOME", 1)
				}
			}
			test.want.File = "~/.config/convtools/convtools.toml"
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"":                                 "",
		"[recall]":                         "",
		"[recall]\nlanguage = \"german\"":  "german",
		"[recall]\nlanguage = \"none\"":    "none",
		"[recall]\nlanguage = \"germn\"":   `unknown language "germn"; did you mean "german"? known here: english, german, none`,
		"[recall]\nlanguage = \"Klingon\"": `unknown language "Klingon"; known here: english, german, none`,
		"[recall]\nlanguage = 1":           "language must be a string; known here: english, german, none",
		"recall = \"german\"":              "recall must be a table",
	} {
		got, err := newUser(t, file).read()
		if err != nil {
			want = "reading [recall] of ~/.config/convtools/convtools.toml: " + want
			got.Language = err.Error()
		}
		if got.Language != want {
			t.Errorf("%q: %q, want %q", file, got.Language, want)
		}
	}
	got, err := newUser(t, "[recall]\nlangauge = \"german\"").read()
	const warning = `~/.config/convtools/convtools.toml: unknown key "langauge" in [recall], which is not read; known here: language`
	if err != nil || len(got.Warnings) != 1 || got.Warnings[0] != warning {
		t.Errorf("%q, %v", got.Warnings, err)
	}
}

// What cannot be understood is an error, since it may exclude something.
func TestProblems(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"stores = 1":                                          "stores must be a table",
		"[stores]\nof = [\"jp\"]":                             `unknown key "of"; did you mean "off"?`,
		"[stores]\noff = \"jp\"":                              "off must be an array of strings",
		"[stores]\noff = [1]":                                 "off must be an array of strings",
		"[stores]\noff = [\"claude\"]":                        `unknown store "claude" in off`,
		"[stores]\noff = [\"claudecode\"]":                    `unknown store "claudecode" in off; did you mean "claude-code"?`,
		"[stores]\nexclude = [\"acme\"]":                      `"acme" in exclude is not an absolute path; write one that begins with / or ~/`,
		"[stores]\nexclude = [\"~acme\"]":                     `"~acme" in exclude is not an absolute path`,
		"[stores]\nexclude = [\"\"]":                          `"" in exclude is not an absolute path`,
		"[stores]\nexclude = [\"/a\\u0000\"]":                 "is not an absolute path",
		"[stores]\ndirectories = [\"/a\"]":                    "directories must be a table of arrays",
		"[stores.directories]\nvim = [\"~/a\"]":               `unknown store "vim" in directories; known here: jp, claude-code, codex`,
		"[stores]\ncodex = \"off\"":                           "codex must be true or false",
		"[stores]\njp = true\noff = [\"jp\"]":                 "jp is true, and in off; remove one of them",
		"[stores]\ncodx = false":                              `unknown key "codx"; did you mean "codex"?`,
		"[stores.directories]\ncodex = \"~/a\"":               "directories.codex must be an array of strings",
		"[stores.directories]\ncodex = [\"a\"]":               `"a" in directories.codex is not an absolute path`,
		"[stores]\noff = [\"x\"]\nexclude = [\"y\"]":          "in exclude is not an absolute path",
		"[stores]\nexclude = [\"**/acme\"]":                   `"**/acme" in exclude is not an absolute path`,
		"[stores]\nexclude = [\"~/a[\"]":                      `"~/a[" in exclude is no valid pattern`,
		"[stores]\nexclude = [\"~/{a,b\"]":                    `"~/{a,b" in exclude is no valid pattern`,
		"[stores]\nexclude = [\"~/*/../a\"]":                  `has "..", which a pattern cannot have`,
		"[store]\nexclude = [\"~/a\"]":                        `unknown key "store"; did you mean [stores]?`,
		"exclude = [\"~/a\"]":                                 `unknown key "exclude"; write it below [stores]`,
		"codx = false":                                        `unknown key "codx"; write it below [stores]`,
		"[trust.stores]\noff = []":                            `unknown key "stores" in [trust]`,
		"[trust]\ndirectories = \"~/a\"":                      "directories of [trust] must be an array of strings",
		"[stores.directories]\nexclude = [\"~/a\"]":           `unknown store "exclude" in directories`,
		"[index]\nof = true":                                  `unknown key "of" in [index]`,
		"[index]\noff = 1":                                    "off in index must be true or false",
		"index = true":                                        "index must be a table",
		"[stores":                                             "expected",
		strings.Repeat("#", 1<<20) + "\n[stores]\noff = []":   "",
		"[stores]\noff = [\"\\u001b[31m" + "\"]":              `"\x1b[31m"`,
		"[stores]\n\"" + strings.Repeat("long", 100) + "\"=1": "…",
	} {
		u := newUser(t, file)
		_, err := u.read()
		var problem *settings.Error
		if !errors.As(err, &problem) || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 || !strings.HasPrefix(err.Error(), "reading [stores] of ") {
			t.Errorf("%.60q: %v; want %s", file, err, want)
		}
	}
}

// A home directory that looks like a pattern is none.
func TestPatternsBelowHome(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "u[1]")
	file := filepath.Join(home, ".config", "convtools", "convtools.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("[stores]\nexclude = [\"~/a\", \"~/b*\"]"), 0o644); err != nil {
		t.Fatal(err)
	}
	u := &user{home, file}
	got, err := u.read()
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Patterns) != 1 || !strings.HasSuffix(got.Patterns[0], `/u\[1\]/b*`) {
		t.Errorf("patterns %q", got.Patterns)
	}
}

// A project's file restricts nothing, and whoever wrote it meant it to.
func TestCheckProject(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"":                       "",
		"[kb.topic.a]\ntitel=1":  "",
		"colour = 1":             `warning: convtools.toml: unknown key "colour", which is not read; known here: kb, mcp, model, session`,
		"[stores]\noff = []":     `convtools.toml of this project: unknown key "stores"; what is read of stores of conversations is the user's to say`,
		"[Stores]":               `unknown key "Stores"`,
		"[trust]":                `unknown key "trust"; whom to trust is the user's to say`,
		"[session]\nexclude = 1": `unknown key "exclude" in [session]`,
		"[stores":                "convtools.toml of this project: toml: ",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
		below := filepath.Join(dir, "below")
		if err := os.Mkdir(below, 0o755); err != nil {
			t.Fatal(err)
		}
		warnings, err := settings.CheckProject(below, func(string) string { return "" })
		got := ""
		if len(warnings) > 0 {
			got = "warning: " + strings.Join(warnings, "; ")
		}
		var problem *settings.Error
		if errors.As(err, &problem) {
			got = err.Error()
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%.60q: %q, want %s", file, got, want)
		}
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "[exclude%d]\n", i)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte(many.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.CheckProject(dir, func(string) string { return "" }); err == nil || !strings.HasSuffix(err.Error(), "; 992 more like these") || len(err.Error()) > 3000 {
		t.Errorf("many: %v", err)
	}
}

func TestNoFile(t *testing.T) {
	t.Parallel()
	u := newUser(t, "")
	if err := os.Remove(u.file); err != nil {
		t.Fatal(err)
	}
	for name, getenv := range map[string]func(string) string{"no file": u.getenv, "no home": func(string) string { return "" }} {
		if got, err := settings.Read(getenv, nil, nil); err != nil || got.Off != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if err := os.Symlink("missing", u.file); err != nil {
		t.Skip(err)
	}
	if _, err := u.read(); err == nil || !strings.Contains(err.Error(), "a link to a file that does not exist") {
		t.Errorf("a dangling link: %v", err)
	}
}

// Whatever the file holds, it is understood or an error, and every path is absolute.
func FuzzRead(f *testing.F) {
	f.Add("[stores]\noff = [\"jp\"]\nexclude = [\"~/a\"]\ndirectories.codex = [\"/b\"]")
	f.Add("[stores]\nexclude = [\"\\u0000\", 1]\n[stores.directories]\nx = {}")
	f.Fuzz(func(t *testing.T, file string) {
		s, err := newUser(t, file).read()
		var problem *settings.Error
		if err != nil && !errors.As(err, &problem) {
			t.Fatal(err)
		}
		for _, paths := range [][]string{s.Exclude, s.Directories["claude-code"], s.Directories["codex"]} {
			for _, path := range paths {
				if !filepath.IsAbs(path) {
					t.Errorf("%q", path)
				}
			}
		}
	})
}
