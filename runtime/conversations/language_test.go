package conversations_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/conversations"
)

// TestLanguage: a question finds the other forms of its words in the language that the user's
// settings name, and an index that was made with another one is made anew.
func TestLanguage(t *testing.T) {
	t.Parallel()
	dir, config, cache := t.TempDir(), t.TempDir(), t.TempDir()
	sessions := requests(t, dir, "Warum fehlen Gezeiten in den Häusern am Hafen?", "Der Pegel schwankt")
	getenv := func(name string) string {
		if name == "XDG_CONFIG_HOME" {
			return config
		}
		return sessions(name)
	}
	if err := os.MkdirAll(filepath.Join(config, "convtools"), 0o700); err != nil {
		t.Fatal(err)
	}
	indexes := conversations.NewIndexes(cache) // as those of a server, which stay open
	for _, test := range []struct {
		language string
		found    int
	}{{"english", 0}, {"german", 1}, {"german", 1}, {"none", 0}} {
		setting := "[recall]\nlanguage = \"" + test.language + "\"\n"
		if err := os.WriteFile(filepath.Join(config, "convtools", "convtools.toml"), []byte(setting), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, indexes := range []*conversations.Indexes{indexes, nil} {
			l, err := conversations.Open(conversations.Options{Dir: dir, Getenv: getenv, Indexes: indexes})
			if err != nil {
				t.Fatal(err)
			}
			r, err := l.Search(t.Context(), conversations.SearchQuery{Order: conversations.Relevance, Question: "das Haus", Limit: 3, MaxText: 100, MaxWide: 100})
			if err != nil || len(r.Conversations) != test.found {
				t.Errorf("%s: %+v, %v", test.language, r, err)
			}
			if len(r.Words) == 0 || r.Words[len(r.Words)-1].Word != "Haus" || test.language == "german" && len(r.Words) != 1 {
				t.Errorf("%s: words %+v", test.language, r.Words)
			}
		}
	}
}
