package recall

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestWordsOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern string
		want    []string
	}{
		{"retry", []string{"retry"}},
		{"  retry \t policy ", []string{"retry", "policy"}},
		{`"retry policy"`, []string{"retry", "policy"}},
		{"why, then: (retry)?", []string{"why", "then", "retry"}},
		{"feed/retry.go --offset=3", []string{"feed/retry.go", "offset=3"}},
		{"a -> retry == ...", []string{"->", "retry", "==", "..."}},
		{"Retry retry RETRY cap", []string{"Retry", "cap"}},
		{"is it a file or an id of the cache", []string{"file", "the", "cache"}},
		{"is retry", []string{"is", "retry"}},
		{"8 go 潮 retry cap", []string{"8", "潮", "retry", "cap"}},
		{`foo.*bar\s+baz\b`, []string{"foo", "bar", "baz"}},
		{"one two three four five six seven eight", []string{"one", "two", "three", "four", "five", "six", "seven", "eight"}},
		{"1 2 3 4 5 6 7 8 9", []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}},
		{
			"11 12 13 14 bb cc 15 16 17 18 19 20 21 22 23 24 a25 26 3",
			[]string{"11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23", "24", "a25", "26"},
		},
	} {
		if diff := cmp.Diff(tc.want, wordsOf(tc.pattern, true)); diff != "" {
			t.Errorf("wordsOf(%q) (-want +got):\n%s", tc.pattern, diff)
		}
	}
	if diff := cmp.Diff([]string{"Retry", "retry"}, wordsOf("Retry retry", false)); diff != "" {
		t.Errorf("in this case (-want +got):\n%s", diff)
	}
}

func TestEitherOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern string
		want    []string
	}{
		{"docker|podman", []string{"docker", "podman"}},
		{" tide table | harbour ", []string{"tide table", "harbour"}},
		{`sync|events\.json`, []string{"sync", "events.json"}},
		{"(retry|cap)", []string{"retry", "cap"}},
		{"retry|潮位", []string{"retry", "潮位"}},
		{"aa|bb|cc|dd|ee|ff|gg|hh", []string{"aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh"}},
		{"aa|bb|cc|dd|ee|ff|gg|hh|ii", nil},
		{"retry", nil},
		{"retry policy", nil},
		{"retry || cap", nil},
		{"retry|", nil},
		{"| name | size |", nil},
		{"retry|x", nil},
		{"retry|retry", nil},
		{"|", nil},
	} {
		if diff := cmp.Diff(tc.want, eitherOf(tc.pattern)); diff != "" {
			t.Errorf("eitherOf(%q) (-want +got):\n%s", tc.pattern, diff)
		}
	}
}

func TestAlternatives(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern  string
		isRegexp bool
		want     []string
	}{
		{"retry", false, nil},
		{"  two  words ", false, []string{"two words"}},
		{"feed/retry.go", false, nil},
		{"retry()", false, nil},
		{"specs/*.toml", false, nil},
		{`C:\new`, false, nil},
		{`sync|events\.json`, true, []string{"sync", "events.json"}},
		{`(retry\|a cap)`, true, []string{"retry", "a cap"}},
		{"foo.*bar", true, []string{"foo bar"}},
		{`^fn\s+\w+\(retry`, true, []string{"fn (retry"}},
		{"a|b|a|c|d|e|f|g|h|i", true, []string{"a", "b", "c", "d", "e", "f", "g", "h"}},
		{"|", true, nil},
		{`retry\`, false, nil},
		{"retry$", true, []string{"retry"}},
		{`retry\(\)`, true, []string{"retry()"}},
		{`(?:retry|cap\(\))`, true, []string{"retry", "cap()"}},
	} {
		if diff := cmp.Diff(tc.want, alternatives(tc.pattern), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("alternatives(%q) (-want +got):\n%s", tc.pattern, diff)
		}
		if got := isRegexp(tc.pattern); got != tc.isRegexp {
			t.Errorf("isRegexp(%q) = %v", tc.pattern, got)
		}
	}
}

func TestAsRead(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`say(\"one\")`:            `say("one")`,
		`short\n\tthe longer one`: "\tthe longer one",
		`C:\\new`:                 `C:\new`,
		`\u6f6e`:                  "潮",
		`say("one")`:              "",
		`\bword`:                  "",
		`fn\s+new\(`:              "",
		`\n`:                      "",
		`\u0000`:                  "",
	} {
		if got := asRead(pattern); got != want {
			t.Errorf("asRead(%q) = %q, want %q", pattern, got, want)
		}
	}
}
