package chatgpt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/chatgpt"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// message is the statement for a message whose content and time are SQL expressions.
func message(id, conversation, role, content, at string, position int) string {
	return fmt.Sprintf("INSERT INTO messages (id, conversation_id, role, content, create_time, position) VALUES ('%s', '%s', '%s', %s, %s, %d)",
		id, conversation, role, content, at, position)
}

func conversation(id, title string) string {
	return fmt.Sprintf("INSERT INTO conversations VALUES ('%s', '1700000000.5', '1700000900', %s)", id, title)
}

func TestConversations(t *testing.T) {
	t.Parallel()
	s := of(t,
		conversation("conv1", "'First chat'"), conversation("conv2", "NULL"), conversation("2f6c0d3a-1111-4222-8333-444455556666", "'天気 🎉'"),
		message("m1", "conv1", "user", `'["Hello"]'`, "'1700000000.123'", 1),
		message("m2", "conv1", "assistant", `'["Hi\nthere"]'`, "'1700000060'", 2),
		message("m3", "conv1", "user", `'["And now?"]'`, "NULL", 3),
		message("m4", "conv2", "tool", `'plain text'`, "'1700001060'", 1),
		message("m5", "gone", "user", `'left behind'`, "'1700001060'", 1),
	)
	want := `chatgpt-gone "" u
chatgpt-conv1 "First chat" ua u
chatgpt-conv2 "" t
chatgpt-2f6c0d3a-1111-4222-8333-444455556666 "天気 🎉"
`
	if diff := cmp.Diff(want, storetest.Listing(t, s)); diff != "" {
		t.Error(diff)
	}
	c, err := storetest.Find(t, s, "chatgpt-conv1")
	if err != nil {
		t.Fatal(err)
	}
	wantFacts := transcript.Conversation{
		ID: "chatgpt-conv1", NativeID: "conv1", Source: "chatgpt", Title: "First chat",
		CreatedAt: time.Unix(1700000000, 500_000_000).UTC(), LastActivatedAt: time.Unix(1700000900, 0).UTC(),
	}
	if diff := cmp.Diff(wantFacts, c.Conversation); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("1 user: Hello\n1 assistant: Hi there\n2 user: And now?\n", storetest.Said(t, c)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"2023-11-14T22:13:20.123Z", "2023-11-14T22:14:20Z", "none"}, times(t, c)); diff != "" {
		t.Error(diff)
	}
	storetest.CheckReading(t, c)
}

