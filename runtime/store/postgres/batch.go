package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/convtools/convtools/runtime/store/archive"
)

// batch is conversations and messages that are written at once, as the columns of their
// tables: the server takes as long for a statement as for many rows.
type batch struct {
	conversations struct {
		of                     []*target
		names, natives, titles [][]byte
		created, updated       []*float64
		last, newest           []*float64
		archived               []bool
		hashes                 []string
		imported               []float64
	}
	messages struct {
		of             []*target
		positions      []int32
		natives, names [][]byte
		kinds          []string
		times          []*float64
		active         []bool
		texts          [][]byte
	}
	bytes int
}

// target is a conversation that messages are written of.
type target struct {
	name     string
	replaced bool  // it was there before
	id       int64 // known where the conversation is written
}

// facts are what is kept of a conversation beside what was imported.
type facts struct {
	hash     string
	imported float64
}

// maxBatch is how many messages are written at once, and maxBatchBytes about how many bytes.
const maxBatch, maxBatchBytes = 2000, 2 << 20

func (b *batch) isFull() bool { return len(b.messages.of) >= maxBatch || b.bytes >= maxBatchBytes }

// has reports whether a conversation is waiting to be written.
func (b *batch) has(name string) bool {
	for _, t := range b.conversations.of {
		if t.name == name {
			return true
		}
	}
	return false
}

func (b *batch) reset() { *b = batch{} }

// add adds a conversation, without its messages.
func (b *batch) add(c *archive.Conversation, replaced bool, f facts) *target {
	t := &target{name: c.Name(), replaced: replaced}
	last, newest := c.Times()
	x := &b.conversations
	x.of = append(x.of, t)
	x.names, x.natives, x.titles = append(x.names, []byte(t.name)), append(x.natives, []byte(c.Native)), append(x.titles, []byte(c.Title))
	x.created, x.updated = append(x.created, at(c.Created)), append(x.updated, at(c.Updated))
	x.last, x.newest = append(x.last, at(last)), append(x.newest, at(newest))
	x.archived = append(x.archived, c.Archived)
	x.hashes, x.imported = append(x.hashes, f.hash), append(x.imported, f.imported)
	b.bytes += rowSize
	return t
}

// addMessage adds a message at a position of a conversation. It returns about how many bytes it
// takes.
func (b *batch) addMessage(of *target, position int, m *archive.Message) int {
	x := &b.messages
	x.of = append(x.of, of)
	x.positions = append(x.positions, int32(position)) //nolint:gosec // a conversation in memory has fewer
	x.natives, x.names = append(x.natives, optional(m.Native)), append(x.names, optional(m.Name))
	x.kinds = append(x.kinds, m.Kind.String())
	x.times = append(x.times, at(m.Time))
	x.active = append(x.active, m.Active)
	x.texts = append(x.texts, append([]byte{}, m.Text...))
	size := len(m.Text) + rowSize
	b.bytes += size
	return size
}

// write writes what was added, and empties the batch.
func (b *batch) write(ctx context.Context, tx *sql.Tx) error {
	defer b.reset()
	if err := b.writeConversations(ctx, tx); err != nil {
		return err
	}
	x := &b.messages
	if len(x.of) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO convtools.messages (conversation, position, native, kind, name, time, active, text)
		SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bytea[], $4::text[], $5::bytea[], $6::float8[], $7::boolean[], $8::bytea[])`,
		ids(x.of), x.positions, x.natives, x.kinds, x.names, x.times, x.active, x.texts)
	return err
}

func ids(of []*target) []int64 {
	list := make([]int64, len(of))
	for i, t := range of {
		list[i] = t.id
	}
	return list
}

// writeConversations writes the conversations, finds out their ids, which are in the order
// in which they were added, and removes the messages of those that are replaced.
func (b *batch) writeConversations(ctx context.Context, tx *sql.Tx) error {
	x := &b.conversations
	if len(x.of) == 0 {
		return nil
	}
	rows, err := tx.QueryContext(ctx, `INSERT INTO convtools.conversations AS c (name, native, title, created, updated, last, newest, archived, hash, imported)
		SELECT name, native, title, created, updated, last, newest, archived, hash, imported
		FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::float8[], $5::float8[], $6::float8[], $7::float8[], $8::boolean[], $9::text[], $10::float8[])
			WITH ORDINALITY AS n (name, native, title, created, updated, last, newest, archived, hash, imported, place)
		ORDER BY place
		ON CONFLICT (name, owner) DO UPDATE SET native = excluded.native, title = excluded.title, created = excluded.created, updated = excluded.updated,
			last = excluded.last, newest = excluded.newest, archived = excluded.archived, hash = excluded.hash,
			imported = excluded.imported, change = excluded.change
		RETURNING id, name`,
		x.names, x.natives, x.titles, x.created, x.updated, x.last, x.newest, x.archived, x.hashes, x.imported)
	if err != nil {
		return err
	}
	defer rows.Close()
	found := make(map[string]int64, len(x.of))
	for rows.Next() {
		var id int64
		var name []byte
		if err := rows.Scan(&id, &name); err != nil {
			return err
		}
		found[string(name)] = id
	}
	if err := rows.Err(); err != nil {
		return err
	}
	var replaced []int64
	for _, t := range x.of {
		if t.id = found[t.name]; t.replaced {
			replaced = append(replaced, t.id)
		}
	}
	if len(replaced) == 0 {
		return nil
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM convtools.messages WHERE owner = session_user::text AND conversation = ANY ($1)", replaced)
	return err
}

func optional(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

func at(t time.Time) *float64 {
	if t.IsZero() {
		return nil
	}
	n := archive.Seconds(t)
	return &n
}
