package chatgpt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/chatgpt"
	"github.com/convtools/convtools/runtime/transcript"
)

// listing is a store that lists all of its conversations whatever is looked for.
type listing struct{ store.Store }

func (l listing) Open(ctx context.Context) (store.Session, []store.Problem, error) {
	s, problems, err := l.Store.Open(ctx)
	return struct{ store.Session }{s}, problems, err
}

// narrowing counts the conversations that were listed for what they hold.
type narrowing struct {
	store.Store
	listed, calls int
}

func (n *narrowing) Open(ctx context.Context) (store.Session, []store.Problem, error) {
	s, problems, err := n.Store.Open(ctx)
	return &narrowed{s, n}, problems, err
}

type narrowed struct {
	store.Session
	store *narrowing
}

func (n *narrowed) ListHolding(ctx context.Context, set store.Set, may func([]byte) bool) ([]store.Conversation, bool, error) {
	list, ok, err := n.Session.(store.Narrower).ListHolding(ctx, set, may)
	if ok {
		n.store.calls++
		n.store.listed += len(list)
	}
	return list, ok, err
}

// messages returns what a search finds, as text.
func messages(t *testing.T, s store.Store, query string) string {
	t.Helper()
	m, err := conversations.New(conversations.Options{}, s).Messages(t.Context(), conversations.MessageQuery{Filter: conversations.Filter{Sources: []string{chatgpt.Name}}, Text: query, Limit: 7})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, m.Total, m.AtLeast, m.More, m.Aside.Problems)
	for _, message := range m.Messages {
		fmt.Fprintf(&b, "%+v %q %s %q\n", message.Position, message.Conversation.Title, message.Role, message.Text)
	}
	return b.String()
}

// lines returns what a search for lines finds, as text.
func lines(t *testing.T, s store.Store, pattern string) string {
	t.Helper()
	var b strings.Builder
	m, err := conversations.New(conversations.Options{}, s).SearchEvents(t.Context(), conversations.EventQuery{
		Filter: conversations.Filter{Sources: []string{chatgpt.Name}}, Pattern: pattern, IgnoreCase: true, Scopes: transcript.ScopeAll,
		Event: func(m *conversations.EventMatch) error {
			fmt.Fprintln(&b, m.Conversation.ID, m.Number, m.Turn, m.Time, m.Chars, m.Lines)
			return nil
		},
	})
	fmt.Fprintln(&b, m.Total, m.Searched, m.Conversations, m.Aside, err)
	return b.String()
}

// reading counts the conversations that were read.
type reading struct {
	store.Store
	read atomic.Int32
}

func (r *reading) Open(ctx context.Context) (store.Session, []store.Problem, error) {
	s, problems, err := r.Store.Open(ctx)
	return &readingSession{s, r}, problems, err
}

type readingSession struct {
	store.Session
	of *reading
}

func (r *readingSession) List(ctx context.Context, set store.Set) ([]store.Conversation, []store.Problem, error) {
	list, problems, err := r.Session.List(ctx, set)
	for i := range list {
		list[i].Record = countedRecord{list[i].Record, &r.of.read}
	}
	return list, problems, err
}

func (r *readingSession) ListHolding(ctx context.Context, set store.Set, may func([]byte) bool) ([]store.Conversation, bool, error) {
	return r.Session.(store.Narrower).ListHolding(ctx, set, may)
}

type countedRecord struct {
	store.Record
	read *atomic.Int32
}

func (c countedRecord) Events(ctx context.Context, buffer *store.Buffer) (store.Events, error) {
	c.read.Add(1)
	return c.Record.Events(ctx, buffer)
}

// A search for lines reads only the conversations that may have some.
func TestLinesOfFewConversations(t *testing.T) {
	t.Parallel()
	statements := []string{conversation("c7", "'The quay'")}
	for i := range 30 {
		text := "'nothing of it'"
		if i == 20 {
			text = "'a harbour'"
		}
		statements = append(statements, message(fmt.Sprint(i), fmt.Sprint("c", i), "user", text, "1", 1))
	}
	for pattern, want := range map[string]int32{"harbour": 1, "xyznowhere": 0, "quay": 1} {
		r := &reading{Store: of(t, statements...)}
		got := lines(t, r, pattern)
		if r.read.Load() != want || !strings.Contains(got, " 30 [") || want > 0 != strings.Contains(got, "chatgpt-c") {
			t.Errorf("%s: %d conversations were read, want %d: %s", pattern, r.read.Load(), want, got)
		}
	}
}

