package excerpt

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWindow checks what a window promises, at every size and every match of
// random lines.
func TestWindow(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 10))
	alphabet := []rune("abAB é日x\u212ak")
	for range 5_000 {
		var sb strings.Builder
		for range 11 + rng.IntN(60) {
			sb.WriteRune(alphabet[rng.IntN(len(alphabet))])
		}
		line := []byte(sb.String())
		total := utf8.RuneCount(line)
		n := minWindow + rng.IntN(total-minWindow)
		if n >= total {
			continue
		}
		text := []string{"a", "ab", "日x", "k", "é日x"}[rng.IntN(5)]
		p, err := Compile(text, rng.IntN(2) == 0, true)
		if err != nil {
			t.Fatal(err)
		}
		_, m, ok := p.nextMatch(line, 0)
		if !ok {
			continue
		}
		w := p.Window(line, n, true)
		got := string(w.Text)
		if c := utf8.RuneCountInString(got); c != n {
			t.Fatalf("window of %d characters of %q has %d: %q", n, line, c, got)
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(got, ellipsis), ellipsis)
		if !strings.Contains(string(line), inner) {
			t.Fatalf("window %q is not a part of %q", got, line)
		}
		if strings.HasPrefix(got, ellipsis) == strings.HasPrefix(string(line), inner) && !strings.Contains(string(line[1:]), inner) {
			t.Fatalf("window %q of %q: wrong ellipsis at the start", got, line)
		}
		if len(w.Matches) == 0 {
			t.Fatalf("window %q of %q lacks the match %q", got, line, line[m.Start:m.End])
		}
		if first := got[w.Matches[0].Start:w.Matches[0].End]; first != string(line[m.Start:m.End]) {
			t.Fatalf("window %q of %q: first match is %q, want %q", got, line, first, line[m.Start:m.End])
		}
		for _, s := range w.Matches {
			if !strings.EqualFold(got[s.Start:s.End], text) && s.End < len(got)-len(ellipsis) && s.Start > len(ellipsis) {
				t.Fatalf("window %q of %q: submatch %q does not match %q", got, line, got[s.Start:s.End], text)
			}
		}
	}
}

func TestWindowWithAMatchLongerThanTheWindow(t *testing.T) {
	t.Parallel()
	p, err := Compile("b+", true, true)
	if err != nil {
		t.Fatal(err)
	}
	line := []byte("aaaa" + strings.Repeat("b", 40) + "aaaa")
	w := p.Window(line, 10, true)
	if got, want := string(w.Text), "…bbbbbbbb…"; got != want {
		t.Errorf("window %q, want %q", got, want)
	}
	if len(w.Matches) != 1 || w.Matches[0] != (Span{3, 11}) {
		t.Errorf("submatches %v, want the part of the match that is shown", w.Matches)
	}
}

// TestRequired checks that what a regular expression matches always holds
// the text that is searched for first.
func TestRequired(t *testing.T) {
	t.Parallel()
	tests := []struct {
		expr, literal string
		fold          bool
	}{
		{"retry", "retry", false},
		{"(?i)retry", "RETRY", true},
		{"a(retry)+b", "retry", false},
		{"re.*policy", "policy", false},
		{"(a|b)longer?x", "longe", false},
		{"a|b", "", false},
		{"a*", "", false},
		{"(abc)?", "", false},
		{"[ab]cde*", "cd", false},
		{"^$", "", false},
	}
	for _, tt := range tests {
		re, err := syntax.Parse(tt.expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		got, fold := requiredIn(re.Simplify())
		if got != tt.literal || fold != tt.fold {
			t.Errorf("requiredIn(%q) = %q, %t; want %q, %t", tt.expr, got, fold, tt.literal, tt.fold)
		}
	}
}

// FuzzPatternNext compares the search for lines with a search line by line.
func FuzzPatternNext(f *testing.F) {
	f.Add("retry", true, true, "one\r\nRetry two\n\nretry")
	f.Add("^$", true, false, "a\n\nb\n")
	f.Add("k", false, true, "\u212a\nK")
	f.Add(`(?i)s+\b`, true, false, "ſs x\ns")
	f.Fuzz(func(t *testing.T, text string, isRegex, ignoreCase bool, recorded string) {
		if !utf8.ValidString(recorded) {
			t.Skip()
		}
		p, err := Compile(text, isRegex, ignoreCase)
		if err != nil {
			return
		}
		expr := text
		if !isRegex {
			expr = regexp.QuoteMeta(text)
		}
		if ignoreCase {
			expr = "(?i)" + expr
		}
		re := regexp.MustCompile(expr)
		var want, got []string
		for at := 0; at < len(recorded); {
			l := lineAt([]byte(recorded), at)
			if loc := re.FindStringIndex(recorded[l.start:l.end]); loc != nil {
				want = append(want, fmt.Sprint(l.start, l.end, loc[0]+l.start, loc[1]+l.start))
			}
			at = l.next
		}
		for at := 0; ; {
			l, m, ok := p.nextMatch([]byte(recorded), at)
			if !ok {
				break
			}
			got = append(got, fmt.Sprint(l.start, l.end, m.Start, m.End))
			at = l.next
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("pattern %q (regex=%t, ignoreCase=%t) in %q: %v, want %v", text, isRegex, ignoreCase, recorded, got, want)
		}
	})
}

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "is empty", "a\nb": "has more than one line, and the search goes line by line", "a\x00": "contains a NUL byte", "\xff": "is not valid UTF-8", "(": ""} {
		var bad *PatternError
		if _, err := Compile(text, true, false); !errors.As(err, &bad) || bad.Problem != want || (bad.Err == nil) == (want == "") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
