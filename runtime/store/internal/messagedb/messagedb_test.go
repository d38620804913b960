package messagedb_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

const tables = "CREATE TABLE s (id TEXT, dir TEXT); CREATE TABLE m (s TEXT, said TEXT)"

// newStore returns a store of databases in a directory, each with the sessions of /project.
func newStore(names ...string) func(dir string) *messagedb.Store {
	return func(dir string) *messagedb.Store {
		ids := &history.IDs{Prefix: "x-", Session: history.IsName}
		base := history.Store{IDs: ids, Kind: "x", Dir: dir, Project: project.New(project.Options{Dir: "/project"})}
		return &messagedb.Store{
			Store: base,
			Queries: messagedb.Tables(func(has messagedb.Has) (sessions, messages string, ok bool) {
				return "SELECT id AS key, NULL AS parent, 0 AS agent, NULL AS title, dir, NULL AS created, NULL AS updated, 0 AS archived, NULL AS version FROM s",
					"SELECT 'user' AS role, NULL AS at, NULL AS about, said AS data, rowid AS place FROM m WHERE s = ?1", has("s", "id") && has("m", "said")
			}),
			Record: func(to *history.Recorder, m *messagedb.Message) {
				to.Add(transcript.Event{Kind: transcript.KindUser, Text: m.Data})
			},
			Databases: func() (all []messagedb.Database, _ []store.Problem) {
				for _, name := range names {
					all = append(all, messagedb.Database{Path: filepath.Join(dir, name)})
				}
				return all, nil
			},
		}
	}
}

func statements(all ...string) (list [][]any) {
	for _, s := range all {
		list = append(list, []any{s})
	}
	return list
}

func exec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// A session in several databases is read from the first, one database that cannot be read hides no other, and
// the version changes with what is added.
func TestDatabases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	storetest.Database(t, filepath.Join(dir, "a"), statements(tables, "INSERT INTO s VALUES ('one', '/project'), ('two', '/other')", "INSERT INTO m VALUES ('one', 'First'), ('two', 'Other')")...)
	b := storetest.Database(t, filepath.Join(dir, "b"), statements(tables, "INSERT INTO s VALUES ('one', '/project'), ('three', '/project')", "INSERT INTO m VALUES ('one', 'Again'), ('three', 'Third')")...)
	storetest.Database(t, filepath.Join(dir, "c"), statements("CREATE TABLE s (id TEXT)")...)
	s := newStore("a", "missing", "b", "c")(dir)
	describe := func() (list, problems string) {
		found, unread := storetest.List(t, s, store.Live)
		for _, c := range found {
			list += string(c.ID) + " " + storetest.Said(t, c)
		}
		for _, p := range unread {
			problems += filepath.Base(p.Path) + ": " + p.Err.Error()
		}
		return list, problems
	}
	before, err := s.Version(t.Context())
	list, problems := describe()
	if diff := cmp.Diff("x-one 1 user: First\nx-three 1 user: Third\n", list); diff != "" || problems != "c: its tables have another form, which may be that of a later version" || err != nil {
		t.Error(diff, problems, err)
	}
	exec(t, b, "INSERT INTO m VALUES ('three', 'More')")
	after, _ := s.Version(t.Context())
	if list, _ := describe(); !strings.HasSuffix(list, "2 user: More\n") || before == after {
		t.Errorf("%s, version %q, then %q", list, before, after)
	}
}

// Views and generated columns are code of whoever wrote the database, and values can have any size and type.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ tables, want string }{
		"a view":             {"CREATE VIEW s AS SELECT 'one' AS id, '/project' AS dir; CREATE TABLE m (s TEXT, said TEXT)", "error"},
		"a virtual table":    {"CREATE VIRTUAL TABLE s USING fts5 (id, dir); CREATE TABLE m (s TEXT, said TEXT)", "error"},
		"a generated column": {"CREATE TABLE s (dir TEXT, id TEXT AS (replace(hex(zeroblob(9)), '0', dir))); CREATE TABLE m (s TEXT, said TEXT)", "error"},
		"values of other types": {
			tables + "; INSERT INTO s VALUES (17, '/project'), (NULL, '/project'), (x'ff', '/project'), ('a/b', '/project'); INSERT INTO m VALUES ('17', 3.5), ('17', NULL), ('17', x'ff')",
			"x-17 1 user: 3.5\n2 user: \ufffd\n",
		},
		"a value over the limit": {
			tables + "; INSERT INTO s VALUES ('one', '/project'); INSERT INTO m VALUES ('one', zeroblob(80000000)), ('one', 'Hi')",
			"x-one 1 user: Hi\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			storetest.Database(t, filepath.Join(dir, "a"), statements(test.tables)...)
			l, err := newStore("a")(dir).List(t.Context(), store.Scope{Set: store.Live})
			got := "error"
			if err == nil {
				defer l.Close()
				got = ""
				for _, c := range l.Conversations {
					got += string(c.ID) + " " + storetest.Said(t, c)
				}
			}
			if diff := cmp.Diff(test.want, strings.ToValidUTF8(got, "\ufffd")); diff != "" {
				t.Error(diff, err)
			}
		})
	}
}

func TestMoment(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	for _, value := range []any{int64(1_777_629_600), int64(1_777_629_600_000), "2026-05-01 10:00:00", "2026-05-01T10:00:00+00:00", []byte("2026-05-01T10:00:00Z")} {
		if got := history.Moment(value); !got.Equal(want) {
			t.Errorf("%v is %v", value, got)
		}
	}
	for _, value := range []any{"x", int64(0), nil} {
		if got := history.Moment(value); !got.IsZero() {
			t.Errorf("%v is %v", value, got)
		}
	}
}
