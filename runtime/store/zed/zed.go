// Package zed reads the conversations with Zed's own agent that were recorded for a project, from the
// database of its threads. The form is that of the sources of August 2026 (documents of version 0.3.0, and of
// the versions before); no version was run here. Other agents in Zed keep sessions of their own.
//
// The database is threads/threads.db in ~/.local/share/zed, on macOS in ~/Library/Application Support/Zed, on
// Windows in %LOCALAPPDATA%\Zed, which Zed uses for projects in WSL too, and for Flatpak in
// ~/.var/app/dev.zed.Zed/data/zed. A thread is one row with a document that is written again after each
// change. It belongs to the project of one of its folders; versions before 2026 record no folders.
//
// The thread of a sub-agent has a parent. There are no forks. Messages have no times: that of the last change
// of the thread stands for them. What a user mentions, such as a file, is recorded beside the text, and left out.
package zed

import (
	"bytes"
	"path/filepath"
	"runtime"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "zed"

// Open returns the store, and false if Zed has recorded nothing.
func Open(o store.Options) (*messagedb.Store, bool) {
	base, ok := history.Open(o, Name, Homes(o.Env())[0], "threads", IDs())
	databases := func() ([]messagedb.Database, []store.Problem) {
		return []messagedb.Database{{Path: filepath.Join(base.Dir, "threads.db")}}, nil
	}
	return &messagedb.Store{Store: base, Databases: databases, Queries: messagedb.Tables(queries), Record: record}, ok
}

// Homes returns the data directory of Zed and, on Linux, that of Zed in Flatpak. An unknown directory is "".
func Homes(getenv func(string) string) []string {
	switch local := getenv("LOCALAPPDATA"); {
	case runtime.GOOS == "windows" && local != "":
		return []string{filepath.Join(local, "Zed")}
	case runtime.GOOS == "darwin":
		return []string{history.InHome(getenv, "Library", "Application Support", "Zed")}
	}
	flatpak := history.InHome(getenv, ".var", "app", "dev.zed.Zed", "data", "zed")
	return []string{history.InData(getenv, "zed"), flatpak} // also on Windows without LOCALAPPDATA
}

// IDs returns the form of ids: the id of a thread, which is a uuid in all versions known.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "zed-", Session: history.IsName, Example: "zed-2c154aa7-742d-46ce-af44-de020dbaa17b"}
}

// queries returns the SQL for [messagedb.Tables], and false for other tables. A row has all messages of a thread.
func queries(has messagedb.Has) (sessions, messages string, ok bool) {
	const table = "threads"
	parent := has.Or(table, "parent_id", "NULL")
	// The folders are sorted; another column has their order in Zed.
	sessions = "SELECT id AS key, " + parent + " AS parent, " + parent + " IS NOT NULL AS agent, summary AS title, " +
		has.Or(table, "folder_paths", "NULL") + " AS dir, coalesce(" + has.Or(table, "created_at", "NULL") + ", updated_at) AS created, updated_at AS updated, 0 AS archived, updated_at AS version FROM threads"
	messages = "SELECT data_type AS role, updated_at AS at, NULL AS about, data, 0 AS place FROM threads WHERE id = ?1"
	return sessions, messages, has(table, "summary") && has(table, "data_type") && has(table, "data")
}

const maxDocument = 128 << 20 // bytes of the largest document that is read

// message is a message of a document. Versions before 0.3.0 have a role.
type message struct {
	User *struct {
		Content jsontext.Raw `json:"content"`
	} `json:"User"`
	Agent *struct {
		Content jsontext.Raw `json:"content"`
		Results jsontext.Raw `json:"tool_results"` // an object, by the ids of the calls
	} `json:"Agent"`

	Role     string       `json:"role"`
	Segments []segment    `json:"segments"`
	Calls    []call       `json:"tool_uses"`
	Results  jsontext.Raw `json:"tool_results"` // an array
}

// segment is a part of a message of versions before 0.3.0.
type segment struct {
	Type string `json:"type"`
	Text []byte `json:"text"`
}

// content is a part of a message: it has one of these members.
type content struct {
	Text     []byte       `json:"Text"`
	Thinking *segment     `json:"Thinking"`
	Call     *call        `json:"ToolUse"`
	Image    jsontext.Raw `json:"Image"`
	Mention  jsontext.Raw `json:"Mention"`
	Redacted jsontext.Raw `json:"RedactedThinking"`
}

