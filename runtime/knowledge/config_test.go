package knowledge

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
)

// lab is a directory with files, made for one test. Names that begin with
// "~/" are in a home directory beside it.
type lab struct {
	dir, home string
}

func newWorkspace(t testing.TB, files map[string]string) lab {
	t.Helper()
	base := t.TempDir()
	w := lab{filepath.Join(base, "work"), filepath.Join(base, "home")}
	for _, dir := range []string{w.dir, w.home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		w.write(t, name, content)
	}
	return w
}

func (w lab) path(name string) string {
	if below, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(w.home, filepath.FromSlash(below))
	}
	return filepath.Join(w.dir, filepath.FromSlash(name))
}

func (w lab) write(t testing.TB, name, content string) {
	t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (w lab) getenv(name string) string {
	switch name {
	case "HOME", "USERPROFILE":
		return w.home
	case "AppData":
		return filepath.Join(w.home, ".config")
	}
	return ""
}

// load opens the knowledge base of a directory with values of -k.
func load(dir string, getenv func(string) string, patterns []string) (*Base, error) {
	return Open(dir, Options{Getenv: getenv, Patterns: patterns})
}

func (w lab) load(knowledge ...string) (*Base, error) {
	return load(w.dir, w.getenv, knowledge)
}

func mustLoad(t *testing.T, files map[string]string, knowledge ...string) *Base {
	t.Helper()
	config, err := newWorkspace(t, files).load(knowledge...)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// loadError returns the text of the error that files and flags give.
func loadError(t *testing.T, files map[string]string, knowledge ...string) string {
	t.Helper()
	is, err := newWorkspace(t, files).load(knowledge...)
	var e *config.Error
	if !errors.As(err, &e) {
		t.Fatalf("load = %+v, %v; want a *config.Error", is, err)
	}
	if is != nil {
		t.Errorf("Load returns a configuration and an error")
	}
	lines := rendered(e.Problems)
	if len(lines) > 1 {
		lines = append([]string{fmt.Sprintf("the configuration of the knowledge base has %d problems:", len(lines))}, lines...)
	}
	return strings.Join(lines, "\n")
}

type Position = diag.Diagnostic

// topic is a Topic without its origin.
type flatTopic struct {
	ID, Title, Introduction, Description string
	Enabled                              bool
	Subjects, Outside                    string
	Learned, Disabled                    []string
	Defined, SubjectsAt                  Position
	PatternAt                            map[[2]string]Position
}

func flat(topics []*config.Topic) (all []flatTopic) {
	for _, t := range topics {
		all = append(all, flatTopic{
			t.ID, t.Title, t.Introduction, t.Description, t.Enable, t.Subjects, t.Outside, t.Learned, t.Disabled, t.Defined, t.SubjectsAt, t.PatternAt,
		})
	}
	return all
}

// rendered writes findings one below the other.
func rendered(list []config.Problem) (lines []string) {
	for _, d := range list {
		line := d.Severity.String() + ": " + d.Message + " [" + d.Rule + "]"
		if d.File != "" {
			line = text.Cell(d.Place()) + ": " + line
		}
		if d.Hint != "" {
			line += "\n  hint: " + d.Hint
		}
		lines = append(lines, line)
	}
	return lines
}

// withoutPlaces compares topics by what they mean.
func withoutPlaces() cmp.Option {
	return cmpopts.IgnoreFields(flatTopic{}, "Defined", "SubjectsAt", "PatternAt")
}

// begins is a position that is compared by where it begins.
func begins(file string, line, column int) Position {
	return Position{File: file, Span: diag.Span{Line: line, Col: column}}
}

const userTopics = "~/.config/convtools/convtools.toml"

func TestLoad(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		files     map[string]string
		knowledge []string
		want      []flatTopic
	}{
		{"no workspace", nil, nil, nil},
		{"nothing about topics", map[string]string{".jp/config.toml": "[assistant]\nname = 'x'\n", "convtools.toml": "# later\n"}, nil, nil},
		{"empty table", map[string]string{"convtools.toml": "[kb.topic]\n"}, nil, nil},
		{
			"KB-1 order of first definition, however tables are written",
			map[string]string{"convtools.toml": `
[kb.topic.zebra]
subjects = "z"
[kb.topic]
mouse.subjects = "m"
"ant" = { subjects = "a" }
[kb.topic.Bee]
subjects = "b"
[kb.topic.1]
subjects = "1"
`},
			nil,
			[]flatTopic{
				{ID: "zebra", Enabled: true, Subjects: "z"},
				{ID: "mouse", Enabled: true, Subjects: "m"},
				{ID: "ant", Enabled: true, Subjects: "a"},
				{ID: "Bee", Enabled: true, Subjects: "b"},
				{ID: "1", Enabled: true, Subjects: "1"},
			},
		},
		{
			"KB-1 order of first definition over files",
			map[string]string{
				userTopics:       "[kb.topic.user]\nsubjects = 'u'\n",
				".jp/kb.toml":    "[kb.topic.jp]\nsubjects = 'j'\n[kb.topic.kb]\nsubjects = 'k'\n[kb.topic.user]\nsubjects = 'u2'\n",
				"convtools.toml": "[kb.topic.last]\nsubjects = 'l'\n[kb.topic.jp]\ntitle = 'J'\n",
			},
			nil,
			[]flatTopic{
				{ID: "user", Enabled: true, Subjects: "u2"},
				{ID: "jp", Enabled: true, Subjects: "j", Title: "J"},
				{ID: "kb", Enabled: true, Subjects: "k"},
				{ID: "last", Enabled: true, Subjects: "l"},
			},
		},
		{
			"KB-2 every field",
			map[string]string{".jp/kb.toml": `
[kb.topic.project]
enable = false
title = "Project notes"
introduction = "How it is built."
description = """
Several lines
of text."""
subjects = "./.jp//kb/project/"
learned = ["style/**", "c++"]
disabled = ["drafts/*"]
`},
			nil,
			[]flatTopic{{
				ID: "project", Enabled: false, Title: "Project notes", Introduction: "How it is built.",
				Description: "Several lines\nof text.", Subjects: ".jp/kb/project",
				Learned: []string{"style/**", "c++"}, Disabled: []string{"drafts/*"},
			}},
		},
		{
			"KB-2 defaults",
			map[string]string{".jp/kb.toml": "[kb.topic.p]\nsubjects = '.'\nlearned = []\n"},
			nil,
			[]flatTopic{{ID: "p", Enabled: true, Subjects: "."}},
		},
		{
			"KB-4 layers merge by topic and key, -k is added",
			map[string]string{
				userTopics:       "[kb.topic.p]\ntitle = 'User'\nintroduction = 'From the user'\nlearned = ['a']\n",
				"convtools.toml": "[kb.topic.p]\ntitle = 'Workspace'\nsubjects = 'p'\nlearned = ['b']\n",
			},
			[]string{"p/c/d/**", "p/c/*"},
			[]flatTopic{{
				ID: "p", Enabled: true, Title: "Workspace", Introduction: "From the user", Subjects: "p",
				Learned: []string{"a", "b", "c/d/**", "c/*"},
			}},
		},
		{
			"A-20 lists grow and have each once, scalars are replaced",
			map[string]string{
				userTopics:       "[kb.topic.p]\nenable = false\nsubjects = 'u'\nlearned = ['x', 'y', 'x']\ndisabled = ['d']\n",
				".jp/kb.toml":    "[kb.topic.p]\nenable = true\nlearned = ['y', 'z']\ndisabled = []\n",
				"convtools.toml": "[kb.topic.p]\nsubjects = 'w'\nlearned = ['x']\ndisabled = ['e', 'd']\n",
			},
			[]string{"p/z", "p/new"},
			[]flatTopic{{ID: "p", Enabled: true, Subjects: "w", Learned: []string{"x", "y", "z", "new"}, Disabled: []string{"d", "e"}}},
		},
		{
			"A-20 a file that only adds comes before the one that defines",
			map[string]string{
				".jp/kb.toml":    "kb.topic.p.disabled = ['secret']\n",
				"convtools.toml": "[kb.topic.p]\nsubjects = 'p'\n",
			},
			nil,
			[]flatTopic{{ID: "p", Enabled: true, Subjects: "p", Disabled: []string{"secret"}}},
		},
		{
			"byte order mark and CRLF",
			map[string]string{"convtools.toml": "\ufeff[kb.topic.p]\r\nsubjects = 'p'\r\n"},
			nil,
			[]flatTopic{{ID: "p", Enabled: true, Subjects: "p"}},
		},
		{
			"A-18 the flag is split at the first slash",
			map[string]string{"convtools.toml": "[kb.topic.p]\nsubjects = 'p'\n"},
			[]string{"p//a/b", "p/ " + "x"},
			[]flatTopic{{ID: "p", Enabled: true, Subjects: "p", Learned: []string{"/a/b", " x"}}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			config := mustLoad(t, test.files, test.knowledge...)
			if diff := cmp.Diff(test.want, flat(config.usable), withoutPlaces()); diff != "" {
				t.Errorf("topics (-want +got):\n%s", diff)
			}
			for _, w := range config.problems() {
				t.Errorf("warning: %v", w)
			}
		})
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	config := mustLoad(t, map[string]string{
		userTopics: "[kb.topic.p]\nlearned = ['a']\n",
		"convtools.toml": `
kb = { topic = { 'q' = { subjects = 'é' }, p = {
  disabled = [ "x", # not this
    'y' ], subjects = "s" } } }
`,
	}, "p/z")
	user := "~/.config/convtools/convtools.toml"
	if runtime.GOOS == "windows" {
		user = "AppData/convtools/convtools.toml"
	}
	want := []flatTopic{
		{
			ID: "p", Enabled: true, Subjects: "s", Learned: []string{"a", "z"}, Disabled: []string{"x", "y"},
			Defined: begins(user, 1, 11), SubjectsAt: begins("convtools.toml", 4, 12),
			PatternAt: map[[2]string]Position{
				{"learned", "a"}: begins(user, 2, 12), {"learned", "z"}: {File: "-k"},
				{"disabled", "x"}: begins("convtools.toml", 3, 16), {"disabled", "y"}: begins("convtools.toml", 4, 5),
			},
		},
		{
			ID: "q", Enabled: true, Subjects: "é",
			Defined: begins("convtools.toml", 2, 18), SubjectsAt: begins("convtools.toml", 2, 26), PatternAt: map[[2]string]Position{},
		},
	}
	if diff := cmp.Diff(want, flat(config.usable), cmpopts.IgnoreFields(diag.Span{}, "EndLine", "EndCol")); diff != "" {
		t.Errorf("topics (-want +got):\n%s", diff)
	}
}

// The user's file is for all workspaces: what it adds to a topic that this one does
// not have is left out, and said. A topic that this workspace mentions has to be
// whole.
func TestTopicsOfTheUserAlone(t *testing.T) {
	t.Parallel()
	user := map[string]string{
		userTopics:       "[kb.topic.p]\nlearned = ['a']\n[kb.topic.other]\nlearned = ['b']\n[kb.topic.everywhere]\nsubjects = 'e'\n",
		"convtools.toml": "[kb.topic.p]\nsubjects = 'p'\n",
	}
	config := mustLoad(t, user)
	var ids []string
	for _, topic := range config.usable {
		ids = append(ids, topic.ID)
	}
	if diff := cmp.Diff([]string{"p", "everywhere"}, ids); diff != "" {
		t.Errorf("topics (-want +got):\n%s", diff)
	}
	if len(config.problems()) != 1 {
		t.Fatalf("warnings %v, want one", config.problems())
	}
	got := config.problems()[0]
	if got.Rule != RuleMissing || got.Severity != diag.Warning || got.Span.Line != 3 || !strings.Contains(got.Message, `topic "other" is left out here`) {
		t.Errorf("warning %v", got)
	}

	w := newWorkspace(t, user)
	if _, err := load(w.dir, w.getenv, []string{"other/x"}); err == nil || !strings.Contains(err.Error(), `there is no topic "other"`) {
		t.Errorf("learning from the topic that is left out: %v", err)
	}
	user["convtools.toml"] += "[kb.topic.other]\ntitle = 'Other'\n"
	w = newWorkspace(t, user)
	config, err := load(w.dir, w.getenv, nil)
	if err != nil || len(config.usable) != 2 || config.config.Wrong("kb.topic.other") == nil || config.config.Problems[0].Rule != RuleMissing {
		t.Errorf("a topic that the workspace mentions, without subjects: %+v, %v", config, err)
	}
}

func TestRoot(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, map[string]string{
		"a/convtools.toml":         "",
		"a/b/c/.jp":                "a file does not count",
		"a/b/d/.jp/x":              "",
		"a/b/d/convtools.toml/dir": "a directory does not count",
		"e/convtools.toml/dir":     "",
	})
	config, err := load(w.path("e"), w.getenv, nil)
	if err != nil || config.Root() != "" {
		t.Errorf("Load without a workspace = %+v, %v", config, err)
	}
	config, err = load(w.path("a/b/c"), nil, nil)
	if err != nil || config.Root() != w.path("a") {
		t.Errorf("Load below a root = %+v, %v", config, err)
	}
}

func TestLoadFromNoDirectory(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, map[string]string{"convtools.toml": ""})
	if _, err := load(w.path("typo"), nil, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load in a directory that does not exist: %v", err)
	}
	if _, err := load(w.path("convtools.toml"), nil, nil); err == nil {
		t.Error("Load in a file succeeds")
	}
}

