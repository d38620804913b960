package opencode

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// source is a place with sessions: a database, or a tree of files. Both have the tables "session", "message"
// and "part". Its errors have no path.
type source interface {
	// path returns the place, for people.
	path() string
	// sessions returns the sessions that have messages: all, or the one with an id.
	sessions(ctx context.Context, session string) ([]*info, []store.Problem, error)
	// each calls row for the messages of a session, or for the parts of a message, in the order of their
	// ids: with the time of creation if the table has it, and with the recorded JSON, nil if it is too
	// large. It calls reset first, again if it has to start again.
	each(ctx context.Context, table, of string, reset func(), row func(id string, created int64, data []byte)) error
	// version returns a text that changes when a session does; "" if there is no such session.
	version(ctx context.Context, session string) (string, error)
	// Release closes the files that the source holds open.
	Release()
}

// maxData is the largest message or part that is read, and the largest sum of the parts of a message
// without files, in bytes.
const maxData = jsonl.MaxLine

// database is a database of opencode.
type database struct{ sqlitefile.Shared }

func (d *database) path() string { return d.Path }

// query calls row for each row of the result of a query, after reset.
func (d *database) query(ctx context.Context, reset func(), row func(*sql.Rows) error, query string, args ...any) error {
	return d.Do(ctx, func(db *sqlitefile.DB) error {
		reset()
		return db.Each(ctx, row, query, args...)
	})
}

const maxText = 64 << 10 // characters that are read of a text outside of parts

// sessions implements source. It selects the columns as one JSON object, whose keys are those of files of sessions.
func (d *database) sessions(ctx context.Context, session string) (all []*info, _ []store.Problem, err error) {
	text := func(column string) string { return fmt.Sprintf("substr(CAST(%s AS TEXT), 1, %d)", column, maxText) }
	err = d.query(ctx, func() { all = nil }, func(rows *sql.Rows) error {
		i := &info{source: d}
		var data []byte
		err := rows.Scan(&i.session, &data)
		jsontext.Decode(data, i)
		if isSession(i.session) {
			all = append(all, i)
		}
		return err
	}, `SELECT coalesce(CAST(id AS TEXT), ''), json_object(
			'parentID', `+text("parent_id")+`, 'directory', `+text("directory")+`, 'title', `+text("title")+`,
			'revert', CASE WHEN json_valid(CAST(revert AS TEXT)) THEN json(CAST(revert AS TEXT)) END,
			'begun', (SELECT CAST(min(time_created) AS INTEGER) FROM message WHERE session_id = session.id),
			'time', json_object('created', CAST(time_created AS INTEGER), 'updated', CAST(time_updated AS INTEGER), 'archived', CAST(time_archived AS INTEGER)))
		FROM session WHERE EXISTS (SELECT 1 FROM message WHERE session_id = session.id) AND (?1 = '' OR id = ?1)`, session)
	return all, nil, err
}

// each implements source: of is the owner of the wanted rows, the id of the session or of the message.
func (d *database) each(ctx context.Context, table, of string, reset func(), row func(id string, created int64, data []byte)) error {
	owner, columns := "session_id", fmt.Sprintf("CAST(time_created AS INTEGER), substr(CAST(data AS TEXT), 1, %d)", maxText)
	if table == partTable { // parts have their times in the data
		owner, columns = "message_id", fmt.Sprintf("NULL, CASE WHEN octet_length(data) <= %d THEN CAST(data AS BLOB) END", maxData)
	}
	return d.query(ctx, reset, func(rows *sql.Rows) error {
		var id string
		var created sql.NullInt64
		var data sql.RawBytes
		err := rows.Scan(&id, &created, &data)
		row(id, created.Int64, bytes.Clone(data))
		return err
	}, "SELECT CAST(id AS TEXT), "+columns+" FROM "+table+" WHERE "+owner+" = ? AND id IS NOT NULL AND data IS NOT NULL ORDER BY id", of)
}

// version implements source: the session's last change, and the count and last change of its messages and of its parts.
func (d *database) version(ctx context.Context, session string) (version string, err error) {
	const latest = "(SELECT count(*) || ' ' || coalesce(max(time_updated), '') FROM %s WHERE session_id = session.id)"
	err = d.query(ctx, func() { version = "" }, func(rows *sql.Rows) error { return rows.Scan(&version) }, // reset before each attempt
		fmt.Sprintf("SELECT coalesce(time_updated, '') || ' ' || "+latest+" || ' ' || "+latest+" FROM session WHERE id = ?", messageTable, partTable), session)
	return version, err
}

