package messagedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is where a conversation is recorded. It implements [store.Record].
type record struct {
	database *database
	id       transcript.ID
	key      any
	version  string
}

// Version implements [store.Record]: it is that of when the conversation was listed.
func (r *record) Version(context.Context) (string, error) { return r.version, nil }

// Read implements [store.Record]. Where the owner of the database changes it meanwhile, the messages
// that follow are read of what it has then.
func (r *record) Read(ctx context.Context, mark *[]byte, yield func(*transcript.Event) bool) (store.Totals, error) {
	if mark != nil && len(*mark) > 0 {
		return store.Totals{}, store.ErrChanged
	}
	t := history.Talk{Yield: yield}
	read := 0
	err := r.database.Do(ctx, func(db *DB) error {
		query := db.Messages
		if read > 0 {
			query += fmt.Sprintf(" LIMIT -1 OFFSET %d", read)
		}
		return db.Each(ctx, func(rows *sql.Rows) error {
			read++
			err := tell(&t, db, rows)
			if t.Stopped {
				err = errStopped
			}
			return err
		}, query, r.key)
	})
	if errors.Is(err, sqlitefile.ErrCorrupt) {
		err = &store.DamageError{Err: err}
	}
	return t.End(r.id, err)
}

var errStopped = errors.New("no more messages are wanted")

// tell tells the message of a row. Messages before the first one of the user are of the first turn.
func tell(t *history.Talk, db *DB, rows *sql.Rows) error {
	var role, name sql.RawBytes
	var content []byte
	var at any
	var size int
	if err := rows.Scan(&role, &name, &at, &size, &content); err != nil {
		return err
	}
	if size > MaxMessage {
		t.Totals.Skipped++
		t.Totals.TooLarge++
		return nil
	}
	x := transcript.Event{Time: Moment(at)}
	x.Kind, x.Name, x.Text = db.Read(role, name, content)
	if x.Kind == transcript.KindUser && t.Told || t.Totals.Turns == 0 {
		t.Totals.Turns++
	}
	t.Told = t.Told || x.Kind == transcript.KindUser // the turn has a message of the user
	x.Turn = t.Totals.Turns
	t.Tell(x)
	return nil
}
