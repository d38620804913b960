package store_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store"
)

func TestRequest(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"":                                  "",
		" \n\t\n":                           "",
		"one line":                          "one line",
		"  one\t  line \n":                  "one line",
		"\n\nfirst\r\n\r\nsecond\n  third ": "first\nsecond third",
		"# Heading\n\n## Part\ntext":        "Heading\nPart text",
		"#1 is wrong\n#":                    "#1 is wrong\n#",
	} {
		if got := store.Request(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	long := store.Request(strings.Repeat("東 京\n", 1_000_000))
	if n := utf8.RuneCountInString(long); n != store.MaxRequest || !utf8.ValidString(long) {
		t.Errorf("%d characters: %q", n, long)
	}
}