// latest returns the parts of the last messages of the sessions that were changed last. The id of each part is set to
// the id of its session.
func (d *database) latest(ctx context.Context) (parts []part, err error) {
	const sessions, messages = 32, 4
	err = d.query(ctx, func() { parts = nil }, func(rows *sql.Rows) error {
		var p part
		var data []byte
		err := rows.Scan(&p.id, &data) // p.id is now the id of the session
		jsontext.Decode(data, &p)      // it sets the fields with JSON keys, and leaves p.id
		parts = append(parts, p)
		return err
	}, fmt.Sprintf(`SELECT CAST(s.id AS TEXT), CAST(part.data AS BLOB)
		FROM (SELECT id FROM session WHERE id IS NOT NULL ORDER BY time_updated DESC LIMIT %d) AS s CROSS JOIN part
		WHERE part.message_id IN (SELECT id FROM message WHERE session_id = s.id ORDER BY time_created DESC, id DESC LIMIT %d) AND octet_length(part.data) <= %d`,
		sessions, messages, maxText))
	return parts, err
}

// tree is the files that versions before 1.2 wrote: one for each session, message and part, named after
// its id. It holds no open files.
type tree struct{ history.Store }

// The directories of the tree. That of sessions has one for each project, that of messages one for each
// session, and that of parts one for each message.
const (
	treeDir                               = "storage"
	sessionTable, messageTable, partTable = "session", "message", "part"
	extension                             = ".json"
)

func (t *tree) path() string { return t.Dir }

func (*tree) Release() {}

// withRoot calls do with the open directory of the tree. The error is that of opening it, of do, or of the context.
func (t *tree) withRoot(ctx context.Context, do func(root *history.Root) error) error {
	root, err := t.Open()
	if err != nil {
		return err
	}
	defer root.Close()
	return cmp.Or(do(root), ctx.Err())
}

func idOf(file string) string { return strings.TrimSuffix(path.Base(file), extension) }

// files returns the files of a table that belong to an owner: the messages of a session, or the parts of a message.
func files(root *history.Root, table, owner string) (found []string, err error) {
	dir := path.Join(table, owner)    // owner is the id of the session or the message
	entries, err := root.ReadDir(dir) // in the order of the names, which are ids
	for _, e := range entries {
		if id, isFile := strings.CutSuffix(e.Name(), extension); isFile && !e.IsDir() && history.IsName(id) {
			found = append(found, path.Join(dir, e.Name()))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, err
}

// each implements source: of is the id of the session or the message. Data is nil for a file that is too large. A file
// that cannot be read for another reason has empty data, which counts as damaged.
func (t *tree) each(ctx context.Context, table, of string, reset func(), row func(id string, created int64, data []byte)) error {
	reset() // once, since files are read without starting again
	return t.withRoot(ctx, func(root *history.Root) error {
		found, err := files(root, table, of)
		for i := 0; i < len(found) && ctx.Err() == nil; i++ {
			data, failed := root.ReadFile(found[i], maxData) // data is nil after an error
			if _, isTooLarge := errors.AsType[*safefile.TooLargeError](failed); failed != nil && !isTooLarge {
				data = []byte{}
			}
			row(idOf(found[i]), 0, data)
		}
		return err
	})
}

// sessions implements source. A file of a session that cannot be read is a problem.
func (t *tree) sessions(ctx context.Context, session string) (all []*info, problems []store.Problem, err error) {
	err = t.withRoot(ctx, func(root *history.Root) error {
		found, unread := t.Walk(root, sessionTable, func(dir string) bool { return path.Dir(dir) == sessionTable })
		problems = unread
		for _, file := range found {
			id := idOf(file)
			isWanted := session == "" || session == id
			if !isWanted || !strings.HasSuffix(file, extension) || !isSession(id) {
				continue
			}
			i, failed := t.info(root, file)
			if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
				problems = append(problems, t.Problem(t.ID(id, ""), store.BadMetadata, file, failed))
			}
			if i != nil {
				all = append(all, i)
			}
		}
		return nil
	})
	return all, problems, err
}

// info returns the metadata in the file of a session; nil for a session without messages.
func (t *tree) info(root *history.Root, file string) (*info, error) {
	i := &info{source: t, session: idOf(file), file: file}
	data, err := root.ReadFile(file, maxData)
	if err == nil && !jsontext.Decode(data, i) {
		err = errors.New("it is not a JSON object")
	}
	if err != nil {
		return nil, err
	}
	messages, err := files(root, messageTable, i.session)
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	data, _ = root.ReadFile(messages[0], maxData) // reading the session reports the error
	i.Begun = newMessage("", 0, data).created
	return i, nil
}

// version implements source: it is the number of the files of a session, and the latest time of their changes.
func (t *tree) version(ctx context.Context, session string) (version string, err error) {
	found, _, err := t.sessions(ctx, session)
	if err != nil || len(found) == 0 {
		return "", err
	}
	err = t.withRoot(ctx, func(root *history.Root) error {
		messages, err := files(root, messageTable, session)
		all := append([]string{found[0].file}, messages...)
		for _, message := range messages {
			parts, failed := files(root, partTable, idOf(message))
			all, err = append(all, parts...), cmp.Or(err, failed, ctx.Err())
		}
		latest := int64(0)
		for _, file := range all {
			latest = max(latest, root.Stamp(file).Modified())
		}
		version = fmt.Sprintf("%d %d", len(all), latest)
		return err
	})
	return version, err
}
