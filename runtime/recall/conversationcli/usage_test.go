package conversationcli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// TestErrors checks that wrong use and bad input get the right exit code, one
// line that says what is wrong, one that says what to do, and no other output.
func TestErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writeSample(filepath.Join(dir, "project"), filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "project")
	tests := []struct {
		name   string
		args   []string
		code   int
		stderr []string // parts, in order
	}{
		{"unknown command", []string{"gerp", "x"}, 2, []string{`error: unknown command "gerp"; did you mean convtools conversation grep?`, "hint: see"}},
		{"unknown flag", []string{"ls", "--limt=3"}, 2, []string{"error: unknown flag: --limt", "hint: "}},
		{"unknown format", []string{"ls", "--format=yaml"}, 2, []string{`error: --format cannot be "yaml"`, "hint: use one of auto"}},
		{"summary of text", []string{"ls", "--summary"}, 2, []string{"error: --summary", "hint: add --format=json"}},
		{"limit is no number", []string{"ls", "--limit=many"}, 2, []string{`error: --limit cannot be "many"`, "hint: "}},
		{"limit is too large", []string{"ls", "--limit=99999999999999999999"}, 2, []string{`error: --limit cannot be "99999999999999999999"`}},
		{"no truth value", []string{"ls", "--hidden=maybe"}, 2, []string{`error: --hidden cannot be "maybe"`}},
		{"several malformed ids", []string{"ls", "x!", "17600000000", "y!"}, 2, []string{`error: invalid conversation id "x!"`, "hint: an id looks like"}},
		{"several unknown ids", []string{"grep", "--ids=17600000001,17600000000", "--id=17610000001", "x"}, 1, []string{"error: conversations jp-c17600000001, jp-c17610000001 not found in ", "hint: nearest ids: jp-c17600000000"}},
		{"negative limit", []string{"ls", "--limit=-1"}, 2, []string{"error: --limit cannot be \"-1\""}},
		{"negative offset", []string{"ls", "--offset=-1"}, 2, []string{"error: --offset cannot be \"-1\""}},
		{"unknown sort", []string{"ls", "--sort=size"}, 2, []string{`error: --sort cannot be "size"`, "hint: use one of activity, created"}},
		{"both directions", []string{"ls", "--ascending", "--descending"}, 2, []string{"error: --ascending and --descending"}},
		{"label without key", []string{"ls", "--label==x"}, 2, []string{`error: --label cannot be "=x"`, "--label KEY"}},
		{"malformed id", []string{"ls", "jp-cABC"}, 2, []string{`error: invalid conversation id "jp-cABC"`, "hint: an id looks like"}},
		{"id that is a path", []string{"print", "../../etc/passwd"}, 2, []string{"error: invalid conversation id"}},
		{"unknown id", []string{"print", "jp-c17600000001"}, 1, []string{"error: conversation jp-c17600000001 not found in ", "hint: nearest ids: jp-c17600000000"}},
		{"unknown id in ls", []string{"ls", "17600000001"}, 1, []string{"not found", "hint: nearest ids"}},
		{"unknown id in grep", []string{"grep", "--id=17600000001", "x"}, 1, []string{"not found", "hint: nearest ids"}},
		{"no pattern", []string{"grep"}, 2, []string{"error: the pattern is empty"}},
		{"two lines", []string{"grep", "a\nb"}, 2, []string{"error: the pattern has more than one line"}},
		{"pattern with NUL", []string{"grep", "a\x00b"}, 2, []string{"error: the pattern contains a NUL byte", "hint: "}},
		{"pattern that is not UTF-8", []string{"grep", "a\xff"}, 2, []string{"error: the pattern is not valid UTF-8"}},
		{"dash without --", []string{"grep", "--retry"}, 2, []string{"error: unknown flag: --retry", "hint: see convtools help conversation grep; to give text that starts with '-', put -- before it"}},
		{"short dash without --", []string{"grep", "-z"}, 2, []string{"error: unknown shorthand flag", "put -- before it"}},
		{"-i is not ignore-case", []string{"grep", "-i", "retry", "x"}, 2, []string{"error: invalid conversation id", "hint: an id looks like"}},
		{"empty id", []string{"grep", "--id=", "x"}, 2, []string{"error: --id is empty"}},
		{"bad regular expression", []string{"grep", "-r", "a(b"}, 2, []string{"error: invalid pattern: ", "hint: the syntax is RE2"}},
		{"look-ahead", []string{"grep", "-r", "a(?=b)"}, 2, []string{"error: invalid pattern: ", "look-around"}},
		{"contradicting case", []string{"grep", "--ignore-case", "--case-sensitive", "x"}, 2, []string{"error: --ignore-case and --case-sensitive"}},
		{"contradicting headings", []string{"grep", "--heading", "--no-heading", "x"}, 2, []string{"error: --heading and --no-heading"}},
		{"unknown scope", []string{"grep", "--scope=tools", "x"}, 2, []string{`error: --scope cannot be "tools"`, "hint: use one of title, user"}},
		{"unknown output", []string{"grep", "--output=lines", "x"}, 2, []string{"error: --output cannot be"}},
		{"negative context", []string{"grep", "--context=-1", "x"}, 2, []string{"error: --context cannot be \"-1\"", "hint: --context N: show N lines before and after each match"}},
		{"hidden and not", []string{"edit", "17600000000", "--unhide", "--hide"}, 2, []string{"error: --hide and --unhide exclude each other", "hint: give only one of them"}},
		{"a title and none", []string{"edit", "17600000000", "--title=x", "--no-title"}, 2, []string{"error: --title and --no-title exclude each other"}},
		{"expiry and none", []string{"edit", "17600000000", "--tmp", "--no-tmp"}, 2, []string{"error: --tmp and --no-tmp exclude each other"}},
		{"a title of none", []string{"print", "no such title"}, 2, []string{"hint: an id looks like jp-c17800836875"}},
		{"an id with a typo", []string{"print", "jp-d17600000000"}, 2, []string{"hint: an id looks like jp-c17800836875"}},
		{"turn and last", []string{"print", "17600000000", "--turn=1", "--last"}, 2, []string{"error: --turn and --last exclude each other"}},
		{"turn backwards", []string{"print", "17600000000", "--turn=3..1"}, 2, []string{`error: --turn cannot be "3..1"`, "hint: it ends before it begins"}},
		{"turn is no number", []string{"print", "17600000000", "--turn=two"}, 2, []string{`error: --turn cannot be "two"`}},
		{"empty turn", []string{"print", "17600000000", "--turn="}, 2, []string{`error: --turn cannot be ""`}},
		{"negative last", []string{"print", "17600000000", "--last=-1"}, 2, []string{"error: --last cannot be \"-1\""}},
		{"unknown style", []string{"print", "17600000000", "--style=short"}, 2, []string{"error: --style cannot be", "hint: use one of user, chat, brief, full"}},
		{"workspace that is none", []string{"ls", "--workspace", dir}, 1, []string{"error: "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, project, tt.args...)
			if got.code != tt.code {
				t.Errorf("exit code %d, want %d", got.code, tt.code)
			}
			if got.stdout != "" {
				t.Errorf("standard output %q, want nothing", got.stdout)
			}
			rest := got.stderr
			for _, part := range tt.stderr {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Errorf("standard error lacks %q (in this order):\n%s", part, got.stderr)
				}
				rest = after
			}
			if strings.Contains(got.stderr, "Usage:") || strings.Contains(got.stderr, "\x00") {
				t.Errorf("standard error holds a usage page or a NUL byte:\n%s", got.stderr)
			}
		})
	}
}

