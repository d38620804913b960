package conversations_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/archive/exports"
)

// withArchive is the environment of a user who has imported an export, with settings.
func withArchive(t *testing.T, settings string, values map[string]string) func(string) string {
	t.Helper()
	home := t.TempDir()
	env := map[string]string{"HOME": home, "USERPROFILE": home}
	for name, value := range values {
		env[name] = value
	}
	getenv := func(name string) string { return env[name] }
	export := filepath.Join(home, "conversations.json")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(export, `[{"id":"c","title":"Tides","mapping":{"n":{"message":{"author":{"role":"user"},"content":{"parts":["天气"]}}}}}]`)
	write(filepath.Join(home, ".config", "convtools", "convtools.toml"), settings)
	w, err := archive.Create(t.Context(), archive.Home(getenv), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exports.Import(t.Context(), export, w, exports.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return getenv
}

// An archive belongs to no project: it is listed where it is named, and read by its ids.
func TestArchivesAreNamed(t *testing.T) {
	t.Parallel()
	getenv := withArchive(t, "", nil)
	for _, all := range []bool{false, true} {
		l, err := conversations.Open(conversations.Options{Dir: t.TempDir(), Getenv: getenv, AllProjects: all})
		if err != nil {
			t.Fatal(err)
		}
		var nowhere *conversations.NoWorkspaceError
		if listing, err := l.List(t.Context(), conversations.ListQuery{}); !all && !errors.As(err, &nowhere) || all && (err != nil || len(listing.Conversations) > 0) {
			t.Errorf("all projects %v: %+v, %v", all, listing, err)
		}
		listing, err := l.List(t.Context(), conversations.ListQuery{Filter: conversations.Filter{Sources: []string{"archive"}}})
		if err != nil || len(listing.Conversations) != 1 || listing.Conversations[0].ID != "archive-chatgpt-c" || listing.Conversations[0].NativeID != "c" {
			t.Errorf("%+v, %v", listing, err)
		}
		if listing, err := l.List(t.Context(), conversations.ListQuery{Filter: conversations.Filter{Sources: []string{"archive"}, Archived: true}}); err != nil || len(listing.Conversations) > 0 {
			t.Errorf("%+v, %v", listing, err)
		}
		var text []byte
		reading, err := readEach(t.Context(), l, conversations.ReadQuery{ID: "archive-chatgpt-c"}, func(e *conversations.Event) error {
			text = slices.Clone(e.Body())
			return nil
		})
		if err != nil || reading.Title != "Tides" || string(text) != "天气" {
			t.Errorf("%+v, %q, %v", reading, text, err)
		}
	}
}

func TestSearchSources(t *testing.T) {
	t.Parallel()
	without := func(names ...string) []string {
		return slices.DeleteFunc(conversations.Sources(), func(name string) bool { return slices.Contains(names, name) })
	}
	for name, c := range map[string]struct {
		settings string
		env      map[string]string
		want     []string
	}{
		"all":                         {"", nil, conversations.Sources()},
		"one that is off":             {"[stores]\ncodex = false", nil, without("codex")},
		"off in either way":           {"[stores]\ncodex = false\noff = [\"jp\", \"gemini\"]", nil, without("codex", "jp", "gemini")},
		"a database":                  {"", map[string]string{"CONVERSATION_DB": "/x.db"}, []string{"chatgpt"}},
		"the other variable":          {"", map[string]string{"ORIGIN_CONVERSATION_DB": "/x.db"}, []string{"chatgpt"}},
		"a database, and others":      {"[stores]\narchive = true\njp = true\nchatgpt = true", map[string]string{"CONVERSATION_DB": "/x.db"}, []string{"archive", "jp", "chatgpt"}},
		"a database that is not read": {"[stores]\nchatgpt = false\ncodex = false", map[string]string{"CONVERSATION_DB": "/x.db"}, without("codex", "chatgpt")},
	} {
		got, err := conversations.Options{Getenv: withArchive(t, c.settings, c.env)}.SearchSources()
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %s %v", name, diff, err)
		}
	}
	var wrong *config.Error
	if _, err := (conversations.Options{Getenv: withArchive(t, "[stores]\ncodx = false", nil)}).SearchSources(); !errors.As(err, &wrong) {
		t.Error(err)
	}
}

func TestInventoryOfArchives(t *testing.T) {
	t.Parallel()
	inventory, err := conversations.Options{Dir: t.TempDir(), Getenv: withArchive(t, "[stores]\nchatgpt = false", nil)}.Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(inventory.Stores, func(s conversations.StoreReport) bool { return s.Name == "archive" })
	if s := inventory.Stores[i]; !s.Found || !s.Archive || s.Conversations != 1 || s.Here != 0 || s.Projects != 0 || len(s.Problems) > 0 {
		t.Errorf("%+v", s)
	}
	if s := inventory.Stores[i-1]; s.Name != "chatgpt" || !s.Off {
		t.Errorf("%+v", s)
	}
}
