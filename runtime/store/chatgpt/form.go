package chatgpt

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/store/internal/chatgptcontent"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// columns are the names of the columns of a table or view, in lower case. It is nil where
// there is none.
type columns []string

// column returns an expression for a column that need not be there. It has no declared
// type, by which a driver would change what is recorded.
func (c columns) column(name string) string {
	if slices.Contains(c, name) {
		return "+" + name
	}
	return "NULL"
}

// describe finds out the form of a database, and closes it where it is none of
// conversations. err is that of opening it.
func describe(ctx context.Context, db *sqlitefile.DB, err error, named bool) (*sqlitefile.DB, *messagedb.Form, error) {
	if err != nil {
		return nil, nil, err
	}
	form, err := formOf(ctx, db, named)
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	return db, form, nil
}

// ComputedError is the error for a database that computes what its tables have, and that
// nobody has named.
type ComputedError struct{ What string }

func (e *ComputedError) Error() string {
	return e.What + " is no plain table, which only a database that its user names may have: set CONVERSATION_DB to its path"
}

// ForModel is what a model is told.
func (e *ComputedError) ForModel() string { return e.Error() }

// formOf finds out the form of a database. In one that is not named, the two tables are plain
// ones.
func formOf(ctx context.Context, db *sqlitefile.DB, named bool) (*messagedb.Form, error) {
	tables := map[string]columns{}
	computed, most := "", messagedb.MaxMessage
	err := db.Each(ctx, func(rows *sqlitefile.Rows) error {
		var table, kind string
		err := rows.Scan(&table, &kind)
		if kind != "table" {
			computed = table
		}
		return err
	}, "SELECT lower(name), type FROM pragma_table_list WHERE schema = 'main' AND lower(name) IN ('conversations', 'messages')")
	if err == nil && (computed == "" || named) {
		err = db.Each(ctx, func(rows *sqlitefile.Rows) error {
			var table, column string
			var hidden int
			err := rows.Scan(&table, &column, &hidden)
			tables[table] = append(tables[table], column)
			if hidden != 0 {
				computed = table + "." + column
			}
			return err
		}, `SELECT lower(s.name), lower(c.name), c.hidden FROM sqlite_schema s, pragma_table_xinfo(s.name) c
			WHERE s.type IN ('table', 'view') AND lower(s.name) IN ('conversations', 'messages')`)
	}
	switch {
	case err != nil:
		return nil, err
	case computed != "" && !named:
		return nil, &ComputedError{What: computed}
	case computed != "":
		db.BoundComputed()
		most = sqlitefile.MaxComputed
	}
	conversations, messages := tables["conversations"], tables["messages"]
	for _, name := range []string{"conversation_id", "content"} {
		if !slices.Contains(messages, name) {
			return nil, &ForeignError{Lacks: "messages." + name}
		}
	}
	order := []string{"CAST(create_time AS REAL)", "create_time"} // times in text are not in the order of the text
	if !slices.Contains(messages, "create_time") {
		order = nil
	}
	if slices.Contains(messages, "position") {
		order = []string{"position"}
	}
	// A view has no rowid, and neither have some tables.
	err = db.Each(ctx, func(*sqlitefile.Rows) error { return nil }, "SELECT rowid FROM messages LIMIT 0")
	const noFirst = "NULL"
	first := noFirst
	if err == nil && !slices.Contains(messages, "rowid") {
		order = append(order, "rowid")
		first = "min(rowid)"
	} else if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	form := &messagedb.Form{
		Conversations: allConversations(conversations, first),
		Conversation:  "SELECT conversation_id, NULL, NULL, NULL, FALSE, NULL, NULL, NULL, NULL FROM (SELECT conversation_id FROM messages WHERE conversation_id IS ?1 LIMIT 1)",
		Kind:          kindOf, AppendPieces: appendPieces, Stamp: db.Stamp,
	}
	if slices.Contains(conversations, "id") {
		form.Conversation = "SELECT " + facts(conversations) + ", NULL, NULL, NULL FROM conversations AS c WHERE id IS ?1 UNION ALL " + form.Conversation
	}
	form.Messages = fmt.Sprintf(`SELECT CAST(%s AS TEXT), NULL, %s, coalesce(octet_length(content), 0), CASE WHEN octet_length(content) <= %d THEN CAST(content AS TEXT) END
		FROM messages WHERE conversation_id IS ?1`, messages.column("role"), messages.column("create_time"), most)
	if computed == "" && first != noFirst {
		scans, err := isScanned(ctx, db)
		if err != nil {
			return nil, err
		}
		if scans { // without an index a query for each conversation would read all messages
			const place = "temp.place"
			db.Setup(place, "CREATE TEMP TABLE place AS SELECT conversation_id AS key, rowid AS place FROM main.messages; CREATE INDEX temp.places ON place (key, place)")
			form.Messages += " AND rowid IN (SELECT place FROM " + place + " WHERE key IS ?1)"
		}
	}
	if len(order) > 0 {
		form.Messages += " ORDER BY " + strings.Join(order, ", ")
	}
	return form, nil
}

