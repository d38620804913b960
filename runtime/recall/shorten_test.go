package recall

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// lines joins lines.
func lines(texts ...string) string { return strings.Join(texts, "\n") }

// numberedLines are n lines, each with a word and its number.
func numberedLines(word string, n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%s %d", word, i+1))
	}
	return lines(all...)
}

func TestShorten(t *testing.T) {
	t.Parallel()
	sentences := func(n int) string { return strings.Repeat("Some words. ", n) }
	for _, tc := range []struct {
		name  string
		text  body
		limit int
		as    form
		want  string
	}{
		{"fits", newText("abc", 0, 0), 3, prose(), "abc"},
		{
			"output loses its middle, and begins with what it is", newText(numberedLines("row", 100), 0, 0), 120, output(),
			lines("row 1", "row 2", "row 3", "row 4", "row 5", "row 6", "row 7", "row 8", "row 9", "row 10", "[… 596 chars …]", "row 96", "row 97", "row 98", "row 99", "row 100"),
		},
		{
			"prose favours its end", newText(numberedLines("line", 100), 0, 0), 120, prose(),
			lines("line 1", "line 2", "line 3", "line 4", "line 5", "[… 701 chars …]", "line 94", "line 95", "line 96", "line 97", "line 98", "line 99", "line 100"),
		},
		{
			"a fence keeps its first lines, and the prose around it stays", newText(lines("Look:", "```go", numberedLines("code", 50), "```", "My recommendation: the second."), 0, 0), 200, prose(),
			lines("Look:", "```go", "code 1", "code 2", "code 3", "[… 371 chars …]", "```", "My recommendation: the second."),
		},
		{
			"the longest paste first", newText(lines("One:", "", numberedLines("> quoted", 8), "", "Two:", "", numberedLines("| cell", 40), "", "Which?"), 0, 0), 220, prose(),
			lines("One:", "", numberedLines("> quoted", 8), "", "Two:", "", "| cell 1", "| cell 2", "| cell 3", "[… 366 chars …]", "Which?"),
		},
		{
			"a log", newText(lines("Why?", numberedLines("2025-12-20T11:32:19Z DEBUG", 30), "So?"), 0, 0), 200, prose(),
			lines("Why?", "2025-12-20T11:32:19Z DEBUG 1", "2025-12-20T11:32:19Z DEBUG 2", "2025-12-20T11:32:19Z DEBUG 3", "[… 805 chars …]", "So?"),
		},
		{
			"a long line of a paste is cut", newText(lines("Why?", "```", strings.Repeat("word ", 100), numberedLines("code", 10), "```"), 0, 0), 300, prose(),
			lines("Why?", "```", strings.TrimSuffix(strings.Repeat("word ", 48), " "), "[… 333 chars …]", "```"),
		},
		{
			"a fence that never ends is prose", newText(lines("Why?", "```", numberedLines("code", 30)), 0, 0), 100, prose(),
			lines("Why?", "```", "code 1", "code 2", "code 3", "code 4", "[… 164 chars …]", "code 26", "code 27", "code 28", "code 29", "code 30"),
		},
		{
			"headings stay with some text, as many as have room", newText(lines("# One", sentences(60), "## Two", sentences(60), "**Three:**", sentences(60), "## Four", sentences(60), "Done."), 0, 0), 1300, prose(),
			lines("# One", sentences(31)+"Some words.", "[… 1066 chars …]", "**Three:**", sentences(9)+"Some words.", "[… 602 chars …]", "## Four", sentences(9)+"Some words.", "[… 30 chars …]", "words. "+sentences(47), "Done."),
		},
		{
			"no heading stays without its text", newText(lines("# One", sentences(30), "## Two", sentences(30), "**Three:**", sentences(30), "Done."), 0, 0), 500, prose(),
			lines("# One", sentences(15)+"Some", "[… 640 chars …]", sentences(23), "Done."),
		},
		{
			"a short fence stays while longer pastes can give", newText(lines("Fix:", "```go", numberedLines("code", 6), "```", numberedLines("| cell", 40), "So?"), 0, 0), 220, prose(),
			lines("Fix:", "```go", numberedLines("code", 6), "```", "| cell 1", "| cell 2", "| cell 3", "[… 365 chars …]", "So?"),
		},
		{
			"what the mark would be longer than stays", newText(lines("# One", "short", "# Two", sentences(40), "The end."), 0, 0), 200, prose(),
			lines("# One", "short", "# Two", sentences(4)+"Some", "[… 337 chars …]", "words. "+sentences(7), "The end."),
		},
		{
			"cut before", newText(lines("head", "tail"), 10_000, 4), 40, prose(),
			lines("head", "[… 9992 chars …]", "tail"),
		},
		{
			"cut before, inside of a fence", newText(lines("Why?", "```", numberedLines("code", 12), numberedLines("code", 9), "```", "So?"), 10_000, 60), 110, prose(),
			lines("Why?", "```", "code 1", "code 2", "code 3", "[… 9964 chars …]", "```", "So?"),
		},
		{"one long word", newText(strings.Repeat("潮", 500), 0, 0), 100, output(), strings.Repeat("潮", 46) + "\n[… 424 chars …]\n" + strings.Repeat("潮", 30)},
		{"almost nothing", newText(numberedLines("line", 100), 0, 0), maxMark, prose(), "[… 791 chars …]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := tc.text.shorten(tc.limit, tc.as)
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// randomProse is text with everything that shortening looks at.
func randomProse(r *rand.Rand) string {
	var parts []string
	for range 1 + r.IntN(12) {
		n := r.IntN(25)
		switch r.IntN(9) {
		case 0:
			parts = append(parts, fmt.Sprintf("## Heading %d", r.IntN(100)))
		case 1:
			parts = append(parts, "```go\n"+numberedLines("code", n)+"\n```")
		case 2:
			parts = append(parts, numberedLines("| cell |", n))
		case 3:
			parts = append(parts, numberedLines("> quoted", n))
		case 4:
			parts = append(parts, numberedLines("2025-01-02 03:04:05 said", n))
		case 5:
			parts = append(parts, strings.Repeat("潮🌊", n*20))
		case 6:
			parts = append(parts, "", "```", "")
		default:
			parts = append(parts, strings.Repeat("Some words and some more. ", n)+"End.")
		}
	}
	return strings.Join(parts, []string{"\n", "\n\n"}[r.IntN(2)])
}

// TestShortenKeepsItsPromises over random texts.
func TestWithoutPastes(t *testing.T) {
	t.Parallel()
	quoted := numberedLines("> quoted", 60)
	for _, tc := range []struct {
		name, text, want string
	}{
		{"none", strings.Repeat("Some words. ", 100), strings.Repeat("Some words. ", 100)},
		{"a short one stays", lines("```", numberedLines("code", 12), "```", quoted, "So?"), lines("```", numberedLines("code", 12), "```", "> quoted 1", "> quoted 2", "> quoted 3", "[… 679 chars …]", "So?")},
		{"all of them", lines(quoted, "And:", "", quoted), lines("> quoted 1", "> quoted 2", "> quoted 3", "[… 679 chars …]", "And:", "", "> quoted 1", "> quoted 2", "> quoted 3", "[… 678 chars …]")},
	} {
		text := newText(tc.text, 0, 0)
		shorter := text.withoutPastes(400)
		if diff := cmp.Diff(tc.want, shorter.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestShortenKeepsItsPromises(t *testing.T) {
	t.Parallel()
	shortened := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := randomProse(r)
		n := utf8.RuneCountInString(s)
		b := newText(s, 0, 0)
		if r.IntN(4) == 0 {
			b = newText(s, n+1+r.IntN(5000), r.IntN(n+1))
		}
		limit := maxMark + r.IntN(1800)
		as := []form{prose(), output()}[r.IntN(2)]
		checkShortened(t, &b, limit, as)
		got := b.shorten(limit, as)
		if got.isShortened() && as.structured && len(b.gaps) == 0 {
			shortened++
			checkProse(t, s, got.String(), limit)
		}
		again := got.shorten(max(maxMark, limit/2), as)
		if total := b.kept() + b.missing(); again.kept()+again.missing() != total {
			t.Errorf("shortened twice, %d and %d characters are not %d", again.kept(), again.missing(), total)
		}
		if t.Failed() {
			t.Fatalf("seed %d, limit %d:\n%s\n-----\n%s", seed, limit, b.String(), got.String())
		}
	}
	if shortened < 300 {
		t.Errorf("only %d texts are shortened: the test has lost its subject", shortened)
	}
}

// checkShortened checks what goes for any text: it keeps to the limit, what is kept
// stands where it stood, and the marks count the rest.
func checkShortened(t *testing.T, b *body, limit int, as form) {
	t.Helper()
	got := b.shorten(limit, as)
	if n := utf8.RuneCountInString(got.String()); n > max(limit, maxMark) {
		t.Errorf("%d characters, limit %d", n, limit)
	}
	if b.length() <= limit && got.String() != b.String() {
		t.Error("what fits is changed")
	}
	if len(got.parts) != len(got.gaps)+1 {
		t.Fatalf("%d parts and %d gaps", len(got.parts), len(got.gaps))
	}
	// Missing characters of b are anything, here NUL, which newText makes visible.
	var full []rune
	for i, part := range b.parts {
		if i > 0 {
			full = append(full, make([]rune, b.gaps[i-1])...)
		}
		full = append(full, []rune(part)...)
	}
	at := 0
	for i, part := range got.parts {
		if i > 0 {
			if got.gaps[i-1] <= 0 {
				t.Errorf("a gap of %d", got.gaps[i-1])
			}
			at += got.gaps[i-1]
		}
		n := utf8.RuneCountInString(part)
		if at+n > len(full) || string(full[at:at+n]) != part {
			t.Fatalf("part %d is not where it stood: %.200q", i, part)
		}
		at += n
	}
	if at != len(full) {
		t.Errorf("parts and gaps are %d characters of %d", at, len(full))
	}
	marked := 0
	for _, m := range regexp.MustCompile(`(?m)^\[… (\d+) chars …\]$`).FindAllStringSubmatch(got.String(), -1) {
		n, _ := strconv.Atoi(m[1])
		marked += n
	}
	if marked < got.missing() { // a recorded text may have marks of its own
		t.Errorf("marks count %d of %d", marked, got.missing())
	}
}

// checkProse checks that the last paragraph is kept while it takes no more than its
// part, and headings while they fit.
func checkProse(t *testing.T, s, got string, limit int) {
	t.Helper()
	last := s[strings.LastIndex(s, "\n")+1:]
	if n := utf8.RuneCountInString(last); n <= limit*60*75/100/100-2*maxMark && pastedKind(last) == "" && !strings.HasPrefix(last, "`") && !strings.HasSuffix(got, last) {
		t.Errorf("the last line is lost: %q", last)
	}
	var headings []string
	cost := 0
	for _, line := range strings.Split(s, "\n") {
		if strings.HasPrefix(line, "## ") {
			headings = append(headings, line)
			cost += len(line) + 1 + headingText + maxMark
		}
	}
	fenced := strings.Count(s, "```") != 2*strings.Count(s, "```go") // some may be code
	if fenced || cost > limit/headingShare*2/3-maxMark {
		return
	}
	for _, h := range headings {
		if !strings.Contains(got, h) {
			t.Errorf("%q is lost", h)
		}
	}
}

func FuzzShorten(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomProse(rand.New(rand.NewPCG(seed, 6))), uint16(300), uint16(0), seed%2 == 0)
	}
	f.Add("```\n````\n~~~\n\n\n```", uint16(40), uint16(7), true)
	f.Add("[… 12 chars …]\r\n\x00\u202e\xff", uint16(40), uint16(900), false)
	f.Fuzz(func(t *testing.T, s string, limit, missing uint16, asProse bool) {
		as := output()
		if asProse {
			as = prose()
		}
		n := utf8.RuneCountInString(s)
		for _, b := range []body{newText(s, n+int(missing), n/2), newJSON(strings.ToValidUTF8(s, "?"), 0, 0)} {
			checkShortened(t, &b, max(maxMark, int(limit)), as)
		}
	})
}