// times returns the times of the events of a conversation.
func times(t *testing.T, c store.Conversation) []string {
	t.Helper()
	var all []string
	_, err := c.Read(t.Context(), func(e *transcript.Event) bool {
		if e.Time.IsZero() {
			all = append(all, "none")
		} else {
			all = append(all, e.Time.Format(time.RFC3339Nano))
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Whatever stands where a time should, it costs that message its time at the most.
func TestTimes(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"TEXT", "REAL", "INTEGER", "", "TIMESTAMP"} {
		path := filepath.Join(t.TempDir(), "x.db")
		o := write(t, path, "CREATE TABLE conversations (id, title)", "CREATE TABLE messages (conversation_id, role, content, position, create_time "+column+")")
		var want []string
		for i, c := range []struct{ value, want string }{
			{"1700000000", "2023-11-14T22:13:20Z"},
			{"1700000000.25", "2023-11-14T22:13:20.25Z"},
			{"'1700000000.25'", "2023-11-14T22:13:20.25Z"},
			{"' 1700000000 '", "2023-11-14T22:13:20Z"},
			{"'2023-11-14T22:13:20Z'", "2023-11-14T22:13:20Z"},
			{"'2023-11-14T17:13:20-05:00'", "2023-11-14T22:13:20Z"},
			{"'2023-11-14 22:13:20.5'", "2023-11-14T22:13:20.5Z"},
			{"'2023-11-14T22:13'", "2023-11-14T22:13:00Z"},
			{"'2023-11-14'", "2023-11-14T00:00:00Z"},
			{"0", "none"},
			{"-1", "1969-12-31T23:59:59Z"},
			{"''", "none"},
			{"NULL", "none"},
			{"1e20", "none"},
			{"9e999", "none"},
			{"-9e999", "none"},
			{"-1e12", "none"},
			{"'nan'", "none"},
			{"'inf'", "none"},
			{"'yesterday'", "none"},
			{"x'00ff'", "none"},
			{"253402300799", "9999-12-31T23:59:59Z"},
			{"253402300800", "none"},
		} {
			o.exec(fmt.Sprintf("INSERT INTO messages VALUES ('c', 'user', 'x', %d, %s)", i, c.value))
			want = append(want, c.want)
		}
		if diff := cmp.Diff(want, times(t, storetest.Only(t, open(t, env(path))))); diff != "" {
			t.Errorf("a column of type %q: %s", column, diff)
		}
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ content, want string }{
		{`'plain'`, "plain"},
		{`'["decoded: \u5929\u6c17 \ud83c\udf89 caf\u00e9 \"quoted\" back\\slash"]'`, `decoded: 天気 🎉 café "quoted" back\slash`},
		{`'["one", "two"]'`, "one\ntwo"},
		{`' ["spaces"] '`, "spaces"},
		{`'["", "two", ""]'`, "two"},
		{`'[]'`, ""},
		{`'null'`, ""},
		{`''`, ""},
		{`NULL`, ""},
		{`'[1, 2, 3]'`, "[1, 2, 3]"},
		{`'["a", 1]'`, `["a", 1]`},
		{`'[{"name": "x"}]'`, `[{"name": "x"}]`},
		{`'["not closed"'`, `["not closed"`},
		{`'["a"] and more'`, `["a"] and more`},
		{`'{"text": "an object"}'`, `{"text": "an object"}`},
		{`'[{"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_1", "width": 640, "height": 480}, "what is it?"]'`, "[image 640x480]\nwhat is it?"},
		{`'[{"content_type": "image_asset_pointer", "width": "wide"}]'`, "[image]"},
		{`'[{"content_type": "audio_transcription", "text": "hello", "direction": "in"}]'`, "hello"},
		{`'[{"content_type": "audio_asset_pointer", "asset_pointer": "x"}]'`, "[audio]"},
		{`'[{"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {"asset_pointer": "x"}}]'`, "[video]"},
		{`'[{"content_type": "something new"}]'`, "[something new]"},
		{`'[null, "b"]'`, "b"},
		{`'["lone \ud800 surrogate"]'`, "lone \ufffd surrogate"},
		{`'["a\u0000b"]'`, "a\x00b"},
		{`42`, "42"},
		{`1.5`, "1.5"},
		{`x'e5a4a9'`, "天"},
		{`x'ff'`, "\ufffd"},
		{`'[' || char(10) || '"two lines"' || char(10) || ']'`, "two lines"},
	} {
		s := of(t, message("m", "c", "user", c.content, "1", 1))
		var searched, read []byte
		_, err := storetest.Only(t, s).Read(t.Context(), func(e *transcript.Event) bool {
			body := eventtext.Body(e)
			searched, read = bytes.Clone(eventtext.Searched(e)), bytes.Clone(body)
			return false
		})
		if err != nil {
			t.Fatal(err)
		}
		if string(searched) != c.want || string(read) != c.want {
			t.Errorf("%s: searched %q, read %q, want %q", c.content, searched, read, c.want)
		}
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	s := of(t,
		message("m1", "c", "system", "'be kind'", "1", 0), message("m2", "c", "user", "'a'", "1", 1), message("m3", "c", "assistant", "'b'", "1", 2),
		message("m4", "c", "tool", "'t'", "1", 3), message("m5", "c", "", "'u'", "1", 4), message("m6", "c", `cri"tic\`, "'v'", "1", 5),
		"INSERT INTO messages VALUES ('m7', 'c', NULL, 'w', '1', NULL, 6)", message("m8", "c", "User", "'x'", "1", 7),
	)
	want := "1 system: be kind\n1 user: a\n1 assistant: b\n1 tool_result: t\n1 system unknown: u\n1 system cri\"tic\\: v\n1 system unknown: w\n1 system User: x\n"
	if diff := cmp.Diff(want, storetest.Said(t, storetest.Only(t, s))); diff != "" {
		t.Error(diff)
	}
}

// The tables need not be those of the exporter.
func TestForms(t *testing.T) {
	t.Parallel()
	const in = "1 user: one\n1 assistant: two\n2 user: three\n"
	for name, statements := range map[string][]string{
		"no position: the time, not its text, and then the row": {
			"CREATE TABLE conversations (id TEXT PRIMARY KEY, title TEXT)",
			"CREATE TABLE messages (id TEXT PRIMARY KEY, conversation_id TEXT, role TEXT, content TEXT, create_time TEXT)",
			"INSERT INTO messages VALUES ('c', 'x', 'user', 'three', '1700000000.5'), ('a', 'x', 'user', 'one', '999999999.0'), ('b', 'x', 'assistant', 'two', '999999999.0')",
		},
		"times in text of another form": {
			"CREATE TABLE messages (conversation_id TEXT, role TEXT, content TEXT, create_time TEXT)",
			"INSERT INTO messages VALUES ('x', 'user', 'three', '2024-03-01T00:00:00Z'), ('x', 'user', 'one', '2024-01-01T00:00:00Z'), ('x', 'assistant', 'two', '2024-02-01T00:00:00Z')",
		},
		"without rowid": {
			"CREATE TABLE messages (conversation_id TEXT, position INTEGER, role TEXT, content TEXT, PRIMARY KEY (conversation_id, position)) WITHOUT ROWID",
			"INSERT INTO messages VALUES ('x', 2, 'assistant', 'two'), ('x', 3, 'user', 'three'), ('x', 1, 'user', 'one')",
		},
		"no key": {
			"CREATE TABLE conversations (id TEXT, title TEXT)", "INSERT INTO conversations VALUES (NULL, 'none')",
			"CREATE TABLE messages (conversation_id TEXT, position INTEGER, role TEXT, content TEXT)",
			"INSERT INTO messages VALUES (NULL, 2, 'assistant', 'two'), (NULL, 3, 'user', 'three'), (NULL, 1, 'user', 'one')",
		},
		"UTF-16": {
			"PRAGMA encoding='UTF-16'", canonical,
			message("a", "x", "user", "'one'", "1", 1), message("b", "x", "assistant", `'["two"]'`, "1", 2), message("c", "x", "user", "'three'", "1", 3),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.db")
			write(t, path, statements...)
			s := open(t, env(path))
			c := storetest.Only(t, s)
			if diff := cmp.Diff(in, storetest.Said(t, c)); diff != "" {
				t.Error(diff)
			}
			if found, err := storetest.Find(t, s, c.ID); err != nil || found.Title != c.Title {
				t.Errorf("Find: %+v, %v", found, err)
			}
		})
	}
}

// Ids in a database are of any form; those here are not.
func TestIDs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	path := filepath.Join(t.TempDir(), "x.db")
	o := write(t, path, canonical)
	for _, id := range []string{"a b", "../../etc", "", "天", long, "ok_1", ".hidden"} {
		o.exec(message("m"+id, id, "user", "'x'", "1", 1))
	}
	s := open(t, env(path))
	found, _ := storetest.List(t, s, store.Live)
	if len(found) != 7 {
		t.Fatalf("%d conversations", len(found))
	}
	for _, c := range found {
		if strings.Trim(string(c.ID), "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" || len(c.ID) > 80 {
			t.Errorf("id %q", c.ID)
		}
		id, err := s.ParseID(strings.Replace(string(c.ID), "chatgpt", "ChatGPT", 1))
		if err != nil || id != c.ID {
			t.Errorf("ParseID: %q, %v", id, err)
		}
		if again, err := storetest.Find(t, s, c.ID); err != nil || again.NativeID != c.NativeID {
			t.Errorf("%q: %+v, %v", c.NativeID, again, err)
		}
	}
	for _, bad := range []string{"", "chatgpt-", "chatgpt-a b", "jp-c17648402467", "conv1", "chatgpt-..", "chatgpt-.xyz"} {
		var wrong *store.BadIDError
		if id, err := s.ParseID(bad); !errors.As(err, &wrong) {
			t.Errorf("%q is %q", bad, id)
		}
	}
	var missing *store.NotFoundError
	if _, err := storetest.Find(t, s, "chatgpt-ok_2"); !errors.As(err, &missing) || len(missing.Nearest) != 1 || missing.Nearest[0] != "chatgpt-ok_1" {
		t.Errorf("%+v", err)
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	one := func(path, id string) string {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, canonical, message("m", id, "user", "'x'", "1", 1)).Close()
		return path
	}
	a, b := one(filepath.Join(other, "a.db"), "a"), one(filepath.Join(other, "b.db"), "b")
	gone := filepath.Join(other, "gone.db")
	project := t.TempDir()
	old, now := one(filepath.Join(project, "db", "old.db"), "old"), one(filepath.Join(project, "db", "now.db"), "now")
	later := time.Now()
	for i, path := range []string{old, now, filepath.Join(project, "db", "foreign.db"), filepath.Join(project, "db", "text.db")} {
		switch filepath.Base(path) {
		case "foreign.db":
			write(t, path, "CREATE TABLE users (id)").Close()
		case "text.db":
			if err := os.WriteFile(path, []byte("no database"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, later, later.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	list := string(os.PathListSeparator)
	for name, c := range map[string]struct {
		dir, variable, second string
		want                  string
	}{
		"one":                       {dir, a, "", "chatgpt-a"},
		"several":                   {dir, a + list + b, "", "chatgpt-a chatgpt-b"},
		"the same twice":            {dir, a + list + a, "", "chatgpt-a"},
		"the first variable":        {dir, a, b, "chatgpt-a"},
		"the second":                {dir, " ", b, "chatgpt-b"},
		"the home directory":        {dir, "~/a.db", "", "chatgpt-a"},
		"missing":                   {project, gone, b, "error"},
		"one of two missing":        {project, a + list + gone, "", "chatgpt-a ! CONVERSATION_DB names " + gone + ", which does not exist"},
		"a directory":               {dir, other, "", "error"},
		"the newest of the project": {project, "", "", "chatgpt-now"},
		"a directory below":         {filepath.Join(project, "src"), "", "", "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			getenv := storetest.Env(map[string]string{"CONVERSATION_DB": c.variable, "ORIGIN_CONVERSATION_DB": c.second, "HOME": other, "USERPROFILE": other})
			if got := describe(t, c.dir, getenv, true); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if c.variable == "" {
				c.want = strings.Replace(c.want, "chatgpt-now", "! a database in a project is read only where its user names it: set CONVERSATION_DB to its path, or import it", 1)
			}
			if got := describe(t, c.dir, getenv, false); got != c.want {
				t.Errorf("not told to: %s, want %s", got, c.want)
			}
		})
	}
}

// A database in the settings is one that the user names, and so is a directory.
func TestHomes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "named.db")
	write(t, path, "CREATE TABLE messages (conversation_id, content)", "INSERT INTO messages VALUES ('c', 'x')").Close()
	for _, home := range []string{path, dir} {
		s, ok := chatgpt.Open(store.Options{Home: home, Project: project.New(project.Options{Dir: dir}), Getenv: env("/elsewhere.db")})
		if !ok {
			t.Fatalf("%s: there is no store", home)
		}
		if found, problems := storetest.List(t, s, store.Live); len(found) != 1 || len(problems) != 0 {
			t.Errorf("%s: %v, %v", home, found, problems)
		}
	}
}

// describe returns the ids that a store lists, and its problems.
func describe(t *testing.T, dir string, getenv func(string) string, databases bool) string {
	t.Helper()
	s, ok := chatgpt.Open(store.Options{Project: project.New(project.Options{Dir: dir}), Getenv: getenv, ProjectDatabases: databases})
	if !ok {
		return "none"
	}
	listing, err := s.List(t.Context(), store.Scope{Set: store.Live})
	if err != nil {
		return "error"
	}
	defer listing.Close()
	var words []string
	for _, c := range listing.Conversations {
		words = append(words, string(c.ID))
	}
	for _, p := range listing.Problems {
		words = append(words, "! "+p.Err.Error())
	}
	return strings.Join(words, " ")
}

func TestMissingIsTyped(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gone.db")
	_, err := open(t, env(path)).List(t.Context(), store.Scope{Set: store.Live})
	var missing *chatgpt.MissingError
	if !errors.As(err, &missing) || missing.Path != path || missing.Variable != "CONVERSATION_DB" || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestBadDatabases(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "whole.db")
	o := write(t, path, canonical, conversation("c", "'t'"))
	for i := range 400 {
		o.exec(message(fmt.Sprint(i), "c", "user", "'"+strings.Repeat("x", 500)+"'", "1", i))
	}
	o.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data string
		want string
	}{
		"empty":        {"", "it is no database of a ChatGPT export: it has no messages.conversation_id"},
		"text":         {strings.Repeat("no database ", 1000), "it is no SQLite database"},
		"cut":          {string(whole[:len(whole)/2]), "it is damaged"},
		"only a head":  {string(whole[:100]), "it is damaged"},
		"a wrong page": {string(whole[:4096]) + strings.Repeat("\xff", len(whole)-4096), "it is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "bad.db")
			if err := os.WriteFile(path, []byte(c.data), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := readAll(t.Context(), open(t, env(path))); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// readAll reads all conversations of a store, and returns the first error or problem.
func readAll(ctx context.Context, s store.Store) error {
	listing, err := s.List(ctx, store.Scope{Set: store.Live})
	if err != nil {
		return err
	}
	defer listing.Close()
	for _, p := range listing.Problems {
		return p.Err
	}
	for _, c := range listing.Conversations {
		if _, err := storetest.Read(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// What is written is there at the next call, whichever way its owner writes it, and
// whatever locks it holds.
func TestWriter(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"wal", "delete"} {
		path := filepath.Join(t.TempDir(), "live.db")
		o := write(t, path, "PRAGMA journal_mode="+mode, canonical, message("1", "c", "user", "'one'", "1", 1))
		s := open(t, env(path))
		versions := map[string]bool{}
		check := func(step, want string) {
			t.Helper()
			version, err := s.Version(t.Context())
			if err != nil || versions[version] {
				t.Errorf("%s, %s: version %q, %v", mode, step, version, err)
			}
			versions[version] = true
			if got := storetest.Said(t, storetest.Only(t, s)); got != want {
				t.Errorf("%s, %s: %q, want %q", mode, step, got, want)
			}
		}
		check("at first", "1 user: one\n")
		o.exec(message("2", "c", "assistant", "'two'", "2", 2))
		check("appended", "1 user: one\n1 assistant: two\n")
		o.exec("UPDATE messages SET content = 'tow' WHERE id = '2'")
		check("edited", "1 user: one\n1 assistant: tow\n")
		o.exec("BEGIN EXCLUSIVE", "DELETE FROM messages")
		if got := storetest.Said(t, storetest.Only(t, s)); got != "1 user: one\n1 assistant: tow\n" {
			t.Errorf("%s, locked: %q", mode, got)
		}
		o.exec("ROLLBACK", "DELETE FROM messages WHERE id = '1'")
		check("deleted", "1 assistant: tow\n")
		o.Close()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		write(t, path, canonical, message("1", "c", "user", "'another'", "1", 1)).Close()
		check("replaced", "1 user: another\n")
	}
}

// The version of a conversation changes when that one changes, and only with the database.
func TestVersion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "live.db")
	o := write(t, path, canonical, conversation("a", "'A'"), message("1", "a", "user", "'one'", "1", 1), message("2", "b", "user", "'two'", "2", 1))
	s := open(t, env(path))
	version := func(id transcript.ID) string {
		c, err := storetest.Find(t, s, id)
		if err != nil {
			t.Fatal(err)
		}
		v, err := c.Version(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	a := version("chatgpt-a")
	for _, change := range []string{
		"UPDATE messages SET content = 'eno' WHERE id = '1'", "UPDATE messages SET create_time = '2' WHERE id = '1'", "UPDATE messages SET role = 'tool' WHERE id = '1'",
		"UPDATE conversations SET title = 'B'", message("3", "a", "user", "''", "3", 2), "DELETE FROM messages WHERE id = '3'",
	} {
		o.exec(change)
		if changed := version("chatgpt-a"); changed == a {
			t.Errorf("%s: the version is the same", change)
		} else {
			a = changed
		}
	}
	if again := version("chatgpt-a"); again != a {
		t.Errorf("version %q, then %q", a, again)
	}
	o.exec("DELETE FROM messages", "DELETE FROM conversations")
	var missing *store.NotFoundError
	if _, err := storetest.Find(t, s, "chatgpt-a"); !errors.As(err, &missing) {
		t.Error(err)
	}
}

// Reading goes on where the owner changes the database meanwhile.
func TestChangedWhileRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "live.db")
	o := write(t, path, "PRAGMA journal_mode=wal", canonical)
	for i := range 300 {
		o.exec(message(fmt.Sprint(i), "c", "user", "'"+strings.Repeat("x", 1000)+"'", "1", i))
	}
	c := storetest.Only(t, open(t, env(path)))
	n := 0
	totals, err := c.Read(t.Context(), func(*transcript.Event) bool {
		if n%100 == 50 {
			o.exec(fmt.Sprintf("UPDATE messages SET role = 'tool' WHERE id = '%d'", n), "PRAGMA wal_checkpoint(TRUNCATE)")
		}
		n++
		return true
	})
	if err != nil || n != 300 || totals.Events != 300 {
		t.Errorf("%d events, %+v, %v", n, totals, err)
	}
}
