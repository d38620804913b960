// Package cursor reads the conversations that Cursor recorded for a project: those in the editor, and those
// with cursor-agent in a terminal. Cursor's sources are closed: the form is that of what versions 2 and 3
// wrote, as other readers of it describe that; no version was run here.
//
// The editor has one database for all projects, globalStorage/state.vscdb in the directory User, which is in
// ~/.config/Cursor, on macOS in ~/Library/Application Support/Cursor, on Windows in %APPDATA%\Cursor, also for
// projects in WSL. Version 3 notes the folder of a conversation there, version 2 notes the conversations
// of a folder in workspaceStorage/HASH/state.vscdb. cursor-agent has a database for each conversation,
// chats/HASH/ID/store.db in ~/.cursor or CURSOR_CONFIG_DIR, where HASH is that of the folder.
//
// A conversation grows by rows, and the last message is rewritten while it is streamed. The editor notes the
// conversations of sub-agents with those that started them. There are no links of forks. cursor-agent records
// what it adds to a prompt as messages of the user, with tags around them: they are left out.
//
// The databases hold tokens too: only the rows of conversations are read.
package cursor

import (
	"cmp"
	"context"
	"crypto/md5"
	"database/sql"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// Name is the name of this kind of store.
const Name = "cursor"

const (
	globalDir, workspacesDir, chatsDir = "globalStorage", "workspaceStorage", "chats"
	stateFile, chatFile                = "state.vscdb", "store.db"
	workspaceFile, chatAboutFile       = "workspace.json", "meta.json"
	maxAbout                           = 1 << 20
)

// Open returns the store of the editor if the home has its database, or else the store of cursor-agent. It returns
// false if the home has neither.
func Open(o store.Options) (*messagedb.Store, bool) {
	base, _ := history.Open(o, Name, Homes(o.Env())[0], "", IDs())
	s := &messagedb.Store{Store: base, Queries: messagedb.Tables(editorQueries), Record: recordBubble}
	state := filepath.Join(base.Dir, globalDir, stateFile)
	s.Databases = func() ([]messagedb.Database, []store.Problem) {
		return []messagedb.Database{{Path: state, Dirs: func(ctx context.Context) map[string]string { return folders(ctx, &s.Store) }}}, nil
	}
	if _, err := os.Stat(state); base.Dir != "" && !errors.Is(err, fs.ErrNotExist) {
		return s, true
	}
	s.Queries, s.Record = messagedb.Tables(agentQueries), recordMessage
	s.Databases = func() ([]messagedb.Database, []store.Problem) { return chats(&s.Store) }
	return s, base.Dir != "" && store.IsThere(filepath.Join(base.Dir, chatsDir))
}

// Homes returns the directory User of the editor and the directory of cursor-agent. An element is "" if the
// environment does not name it.
func Homes(getenv func(string) string) []string {
	return []string{history.InSettings(getenv, "Cursor", "User"), cmp.Or(getenv("CURSOR_CONFIG_DIR"), history.InHome(getenv, ".cursor"))}
}

// IDs returns the form of ids: the id of a conversation, which is a uuid in all versions known.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "cursor-", Session: history.IsName, Example: "cursor-2c154aa7-742d-46ce-af44-de020dbaa17b"}
}

// folders returns the working directories of conversations, by the ids of the conversations. Version 2 of Cursor lists
// conversations in a database of each workspace. Directories that are not of the project are left out.
func folders(ctx context.Context, s *history.Store) map[string]string {
	found := map[string]string{}
	workspaces, _ := os.ReadDir(filepath.Join(s.Dir, workspacesDir)) // version 3 need not have any
	for _, entry := range workspaces {
		workspace := filepath.Join(s.Dir, workspacesDir, entry.Name())
		about, _ := safefile.Read(filepath.Join(workspace, workspaceFile), maxAbout)
		dir := history.WorkspaceDir(about)
		if dir == "" || !s.Project.Has(dir) {
			continue
		}
		shared := sqlitefile.Shared{Path: filepath.Join(workspace, stateFile)}
		_ = shared.Do(ctx, func(db *sqlitefile.DB) error { // after an error, conversations have no folder
			return db.Each(ctx, func(rows *sql.Rows) error {
				var id string
				err := rows.Scan(&id)
				found[id] = dir
				return err
			}, `SELECT coalesce(CAST(`+member("c", "composerId")+` AS TEXT), '') FROM ItemTable, json_each(CAST(ItemTable.value AS TEXT), '$.allComposers') AS c
				WHERE ItemTable.key = 'composer.composerData' AND json_valid(CAST(ItemTable.value AS TEXT))`)
		})
	}
	return found
}

// chats returns the databases of cursor-agent for the project, and problems for the directories that cannot be read. A
// chat has the database chats/HASH/ID/store.db. HASH is that of its directory; newer versions record the directory too.
func chats(s *history.Store) (all []messagedb.Database, problems []store.Problem) {
	byHash := map[string]string{} // the directories of the project
	for _, dir := range s.Project.Dirs() {
		sum := md5.Sum([]byte(dir))
		byHash[hex.EncodeToString(sum[:])] = dir
	}
	root, err := s.Open()
	if err != nil {
		return nil, []store.Problem{s.Problem("", store.Unreadable, chatsDir, err)}
	}
	defer root.Close()
	files, problems := s.Walk(root, chatsDir, func(dir string) bool { return strings.Count(dir, "/") <= 2 }) // to chats/HASH/ID
	for _, file := range files {
		path := filepath.Join(s.Dir, filepath.FromSlash(file))
		chat := filepath.Dir(path)
		if filepath.Base(path) != chatFile {
			continue
		}
		about, _ := safefile.Read(filepath.Join(chat, chatAboutFile), maxAbout) // older versions write none
		hash := filepath.Base(filepath.Dir(chat))
		dir := cmp.Or(jsontext.String(jsontext.Get(about, "cwd")), byHash[hash])
		if s.Project.Has(dir) {
			all = append(all, messagedb.Database{Path: path, Dir: dir})
		}
	}
	return all, problems
}

