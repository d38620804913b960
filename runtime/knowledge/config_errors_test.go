package knowledge

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/config"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	const project = "[kb.topic.project]\ntitle = 'Project notes'\nsubjects = 'kb'\n"
	one := func(src string) map[string]string { return map[string]string{"convtools.toml": src} }
	tests := []struct {
		name      string
		files     map[string]string
		knowledge []string
		want      string
	}{
		{
			"KB-2 unknown key in a topic", one("[kb.topic.p]\nsubjects = 'p'\n  titel = 'x'\n"), nil,
			"convtools.toml:3:3: error: unknown key \"titel\" in [kb.topic.p] [KC001]\n  hint: did you mean \"title\"?",
		},
		{
			"KB-2 keys in another case", one("[kb.topic.p]\nsubjects = 'p'\nEnable = true\n"), nil,
			"convtools.toml:3:1: error: unknown key \"Enable\" in [kb.topic.p] [KC001]\n  hint: did you mean \"enable\"?",
		},
		{
			"KB-2 unknown key like no other", one("[kb.topic.p]\nsubjects = 'p'\nweight = 3\n"), nil,
			"convtools.toml:3:1: error: unknown key \"weight\" in [kb.topic.p] [KC001]\n  hint: known here: description, disabled, enable, introduction, learned, subjects, title",
		},
		{
			"KB-2 a key that would drive a terminal", one("[kb.topic.p]\nsubjects = 'p'\n\"\\u001b[2J\\u202e\" = 3\n"), nil,
			"convtools.toml:3:1: error: unknown key \"\\x1b[2J\\u202e\" in [kb.topic.p] [KC001]\n  hint: known here: description, disabled, enable, introduction, learned, subjects, title",
		},
		{
			"KB-2 wrong types", one("[kb.topic.p]\nenable = 'no'\ntitle = 5\nintroduction = 1.5\ndescription = ['x']\nsubjects = true\nlearned = 'a/**'\ndisabled = ['a', 2, { b = 3 }]\n"), nil,
			`the configuration of the knowledge base has 7 problems:
convtools.toml:2:1: error: "enable" in [kb.topic.p] has to be a boolean [KC001]
convtools.toml:3:1: error: "title" in [kb.topic.p] has to be a string [KC001]
convtools.toml:4:1: error: "introduction" in [kb.topic.p] has to be a string [KC001]
convtools.toml:5:1: error: "description" in [kb.topic.p] has to be a string [KC001]
convtools.toml:6:1: error: "subjects" in [kb.topic.p] has to be a string [KC001]
convtools.toml:7:1: error: "learned" in [kb.topic.p] has to be an array of strings [KC001]
convtools.toml:8:1: error: "disabled" in [kb.topic.p] has to be an array of strings [KC001]`,
		},
		{
			"KB-1 kb is no table", one("kb = 1979-05-27\n"), nil,
			"convtools.toml:1:1: error: \"kb\" has to be a table [KC001]",
		},
		{
			"KB-1 topic is no table", one("kb.topic = 'x'\n"), nil,
			"convtools.toml:1:4: error: \"topic\" in [kb] has to be a table [KC001]",
		},
		{
			"KB-1 a topic is no table", one("kb.topic.p = 'docs'\n"), nil,
			"convtools.toml:1:10: error: \"p\" in [kb.topic] has to be a table [KC001]",
		},
		{
			"KB-1 double brackets", one("[[kb.topic.p]]\nsubjects = 'p'\n"), nil,
			"convtools.toml:1:12: error: \"p\" in [kb.topic] has to be a table [KC001]",
		},
		{
			"KB-1 other keys of kb", one("[kb]\ntopics.p.subjects = 'p'\n[kb.project]\nsubjects = 'p'\n"), nil,
			`the configuration of the knowledge base has 2 problems:
convtools.toml:2:1: error: unknown key "topics" in [kb] [KC001]
  hint: did you mean "topic"?
convtools.toml:3:5: error: unknown key "project" in [kb] [KC001]
  hint: known here: topic`,
		},
		{
			"KB-1 a topic without kb",
			map[string]string{".jp/kb.toml": "[topic.p]\nsubjects = 'p'\n"},
			nil,
			".jp/kb.toml:1:2: error: unknown key \"topic\" [KC001]\n  hint: topics stand under [kb.topic.<id>]",
		},
		{
			"KB-1 a misspelt table", one("[Kb.topic.p]\nsubjects = 'p'\n"), nil,
			"convtools.toml:1:2: error: unknown key \"Kb\" [KC001]\n  hint: did you mean [kb]?",
		},
		{
			"KB-3 a topic without subjects", one("[kb.topic.p]\ntitle = 'x'\n[kb.topic.q]\nenable = false\n"), nil,
			`the configuration of the knowledge base has 2 problems:
convtools.toml:1:11: error: topic "p" has no subjects [KC005]
  hint: add subjects = ".jp/kb/p", the directory of its files relative to the workspace
convtools.toml:3:11: error: topic "q" has no subjects [KC005]
  hint: add subjects = ".jp/kb/q", the directory of its files relative to the workspace`,
		},
		{
			"KB-3 not said twice, nor hidden by another", one("[kb.topic.p]\nsubjects = 1\n[kb.topic.q]\n"), nil,
			`the configuration of the knowledge base has 2 problems:
convtools.toml:2:1: error: "subjects" in [kb.topic.p] has to be a string [KC001]
convtools.toml:3:11: error: topic "q" has no subjects [KC005]
  hint: add subjects = ".jp/kb/q", the directory of its files relative to the workspace`,
		},
		{
			"A-18 an id that TOML wants in quotes", one("[kb.topic.a]\nsubjects = 'a'\n[kb.topic.ü]\n"), nil,
			"convtools.toml:3:11: error: expected '.' or ']' to end table name, but got 'ü' instead [KC001]",
		},
		{
			"A-18 ids", one("['kb'.topic.'a b']\nsubjects = 'p'\nfoo = 1\n[kb.topic.'a.b']\n[kb.topic.'']\n[kb.topic.'ü']\n[kb.topic.a.b]\n[kb.topic.a]\nsubjects = 'a'"), nil,
			`the configuration of the knowledge base has 6 problems:
convtools.toml:1:13: error: "a b" cannot be the id of a topic [KC007]
  hint: use letters, digits, _ and -, at most 64
convtools.toml:3:1: error: unknown key "foo" in [kb.topic.a b] [KC001]
  hint: known here: description, disabled, enable, introduction, learned, subjects, title
convtools.toml:4:11: error: "a.b" cannot be the id of a topic [KC007]
  hint: use letters, digits, _ and -, at most 64
convtools.toml:5:11: error: "" cannot be the id of a topic [KC007]
  hint: use letters, digits, _ and -, at most 64
convtools.toml:6:11: error: "ü" cannot be the id of a topic [KC007]
  hint: use letters, digits, _ and -, at most 64
convtools.toml:7:13: error: unknown key "b" in [kb.topic.a] [KC001]
  hint: known here: description, disabled, enable, introduction, learned, subjects, title`,
		},
		{
			"A-18 an id that is too long", one("[kb.topic." + strings.Repeat("x", 65) + "]\n"), nil,
			"convtools.toml:1:11: error: \"" + strings.Repeat("x", 65) + "\" cannot be the id of a topic [KC007]\n  hint: use letters, digits, _ and -, at most 64",
		},
		{
			"empty patterns", one("[kb.topic.p]\nsubjects = 'p'\nlearned = ['a', '']\ndisabled = [\n  ' ',\n]\n"), nil,
			`the configuration of the knowledge base has 2 problems:
convtools.toml:3:17: error: "" in learned of topic "p" is an empty pattern [KC008]
  hint: remove it; ** is for all subjects
convtools.toml:5:3: error: " " in disabled of topic "p" is an empty pattern [KC008]
  hint: remove it; ** is for all subjects`,
		},
		{
			"A-5 malformed patterns", one("[kb.topic.p]\nsubjects = 'p'\nlearned = ['notes [v2]', 'c[']\ndisabled = [\n  'drafts/{a,secret', 'drafts/[s*', 'a/b\\', '" + strings.Repeat("a", 256) + "*', '{1,2,3,4,5,6,7,8,9}{1,2,3,4,5,6,7,8}', './a\\/'\n]\n"), nil,
			`the configuration of the knowledge base has 7 problems:
convtools.toml:3:26: error: "c[" in learned of topic "p" is no valid pattern: a [ or { is not closed, or it ends in \ (write \[ for a bracket) [KC008]
convtools.toml:5:3: error: "drafts/{a,secret" in disabled of topic "p" is no valid pattern: a [ or { is not closed, or it ends in \ (write \[ for a bracket) [KC008]
convtools.toml:5:23: error: "drafts/[s*" in disabled of topic "p" is no valid pattern: a [ or { is not closed, or it ends in \ (write \[ for a bracket) [KC008]
convtools.toml:5:37: error: "a/b\\" in disabled of topic "p" is no valid pattern: a [ or { is not closed, or it ends in \ (write \[ for a bracket) [KC008]
convtools.toml:5:45: error: "` + strings.Repeat("a", 79) + `…" in disabled of topic "p" is longer than 256 bytes [KC008]
convtools.toml:5:306: error: "{1,2,3,4,5,6,7,8,9}{1,2,3,4,5,6,7,8}" in disabled of topic "p" stands for more than 64 patterns: use fewer { } in it, or several patterns [KC008]
convtools.toml:5:346: error: "./a\\/" in disabled of topic "p" is no valid pattern: a [ or { is not closed, or it ends in \ (write \[ for a bracket) [KC008]`,
		},
		{
			"A-18 a malformed pattern", one(project),
			[]string{"project/c[", "project/\xff*"},
			`the configuration of the knowledge base has 2 problems:
-k: error: "c[" in learned of topic "project" is no valid pattern: a [ or { is not closed, or it ends in \ (write \[ for a bracket) [KC008]
-k: error: "\xff*" in learned of topic "project" is no valid pattern: it is not UTF-8 [KC008]`,
		},
		{
			"TOML", one("[kb.topic.p]\nsubjects = p\n"), nil,
			"convtools.toml:2:12: error: expected value but found \"p\" instead [KC001]",
		},
		{
			"TOML after a byte order mark", one("\ufeff[kb.topic.p\n"), nil,
			"convtools.toml:1:12: error: expected '.' or ']' to end table name, but got '\\n' instead [KC001]",
		},
		{
			"the same table twice", one("[kb.topic.p]\nsubjects = 'p'\n[kb.topic.p]\n"), nil,
			"convtools.toml:3:2: error: Key 'kb.topic.p' has already been defined [KC001]",
		},
		{
			"not UTF-8", one("[kb.topic.p]\ntitle = 'caf\xe9'\n"), nil,
			"convtools.toml:2:10: error: invalid UTF-8 byte: 0xe9 [KC001]",
		},
		{
			"what is broken makes nothing else missing",
			map[string]string{".jp/kb.toml": "kb", "convtools.toml": "[kb.topic.q]\n"},
			[]string{"p/x", "r"},
			".jp/kb.toml:1:2: error: unexpected EOF; expected key separator '=' [KC001]",
		},
		{
			"problems of several files, in the order of files",
			map[string]string{
				".jp/kb.toml": "y = 1\n", "convtools.toml": "z = 1\n" + project,
			},
			[]string{"projekt/a"},
			`the configuration of the knowledge base has 3 problems:
-k: error: there is no topic "projekt" [KC011]
  hint: did you mean "project"? topics: project
.jp/kb.toml:1:1: warning: unknown key "y" [KC001]
  hint: known here: kb, mcp, model, session
convtools.toml:1:1: warning: unknown key "z" [KC001]
  hint: known here: kb, mcp, model, session`,
		},
		{
			"A-18 no slash", one(project),
			[]string{"project"},
			"-k: error: \"project\" does not say which subjects of the topic; TOPIC/GLOB is expected [KC011]\n  hint: for all of them write -k 'project/**'",
		},
		{
			"A-18 no slash, mistyped", one(project),
			[]string{"Project"},
			"-k: error: \"Project\" does not say which subjects of the topic; TOPIC/GLOB is expected [KC011]\n  hint: did you mean \"project\"? topics: project",
		},
		{
			"A-18 empty pattern", one(project),
			[]string{"project/"},
			"-k: error: \"project/\" does not say which subjects of the topic; TOPIC/GLOB is expected [KC011]\n  hint: for all of them write -k 'project/**'",
		},
		{
			"A-18 empty topic", one(project),
			[]string{"/a", ""},
			`the configuration of the knowledge base has 2 problems:
-k: error: there is no topic "" [KC011]
  hint: topics: project
-k: error: "" does not say which subjects of the topic; TOPIC/GLOB is expected [KC011]
  hint: topics: project`,
		},
		{
			"A-18 unknown topic", one(project + "[kb.topic.old]\nenable = false\nsubjects = 'old'\n"),
			[]string{"rust/**"},
			"-k: error: there is no topic \"rust\" [KC011]\n  hint: topics: project",
		},
		{
			"A-18 titles do not count", one(project),
			[]string{"project notes/a"},
			"-k: error: there is no topic \"project notes\" [KC011]\n  hint: did you mean \"project\"? topics: project",
		},
		{
			"A-18 disabled topic", one("[kb.topic.old]\nenable = false\nsubjects = 'old'\n"),
			[]string{"old/**"},
			"-k: error: there is no topic \"old\" [KC011]\n  hint: no topic is configured; add [kb.topic.<id>] to convtools.toml",
		},
		{
			"A-18 no topics", one(""),
			[]string{"a/b"},
			"-k: error: there is no topic \"a\" [KC011]\n  hint: no topic is configured; add [kb.topic.<id>] to convtools.toml",
		},
		{
			"A-18 no workspace", nil,
			[]string{"a/b"},
			"-k: error: there is no workspace, and so no topic [KC011]\n  hint: run this in a workspace, at or below a directory that has .jp or convtools.toml",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, loadError(t, test.files, test.knowledge...)); diff != "" {
				t.Errorf("the error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSubjectsPaths(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, dir, clean string }{
		{"A-22 plain", "docs", "docs"},
		{"A-22 unclean", "./docs//kb/.", "docs/kb"},
		{"A-22 dot directory", ".jp/kb", ".jp/kb"},
		{"A-22 dots in a name", "..docs/a..b", "..docs/a..b"},
		{"A-22 the root", ".", "."},
		{"A-22 blanks", " my docs ", " my docs "},
		{"A-22 absolute", "/etc", ""},
		{"A-22 absolute, unclean", "//host/share", ""},
		{"A-22 parent", "..", ""},
		{"A-22 parent of the root", "a/../../b", ""},
		{"A-22 parent, inside", "a/../b", "b"},
		{"A-22 drive", "c:/kb", ""},
		{"A-22 drive-relative", "C:kb", ""},
		{"A-22 UNC", `\\host\share`, ""},
		{"A-22 backslashes", `docs\..\..\x`, ""},
		{"A-22 home", "~/kb", ""},
		{"A-22 NUL", "a\x00b", ""},
		{"A-22 newline", "a\nb", ""},
		{"A-22 empty", "", ""},
		{"A-22 blank", " ", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if clean, ok := config.ProjectPath(test.dir); ok != (test.clean != "") || ok && clean != test.clean {
				t.Errorf("ProjectPath(%q) = %q, %t, want %q", test.dir, clean, ok, test.clean)
			}
		})
	}
	got := loadError(t, map[string]string{".jp/kb.toml": "[kb.topic.p]\nenable = false\nsubjects = \"../up\"\n"})
	want := ".jp/kb.toml:3:1: error: subjects of topic \"p\" is \"../up\", which is no path inside the workspace, with slashes and without .. [KC006]\n" +
		"  hint: write a path relative to the workspace, such as .jp/kb/project; only your own configuration may name a directory elsewhere"
	if got != want {
		t.Errorf("the error is\n%s\nwant\n%s", got, want)
	}
}

// warnings returns what a configuration that is loaded warns of.
func warnings(t *testing.T, files map[string]string) []string {
	t.Helper()
	return rendered(mustLoad(t, files).problems())
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{
			"KB-1 another table, which is no matter for topics",
			map[string]string{"convtools.toml": "colour = 1\n[kb.topic.p]\nsubjects = 'p'\n[modle.x]\n"},
			[]string{
				"convtools.toml:1:1: warning: unknown key \"colour\" [KC001]\n  hint: known here: kb, mcp, model, session",
				"convtools.toml:4:2: warning: unknown key \"modle\" [KC001]\n  hint: did you mean [model]?",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, warnings(t, test.files)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	got := loadError(t, map[string]string{".jp/kb.toml/x": "", "convtools.toml": ""})
	if want := ".jp/kb.toml: error: the file cannot be read: it is not a regular file [KC001]"; got != want {
		t.Errorf("a directory: %s\nwant %s", got, want)
	}
	if runtime.GOOS != "windows" {
		w := newWorkspace(t, map[string]string{".jp": "a file", "convtools.toml": ""})
		if _, err := w.load(); err != nil {
			t.Errorf("a file where .jp could be: %v", err)
		}
	}
}