// A search that looks through the pages of a database first finds the same as one that
// reads all conversations.
func TestNarrowedSearchFindsTheSame(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"harbour", "Harbour", "HAR", "bour", "\u212aelvin", "kelvin", "ſtop", "stop", "東京", "天", "é", "É", "\U0001f600", "\n", `"`, `\`, "640", "x480", "0041",
		" ", " ", "-", ".", "_", "image", strings.Repeat("long ", 900),
	}
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 12))
			var texts []string
			text := func() string {
				var b strings.Builder
				for range 1 + rng.IntN(5) {
					b.WriteString(pieces[rng.IntN(len(pieces))])
				}
				texts = append(texts, b.String())
				return b.String()
			}
			content := func() any {
				switch rng.IntN(8) {
				case 0:
					return text()
				case 1:
					n := 123_456_000 + rng.IntN(9)
					texts = append(texts, fmt.Sprint(n), "640x480")
					return n
				case 2:
					return nil
				case 3:
					return []byte(text())
				case 4:
					return `[{"content_type":"image_asset_pointer","asset_pointer":"a","width":640,"height":480},` + asciiJSON(text()) + `]`
				}
				return "[" + asciiJSON(text()) + "]"
			}
			path := filepath.Join(t.TempDir(), "canonical.db")
			schema := canonical
			if seed%2 == 1 { // numbers stay numbers
				schema = strings.NewReplacer("content TEXT", "content", "title TEXT", "title").Replace(schema)
			}
			o := write(t, path, schema, "BEGIN")
			insert := func(statement string, args ...any) {
				t.Helper()
				if _, err := o.ExecContext(t.Context(), statement, args...); err != nil {
					t.Fatal(err)
				}
			}
			for c := range 40 {
				if c%9 > 0 { // else its messages are of a conversation that there is none of
					insert("INSERT INTO conversations VALUES (?, NULL, NULL, ?)", fmt.Sprintf("c%02d", c), []any{text(), nil, 123_456_000 + c%9}[rng.IntN(3)])
				}
				for n := range rng.IntN(5) {
					insert("INSERT INTO messages VALUES (?, ?, 'user', ?, ?, NULL, ?)", fmt.Sprintf("m%d.%d", c, n), fmt.Sprintf("c%02d", c), content(), 1.7e9+float64(rng.IntN(9)), n)
				}
			}
			insert("COMMIT")
			s := open(t, env(path))
			counted := &narrowing{Store: s}
			found := 0
			for i := range 30 {
				runes := []rune(texts[rng.IntN(len(texts))])
				from := rng.IntN(len(runes))
				query := strings.TrimSpace(string(runes[from:min(len(runes), from+1+rng.IntN(12))]))
				if i < 9 { // a number that a content may be
					query = fmt.Sprint(123_456_000 + i)
				}
				want := messages(t, listing{s}, query)
				if diff := cmp.Diff(want, messages(t, counted, query)); diff != "" {
					t.Fatalf("%q (-all +narrowed):\n%s", query, diff)
				}
				if !strings.HasPrefix(want, "0 ") {
					found++
				}
				if pattern := strings.ReplaceAll(query, "\n", ""); pattern != "" {
					if diff := cmp.Diff(lines(t, listing{s}, pattern), lines(t, counted, pattern)); diff != "" {
						t.Fatalf("lines with %q (-all +narrowed):\n%s", pattern, diff)
					}
				}
			}
			if found == 0 || counted.calls == 0 || counted.listed == 0 || counted.listed > counted.calls*38 {
				t.Errorf("%d searches found something; %d conversations were listed in %d searches", found, counted.listed, counted.calls)
			}
		})
	}
}

// asciiJSON writes a JSON string as Python does.
func asciiJSON(s string) string {
	quoted, _ := json.Marshal(s) // which cannot fail
	var b bytes.Buffer
	for _, r := range string(quoted) {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		}
	}
	return b.String()
}

// Of several databases too: of a conversation that two have, be its id of another type, the
// first one counts.
func TestNarrowedSearchOfSeveralFindsTheSame(t *testing.T) {
	t.Parallel()
	keys := []any{"a", "b", 7, "7", 7.5, "7.5", nil, "", []byte("a"), []byte{0xff}, "c c", 1e21, "1e+21", "007", 7.0}
	texts := []string{"harbour", "Harbour light", "a port", "quay"}
	narrow, found := 0, 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 23))
		dir := t.TempDir()
		var paths []string
		for n := range 2 + rng.IntN(2) {
			o := write(t, filepath.Join(dir, fmt.Sprint(n, ".db")), "CREATE TABLE conversations (id, title)", "CREATE TABLE messages (conversation_id, role, content)", "CREATE INDEX i ON messages (conversation_id)")
			has := map[string]any{} // by id: a database has one conversation of an id
			for range rng.IntN(9) {
				key := keys[rng.IntN(len(keys))]
				name := fmt.Sprint(key)
				if blob, ok := key.([]byte); ok {
					name = string(blob)
				} else if key == nil {
					name = ""
				}
				if _, ok := has[name]; !ok {
					has[name] = key
				}
				key = has[name]
				if _, err := o.ExecContext(t.Context(), "INSERT INTO messages VALUES (?, 'user', ?)", key, texts[rng.IntN(len(texts))]); err != nil {
					t.Fatal(err)
				}
				if _, err := o.ExecContext(t.Context(), "INSERT INTO conversations SELECT ?1, ?2 WHERE NOT EXISTS (SELECT * FROM conversations WHERE id IS ?1)", key, texts[rng.IntN(len(texts))]); err != nil {
					t.Fatal(err)
				}
			}
			o.Close()
			paths = append(paths, o.path)
		}
		s := open(t, env(strings.Join(paths, string(filepath.ListSeparator))))
		counted := &narrowing{Store: s}
		for _, query := range []string{"harbour", "LIGHT", "quay", "nowhere"} {
			want := messages(t, listing{s}, query)
			if diff := cmp.Diff(want, messages(t, counted, query)); diff != "" {
				t.Fatalf("seed %d, %q (-all +narrowed):\n%s", seed, query, diff)
			}
			if !strings.HasPrefix(want, "0 ") {
				found++
			}
		}
		narrow += counted.calls
	}
	if narrow != 160 || found < 60 {
		t.Errorf("%d searches were narrowed, %d found something", narrow, found)
	}
}

// What is not as other databases have it is searched all the same.
func TestNarrowedAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, statements := range map[string][]string{
		"views": {
			"CREATE TABLE m (a, b)", "CREATE VIEW messages AS SELECT a AS conversation_id, b AS content, 'user' AS role FROM m",
			"INSERT INTO m VALUES ('c', 'a harbour')",
		},
		"without rowid": {
			"CREATE TABLE messages (id PRIMARY KEY, conversation_id, content) WITHOUT ROWID", "INSERT INTO messages VALUES (1, 'c', 'a harbour')",
		},
		"no conversations":         {"CREATE TABLE messages (conversation_id, content)", "INSERT INTO messages VALUES (NULL, 'a harbour')"},
		"UTF-16":                   {"PRAGMA encoding = 'UTF-16'", "CREATE TABLE messages (conversation_id, content)", "INSERT INTO messages VALUES ('c', 'a harbour')"},
		"a content of the schema":  {"CREATE TABLE messages (conversation_id)", "INSERT INTO messages VALUES ('c')", "ALTER TABLE messages ADD COLUMN content DEFAULT 'a harbour'"},
		"a content that is made":   {"CREATE TABLE messages (conversation_id, a, content AS ('a ' || a))", "INSERT INTO messages VALUES ('c', 'harbour')"},
		"keys that are numbers":    {canonical, "INSERT INTO conversations VALUES (7, 0, 0, 'x')", "INSERT INTO messages VALUES (1, 7, 'user', 'a harbour', 0, 0, 1)"},
		"a title":                  {canonical, "INSERT INTO conversations VALUES (7, 0, 0, 'The Harbour')", "INSERT INTO messages VALUES (1, 7, 'user', 'x', 0, 0, 1)"},
		"conversations of a view":  {"CREATE TABLE messages (conversation_id, content)", "INSERT INTO messages VALUES ('c', 'x')", "CREATE VIEW conversations AS SELECT 'c' AS id, 'Harbour' AS title"},
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
