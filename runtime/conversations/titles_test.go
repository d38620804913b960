package conversations_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
)

// requests writes a Codex session with each of some requests, of a directory, and returns what
// names the home.
func requests(t *testing.T, dir string, said ...string) func(string) string {
	t.Helper()
	home := t.TempDir()
	day := filepath.Join(home, "codex", "sessions", "2026", "05", "01")
	if err := os.MkdirAll(day, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, request := range said {
		id := fmt.Sprintf("%08d-1111-7222-8333-444455556666", i+1)
		at := fmt.Sprintf("2026-05-01T10:00:%02d", i)
		log := fmt.Sprintf(`{"timestamp":"%[1]sZ","type":"session_meta","payload":{"id":%[2]q,"timestamp":"%[1]sZ","cwd":%[3]q}}
{"timestamp":"%[1]sZ","type":"event_msg","payload":{"type":"user_message","message":%[4]q}}
`, at, id, dir, request)
		name := "rollout-" + strings.ReplaceAll(at, ":", "-") + "-" + id + ".jsonl"
		if err := os.WriteFile(filepath.Join(day, name), []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) string {
		if name == "CODEX_HOME" {
			return filepath.Join(home, "codex")
		}
		return ""
	}
}

const planned = "Implement the following plan:\n\n"

func TestTitles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ said, want []string }{
		"lines are joined":       {[]string{"# Retry uploads\n\n- three times\n- no more"}, []string{"Retry uploads - three times - no more"}},
		"an opener of a few":     {[]string{planned + "# Retry", planned + "# Cache"}, []string{"Implement the following plan: Retry", "Implement the following plan: Cache"}},
		"an opener of many":      {[]string{planned + "# Retry\nmore", planned + "# Cache", "implement the following plan: Index", "Index it\nnow"}, []string{"Retry more", "Cache", "Index", "Index it now"}},
		"the same request again": {[]string{"Retry uploads\nthree times", "Retry uploads\nthree times", "Retry uploads\nthree times"}, []string{"Retry uploads three times", "Retry uploads three times", "Retry uploads three times"}},
		"what it is about":       {[]string{"uploads: retry", "uploads: resume", "uploads: cancel"}, []string{"uploads: retry", "uploads: resume", "uploads: cancel"}},
		"nothing follows":        {[]string{planned, planned + "a", planned + "b", planned + "c"}, []string{"Implement the following plan:", "a", "b", "c"}},
		"a long request":         {[]string{strings.Repeat("long ", 30)}, []string{strings.Repeat("long ", 19) + "long…"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			getenv := requests(t, dir, test.said...)
			for _, indexes := range []*conversations.Indexes{nil, conversations.NewIndexes(t.TempDir())} {
				l, err := conversations.Open(conversations.Options{Dir: dir, Getenv: getenv, Indexes: indexes})
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // the second time titles have the index to go by
					if diff := cmp.Diff(test.want, listedTitles(t, l)); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				}
			}
		})
	}
}

// listedTitles returns the titles of all conversations, by their ids, which reading each has too.
func listedTitles(t *testing.T, l *conversations.Library) []string {
	t.Helper()
	listing, err := l.List(t.Context(), conversations.ListQuery{Sort: conversations.ByID, Ascending: true, Sizes: true})
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, c := range listing.Conversations {
		titles = append(titles, c.Title)
		read, _, err := l.Read(t.Context(), conversations.ReadQuery{ID: string(c.ID)})
		if err != nil || read.Title != c.Title {
			t.Errorf("%s: read as %q, %v; listed as %q", c.ID, read.Title, err, c.Title)
		}
	}
	return titles
}

// TestTitlesStay: what was an opener once stays one while there is an index, so that a title is
// the same whatever is listed.
func TestTitlesStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	getenv := requests(t, dir, planned+"Retry", planned+"Cache", planned+"Index")
	open := conversations.Options{Dir: dir, Getenv: getenv, Indexes: conversations.NewIndexes(t.TempDir())}
	l, err := conversations.Open(open)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Retry", "Cache", "Index"}, listedTitles(t, l)); diff != "" {
		t.Fatal(diff)
	}
	gone, err := filepath.Glob(filepath.Join(getenv("CODEX_HOME"), "sessions", "*", "*", "*", "*00000002*"))
	if err != nil || len(gone) != 1 || os.Remove(gone[0]) != nil {
		t.Fatal(gone, err)
	}
	if l, err = conversations.Open(open); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Retry", "Index"}, listedTitles(t, l)); diff != "" {
		t.Error(diff)
	}
}
