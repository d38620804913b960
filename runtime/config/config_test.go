package config_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/convtools/convtools/runtime/config"
)

// disabled returns the tables that cannot be used, and the first problem.
func disabled(c *config.Config) (tables, problem string) {
	var wrong []string
	for _, table := range []string{"index", "kb", "kb.topic.a", "mcp.a", "model.a", "recall", "session", "stores", "trust"} {
		var e *config.Error
		if err := c.Wrong(table); errors.As(err, &e) {
			wrong = append(wrong, table)
		}
	}
	if len(wrong) == 9 {
		wrong = []string{"all"}
	}
	if len(c.Problems) > 0 {
		problem = c.Problems[0].Error()
	}
	return strings.Join(wrong, " "), problem
}

// A wrong table disables what it configures, and no more. A key that may be meant to exclude conversations disables
// reading them, wherever it is.
func TestProblems(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]struct{ disables, problem string }{
		"":                       {"", ""},
		"[index]\noff = true":    {"", ""},
		"[stores]\ncodex = true": {"", ""},
		"[kb.topic.trust]\nsubjects = 'x'\n[model.off]\napi = 'x'\n[mcp.stores]\nenv = { exclude = '1' }\n[model.a.request]\noff = 1": {"", ""},

		"stores = 1":                                  {"stores", `1:1: "stores" has to be a table`},
		"[[stores]]":                                  {"stores", `"stores" has to be a table`},
		"[stores]\noff = 'jp'":                        {"stores", `2:1: "off" in [stores] has to be an array of strings`},
		"[stores]\noff = [1]":                         {"stores", `"off" in [stores] has to be an array of strings`},
		"[stores]\nexclude = ['/a', 'acme']":          {"stores", `2:18: "acme" in exclude of [stores] is not an absolute path; write a path that begins with / or ~/`},
		"[stores]\nexclude = ['~acme']":               {"stores", "is not an absolute path"},
		"[stores]\nexclude = [\"/a\\u0000\"]":         {"stores", "is not an absolute path"},
		"[stores]\nexclude = ['**/acme']":             {"stores", "is not an absolute path"},
		"[stores]\nexclude = ['~/a[']":                {"stores", `"~/a[" in exclude of [stores] is no valid pattern`},
		"[stores]\nexclude = ['~/{a,b']":              {"stores", `is no valid pattern`},
		"[stores]\nexclude = ['~/*/../a']":            {"stores", `has "..", which a pattern cannot have`},
		"[stores]\ndirectories = ['/a']":              {"stores", `"directories" in [stores] has to be a table`},
		"[stores.directories]\ncodex = '~/a'":         {"stores", `"directories" in [stores] has to be a table of arrays of strings`},
		"[stores.directories]\ncodex = ['a']":         {"stores", `"a" in directories.codex of [stores] is not an absolute path`},
		"[stores]\ncodex = 'off'":                     {"stores", `"codex" in [stores] has to be a boolean`},
		"[store]\nexclude = ['~/a']":                  {"stores", `1:2: unknown key "store"; did you mean [stores]?`},
		"[Stores]":                                    {"stores", `unknown key "Stores"; did you mean [stores]?`},
		"exclude = ['~/a']":                           {"stores", `unknown key "exclude"; write it below [stores]`},
		"ignore = ['~/a']":                            {"stores", `unknown key "ignore"; write it below [stores]`},
		"codex = false":                               {"stores", `unknown key "codex"; write it below [stores]`},
		"[exclusions]\ndirs = []":                     {"stores", `unknown key "exclusions"; write it below [stores]`},
		"[privacy]\nEXCLUDE = []":                     {"stores", `unknown key "privacy"; write it below [stores]`},
		"[tool.convtools.stores]":                     {"stores", `unknown key "tool"`},
		"[[rules]]\na = 1\n[[rules]]\nexclude = 'x'":  {"stores", `unknown key "rules"`},
		"[trust.stores]\nexclude = []":                {"stores trust", `unknown key "stores" in [trust]; write it below [stores]`},
		"[trsut]":                                     {"trust", `did you mean [trust]?`},
		"[trust]\ndirectories = 3":                    {"trust", "has to be an array of strings"},
		"[trust]\ndirectories = ['a']":                {"trust", "is not an absolute path"},
		"[index]\nsize = 3":                           {"index", `2:1: unknown key "size" in [index]; known here: off`},
		"[index]\nof = true":                          {"index stores", `unknown key "of" in [index]`},
		"[index]\noff = 1":                            {"index", `"off" in [index] has to be a boolean`},
		"[recall]\nlangauge = 'german'":               {"recall", `did you mean "language"?`},
		"[recall]\nlanguage = 1":                      {"recall", "has to be a string"},
		"[session]\nexclude = []":                     {"session stores", `unknown key "exclude" in [session]; write it below [stores]`},
		"[session]\nmodle = 'a'":                      {"session", `unknown key "modle" in [session]; did you mean "model"?`},
		"[session]\nmax_conversations = 0":            {"session", "has to be from 1 to 100,000"},
		"[sesion]\nmax_conversations = 1":             {"session", `unknown key "sesion"; did you mean [session]?`},
		"[model.a]\nexclude = []":                     {"model.a stores", `unknown key "exclude" in [model.a]; write it below [stores]`},
		"[model.a]\napi = 3":                          {"model.a", `2:1: "api" in [model.a] has to be a string`},
		"[model.b]\napi = 3":                          {"", `"api" in [model.b] has to be a string`},
		"[model.a]\ntimeout = 30":                     {"model.a", `"timeout" in [model.a] has to be a duration, as "30s"`},
		"[mcp.a]\nenv = 3":                            {"mcp.a", `"env" in [mcp.a] has to be a table`},
		"[kb.topic.a]\ntitel = 'x'":                   {"kb.topic.a", `2:1: unknown key "titel" in [kb.topic.a]; did you mean "title"?`},
		"[kb.topic.a]\nexclude = []":                  {"kb.topic.a stores", `unknown key "exclude" in [kb.topic.a]`},
		"[kb.topics.a]\ndisabled = []":                {"kb kb.topic.a", `unknown key "topics" in [kb]; did you mean "topic"?`},
		"[topic.a]":                                   {"kb kb.topic.a", "topics stand under [kb.topic.<id>]"},
		"colour = 'blue'\n[weather]\nwind = 3":        {"", `1:1: unknown key "colour"; known here: kb, mcp, model, session, index, recall, stores, trust`},
		"[modle.x]":                                   {"", `unknown key "modle"; did you mean [model]?`},
		"[stores":                                     {"all", "1:7: expected"},
		strings.Repeat("#", 1<<20) + "\n":             {"all", "the file cannot be read: it has more than 65536 bytes"},
		"[stores]\n\"\\u001b[31m\" = 1":               {"stores", `"\x1b[31m" in [stores]`},
		"\"" + strings.Repeat("long", 100) + "\" = 1": {"", "…"},
	} {
		l := newLab(t)
		l.setting(file)
		got, problem := disabled(config.Read(l.project, l.getenv))
		if got != want.disables || !strings.Contains(problem, want.problem) || (problem == "") != (want.problem == "") || len(problem) > 500 {
			t.Errorf("%.60q disables %q: %s; want %q: %s", file, got, problem, want.disables, want.problem)
		}
	}
}

