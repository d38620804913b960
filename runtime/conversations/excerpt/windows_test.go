package excerpt

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/cases"
)

func ignoringCase(t testing.TB, text string) *Pattern {
	t.Helper()
	p, err := Compile(text, false, true)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWindows(t *testing.T) {
	t.Parallel()
	dots := func(n int) string { return strings.Repeat(".", n) }
	for _, test := range []struct {
		name, line string
		most       int
		want       string
	}{
		{"one match", dots(200) + "needle" + dots(200), 100, "…" + dots(46) + "needle" + dots(46) + "…"},
		{"two far apart", dots(200) + "needle" + dots(200) + "NEEDLE" + dots(200), 100, "…" + dots(46) + "needle" + dots(46) + "…"},
		{"two within one window", dots(200) + "needle..needle" + dots(200), 100, "…" + dots(46) + "needle..needle" + dots(38) + "…"},
		{"at both ends", "needle" + dots(200) + "needle", 100, "needle" + dots(93) + "…"},
		{"everywhere", strings.Repeat("needle ", 100), 65, strings.Repeat("needle ", 9) + "n…"},
		{"no match", dots(200), 50, dots(49) + "…"},
		{"longer than a window", dots(50) + strings.Repeat("needle", 20) + dots(50), 20, "…" + dots(6) + "needleneedle…"},
	} {
		line := []byte(test.line)
		if got := string(ignoringCase(t, "needle").Window(line, test.most, true).Text); got != test.want {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
	}
}

// checkWindow checks what the window of a line promises.
func checkWindow(t *testing.T, line []byte, most int, p *Pattern) {
	t.Helper()
	total := utf8.RuneCount(line)
	if most < minWindow || total <= most {
		return
	}
	w := p.Window(line, most, true)
	got := string(w.Text)
	if !utf8.ValidString(got) {
		t.Fatalf("%q of %q is no UTF-8", got, line)
	}
	if n := utf8.RuneCountInString(got); n > most {
		t.Fatalf("the window of %q has %d characters of %d: %q", line, n, most, got)
	}
	if !strings.Contains(string(line), strings.Trim(got, "…")) {
		t.Fatalf("%q is not in %q", got, line)
	}
	matches := slices.Collect(p.Spans(line))
	if len(matches) == 0 {
		return
	}
	if len(w.Matches) == 0 {
		t.Fatalf("no match of %q is in %q", line, got)
	}
	first, shown := matches[0], w.Matches[0]
	if utf8.RuneCount(line[first.Start:first.End])+2 <= most && got[shown.Start:shown.End] != string(line[first.Start:first.End]) {
		t.Fatalf("%q of %q is not the first match", got[shown.Start:shown.End], line)
	}
}

func TestWindowsOfRandomLines(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(21, 22))
	alphabet := []rune("abAB é日x\u212ak")
	for range cases.Of(2_500) {
		var b strings.Builder
		for range 50 + rng.IntN(400) {
			b.WriteRune(alphabet[rng.IntN(len(alphabet))])
		}
		p := ignoringCase(t, []string{"ab", "aba", "日x", "é日x", "kkkk"}[rng.IntN(5)])
		checkWindow(t, []byte(b.String()), minWindow+rng.IntN(300), p)
	}
}

func FuzzWindows(f *testing.F) {
	f.Add(strings.Repeat("a", 90)+"b"+strings.Repeat("a", 300)+"B", "b", 100)
	f.Add(strings.Repeat("ab", 90), "baba", 81)
	f.Add(strings.Repeat("\u212a", 200), "kk", 130)
	f.Fuzz(func(t *testing.T, line, word string, most int) {
		if !utf8.ValidString(line) || strings.Contains(line, "\n") {
			t.Skip()
		}
		p, err := Compile(word, false, true)
		if err != nil {
			t.Skip()
		}
		checkWindow(t, []byte(line), most, p)
	})
}
