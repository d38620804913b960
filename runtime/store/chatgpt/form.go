package chatgpt

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/store/internal/chatgptcontent"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
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

// ComputedError is the error for a database that computes what its tables have: it would run what
// whoever wrote it wants.
type ComputedError struct{ What string }

func (e *ComputedError) Error() string { return e.What + " is no plain table, and only those are read" }

// ForModel is what a model is told.
func (e *ComputedError) ForModel() string { return e.Error() }

// tablesOf returns the columns of the two tables.
func tablesOf(ctx context.Context, db *sqlitefile.DB) (map[string]columns, error) {
	const names = "('conversations', 'messages')"
	computed := ""
	err := db.Each(ctx, func(rows *sql.Rows) error { return rows.Scan(&computed) },
		"SELECT lower(name) FROM pragma_table_list WHERE schema = 'main' AND type <> 'table' AND lower(name) IN "+names)
	if err != nil || computed != "" { // looking at the columns of a view could take any time
		return nil, cmp.Or(err, error(&ComputedError{What: computed}))
	}
	tables := map[string]columns{}
	err = db.Each(ctx, func(rows *sql.Rows) error {
		var table, column string
		var hidden bool
		err := rows.Scan(&table, &column, &hidden)
		tables[table] = append(tables[table], column)
		if hidden {
			return &ComputedError{What: table + "." + column}
		}
		return err
	}, "SELECT lower(s.name), lower(c.name), c.hidden <> 0 FROM sqlite_schema s, pragma_table_xinfo(s.name) c WHERE s.type = 'table' AND lower(s.name) IN "+names)
	return tables, err
}

// describe finds out how a database is read.
func describe(ctx context.Context, db *sqlitefile.DB) (*messagedb.DB, error) {
	tables, err := tablesOf(ctx, db)
	if err != nil {
		return nil, err
	}
	conversations, messages := tables["conversations"], tables["messages"]
	for _, name := range []string{"conversation_id", "content"} {
		if !slices.Contains(messages, name) {
			return nil, &ForeignError{Lacks: "messages." + name}
		}
	}
	var order []string
	switch {
	case slices.Contains(messages, "position"):
		order = []string{"position"}
	case slices.Contains(messages, "create_time"):
		order = []string{"CAST(create_time AS REAL)", "create_time"} // times in text are not in the order of the text
	}
	// Some tables have no rowid.
	place := "NULL"
	if hasRows := db.Each(ctx, func(*sql.Rows) error { return nil }, "SELECT rowid FROM messages LIMIT 0"); hasRows == nil && !slices.Contains(messages, "rowid") {
		order = append(order, "rowid")
		place = "min(rowid)"
	}
	form := &messagedb.DB{Queries: db, Read: read, Stamp: db.Stamp}
	form.Messages = fmt.Sprintf(`SELECT CAST(%s AS TEXT), NULL, %s, coalesce(octet_length(content), 0), CASE WHEN octet_length(content) <= %d THEN CAST(content AS TEXT) END
		FROM messages WHERE conversation_id IS ?1`, messages.column("role"), messages.column("create_time"), messagedb.MaxMessage)
	if len(order) > 0 {
		form.Messages += " ORDER BY " + strings.Join(order, ", ")
	}
	form.Conversations, form.Conversation = listOf(conversations, place)
	return form, ctx.Err()
}

// listOf returns the queries for the conversations that have a row or messages: for all, and for
// one. place is the expression for where the messages begin.
func listOf(conversations columns, place string) (all, one string) {
	const noRow = "NULL, NULL, NULL, FALSE, NULL, NULL"
	all = fmt.Sprintf("WITH m AS MATERIALIZED (SELECT conversation_id AS k, %s AS first FROM messages GROUP BY conversation_id) ", place)
	one = "SELECT conversation_id, " + noRow + ", NULL, NULL FROM (SELECT conversation_id FROM messages WHERE conversation_id IS ?1 LIMIT 1)"
	const first = ", m.first, NULL FROM "
	if !slices.Contains(conversations, "id") {
		return all + "SELECT m.k, " + noRow + first + "m", one
	}
	row := fmt.Sprintf("SELECT +c.id, substr(CAST(%s AS TEXT), 1, %d), %s, %s, FALSE, NULL, NULL",
		conversations.column("title"), messagedb.MaxText, conversations.column("create_time"), conversations.column("update_time"))
	all += row + first + "conversations AS c LEFT JOIN m ON m.k = c.id UNION ALL SELECT m.k, " + noRow + first +
		"m LEFT JOIN conversations AS c ON c.id = m.k WHERE c.id IS NULL"
	return all, row + ", NULL, NULL FROM conversations AS c WHERE id IS ?1 UNION ALL " + one
}

// read reads a message. That of a role that is not known has it as its name.
func read(role, _, content []byte) (kind transcript.Kind, name string, text []byte) {
	kind = transcript.KindSystem
	switch string(role) {
	case "user":
		kind = transcript.KindUser
	case "assistant":
		kind = transcript.KindAssistant
	case "tool":
		kind = transcript.KindToolResult
	case "system":
	default:
		name = string(transcript.AppendValid(nil, role))
		if strings.TrimSpace(name) == "" {
			name = "unknown"
		}
	}
	if string(content) == "null" { // which the exporter writes for no parts
		return kind, name, nil
	}
	if parts, ok := chatgptcontent.Parts(content); ok {
		return kind, name, parts
	}
	return kind, name, transcript.AppendValid(nil, content)
}
