package chatgpt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/chatgpt"
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