// member returns the SQL for the member at a path in an element of json_each. The value is NULL if the element is not
// an object. Without this condition SQLite would parse a text as JSON, and end the query if the text is not JSON.
func member(element, path string) string {
	return "CASE WHEN " + element + ".type = 'object' THEN " + element + ".value ->> '$." + path + "' END"
}

// editorQueries returns the SQL for the conversations and the messages of the editor, as [messagedb.Tables] wants it.
// ok is false if a table is missing. A conversation ("composer") is a JSON object with the key "composerData:ID". Its
// member "conversation" has the messages ("bubbles"), or "fullConversationHeadersOnly" has the ids of messages with the
// keys "bubbleId:ID:MESSAGE". The key of json_each is the index in such a list. headers has the directories of
// conversations, and parents the conversations that started sub-agents. Keys that begin with "composerData:" are below
// "composerData;", as ';' is next after ':'.
func editorQueries(has messagedb.Has) (sessions, messages string, ok bool) {
	const composers, valid = "composerData:", "CASE WHEN json_valid(CAST(value AS TEXT)) THEN CAST(value AS TEXT) END"
	sessions = `WITH composers AS MATERIALIZED (SELECT substr(key, length('` + composers + `') + 1) AS id, ` + valid + ` AS data
			FROM cursorDiskKV WHERE key >= '` + composers + `' AND key < 'composerData;'),
		headers AS MATERIALIZED (SELECT ` + member("h", "composerId") + ` AS id, ` + member("h", "workspaceIdentifier.uri.fsPath") + ` AS dir
			FROM (SELECT ` + valid + ` AS list FROM ItemTable WHERE key = 'composer.composerHeaders'), json_each(list, '$.allComposers') AS h
			WHERE coalesce(` + member("h", "workspaceIdentifier.uri.scheme") + `, 'file') = 'file' OR ` + member("h", "workspaceIdentifier.uri.authority") + ` LIKE 'wsl+%'),
		parents AS MATERIALIZED (SELECT composers.id AS parent, sub.value AS id FROM composers, json_each(data, '$.subagentComposerIds') AS sub
			UNION SELECT composers.id, sub.value FROM composers, json_each(data, '$.subComposerIds') AS sub)
		SELECT id AS key, (SELECT parent FROM parents WHERE parents.id = composers.id LIMIT 1) AS parent,
			EXISTS (SELECT 1 FROM parents WHERE parents.id = composers.id) AS agent, data ->> '$.name' AS title,
			(SELECT dir FROM headers WHERE headers.id = composers.id LIMIT 1) AS dir,
			data ->> '$.createdAt' AS created, data ->> '$.lastUpdatedAt' AS updated, coalesce(data ->> '$.isArchived', 0) = 1 AS archived,
			(data ->> '$.lastUpdatedAt') || ' ' || octet_length(data) AS version
		FROM composers WHERE json_array_length(data, '$.fullConversationHeadersOnly') > 0 OR json_array_length(data, '$.conversation') > 0`
	messages = `WITH composer AS MATERIALIZED (SELECT ` + valid + ` AS data FROM cursorDiskKV WHERE key = '` + composers + `' || ?1)
		SELECT NULL AS role, NULL AS at, NULL AS about, bubble.value AS data, header.key AS place
			FROM composer, json_each(composer.data, '$.fullConversationHeadersOnly') AS header
			JOIN cursorDiskKV AS bubble ON bubble.key = 'bubbleId:' || ?1 || ':' || (` + member("header", "bubbleId") + `)
		UNION ALL SELECT NULL, NULL, NULL, bubble.value, bubble.key FROM composer, json_each(composer.data, '$.conversation') AS bubble`
	return sessions, messages, has("cursorDiskKV", "value") && has("ItemTable", "value")
}

// agentQueries returns the SQL for the conversation and the messages of a database of cursor-agent, as
// [messagedb.Tables] wants it, and false for other tables. The metadata, JSON in hexadecimal digits, has the id of the
// root, which begins with a list of the messages. Each takes 34 bytes of the list: the bytes 0A 20, which begin a field
// of Protocol Buffers, and the 32 bytes of its id. The number n of the first message is 0.
func agentQueries(has messagedb.Has) (sessions, messages string, ok bool) {
	const about = `about AS MATERIALIZED (SELECT CASE WHEN json_valid(CAST(unhex(value) AS TEXT)) THEN CAST(unhex(value) AS TEXT) END AS data FROM meta WHERE key = '0')`
	sessions = "WITH " + about + `SELECT data ->> '$.agentId' AS key, NULL AS parent, 0 AS agent, nullif(data ->> '$.name', 'New Agent') AS title, NULL AS dir,
		data ->> '$.createdAt' AS created, NULL AS updated, 0 AS archived, data ->> '$.latestRootBlobId' AS version FROM about`
	messages = "WITH RECURSIVE " + about + `, root AS MATERIALIZED (SELECT blobs.data FROM blobs, about WHERE blobs.id = about.data ->> '$.latestRootBlobId'),
		places(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM places, root WHERE substr(root.data, 1 + 34 * (n + 1), 2) = x'0a20')
		SELECT NULL AS role, about.data ->> '$.createdAt' AS at, NULL AS about, message.data AS data, n AS place
		FROM about, root, places JOIN blobs AS message ON message.id = lower(hex(substr(root.data, 3 + 34 * n, 32)))`
	return sessions, messages, has("meta", "value") && has("blobs", "data")
}