// A project cannot set what only the user may set.
func TestProject(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]struct{ disables, problem string }{
		"[kb.topic.a]\nsubjects = 'x'\n[session]\nmodel = 'a'": {"", ""},
		"[stores]\noff = []":      {"stores", `unknown key "stores"; what is read of stores of conversations is for the user to say, in ~/.config/convtools/convtools.toml; a file called .convtools-exclude excludes this project`},
		"[index]\noff = true":     {"stores", "what is read of stores"},
		"[kb.topic.a]\nexclude=1": {"kb.topic.a stores", "what is read of stores"},
		"[trust]":                 {"", `convtools.toml:1:2: unknown key "trust"; whom to trust is for the user to say, in ~/.config/convtools/convtools.toml`},
		"colour = 'blue'":         {"", `known here: kb, mcp, model, session`},
		"[model.a]\nx = 1":        {"model.a", ""},
		"[stores":                 {"all", "expected"},
	} {
		l := newLab(t)
		l.write("project/convtools.toml", file)
		got, problem := disabled(config.Read(filepath.Join(l.project, "."), l.getenv))
		if got != want.disables || !strings.Contains(problem, want.problem) {
			t.Errorf("%q disables %q: %s; want %q: %s", file, got, problem, want.disables, want.problem)
		}
	}
}