func TestNoWorkspace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got := run(t, dir, "ls"); got.code != 1 || !strings.Contains(strings.ToLower(got.stderr), "could not locate workspace") {
		t.Errorf("exit code %d, standard error %q", got.code, got.stderr)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"--help"}, {"grep", "--help"}, {"print", "-h"}} {
		got := run(t, t.TempDir(), args...)
		if got.code != 0 || !strings.Contains(got.stdout, "Usage:") || got.stderr != "" {
			t.Errorf("%q: exit code %d, standard output %q, standard error %q", args, got.code, got.stdout, got.stderr)
		}
	}
}

// TestCountsOfTurns checks the number of --last and --first, which may be missing, after "=", or
// an argument of its own.
func TestCountsOfTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := jptest.New(dir, "tests")
	for _, id := range []string{"17600000000", "17700000000"} {
		c := w.Conversation(id, "c").LastActivated(now())
		for i := range 12 {
			c.TurnStart().User(fmt.Sprintf("%s asks %d.", id, i+1))
		}
	}
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	const a, b = "17600000000", "17700000000"
	for _, tt := range []struct {
		args string
		id   string
		want string // turns
	}{
		{"--last " + a, a, "12"},
		{a + " --last", a, "12"},
		{a + " --last 3", a, "10 11 12"},
		{"--last 3 " + a, a, "10 11 12"},
		{"--last=3 " + a, a, "10 11 12"},
		{"--last=1 " + a, a, "12"},
		{"--first 2 " + b, b, "1 2"},
		{"--first --style chat " + b, b, "1"},
		{"--last " + b + " --style chat", b, "12"},
	} {
		got := run(t, dir, append([]string{"print", "--style=user"}, strings.Fields(strings.ReplaceAll(tt.args, "--style chat", "--style user"))...)...)
		var turns []string
		for _, m := range regexp.MustCompile(`(\d+) asks (\d+)\.`).FindAllStringSubmatch(got.stdout, -1) {
			if m[1] != tt.id {
				t.Errorf("%s prints %s", tt.args, m[1])
			}
			turns = append(turns, m[2])
		}
		if got := strings.Join(turns, " "); got != tt.want {
			t.Errorf("%s prints turns %q, want %q", tt.args, got, tt.want)
		}
	}
	for args, want := range map[string]string{
		"--last 3 4":         "conversation jp-c4 not found",
		"--last -- 3":        "conversation jp-c3 not found",
		"--last 1000000":     `jp-c1000000`,
		"--last 99999 " + b:  "",
		"--last 3 --first 2": "exclude each other",
	} {
		if got := run(t, dir, append([]string{"print"}, strings.Fields(args)...)...); !strings.Contains(got.stderr, want) {
			t.Errorf("print %s: standard error %q, want %q", args, got.stderr, want)
		}
	}
}

