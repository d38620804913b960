package conversationcli_test

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// TestLinks has ids on a terminal open the directories of their conversations, and
// paths what they name.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b;é%")
	w := jptest.New(dir, "tests")
	w.Conversation("17600000000", "parent").Title("Parent jp-c17600000000").TurnStart().User("needle")
	w.Conversation("17600000001", "child").Title(strings.Repeat("long ", 40)).Label("parent_id", "jp-c17600000000").TurnStart().User("needle")
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	on := func(env map[string]string, args ...string) string {
		var stdout, stderr bytes.Buffer
		host := testHost(dir, &stdout, &stderr)
		getenv := host.Getenv
		host.Getenv = func(name string) string {
			if value, ok := env[name]; ok {
				return value
			}
			return getenv(name)
		}
		host.Terminal, host.Width = true, 70
		if code := execute(t.Context(), host, dir, args...); code != 0 || stderr.Len() > 0 {
			t.Errorf("%q: exit code %d, %s", args, code, &stderr)
		}
		return stdout.String()
	}
	const prefix = "\x1b]8;;file://"
	end := "\x1b]8;;\x1b\\"
	linked := func(name, id string) string {
		return "/a%20b;%C3%A9%25/.jp/conversations/" + name + "\x1b\\" + id + end
	}
	parent, child := linked("17600000000-parent", "jp-c17600000000"), linked("17600000001-child", "jp-c17600000001")
	for _, tt := range []struct {
		args  []string
		want  []string // each once
		links int
	}{
		{[]string{"ls"}, []string{parent + "       2  ", child + "       2  "}, 2},
		{[]string{"ls", "--tree"}, []string{parent + "  Parent jp-c17600000000 ", child + "  [fork] long"}, 2},
		{[]string{"show", "17600000001"}, []string{parent + "\n", child + "  long"}, 2},
		{[]string{"grep", "needle"}, []string{parent + "\x1b[0m  Parent", child + "\x1b[0m  long"}, 2},
		{[]string{"print", "17600000000", "17600000001"}, []string{"══ " + prefix, child + " ══ long"}, 2},
		{[]string{"path", "17600000000", "--events"}, []string{"/17600000000-parent/events.json" + "\x1b\\"}, 1},
		{[]string{"ls", "--format=text"}, nil, 0},
		{[]string{"ls", "--format=json"}, nil, 0},
		{[]string{"path", "17600000000", "--format=json-pretty"}, nil, 0},
		{[]string{"print", "17600000000"}, nil, 0},
	} {
		got := on(nil, tt.args...)
		for _, want := range tt.want {
			if strings.Count(got, want) != 1 && want != "══ "+prefix {
				t.Errorf("%q printed %q, want %q in it", tt.args, got, want)
			}
		}
		if n := strings.Count(got, prefix); n != tt.links || n != strings.Count(got, end) {
			t.Errorf("%q has %d links, want %d: %q", tt.args, n, tt.links, got)
		}
		// What is laid out is as wide as without them.
		plain := regexp.MustCompile("\x1b\\]8;;[^\x1b]*\x1b\\\\").ReplaceAllString(got, "")
		for _, env := range []map[string]string{{"TERM": "linux"}, {"NO_COLOR": "1"}, {"TERM": "dumb"}} {
			without := on(env, tt.args...)
			if strings.Contains(without, "\x1b]") || env["TERM"] == "linux" && without != plain {
				t.Errorf("%q with %v printed %q, want %q", tt.args, env, without, plain)
			}
		}
	}
}

// TestLinksAreForTerminals has none be written to a pipe.
func TestLinksAreForTerminals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := jptest.New(dir, "tests")
	w.Conversation("17600000000", "x").TurnStart().User("needle")
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ls"}, {"ls", "--format=text-pretty"}, {"ls", "--tree"}, {"show"}, {"grep", "needle"}, {"path"}} {
		if got := run(t, dir, args...); got.code != 0 || strings.Contains(got.stdout, "\x1b") {
			t.Errorf("%q: %+v", args, got)
		}
	}
}
