package conversations

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/cases"
)

// wordsOf parses words that ignore case.
func wordsOf(t testing.TB, texts ...string) []*pattern {
	t.Helper()
	words, err := parseWords(&EventQuery{Words: texts, IgnoreCase: true})
	if err != nil {
		t.Fatal(err)
	}
	return words
}

func TestWindows(t *testing.T) {
	t.Parallel()
	dots := func(n int) string { return strings.Repeat(".", n) }
	for _, test := range []struct {
		name, line  string
		most, count int
		want        string
	}{
		{"one match", dots(200) + "needle" + dots(200), 100, 3, "…" + dots(46) + "needle" + dots(46) + "…"},
		{"two far apart", dots(200) + "needle" + dots(200) + "NEEDLE" + dots(200), 100, 3, "…" + dots(21) + "needle" + dots(21) + " … " + dots(21) + "NEEDLE" + dots(21) + "…"},
		{"two far apart, one window", dots(200) + "needle" + dots(200) + "NEEDLE" + dots(200), 100, 1, "…" + dots(46) + "needle" + dots(46) + "…"},
		{"no room for two", dots(200) + "needle" + dots(200) + "NEEDLE" + dots(200), 70, 3, "…" + dots(31) + "needle" + dots(31) + "…"},
		{"two within one window", dots(200) + "needle..needle" + dots(200), 100, 3, "…" + dots(46) + "needle..needle" + dots(38) + "…"},
		{"at both ends", "needle" + dots(200) + "needle", 100, 3, "needle" + dots(43) + " … " + dots(43) + "needle"},
		{"three, and one too many", strings.Repeat(dots(200)+"needle", 4), 120, 3, "…" + dots(16) + "needle" + dots(16) + " … " + dots(16) + "needle" + dots(16) + " … " + dots(16) + "needle" + dots(16) + "…"},
		{"everywhere", strings.Repeat("needle ", 100), 84, 2, strings.Repeat("needle ", 9) + "ne…"},
		{"no match", dots(200), 50, 3, dots(49) + "…"},
		{"longer than a window", dots(50) + strings.Repeat("needle", 20) + dots(50), 20, 3, "…" + dots(6) + "needleneedle…"},
	} {
		line := []byte(test.line)
		f := wordLines{words: wordsOf(t, "needle")}
		got := windows(line, utf8.RuneCount(line), test.most, test.count, f.within(line, f.words))
		if got != test.want {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
	}
}

// checkWindows checks what the windows of a line promise.
func checkWindows(t *testing.T, line []byte, most, count int, words []*pattern) {
	t.Helper()
	total := utf8.RuneCount(line)
	if most < MinWindow || total <= most {
		return
	}
	f := wordLines{words: words}
	next := f.within(line, words)
	got := windows(line, total, most, count, next)
	if !utf8.ValidString(got) {
		t.Fatalf("%q of %q is no UTF-8", got, line)
	}
	if count == 0 {
		count = maxUnbounded
	}
	count = max(min(count, most/minShare), 1)
	if n := utf8.RuneCountInString(got); n > most+(count-1)*utf8.RuneCountInString(between) {
		t.Fatalf("%d windows of %q have %d characters of %d: %q", count, line, n, most, got)
	}
	if count == 1 {
		m, _ := next(0)
		if want := string(words[0].cutLine(line, m, total, most, true).text); got != want {
			t.Fatalf("one window of %q is %q, and else %q", line, got, want)
		}
	}
	for n := 1; n <= count; n++ {
		w := windowing{content: line, total: total, share: most / n}
		all := w.place(n, next)
		if len(w.parts) == 0 || len(w.parts) > n {
			t.Fatalf("%d windows of %d", len(w.parts), n)
		}
		in := func(m Span) bool {
			for _, p := range w.parts {
				if p.Start <= m.Start && m.End <= p.End {
					return true
				}
			}
			return false
		}
		for i, p := range w.parts {
			if p.Start > p.End || p.End > len(line) || i > 0 && p.Start <= w.parts[i-1].End {
				t.Fatalf("windows %v of %q", w.parts, line)
			}
			if utf8.RuneCount(line[p.Start:p.End]) != w.chars[i].End-w.chars[i].Start || utf8.RuneCount(line[:p.Start]) != w.chars[i].Start {
				t.Fatalf("windows %v of %q are %v in characters", w.parts, line, w.chars)
			}
		}
		for from, first := 0, true; ; first = false {
			m, ok := next(from)
			if !ok {
				break
			}
			narrow := utf8.RuneCount(line[m.Start:m.End])+2 <= w.share // with an ellipsis on each side
			if (all || first) && narrow && !in(m) {
				t.Fatalf("match %v of %q is in none of the windows %v (all %t)", m, line, w.parts, all)
			}
			from = m.End
		}
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
		words := wordsOf(t, []string{"ab", "aba", "日x", "é日x", "kkkk"}[rng.IntN(5)])
		if rng.IntN(3) == 0 {
			words = wordsOf(t, "abab", "xk日")
		}
		checkWindows(t, []byte(b.String()), MinWindow+rng.IntN(300), rng.IntN(5), words)
	}
}

func FuzzWindows(f *testing.F) {
	f.Add(strings.Repeat("a", 90)+"b"+strings.Repeat("a", 300)+"B", "b", 100, 3)
	f.Add(strings.Repeat("ab", 90), "baba", 81, 2)
	f.Add(strings.Repeat("\u212a", 200), "kk", 130, 0)
	f.Fuzz(func(t *testing.T, line, word string, most, count int) {
		if !utf8.ValidString(line) || strings.Contains(line, "\n") || count < 0 || count > 100 {
			t.Skip()
		}
		words, err := parseWords(&EventQuery{Words: []string{word}, IgnoreCase: true})
		if err != nil {
			t.Skip()
		}
		checkWindows(t, []byte(line), most, count, words)
	})
}
