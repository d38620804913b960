package terms_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/index/terms"
)

func termsOf(text string) []string {
	var all []string
	terms.NewReader(terms.English).Each([]byte(text), func(term []byte, _ int) { all = append(all, string(term)) })
	return all
}

func TestTerms(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{"", ""},
		{"... -- !", ""},
		{"Caching the cached caches", "cach the cach cach"},
		{"parseConfig", "pars config parseconfig"},
		{"parse_config", "pars config parse_config"},
		{"ParseHTTPRequest2", "pars http request2 parsehttprequest2"},
		{"_private_", "privat"},
		{"__init__.py", "init py"},
		{"cmd/foo/bar.go", "cmd foo bar go"},
		{"kebab-case", "kebab case"},
		{"don't, it's Ann's", "don it ann"},
		{"o'clock", "o clock"},
		{"v1.26.8 0x1F 2026-03-17", "v1 26 8 0x1 f 0x1f 2026 03 17"},
		{"Größe ÜBERSICHT", "größe übersicht"},
		{"naïve café", "naïv café"},
		{"e\u0301tude", "e\u0301tud"},
		{"記憶装置", "記憶 憶装 装置"},
		{"記", "記"},
		{"foo記憶bar", "foo 記憶 bar"},
		{"ความจำ", "คว วา าม มจ จำ"},
		{strings.Repeat("x", 100) + " y", "y"},
		{"\xff\xfeabc\xff", "abc"},
	} {
		if diff := cmp.Diff(strings.Fields(tc.want), termsOf(tc.text)); diff != "" && len(tc.want)+len(termsOf(tc.text)) > 0 {
			t.Errorf("%q (-want +got):\n%s", tc.text, diff)
		}
	}
}

// TestPlaces checks the offsets of the words of terms.
func TestPlaces(t *testing.T) {
	t.Parallel()
	var got []int
	terms.NewReader(terms.English).Each([]byte("one twoThree 記憶"), func(_ []byte, at int) { got = append(got, at) })
	if diff := cmp.Diff([]int{0, 4, 7, 4, 13}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	for language, want := range map[terms.Language]string{
		"":            "cach file zwischenspeich dateien",
		terms.English: "cach file zwischenspeich dateien",
		terms.None:    "caching files zwischenspeicher dateien",
		"german":      "caching fil zwischenspeich datei",
	} {
		var got []string
		terms.NewReader(language).Each([]byte("Caching files Zwischenspeicher Dateien"), func(term []byte, _ int) { got = append(got, string(term)) })
		if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", language, diff)
		}
	}
	for _, name := range terms.Languages() {
		r := terms.NewReader(terms.Language(name))
		if r.Each([]byte("Straße étude ночь iğne őz"), func([]byte, int) {}); !r.IsFunctionWord("the") {
			t.Errorf("%s: the", name)
		}
	}
	if r := terms.NewReader("german"); !r.IsFunctionWord("warum") || r.IsFunctionWord("datei") || terms.NewReader(terms.English).IsFunctionWord("warum") {
		t.Error("function words of German")
	}
}

func FuzzTerms(f *testing.F) {
	for _, seed := range []string{"parseConfig parse_config", "a'b's don't", "記憶X", "\xff_\u0301A", "HTTPServerID_x__Y"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range terms.Languages() {
			terms.NewReader(terms.Language(name)).Each([]byte(text), func([]byte, int) {})
		}
		last := 0
		r := terms.NewReader(terms.English)
		r.Each([]byte(text), func(term []byte, at int) {
			if len(term) == 0 || len(term) > 2*64+utf8.UTFMax || at < 0 || at >= len(text) {
				t.Errorf("%q at %d of %q", term, at, text)
			}
			last = max(last, at)
		})
		// The cache of a reader does not change its terms.
		var again []string
		r.Each([]byte(text), func(term []byte, _ int) { again = append(again, string(term)) })
		if got := termsOf(text); !slices.Equal(got, again) {
			t.Errorf("%q: %q, and then %q", text, got, again)
		}
	})
}

// TestStemBegins checks that a stem begins with the same ASCII letter as its word. Passages are found by it.
func TestStemBegins(t *testing.T) {
	t.Parallel()
	for _, language := range terms.Languages() {
		r := terms.NewReader(terms.Language(language))
		rapid.Check(t, func(t *rapid.T) {
			word := rapid.StringMatching("[a-z][a-zäéïıß]{2,12}").Draw(t, "word")
			if stem := r.Stem([]byte(word)); len(stem) == 0 || stem[0] != word[0] {
				t.Fatalf("the stem of %q in %s is %q", word, language, stem)
			}
		})
	}
}
