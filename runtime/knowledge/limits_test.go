package knowledge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

const bigTopic = "[kb.topic.big]\nsubjects = \"kb\"\n"

// place writes one file of a workspace.
func place(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every subject of a list that is too long is either in it or counted, and what
// is counted can be had with the call that stands there.
func TestLongListsCount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place(t, dir, "convtools.toml", bigTopic)
	long := strings.Repeat("n", 100)
	const folders, files = 6, 250
	for f := range folders {
		for n := range files {
			place(t, dir, fmt.Sprintf("kb/t%d[x]/%s%03d.md", f, long, n), "x")
		}
	}
	place(t, dir, "kb/z.md", "at the top, behind everything")
	b := open(t, dir, knowledge.Options{})
	text := learn(t, b, "big")
	if n := utf8.RuneCountInString(text); n > 101_000 {
		t.Errorf("the list has %d characters", n)
	}
	listed := strings.Count(text, "\n- t")
	more := regexp.MustCompile(`(?m)^- … ([\d,]+) more: use subjects=(.*)$`).FindStringSubmatch(text)
	if more == nil {
		t.Fatal("nothing is counted")
	}
	if counted, err := strconv.Atoi(strings.ReplaceAll(more[1], ",", "")); err != nil || listed+counted != folders*files+1 {
		t.Errorf("%d listed and %d counted, want %d together, %v", listed, counted, folders*files+1, err)
	}
	for _, quoted := range strings.Split(more[2], ", ") {
		var pattern string
		if err := json.Unmarshal([]byte(quoted), &pattern); err != nil {
			t.Fatal(err)
		}
		want := files
		if pattern == "*" {
			want = 1
		}
		if got := strings.Count(learn(t, b, "big", pattern), "<subject "); got != want {
			t.Errorf("%s loads %d subjects, want %d", quoted, got, want)
		}
	}
}

var leftOutCall = regexp.MustCompile(`subjects (\[.*?\])[.;]`)

