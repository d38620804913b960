package chatgpt

import (
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

// ComputedError is the error for a database that computes what its tables have, and that
// nobody has named.
type ComputedError struct{ What string }

func (e *ComputedError) Error() string {
	return e.What + " is no plain table, which only a database that its user names may have: set CONVERSATION_DB to its path"
}

// ForModel is what a model is told.
func (e *ComputedError) ForModel() string { return e.Error() }

// describe finds out how a database is read, and closes it where it is none of conversations. In
// one that is not named, the two tables are plain ones. err is that of opening it.
func describe(ctx context.Context, db *sqlitefile.DB, err error, named bool) (*messagedb.DB, error) {
	if err != nil {
		return nil, err
	}
	opened, err := formOf(ctx, db, named)
	if err != nil {
		db.Close()
		return nil, err
	}
	return opened, nil
}

// tablesOf returns the columns of the two tables, and what of them is computed; "" for nothing.
func tablesOf(ctx context.Context, db *sql.DB, named bool) (tables map[string]columns, computed string, err error) {
	const names = "('conversations', 'messages')"
	err = sqlitefile.Each(ctx, db, func(rows *sql.Rows) error { return rows.Scan(&computed) },
		"SELECT lower(name) FROM pragma_table_list WHERE schema = 'main' AND type <> 'table' AND lower(name) IN "+names)
	if err != nil || computed != "" && !named { // looking at the columns of a view could take any time
		return nil, computed, err
	}
	tables = map[string]columns{}
	err = sqlitefile.Each(ctx, db, func(rows *sql.Rows) error {
		var table, column string
		var hidden bool
		err := rows.Scan(&table, &column, &hidden)
		tables[table] = append(tables[table], column)
		if hidden {
			computed = table + "." + column
		}
		return err
	}, "SELECT lower(s.name), lower(c.name), c.hidden <> 0 FROM sqlite_schema s, pragma_table_xinfo(s.name) c WHERE s.type IN ('table', 'view') AND lower(s.name) IN "+names)
	return tables, computed, err
}

// formOf finds out how a database is read.
func formOf(ctx context.Context, db *sqlitefile.DB, named bool) (*messagedb.DB, error) {
	tables, computed, err := tablesOf(ctx, db.DB, named)
	most := messagedb.MaxMessage
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
	var order []string
	switch {
	case slices.Contains(messages, "position"):
		order = []string{"position"}
	case slices.Contains(messages, "create_time"):
		order = []string{"CAST(create_time AS REAL)", "create_time"} // times in text are not in the order of the text
	}
	form := &messagedb.DB{DB: db.DB, Read: read, Stamp: db.Stamp}
	form.Messages = fmt.Sprintf(`SELECT CAST(%s AS TEXT), NULL, %s, coalesce(octet_length(content), 0), CASE WHEN octet_length(content) <= %d THEN CAST(content AS TEXT) END
		FROM messages WHERE conversation_id IS ?1`, messages.column("role"), messages.column("create_time"), most)
	// A view has no rowid, and neither have some tables. Without an index on the conversations,
	// only what is between the first message and the last one is looked at.
	first, last := "NULL", "NULL"
	if hasRows := sqlitefile.Each(ctx, db.DB, func(*sql.Rows) error { return nil }, "SELECT rowid FROM messages LIMIT 0"); hasRows == nil && !slices.Contains(messages, "rowid") {
		form.IsRanged = true
		form.Messages += " AND rowid BETWEEN ?2 AND ?3"
		order = append(order, "rowid")
		first, last = "min(rowid)", "max(rowid)"
	}
	if len(order) > 0 {
		form.Messages += " ORDER BY " + strings.Join(order, ", ")
	}
	form.Conversations, form.Conversation = listOf(conversations, first, last)
	return form, ctx.Err()
}

// listOf returns the queries for the conversations that have a row or messages: for all, and for
// one. first and last are the expressions for where the messages begin and end.
func listOf(conversations columns, first, last string) (all, one string) {
	const noRow = "NULL, NULL, NULL, FALSE, NULL, NULL"
	all = fmt.Sprintf("WITH m AS MATERIALIZED (SELECT conversation_id AS k, %s AS first, %s AS last FROM messages GROUP BY conversation_id) ", first, last)
	one = "SELECT conversation_id, " + noRow + ", NULL, NULL FROM (SELECT conversation_id FROM messages WHERE conversation_id IS ?1 LIMIT 1)"
	const places = ", m.first, NULL, m.first, m.last FROM "
	if !slices.Contains(conversations, "id") {
		return all + "SELECT m.k, " + noRow + places + "m", one
	}
	row := fmt.Sprintf("SELECT +c.id, substr(CAST(%s AS TEXT), 1, %d), %s, %s, FALSE, NULL, NULL",
		conversations.column("title"), messagedb.MaxText, conversations.column("create_time"), conversations.column("update_time"))
	all += row + places + "conversations AS c LEFT JOIN m ON m.k = c.id UNION ALL SELECT m.k, " + noRow + places +
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