// TestReadingWritesNothing compares the files of a workspace before and after.
func TestReadingWritesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writeSample(dir, filepath.Join(t.TempDir(), "data")); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	for _, args := range [][]string{{"ls"}, {"ls", "--archived"}, {"grep", "retry"}, {"print", "17640000000"}} {
		run(t, dir, args...)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("the workspace changed (-before +after):\n%s", diff)
	}
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files[path] = info.Mode().String() + info.ModTime().String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestLongTitles checks that ls cuts a long title, and ls --full does not.
func TestLongTitles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "w")
	w := jptest.New(dir, "tests")
	title := strings.Repeat("x", 5000)
	w.Conversation("17600000000", "c").Title(title).TurnStart().User("hello")
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	if got := run(t, dir, "ls").stdout; !strings.Contains(got, "  "+title[:199]+"…\n") {
		t.Errorf("ls printed %d bytes", len(got))
	}
	if got := run(t, dir, "ls", "--full").stdout; !strings.Contains(got, title) {
		t.Error("ls --full cuts the title")
	}
}

// TestRemoveMany removes a parent and hundreds of descendants.
func TestRemoveMany(t *testing.T) {
	t.Parallel()
	const n = 450
	dir := t.TempDir()
	w := jptest.New(dir, "tests")
	for i := range n {
		w.Conversation(fmt.Sprintf("17600000%03d", i), "c").Label("parent_id", fmt.Sprintf("jp-c17600000%03d", i/2)).TurnStart().User("x")
	}
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	got := run(t, dir, "rm", "jp-c17600000001", "--yes")
	if lines := strings.Count(got.stdout, "removed jp-c"); got.code != 0 || lines != n-1 {
		t.Errorf("exit code %d, %d removed, %q", got.code, lines, got.stderr)
	}
	if got := run(t, dir, "ls").stdout; strings.Count(got, "jp-c") != 1 {
		t.Errorf("%d lines are left", strings.Count(got, "\n"))
	}
}
