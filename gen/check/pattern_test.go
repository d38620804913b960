package check

import (
	"regexp"
	"strings"
	"testing"
)

func TestNotPortable(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		`^[A-Za-z0-9._-]{1,128}$`, `^(a|b)+?$`, `^(?:a|b){2}$`, `a{2,}`, `^\{\}\[\]\(\)$`, `[\^\-\]]`, `^[^\n\r]*$`, `a\/b`, `^a$|^b$`, `[.{}*?+$(|]`, `[a[]`,
	} {
		if why := notPortable(pattern); why != "" {
			t.Errorf("%s is refused: it %s", pattern, why)
		}
	}
	for pattern, want := range map[string]string{
		`[`:             "is not a regular expression",
		`a**`:           "is not a regular expression",
		`(?=a)`:         "is not a regular expression", // RE2 has no lookahead
		`a{1001}`:       "is not a regular expression",
		`\d`:            `uses \d`,
		`\w`:            `uses \w`,
		`\s`:            `uses \s`,
		`[\s]`:          `uses \s`,
		`\b`:            `uses \b`,
		`\A`:            `uses \A`,
		`\pL`:           `uses \p`,
		`\x41`:          `uses \x`,
		`\Qa\E`:         `uses \Q`,
		`a\-b`:          `uses \-`, // ECMA-262 has it only in classes
		`(?i)a`:         "(?…)",
		`(?P<name>a)`:   "(?…)",
		`(?<name>a)`:    "(?…)",
		`[[:alpha:]]`:   "POSIX class",
		`[a[:digit:]]`:  "POSIX class",
		`.`:             `uses "."`,
		`a.b`:           `uses "."`,
		`[]a]`:          "begins a class",
		`[^]a]`:         "begins a class",
		`a]`:            "closes nothing",
		`a}`:            "closes nothing",
		`a{`:            "no repetition",
		`a{,3}`:         "no repetition",
		`^*a`:           "repeats an anchor",
		`a$+`:           "repeats an anchor",
		"a\x00":         "printable ASCII",
		"a\n":           "printable ASCII",
		"ä":             "printable ASCII",
		"[\u2028]":      "printable ASCII",
		`^(?:a|(?i)b)$`: "(?…)",
	} {
		if got := notPortable(pattern); !strings.Contains(got, want) {
			t.Errorf("%q: %q does not say %q", pattern, got, want)
		}
	}
}

// Go must compile every pattern that passes. The table above shows that ECMA-262 matches alike.
func FuzzNotPortable(f *testing.F) {
	for _, seed := range []string{`^[a-z]{1,3}$`, `\`, `[\`, `a{1`, `^(?:a|b)$`, `[^\n]*`, `\{`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		if notPortable(pattern) != "" {
			return
		}
		if _, err := regexp.Compile(pattern); err != nil {
			t.Errorf("%q passes and does not compile: %v", pattern, err)
		}
	})
}

func TestParagraphs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"one\ntwo":                      "one two",
		"one\r\ntwo\r\n\r\nthree\r\n":   "one two\n\nthree",
		"one\n\n\ntwo":                  "one\n\ntwo",
		"list:\n- one\n  more\n- two":   "list:\n- one more\n- two",
		"1. one\n2. two\nmore":          "1. one\n2. two more",
		"\n\n  one  \n":                 "one",
		"":                              "",
		"2026 was\n17 days\n17. really": "2026 was 17 days\n17. really",
		"* a\n* b":                      "* a\n* b",
	} {
		if got := paragraphs(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