// What does not fit into an answer is named, and following the calls that are
// named loads everything once.
func TestAnswersHaveACeiling(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place(t, dir, "convtools.toml", bigTopic)
	// Three of them fit into an answer, and the one of the largest size only alone.
	const n = 10
	for i := range n {
		place(t, dir, fmt.Sprintf("kb/s%d.md", i), strings.Repeat("x", 1_300_000))
	}
	place(t, dir, "kb/a-alone.md", strings.Repeat("y", subjects.MaxSize))
	place(t, dir, "kb/b-over.md", strings.Repeat("z", subjects.MaxSize+1))
	place(t, dir, "kb/c-grows.md", strings.Repeat("\u202e", subjects.MaxSize/4))
	b := open(t, dir, knowledge.Options{})
	seen := map[string]int{}
	patterns := []string{"**"}
	for calls := 0; patterns != nil; calls++ {
		if calls > n {
			t.Fatal("following the calls does not end")
		}
		text := learn(t, b, "big", patterns...)
		if len(text) > 4<<20+64<<10 {
			t.Fatalf("an answer has %d bytes", len(text))
		}
		for i := range n {
			seen[fmt.Sprint("s", i)] += strings.Count(text, fmt.Sprintf("<subject \"s%d\">", i))
		}
		if calls == 0 {
			wants(t, text[len(text)-1000:], `(subject "a-alone": fits only into an answer of its own: load it alone)`,
				`(subject "b-over": skipped: over the limit of 4 MiB)`,
				`(subject "c-grows": cannot be loaded: what is to be shown of it is over the limit of 4 MiB)`,
				`(7 subjects do not fit into this answer`)
		}
		if len(patterns) == 1 && len(text) == 1_300_000 {
			seen[patterns[0]]++ // One subject alone comes bare.
		}
		patterns = nil
		if m := leftOutCall.FindStringSubmatch(text[max(0, len(text)-1000):]); m != nil {
			if err := json.Unmarshal([]byte(m[1]), &patterns); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, times := range seen {
		if times != 1 {
			t.Errorf("%s was loaded %d times", name, times)
		}
	}
	if got := learn(t, b, "big", "a-alone"); got != strings.Repeat("y", subjects.MaxSize) {
		t.Errorf("a subject of the largest size has %d bytes", len(got))
	}
	wants(t, learn(t, b, "big"), "- b-over (4.2 MB: over the limit of 4 MiB, cannot be loaded)", "- a-alone (about 1,049,000 tokens)")
}

func TestSectionHasACeiling(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place(t, dir, "convtools.toml", bigTopic+"learned = [\"**\"]\n")
	for i := range 4 {
		place(t, dir, fmt.Sprintf("kb/s%d.md", i), strings.Repeat("x", 1_300_000))
	}
	_, _, err := open(t, dir, knowledge.Options{}).Section(t.Context())
	if err == nil || !strings.Contains(err.Error(), "4 MiB") || !strings.Contains(err.Error(), `"big"`) {
		t.Errorf("got %v", err)
	}
}

// Names are part of answers, and cannot be used to write other parts of them.
func TestNamesCannotForge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place(t, dir, "convtools.toml", bigTopic)
	for _, name := range []string{"a\n- forged.md", "b\"><x>.md", "c<|subject>.md", "d\u202e.md", "e\xff.md"} {
		if err := os.MkdirAll(filepath.Join(dir, "kb"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "kb", name), []byte("x"), 0o644); err != nil {
			t.Skipf("this file system takes no such names: %v", err)
		}
	}
	b := open(t, dir, knowledge.Options{})
	list := learn(t, b, "big")
	if n := strings.Count(list, "\n- "); n != 5 {
		t.Errorf("the list has %d entries, want 5:\n%s", n, list)
	}
	wantsNone(t, list, "\u202e", "\xff")
	all := learn(t, b, "big", "*")
	wants(t, all, `<subject "b&quot;><x>">`)
	opening := regexp.MustCompile(`(?m)^<subject "[^"\n]*">$`)
	if n := len(opening.FindAllString(all, -1)); n != 5 {
		t.Errorf("%d of 5 elements begin as they should:\n%s", n, all)
	}
	if n := strings.Count(all, "</subject>"); n != 5 {
		t.Errorf("%d elements end, want 5:\n%s", n, all)
	}
}

func TestIncompleteScansAreSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place(t, dir, "convtools.toml", bigTopic)
	place(t, dir, "kb/a.md", "A.")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "kb", "b.md")); err != nil {
		t.Skip(err)
	}
	b := open(t, dir, knowledge.Options{})
	wants(t, learn(t, b, "big"), "- a\n", "here 1; `convtools knowledge check`")
	refused(t, b, "big", "b")
	findings, err := b.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(findings) != 1 || findings[0].Rule != knowledge.RuleLeftOut || findings[0].File != "kb/b.md" {
		t.Errorf("got %+v", findings)
	}
}

// What a file holds must not keep the check busy.
func TestCheckOfHostileText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place(t, dir, "convtools.toml", bigTopic)
	const size = 1 << 20
	var runs strings.Builder
	for n := 1; runs.Len() < 60_000; n++ {
		runs.WriteString(strings.Repeat("`", n) + " ")
	}
	for name, text := range map[string]string{
		"opening":   strings.Repeat("](", size/2),
		"lines":     strings.Repeat(strings.Repeat("](", 30_000)+"\n", size/60_001),
		"parens":    strings.Repeat("]("+strings.Repeat("(", 5000)+"\n", 200),
		"backticks": strings.Repeat(runs.String()+"\n", size/(runs.Len()+1)),
		"dots":      strings.Repeat("[x](../../../../a/../", size/22),
	} {
		place(t, dir, "kb/"+name+".md", text)
	}
	place(t, dir, "kb/.hidden one.md", "x")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := open(t, dir, knowledge.Options{}).Check(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestCheckOfSizes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place(t, dir, "convtools.toml", bigTopic+"learned = [\"b\"]\n")
	place(t, dir, "kb/a.md", strings.Repeat("x", subjects.MaxSize+1))
	place(t, dir, "kb/b.gif", "\x00")
	findings, err := open(t, dir, knowledge.Options{}).Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range findings {
		got = append(got, fmt.Sprintf("%s %s %s", f.Rule, f.Severity, f.File))
	}
	want := []string{"KB008 error kb/a.md", "KB014 error kb/b.gif"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