// call is a call of a tool.
type call struct {
	ID    string       `json:"id"`
	Name  string       `json:"name"`
	Input jsontext.Raw `json:"input"`
}

// callResult is the result of a call.
type callResult struct {
	Call    string       `json:"tool_use_id"`
	IsError bool         `json:"is_error"`
	Content jsontext.Raw `json:"content"` // texts, or objects with one
}

// recorder is a [history.Recorder] for the events of the thread in a row, which all have the time of the row.
type recorder struct {
	*history.Recorder
	row *messagedb.Message
}

// record adds the events of the thread in a row to a recorder.
func record(to *history.Recorder, row *messagedb.Message) {
	var thread struct {
		Messages jsontext.Raw `json:"messages"`
	}
	if row.Role != "json" { // it is compressed
		row.Data = messagedb.Decompress(row.Data, maxDocument)
	}
	if !jsontext.Decode(row.Data, &thread) {
		to.Totals.Skipped++
	}
	r := recorder{to, row}
	for raw := range jsontext.Elements(thread.Messages) {
		var m message
		switch {
		case jsontext.String(raw) == "Resume": // the agent goes on, and there is no text
		case !jsontext.Decode(raw, &m):
			to.Totals.Skipped++
		case m.User != nil:
			r.addUser(m.User.Content)
		case m.Agent != nil:
			r.addAgent(m.Agent.Content, m.Agent.Results)
		default:
			r.addOld(&m)
		}
	}
}

// contents returns the parts of a message: list is an array of them, or one text.
func contents(list jsontext.Raw) []content {
	return jsontext.Parts(list, func(text []byte) content { return content{Text: text} })
}

// addUser adds one prompt with all texts of a message of the user.
func (r *recorder) addUser(list jsontext.Raw) {
	var texts [][]byte
	for _, c := range contents(list) {
		texts = append(texts, c.Text)
	}
	r.AddText(transcript.KindUser, r.row.At, bytes.Join(texts, nil))
}

// addAgent adds the texts, the thoughts and the calls of a message of the agent, each call with its result.
func (r *recorder) addAgent(list, results jsontext.Raw) {
	byCall := map[string]callResult{}
	for m := range jsontext.Members(results) {
		byCall[string(jsontext.Unescape(m.Key))], _ = jsontext.Parse[callResult](m.Value)
	}
	for _, c := range contents(list) {
		switch {
		case c.Text != nil:
			r.AddText(transcript.KindAssistant, r.row.At, c.Text)
		case c.Thinking != nil:
			r.AddText(transcript.KindReasoning, r.row.At, c.Thinking.Text)
		case c.Call != nil:
			r.addCall(c.Call, byCall)
		case c.Image != nil || c.Mention != nil || c.Redacted != nil: // no text to read
		default:
			r.Totals.Skipped++
		}
	}
}

// addCall adds a call, and its result if results has one.
func (r *recorder) addCall(c *call, results map[string]callResult) {
	r.Add(history.Call(r.row.At, c.Name, c.ID, c.Input))
	result, ok := results[c.ID]
	if !ok {
		return
	}
	type text struct {
		Text  []byte `json:"Text"`
		Lower []byte `json:"text"` // of some versions
	}
	var texts [][]byte
	for _, t := range jsontext.Parts(result.Content, func(only []byte) text { return text{Text: only} }) {
		if t.Text == nil {
			t.Text = t.Lower
		}
		texts = append(texts, t.Text)
	}
	r.Add(transcript.Event{Kind: transcript.KindToolResult, Time: r.row.At, CallID: c.ID, Failed: result.IsError, Text: history.Join(texts)})
}

// addOld adds a message of a version before 0.3.0: its texts and thoughts, and its calls with their results.
func (r *recorder) addOld(m *message) {
	var kind transcript.Kind
	switch m.Role {
	case "user":
		kind = transcript.KindUser
	case "assistant":
		kind = transcript.KindAssistant
	case "system": // the program wrote it
		return
	default:
		r.Totals.Skipped++
		return
	}
	for _, s := range m.Segments {
		switch s.Type {
		case "text":
			r.AddText(kind, r.row.At, s.Text)
		case "thinking":
			r.AddText(transcript.KindReasoning, r.row.At, s.Text)
		}
	}
	results := map[string]callResult{}
	for _, result := range jsontext.Parts(m.Results, func([]byte) callResult { return callResult{} }) {
		results[result.Call] = result
	}
	for i := range m.Calls {
		r.addCall(&m.Calls[i], results)
	}
}