// Many problems make a short message, and disable all that they should.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 3_000 {
		fmt.Fprintf(&many, "[model.m%d]\nx=1\n", i)
	}
	many.WriteString("[session]\nx = 1\n")
	l := newLab(t)
	l.write("project/convtools.toml", many.String())
	c := config.Read(l.project, l.getenv)
	if err := c.Wrong("session"); err == nil {
		t.Errorf("%v; %d problems", err, len(c.Problems))
	}
	if err := c.Wrong("model.m2999"); err == nil {
		t.Error("the last table is not wrong")
	}
	if said := config.Sentences(c.Problems); len(said) != 9 || !strings.HasSuffix(said[8], "more like these") {
		t.Errorf("%q", said)
	}
}

// A home directory that looks like a pattern is not one.
func TestPatternsBelowHome(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.home = filepath.Join(l.base, "u[1]")
	l.write("u[1]/.config/convtools/convtools.toml", "[stores]\nexclude = ['~/a', '~/b*/', '/srv/{x,y}/./[z]']")
	got := config.Read(l.project, l.getenv).Stores
	patterns := []string{config.QuotePattern(l.home) + "/b*", "/srv/{x,y}/[z]"}
	if !slices.Equal(got.Patterns, patterns) || len(got.Exclude) != 3 || got.Exclude[1] != filepath.Join(l.home, "b*") {
		t.Errorf("%q, %q", got.Exclude, got.Patterns)
	}
}

// The pattern of a name matches that name, and no other.
func TestQuotePattern(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"/a/b", "/u[1]/b", "/*/?", "/{a,b}", "/a]b}", "/日本"} {
		if ok, err := doublestar.Match(config.QuotePattern(name), name); !ok || err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if ok, _ := doublestar.Match(config.QuotePattern(name), "/u1/b"); ok {
			t.Errorf("%s matches another name", name)
		}
	}
}

// Every file is valid or has a problem, and every path is absolute.
func FuzzRead(f *testing.F) {
	f.Add("[stores]\noff = [\"jp\"]\nexclude = [\"~/a\"]\ndirectories.codex = [\"/b\"]")
	f.Add("[stores]\nexclude = [\"\\u0000\", 1]\n[stores.directories]\nx = {}")
	f.Add("[stores]\noff = 'jp'\nexclude = ['~/a']")
	f.Add("kb = { topic = { a = { learned = [[1], { b = 1 }] } } }\n[[model.a]]\n[mcp]\na.env.b = 3\n[index]\noff = nan")
	f.Fuzz(func(t *testing.T, file string) {
		l := newLab(t)
		l.setting(file)
		l.write("project/convtools.toml", file)
		c := config.Read(l.project, l.getenv)
		for _, p := range c.Problems {
			if p.Message == "" || strings.ContainsRune(p.Error(), '\n') {
				t.Errorf("%q", p)
			}
		}
		for _, path := range slices.Concat(c.Stores.Exclude, c.Stores.Directories["codex"], c.Trust.Directories) {
			if !filepath.IsAbs(path) {
				t.Errorf("%q", path)
			}
		}
	})
}