// isScanned reports whether the messages of a conversation are found by reading all. Where keys
// are not compared byte by byte, it does not.
func isScanned(ctx context.Context, db *sqlitefile.DB) (scanned bool, err error) {
	err = db.Each(ctx, func(rows *sqlitefile.Rows) error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		scanned = scanned || strings.HasPrefix(step, "SCAN ") // https://www.sqlite.org/eqp.html
		return err
	}, "EXPLAIN QUERY PLAN SELECT 1 FROM messages WHERE conversation_id IS ?1", nil)
	if err == nil && scanned {
		err = db.Each(ctx, func(rows *sqlitefile.Rows) error { return rows.Scan(&scanned) },
			"SELECT sql NOT LIKE '%COLLATE%' FROM sqlite_schema WHERE type = 'table' AND lower(name) = 'messages'")
	}
	return scanned, err
}

// facts are the expressions for what stands in a row of conversations.
func facts(conversations columns) string {
	return fmt.Sprintf("+c.id, substr(CAST(%s AS TEXT), 1, %d), %s, %s, FALSE, NULL",
		conversations.column("title"), messagedb.MaxText, conversations.column("create_time"), conversations.column("update_time"))
}

// allConversations returns the query for the conversations that have a row or messages. first
// is the expression for where the messages begin.
func allConversations(conversations columns, first string) string {
	with := fmt.Sprintf("WITH m AS MATERIALIZED (SELECT conversation_id AS k, %s AS first FROM messages GROUP BY conversation_id) ", first)
	const noRow = "SELECT m.k, NULL, NULL, NULL, FALSE, NULL, NULL, m.first, NULL FROM m"
	if !slices.Contains(conversations, "id") {
		return with + noRow
	}
	return fmt.Sprintf("%s SELECT %s, NULL, m.first, NULL FROM conversations AS c LEFT JOIN m ON m.k = c.id UNION ALL %s LEFT JOIN conversations AS c ON c.id = m.k WHERE c.id IS NULL",
		with, facts(conversations), noRow)
}

// kindOf returns the kind of the messages of a role. Those of a role that is not known
// have it as their name.
func kindOf(role, _ []byte) (transcript.Kind, []byte) {
	switch string(role) {
	case "user":
		return transcript.KindUser, nil
	case "assistant":
		return transcript.KindAssistant, nil
	case "tool":
		return transcript.KindToolResult, nil
	case "system":
		return transcript.KindSystem, nil
	}
	if len(bytes.TrimSpace(role)) == 0 {
		return transcript.KindSystem, []byte("unknown")
	}
	return transcript.KindSystem, role
}

// appendPieces appends the text of a message: that of a JSON array of parts, or else what
// is recorded. "null" is what the exporter writes for no parts.
func appendPieces(dst []recorded.Piece, content []byte) []recorded.Piece {
	if string(content) == "null" {
		return dst
	}
	if parts, ok := chatgptcontent.AppendParts(dst, content); ok {
		return parts
	}
	return append(dst, recorded.Piece{Raw: content, Plain: true})
}
