package chatgpt_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/chatgpt"
)

// messages returns what a search finds, as text.
func messages(t *testing.T, s store.Store, query string) string {
	t.Helper()
	m, err := conversations.New(conversations.Options{}, s).Search(t.Context(), conversations.SearchQuery{Filter: conversations.Filter{Sources: []string{chatgpt.Name}}, Pattern: excerpt.Literal(query, true), Order: conversations.Newest, Limit: 7})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, m.Total, m.AtLeast, m.More, m.Problems)
	for i := range m.Hits {
		h := &m.Hits[i]
		text, err := m.Read(h)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%+v %q %s %q\n", h.Position(), h.Conversation.Title, h.Role, strings.TrimSpace(string(text)))
	}
	return b.String()
}

// A database of another form than most is searched all the same.
func TestSearchedForms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, statements := range map[string][]string{
		"without rowid": {
			"CREATE TABLE messages (id PRIMARY KEY, conversation_id, content) WITHOUT ROWID", "INSERT INTO messages VALUES (1, 'c', 'a harbour')",
		},
		"no conversations":         {"CREATE TABLE messages (conversation_id, content)", "INSERT INTO messages VALUES (NULL, 'a harbour')"},
		"UTF-16":                   {"PRAGMA encoding = 'UTF-16'", "CREATE TABLE messages (conversation_id, content)", "INSERT INTO messages VALUES ('c', 'a harbour')"},
		"a content of the schema":  {"CREATE TABLE messages (conversation_id)", "INSERT INTO messages VALUES ('c')", "ALTER TABLE messages ADD COLUMN content DEFAULT 'a harbour'"},
		"keys that are numbers":    {canonical, "INSERT INTO conversations VALUES (7, 0, 0, 'x')", "INSERT INTO messages VALUES (1, 7, 'user', 'a harbour', 0, 0, 1)"},
		"a title":                  {canonical, "INSERT INTO conversations VALUES (7, 0, 0, 'The Harbour')", "INSERT INTO messages VALUES (1, 7, 'user', 'x', 0, 0, 1)"},
		"a text in another script": {"CREATE TABLE messages (conversation_id, content)", `INSERT INTO messages VALUES ('c', '["h\u0061rbour"]')`},
	} {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".db")
		write(t, path, statements...).Close()
		if got := messages(t, open(t, env(path)), "harbour"); !strings.HasPrefix(got, "1 ") {
			t.Errorf("%s: %s", name, got)
		}
	}
	// Of two databases with the same conversation, the first one counts.
	first, second := filepath.Join(dir, "first.db"), filepath.Join(dir, "second.db")
	write(t, first, canonical, "INSERT INTO messages VALUES (1, 'c', 'user', 'a port', 0, 0, 1)").Close()
	write(t, second, canonical, "INSERT INTO messages VALUES (1, 'c', 'user', 'a harbour', 0, 0, 1)").Close()
	if got := messages(t, open(t, env(first+string(filepath.ListSeparator)+second)), "harbour"); !strings.HasPrefix(got, "0 ") {
		t.Errorf("two databases: %s", got)
	}
}
