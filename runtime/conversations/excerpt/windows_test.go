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
		if got := string(ignoringCase(t, "needle").Window(line, test.most, test.count, true).Text); got != test.want {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
	}
}

// checkWindows checks what the windows of a line promise.
func checkWindows(t *testing.T, line []byte, most, count int, p *Pattern) {
	t.Helper()
	total := utf8.RuneCount(line)
	if most < MinWindow || total <= most {
		return
	}
	w := p.Window(line, most, count, true)
	got := string(w.Text)
	matches := slices.Collect(p.Spans(line))
	if !utf8.ValidString(got) {
		t.Fatalf("%q of %q is no UTF-8", got, line)
	}
	count = max(min(count, most/minShare), 1)
	if n := utf8.RuneCountInString(got); n > most+(count-1)*utf8.RuneCountInString(between) {
		t.Fatalf("%d windows of %q have %d characters of %d: %q", count, line, n, most, got)
	}
	if len(matches) > 0 && len(w.Matches) == 0 {
		t.Fatalf("no match of %q is in %q", line, got)
	}
	for n := 1; n <= count; n++ {
		share := most / n
		parts, all := p.parts(line, total, share, n, true)
		if len(parts) == 0 || len(parts) > n {
			t.Fatalf("%d windows of %d", len(parts), n)
		}
		for i, part := range parts {
			if part.Start > part.End || part.End > len(line) || i > 0 && part.Start <= parts[i-1].End {
				t.Fatalf("windows %v of %q", parts, line)
			}
		}
		in := func(m Span) bool {
			return slices.ContainsFunc(parts, func(part Span) bool { return part.Start <= m.Start && m.End <= part.End })
		}
		for i, m := range matches {
			narrow := utf8.RuneCount(line[m.Start:m.End])+2 <= share // with an ellipsis on each side
			if (all || i == 0) && narrow && !in(m) {
				t.Fatalf("match %v of %q is in none of the windows %v (all %t)", m, line, parts, all)
			}
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
		p := ignoringCase(t, []string{"ab", "aba", "日x", "é日x", "kkkk"}[rng.IntN(5)])
		checkWindows(t, []byte(b.String()), MinWindow+rng.IntN(300), rng.IntN(5), p)
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
		p, err := Compile(word, false, true)
		if err != nil {
			t.Skip()
		}
		checkWindows(t, []byte(line), most, count, p)
	})
}
