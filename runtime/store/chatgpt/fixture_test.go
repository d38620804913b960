package chatgpt_test

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/chatgpt"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
)

// canonical is the schema of a database that the exporter of ChatGPT Browser writes.
const canonical = `CREATE TABLE conversations (id TEXT PRIMARY KEY, create_time TEXT, update_time TEXT, title TEXT);
	CREATE TABLE messages (id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, role TEXT, content TEXT, create_time TEXT, update_time TEXT, position INTEGER NOT NULL);
	CREATE INDEX idx_messages_conversation ON messages (conversation_id);`

// owner is the program that writes a database.
type owner struct {
	t    testing.TB
	path string
	*sql.DB
}

// write makes a database, and runs statements in it.
func write(t testing.TB, path string, statements ...string) *owner {
	t.Helper()
	uri := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "_pragma=synchronous(off)&_pragma=wal_autocheckpoint(0)"}
	db, err := sql.Open("sqlite", uri.String())
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	o := &owner{t, path, db}
	o.exec(statements...)
	return o
}

func (o *owner) exec(statements ...string) {
	o.t.Helper()
	for _, s := range statements {
		if _, err := o.ExecContext(context.Background(), s); err != nil {
			o.t.Fatalf("%s: %v", s, err)
		}
	}
}

// env is an environment with a variable that names databases.
func env(path string) func(string) string {
	return storetest.Env(map[string]string{"CONVERSATION_DB": path})
}

// open opens the store of an environment, in a project without databases.
func open(t testing.TB, getenv func(string) string) store.Store {
	t.Helper()
	return openIn(t, t.TempDir(), getenv)
}

func openIn(t testing.TB, dir string, getenv func(string) string) store.Store {
	t.Helper()
	s, ok := chatgpt.Open(store.Options{Project: project.New(project.Options{Dir: dir}), Getenv: getenv})
	if !ok {
		t.Fatal("there is no store")
	}
	return s
}

// of opens the store of one database with these statements behind the canonical schema.
func of(t testing.TB, statements ...string) store.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "canonical.db")
	write(t, path, append([]string{canonical}, statements...)...)
	return open(t, env(path))
}
