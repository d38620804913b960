package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/postgres"
	"github.com/convtools/convtools/runtime/store/postgres/postgrestest"
	"github.com/convtools/convtools/runtime/transcript"
)

func clock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// open opens the archive of a URL.
func open(t testing.TB, url string) store.Store {
	t.Helper()
	s, ok := postgres.Open(store.Options{Getenv: storetest.Env(map[string]string{"CONVERSATION_DB": url})})
	if !ok {
		t.Fatal("there is no archive")
	}
	return s
}

// put adds conversations, and returns what has become of each.
func put(t testing.TB, url string, list ...*archive.Conversation) (outcomes []archive.Outcome) {
	t.Helper()
	w, err := postgres.Create(t.Context(), url, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		outcome, err := w.Put(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, outcome)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// chat returns a conversation with some texts of a user and an assistant in turn.
func chat(id string, texts ...string) *archive.Conversation {
	c := &archive.Conversation{Kind: "chatgpt", Native: id, Title: "About " + id, Created: clock(), Updated: clock()}
	for i, text := range texts {
		kind := transcript.KindUser
		if i%2 == 1 {
			kind = transcript.KindAssistant
		}
		c.Messages = append(c.Messages, archive.Message{Native: fmt.Sprint(i), Kind: kind, Time: clock().Add(time.Duration(i) * time.Minute), Active: true, Text: []byte(text)})
	}
	return c
}

// What was put is read again, to the letter.
func TestReads(t *testing.T) {
	t.Parallel()
	_, url := cluster.Role(t)
	c := chat("a\x00b", "NUL \x00 and \uffff", "", "東京 İ ß K \\ ' % _")
	c.Title = "T\x00itle"
	c.Messages = append(c.Messages,
		archive.Message{Kind: transcript.KindToolCall, Name: "py\x00thon", Text: []byte(`{"code": "a\nb"}`)},
		archive.Message{Kind: transcript.KindToolResult, Time: clock().Add(time.Hour + 1234567*time.Nanosecond), Text: []byte("ok")},
		archive.Message{Kind: transcript.KindSystem, Name: "critic", Text: []byte("no")},
	)
	c.Archived = true
	dir := t.TempDir()
	w, err := archive.Create(t.Context(), dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Put(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, _ := archive.Open(store.Options{Home: dir})
	put(t, url, c)

	want, got := storetest.Only(t, file), storetest.Only(t, open(t, url))
	if diff := cmp.Diff(storetest.Said(t, want), storetest.Said(t, got)); diff != "" {
		t.Error(diff)
	}
	want.Order, got.Order = 0, 0
	if diff := cmp.Diff(fmt.Sprintf("%+v", want.Conversation), fmt.Sprintf("%+v", got.Conversation)); diff != "" {
		t.Error(diff)
	}
	if !want.LastAt.Equal(got.LastAt) {
		t.Errorf("last %v, want %v", got.LastAt, want.LastAt)
	}
	if found, err := storetest.Find(t, open(t, url), c.ID()); err != nil || found.Title != c.Title {
		t.Errorf("found %q, %v", found.Title, err)
	}
	var missing *store.NotFoundError
	if _, err := storetest.Find(t, open(t, url), "archive-chatgpt-zz"); !errors.As(err, &missing) {
		t.Errorf("error %v", err)
	}
}

func TestPut(t *testing.T) {
	t.Parallel()
	_, url := cluster.Role(t)
	a, b := chat("a", "one"), chat("b", "two")
	version := func() string {
		text, err := open(t, url).Version(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if got := put(t, url, a, b); !cmp.Equal(got, []archive.Outcome{archive.New, archive.New}) {
		t.Fatal(got)
	}
	before := version()
	if got := put(t, url, a); got[0] != archive.Unchanged || version() != before {
		t.Fatalf("%v, versions %q and %q", got, before, version())
	}
	grown := chat("a", "one", "more")
	if got := put(t, url, grown); got[0] != archive.Updated || version() == before {
		t.Fatalf("%v, versions %q and %q", got, before, version())
	}
	older := chat("a", "one")
	older.Updated = clock().Add(-time.Hour)
	if got := put(t, url, older); got[0] != archive.Older {
		t.Fatal(got)
	}
	found, _ := storetest.List(t, open(t, url), store.Live)
	if len(found) != 2 || storetest.Said(t, found[0]) == storetest.Said(t, found[1]) || !strings.Contains(storetest.Said(t, found[0]), "more") {
		t.Fatalf("%+v", found)
	}
	// A dry run writes nothing.
	w, err := postgres.Create(t.Context(), url, true)
	if err != nil {
		t.Fatal(err)
	}
	if outcome, err := w.Put(t.Context(), chat("c", "three")); outcome != archive.New || err != nil {
		t.Error(outcome, err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if found, _ := storetest.List(t, open(t, url), store.Live); len(found) != 2 {
		t.Error(found)
	}
}

// The messages of a long conversation are written by several statements.
func TestBatches(t *testing.T) {
	t.Parallel()
	_, url := cluster.Role(t)
	long := func(id string, size int) *archive.Conversation { // more messages than are written at once
		c := chat(id)
		for i := range 4500 {
			c.Messages = append(c.Messages, archive.Message{Kind: transcript.KindUser, Text: fmt.Appendf(nil, "%s %d %s", id, i, strings.Repeat("x", size))})
		}
		return c
	}
	call := chat("called", "one")
	for _, name := range []string{"a", `b"\{},`, "a", "\x00\xff"} {
		call.Messages = append(call.Messages, archive.Message{Kind: transcript.KindToolCall, Name: name, Text: []byte("{}")})
	}
	first := []*archive.Conversation{chat("a", "one"), long("long", 1), chat("twice", "first"), chat("b", "two"), chat("twice", "first", "second"), call}
	if got := put(t, url, first...); !cmp.Equal(got, []archive.Outcome{archive.New, archive.New, archive.New, archive.New, archive.Updated, archive.New}) {
		t.Error(got)
	}
	again := []*archive.Conversation{chat("c", "three"), long("long", 2), chat("twice", "first", "second"), chat("a", "changed"), chat("d")}
	if got := put(t, url, again...); !cmp.Equal(got, []archive.Outcome{archive.New, archive.Updated, archive.Unchanged, archive.Updated, archive.New}) {
		t.Error(got)
	}
	want := map[transcript.ID]string{}
	for _, c := range []*archive.Conversation{again[3], again[1], again[2], first[3], first[5], again[0], again[4]} {
		want[c.ID()] = ""
		for _, m := range c.Messages {
			want[c.ID()] += string(m.Text) + "\n"
		}
	}
	found, problems := storetest.List(t, open(t, url), store.Live)
	if len(problems) > 0 {
		t.Error(problems)
	}
	got, order := map[transcript.ID]string{}, map[int64]transcript.ID{}
	for _, c := range found {
		order[c.Order] = c.ID
		got[c.ID] = ""
		_, err := c.Read(t.Context(), func(e *transcript.Event) bool {
			text := eventtext.Searched(e)
			if e.Kind == transcript.KindToolCall {
				text = []byte("{}")
			}
			got[c.ID] += string(text) + "\n"
			return true
		})
		if err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%.2000s", diff)
	}
	// The order of the store is the one in which conversations were put first.
	var ids []transcript.ID
	for _, n := range slices.Sorted(maps.Keys(order)) {
		ids = append(ids, order[n])
	}
	if diff := cmp.Diff([]transcript.ID{first[0].ID(), first[1].ID(), first[2].ID(), first[3].ID(), first[5].ID(), again[0].ID(), again[4].ID()}, ids); diff != "" {
		t.Error(diff)
	}
}

// No key begins with the owner: while the server has not counted the rows of a table, as
// during the first import, it would find one by reading all rows of an owner.
func TestKeysAreSelective(t *testing.T) {
	t.Parallel()
	_, url := cluster.Role(t)
	put(t, url)
	rows, err := postgrestest.Connect(t, url).Query(`SELECT i.indexrelid::regclass::text FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
		JOIN pg_class AS c ON c.oid = i.indrelid WHERE c.relnamespace = 'convtools'::regnamespace AND i.indisunique AND a.attname = 'owner'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		t.Error(name)
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
}

// A conversation that cannot be written as a whole is not written at all, and the next one is.
func TestPutIsAtomic(t *testing.T) {
	t.Parallel()
	cluster.Need(t)
	url := cluster.Admin(cluster.Database(t))
	put(t, url, chat("a", "one"))
	if _, err := postgrestest.Connect(t, url).ExecContext(t.Context(), "ALTER TABLE convtools.messages ADD CHECK (octet_length(text) < 100)"); err != nil {
		t.Fatal(err)
	}
	w, err := postgres.Create(t.Context(), url, false)
	if err != nil {
		t.Fatal(err)
	}
	var refused *postgres.Error
	for _, id := range []string{"a", "b"} {
		if _, err := w.Put(t.Context(), chat(id, "two", strings.Repeat("x", 100))); !errors.As(err, &refused) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if got := storetest.Said(t, storetest.Only(t, open(t, url))); !strings.Contains(got, "one") {
		t.Error(got)
	}
	if outcome, err := w.Put(t.Context(), chat("c", "four")); outcome != archive.New || err != nil {
		t.Error(outcome, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Put(ctx, chat("d", "five")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if found, _ := storetest.List(t, open(t, url), store.Live); len(found) != 2 {
		t.Error(found)
	}
}

// Nobody sees what another role has: not by listing, by an id, by reading, by searching,
// nor in SQL.
func TestOwners(t *testing.T) {
	t.Parallel()
	first, mine := cluster.Role(t)
	_, theirs := cluster.Role(t)
	put(t, mine, chat("secret", "the needle"))
	put(t, theirs, chat("other", "hay"))
	s := open(t, theirs)
	if c := storetest.Only(t, s); c.ID != "archive-chatgpt-other" {
		t.Errorf("%+v", c)
	}
	var missing *store.NotFoundError
	if _, err := storetest.Find(t, s, "archive-chatgpt-secret"); !errors.As(err, &missing) {
		t.Errorf("error %v", err)
	}
	library := conversations.New(conversations.Options{}, s)
	for _, word := range []string{"needle", "About secret"} {
		found, err := library.Search(t.Context(), conversations.SearchQuery{Filter: conversations.Filter{Sources: []string{archive.Name}}, Pattern: excerpt.Literal(word, true), Order: conversations.Newest, Limit: 10})
		if err != nil || found.Total != 0 {
			t.Errorf("%q: %+v, %v", word, found, err)
		}
	}
	if _, _, err := library.Read(t.Context(), conversations.ReadQuery{ID: "archive-chatgpt-secret"}); !errors.As(err, &missing) {
		t.Errorf("read: error %v", err)
	}
	var id int64
	admin := postgrestest.Connect(t, cluster.Admin("archive"))
	if err := admin.QueryRow("SELECT id FROM convtools.conversations WHERE owner = $1", first).Scan(&id); err != nil {
		t.Fatal(err)
	}
	db := postgrestest.Connect(t, theirs)
	for _, query := range []string{
		"SELECT count(*) FROM convtools.conversations WHERE owner = $1 OR id = $2",
		"SELECT count(*) FROM convtools.messages WHERE owner = $1 OR conversation = $2",
	} {
		var n int
		if err := db.QueryRow(query, first, id).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d, %v", query, n, err)
		}
	}
	for _, query := range []string{
		"INSERT INTO convtools.messages (owner, conversation, position, kind, active, text) VALUES ($1, 1, 99, 'user', true, '')",
		"UPDATE convtools.conversations SET owner = $1",
	} {
		if _, err := db.Exec(query, first); err == nil {
			t.Errorf("allowed: %s", query)
		}
	}
	for _, query := range []string{
		"DELETE FROM convtools.conversations WHERE owner = $1",
		"UPDATE convtools.messages SET text = '' WHERE owner = $1",
	} {
		result, err := db.Exec(query, first)
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := result.RowsAffected(); n != 0 {
			t.Errorf("%s: %d rows", query, n)
		}
	}
	// The role that made the tables is bound too, and so is one that plays another.
	for _, url := range []string{mine, theirs} {
		var n int
		if err := postgrestest.Connect(t, url).QueryRow("SELECT count(DISTINCT owner) FROM convtools.messages").Scan(&n); err != nil || n != 1 {
			t.Errorf("owners %d, %v", n, err)
		}
	}
	if said := storetest.Said(t, storetest.Only(t, open(t, mine))); !strings.Contains(said, "needle") {
		t.Error(said)
	}
}

// An administrator, whom row-level security does not bind, has an archive of its own too.
func TestAdministrator(t *testing.T) {
	t.Parallel()
	_, theirs := cluster.Role(t)
	put(t, theirs, chat("other", "hay"))
	put(t, cluster.Admin("archive"), chat("own", "straw"))
	if c := storetest.Only(t, open(t, cluster.Admin("archive"))); c.ID != "archive-chatgpt-own" {
		t.Errorf("%+v", c)
	}
}

// No error has a password, or a part of the URL that may be one.
func TestErrors(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	urls := map[string]string{
		"down":       "postgres://someone:hunter2@" + address + "/archive?sslmode=disable",
		"no URL":     "postgres://someone:hunter2@" + address + "/archive?sslmode=hunter2",
		"not parsed": "postgres://someone:hunter2%zz@host/archive",
		"keyword":    "postgres://127.0.0.1:1/archive?user=someone&password=hunter2&sslmode=disable",
	}
	t.Run("of a server", func(t *testing.T) {
		t.Parallel()
		_, url := cluster.Role(t)
		checkError(t, strings.Replace(url, "s3cret", "hunter2", 1), "28P01")
		checkError(t, strings.Replace(url, "/archive", "/hunter3", 1), "3D000")
	})
	for name, url := range urls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkError(t, url, "")
		})
	}
}

func checkError(t *testing.T, url, code string) {
	t.Helper()
	s := open(t, url)
	_, err := s.List(t.Context(), store.Scope{Set: store.Live})
	var failure *postgres.Error
	if !errors.As(err, &failure) || failure.Code != code {
		t.Fatalf("error %v", err)
	}
	_, created := postgres.Create(t.Context(), url, false)
	if !errors.As(created, &failure) || failure.Code != code {
		t.Fatalf("error %v", created)
	}
	_, versioned := s.Version(t.Context())
	for _, text := range []string{err.Error(), created.Error(), versioned.Error(), s.Place(), fmt.Sprintf("%+v %#v", failure, failure)} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, "s3cret") || strings.Contains(text, "someone") {
			t.Errorf("%q", text)
		}
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if text := fmt.Sprintf("%#v", e); strings.Contains(text, "hunter2") {
			t.Errorf("%T holds the password", e)
		}
	}
}

// A server that accepts and says nothing keeps nobody waiting for long, and a context ends
// the wait.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	s := open(t, "postgres://someone:hunter2@"+listener.Addr().String()+"/archive?sslmode=disable&connect_timeout=1")
	var failure *postgres.Error
	if _, err := s.List(t.Context(), store.Scope{Set: store.Live}); !errors.As(err, &failure) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.List(ctx, store.Scope{Set: store.Live}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A query that is cancelled ends on the server too.
func TestCancel(t *testing.T) {
	t.Parallel()
	database := cluster.Database(t)
	role, url := cluster.Role(t)
	url = strings.Replace(url, "/archive?", "/"+database+"?", 1)
	put(t, url, chat("a", "one"))
	s := open(t, url)
	w, err := postgres.Create(t.Context(), url, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	admin := postgrestest.Connect(t, cluster.Admin(database))
	tx, err := admin.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	// Who reads waits for the table, and who writes for its turn.
	if _, err := tx.Exec("LOCK TABLE convtools.conversations"); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("SELECT pg_advisory_xact_lock(1668247158, hashtext($1))", role); err != nil {
		t.Fatal(err)
	}
	waiting := func() (n int) {
		if err := admin.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND wait_event_type = 'Lock'", role).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for name, do := range map[string]func(context.Context) error{
		"list":  func(ctx context.Context) error { _, err := s.List(ctx, store.Scope{Set: store.Live}); return err },
		"write": func(ctx context.Context) error { _, err := w.Put(ctx, chat("b", "two")); return err },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() { failed <- do(ctx) }()
		for waiting() == 0 {
			runtime.Gosched()
		}
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", name, err)
		}
		if waiting() != 0 {
			t.Errorf("%s: the server waits still", name)
		}
	}
}

// Nothing was imported: there is an archive with nothing in it.
func TestEmptyDatabase(t *testing.T) {
	t.Parallel()
	database := cluster.Database(t)
	_, url := cluster.Role(t)
	url = strings.Replace(url, "/archive?", "/"+database+"?", 1)
	if found, problems := storetest.List(t, open(t, url), store.Live|store.Archived); len(found)+len(problems) != 0 {
		t.Error(found, problems)
	}
	// Many that begin at once make one schema.
	done := make(chan error)
	const writers = 4
	for i := range writers {
		go func() {
			w, err := postgres.Create(t.Context(), url, false)
			if err == nil {
				_, err = w.Put(t.Context(), chat(fmt.Sprint(i), "one"))
				err = errors.Join(err, w.Close())
			}
			done <- err
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if found, _ := storetest.List(t, open(t, url), store.Live); len(found) != writers {
		t.Error(found)
	}
	db := postgrestest.Connect(t, url)
	if _, err := db.Exec("UPDATE convtools.schema SET version = 99"); err != nil {
		t.Fatal(err)
	}
	var newer store.StateError
	if _, err := open(t, url).List(t.Context(), store.Scope{Set: store.Live}); !errors.As(err, &newer) || !strings.Contains(string(newer), "schema 99") {
		t.Errorf("error %v", err)
	}
	if _, err := postgres.Create(t.Context(), url, false); !errors.As(err, &newer) {
		t.Errorf("error %v", err)
	}
}
