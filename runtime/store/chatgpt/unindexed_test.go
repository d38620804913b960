package chatgpt_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
)

// dump is all that a store has.
func dump(t *testing.T, s store.Store) string {
	t.Helper()
	list, problems := storetest.List(t, s, store.Live|store.Archived)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var b strings.Builder
	for _, c := range list {
		events, err := storetest.Read(t.Context(), c)
		fmt.Fprintf(&b, "%s %q %v\n%s\n", c.ID, c.Title, err, events)
	}
	return b.String()
}

// A database without an index on the conversations of messages is read as one with it is.
func TestUnindexed(t *testing.T) {
	t.Parallel()
	schemas := map[string]string{
		"text":       "CREATE TABLE conversations (id TEXT PRIMARY KEY, title); CREATE TABLE messages (id INTEGER PRIMARY KEY, conversation_id TEXT, role, content, create_time, position)",
		"any type":   "CREATE TABLE conversations (id, title); CREATE TABLE messages (conversation_id, role, content, create_time)",
		"other type": "CREATE TABLE conversations (id INTEGER, title); CREATE TABLE messages (conversation_id TEXT, role, content, create_time)",
		"any case":   "CREATE TABLE conversations (id TEXT, title); CREATE TABLE messages (conversation_id TEXT COLLATE NOCASE, role, content, create_time)",
		"no rows":    "CREATE TABLE messages (conversation_id, role, content, create_time)",
	}
	for name, schema := range schemas {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 22))
			keys := []any{"a", "A", "b", 7, "7", 7.5, nil, []byte("a"), "", "c c", "d"}
			dir := t.TempDir()
			var dumps []string
			var owners []*owner
			for _, index := range []string{"SELECT 1", "CREATE INDEX i ON messages (conversation_id)"} {
				owners = append(owners, write(t, filepath.Join(dir, fmt.Sprint(len(owners), ".db")), schema, index))
			}
			run := func(statement string, args ...any) {
				for _, o := range owners {
					if _, err := o.ExecContext(t.Context(), statement, args...); err != nil {
						t.Fatal(err)
					}
				}
			}
			for i := range 60 {
				key := keys[rng.IntN(len(keys))]
				if name != "no rows" && rng.IntN(4) == 0 {
					run("INSERT OR IGNORE INTO conversations VALUES (?, ?)", key, fmt.Sprint("title ", i))
				}
				run("INSERT INTO messages (conversation_id, role, content, create_time) VALUES (?, 'user', ?, ?)", key, fmt.Sprint("said ", i), 1.7e9+float64(rng.IntN(40)))
			}
			for _, o := range owners {
				dumps = append(dumps, dump(t, open(t, env(o.path))))
			}
			if diff := cmp.Diff(dumps[1], dumps[0]); diff != "" || strings.Count(dumps[0], "said ") < 30 {
				t.Errorf("(-with an index +without)\n%s\n%s", diff, dumps[0])
			}
		})
	}
}

// What is read after the owner has changed a database is what it has then, although rows have
// other numbers.
func TestUnindexedChanged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	o := write(t, path, "CREATE TABLE messages (conversation_id, content, role DEFAULT 'user')",
		"INSERT INTO messages (conversation_id, content) VALUES ('c', 'gone'), ('a', 'a1'), ('b', 'b1'), ('a', 'a2')")
	s := open(t, env(path))
	list, problems := storetest.List(t, s, store.Live)
	if len(list) != 3 || len(problems) > 0 {
		t.Fatal(list, problems)
	}
	if got := storetest.Said(t, list[0]); got != "1 user: a1\n2 user: a2\n" {
		t.Errorf("%q", got)
	}
	before, err := list[0].Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o.exec("DELETE FROM messages WHERE conversation_id = 'c'", "INSERT INTO messages (conversation_id, content) VALUES ('a', 'a3')", "VACUUM")
	if got := storetest.Said(t, list[0]) + storetest.Said(t, list[1]); got != "1 user: a1\n2 user: a2\n3 user: a3\n1 user: b1\n" {
		t.Errorf("%q", got)
	}
	list, _ = storetest.List(t, s, store.Live)
	if after, err := list[0].Version(t.Context()); err != nil || after == before {
		t.Errorf("version %q, %v", after, err)
	}
}