func TestUserFile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no XDG directories")
	}
	w := newWorkspace(t, map[string]string{
		"convtools.toml":                 "[kb.topic.p]\nsubjects = 'p'\n",
		userTopics:                       "kb.topic.p.title = 'home'",
		"~/xdg/convtools/convtools.toml": "kb.topic.p.title = 'xdg'",
	})
	for _, test := range []struct {
		name        string
		env         map[string]string
		title, file string
	}{
		{"home", map[string]string{"HOME": w.home + "/"}, "home", "~/.config/convtools/convtools.toml"},
		{"XDG", map[string]string{"HOME": w.home, "XDG_CONFIG_HOME": w.path("~/xdg")}, "xdg", "~/xdg/convtools/convtools.toml"},
		{"XDG elsewhere", map[string]string{"HOME": "/nowhere", "XDG_CONFIG_HOME": w.path("~/xdg")}, "xdg", w.path("~/xdg") + "/convtools/convtools.toml"},
		{"relative XDG is ignored", map[string]string{"HOME": w.home, "XDG_CONFIG_HOME": "xdg"}, "home", "~/.config/convtools/convtools.toml"},
		{"no home", nil, "", ""},
		{"empty home", map[string]string{"HOME": w.path("none")}, "", ""},
		{"a file in the way", map[string]string{"XDG_CONFIG_HOME": w.path("convtools.toml")}, "", ""},
	} {
		config, err := load(w.dir, func(name string) string { return test.env[name] }, nil)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := config.usable[0].Title; got != test.title {
			t.Errorf("%s: the title is %q, want %q", test.name, got, test.title)
		}
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	const topic = "[kb.topic.p]\nsubjects = 'p'\n"
	link := func(target, name string) func(*testing.T, lab) {
		return func(t *testing.T, w lab) {
			if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
				t.Fatal(err)
			}
			target = strings.ReplaceAll(target, "HOME", w.home)
			if err := os.Symlink(target, w.path(name)); err != nil {
				t.Skipf("links cannot be made here: %v", err)
			}
		}
	}
	for _, test := range []struct {
		name string
		link func(*testing.T, lab)
		want string // the error; empty if the topic is found
	}{
		{"inside", link("other.toml", "convtools.toml"), ""},
		{"relative and outside", link("../home/kb.toml", "convtools.toml"), "the file cannot be read: "},
		{"absolute", link("HOME/kb.toml", "convtools.toml"), "the file cannot be read: "},
		{"dangling", link("nothing", "convtools.toml"), "a link to a file that does not exist"},
		{"a loop", link("convtools.toml", "convtools.toml"), "the file cannot be read: "},
		{"a directory elsewhere", link("HOME", ".jp"), ".jp is a link out of the project"},
		{"a trusted directory elsewhere", func(t *testing.T, w lab) {
			link("HOME", ".jp")(t, w)
			w.write(t, userTopics, "[trust]\ndirectories = ['~']\n")
		}, ""},
		{"a directory inside", link("real", ".jp"), ""},
		{"the user's own, anywhere", link("HOME/kb.toml", userTopics), ""},
		{"the user's own, dangling", link("HOME/no.toml", userTopics), "a link to a file that does not exist"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, map[string]string{"other.toml": topic, "~/kb.toml": topic, "real/kb.toml": topic})
			test.link(t, w)
			if _, err := os.Lstat(w.path(userTopics)); err == nil && test.name != "a trusted directory elsewhere" {
				w.write(t, "convtools.toml", "")
			}
			config, err := w.load()
			switch {
			case test.want == "" && (err != nil || len(config.usable) != 1):
				t.Errorf("Load = %+v, %v", config, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("Load = %v, want %s", err, test.want)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	topics := func(n int, keys string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "[kb.topic.t%d]\nsubjects = 's'\n%s", i, keys)
		}
		return b.String()
	}
	list := func(n int) string {
		var items []string
		for i := range n {
			items = append(items, fmt.Sprintf("'p%d'", i), fmt.Sprintf("'p%d'", i))
		}
		return "[kb.topic.p]\nsubjects = 's'\nlearned = [\n" + strings.Join(items, ",\n") + "]\n"
	}
	for _, test := range []struct {
		name, src, want string
	}{
		{"topics", topics(1000, ""), ""},
		{"patterns, each twice", list(64), ""},
		{"too many patterns", list(64 + 1), "convtools.toml:132:1: \"learned\" in [kb.topic.p] has more than 64 patterns; one pattern can be for many subjects: dir/** is for all below dir"},
		{"largest file", strings.Repeat("#\n", (64<<10)/2), ""},
		{"too large a file", strings.Repeat("#\n", (64<<10)/2) + "#", "convtools.toml: the file cannot be read: it has more than 65536 bytes"},
		{"nesting", "x = " + strings.Repeat("[", 10_001), "convtools.toml:1:10005: this is nested too deeply"},
		{"depth", "x" + strings.Repeat(".x", 128-1) + " = 1", ""},
		{"depth of a key", "x" + strings.Repeat(".x", 128) + " = 1", "convtools.toml:1:257: this is nested too deeply"},
		{"depth of a table", "[a.b]\nc" + strings.Repeat(".x", 128-2) + " = 1", "convtools.toml:2:253: this is nested too deeply"},
		{"depth of braces", "x = " + strings.Repeat("[{x=", 128) + "1" + strings.Repeat("}]", 128), "convtools.toml:1:515: this is nested too deeply"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := newWorkspace(t, map[string]string{"convtools.toml": test.src}).load()
			got := ""
			if err != nil {
				got, _, _ = strings.Cut(err.Error(), "\n  hint:")
			}
			if got != test.want {
				t.Errorf("Load = %q, want %q", got, test.want)
			}
		})
	}
}

func TestSubjectsOutside(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, map[string]string{
		userTopics:       "[kb.topic.home]\nsubjects = '~/notes'\n[kb.topic.root]\nsubjects = '/srv/notes/'\n[kb.topic.both]\nsubjects = '~/notes'\n",
		"convtools.toml": "[kb.topic.both]\nsubjects = 'kb'\n",
	})
	config, err := w.load()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, topic := range config.usable {
		got = append(got, topic.ID, topic.Subjects, topic.Outside)
	}
	want := []string{"home", "~/notes", filepath.Join(w.home, "notes"), "root", "/srv/notes/", filepath.Clean("/srv/notes"), "both", "kb", ""}
	if diff := cmp.Diff(want, got); diff != "" && runtime.GOOS != "windows" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
