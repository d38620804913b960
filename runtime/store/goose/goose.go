// Package goose reads the conversations that Goose recorded for a project, from its database or, of versions
// before 1.10, from its files. The form is that of the sources of 2025 and 2026; no version was run here.
//
// The database is sessions/sessions.db in ~/.local/share/goose, on macOS too, on Windows in
// %APPDATA%\Block\goose\data, and below WSL in the Linux home; GOOSE_PATH_ROOT names another place. Goose
// imported the files sessions/ID.jsonl when it made the database. A session belongs to a project by its
// working directory. It grows by rows of its messages, or by lines; after a compaction all are written again.
//
// The session of a sub-agent is marked, and its parent is not recorded. A fork copies the messages of another
// session without a link. Messages that the user does not see are for the model alone: summaries and
// reminders. They are left out.
package goose

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "goose"

// Open returns the store, and false if Goose has recorded nothing. Old versions have files in place of the database.
func Open(o store.Options) (store.Store, bool) {
	base, ok := history.Open(o, Name, Home(o.Env()), "sessions", IDs())
	path := filepath.Join(base.Dir, "sessions.db")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return &files{base}, ok
	}
	databases := func() ([]messagedb.Database, []store.Problem) { return []messagedb.Database{{Path: path}}, nil }
	return &messagedb.Store{Store: base, Databases: databases, Queries: messagedb.Tables(queries), Record: record}, ok
}

// Home returns the directory with the data of Goose, or "" if the environment does not name it.
func Home(getenv func(string) string) string {
	if root := getenv("GOOSE_PATH_ROOT"); filepath.IsAbs(root) {
		return filepath.Join(root, "data")
	}
	if data := getenv("APPDATA"); runtime.GOOS == "windows" && data != "" {
		return filepath.Join(data, "Block", "goose", "data")
	}
	return history.InData(getenv, "goose")
}

// IDs returns the form of ids: a day and the number of a session on it.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "goose-", Session: history.IsName, Example: "goose-20260501_2"}
}

// queries returns the SQL for the sessions and the messages, as [messagedb.Tables] wants it; false for other tables.
func queries(has messagedb.Has) (sessions, messages string, ok bool) {
	kind := has.Or("sessions", "session_type", "'user'")
	title := "coalesce(nullif(" + has.Or("sessions", "name", "NULL") + ", ''), " + has.Or("sessions", "description", "''") + ")"
	sessions = `SELECT id AS key, NULL AS parent, ` + kind + ` = 'sub_agent' AS agent,
		CASE WHEN ` + title + ` IN ('CLI Session', 'ACP Session') OR ` + title + ` GLOB 'New session [0-9]*' THEN '' ELSE ` + title + ` END AS title,
		working_dir AS dir, created_at AS created, updated_at AS updated, ` + has.Or("sessions", "archived_at", "NULL") + ` IS NOT NULL AS archived,
		(SELECT count(*) || ' ' || max(id) FROM messages WHERE session_id = sessions.id) || ' ' || updated_at AS version
		FROM sessions WHERE ` + kind + ` <> 'hidden' AND EXISTS (SELECT 1 FROM messages WHERE session_id = sessions.id)`
	messages = "SELECT role, created_timestamp AS at, " + has.Or("messages", "metadata_json", "NULL") +
		" AS about, content_json AS data, id AS place FROM messages WHERE session_id = ?1"
	return sessions, messages, has("sessions", "working_dir") && has("messages", "content_json")
}

// part is a part of the content of a message.
type part struct {
	Type     string `json:"type"`
	Text     []byte `json:"text"`
	Thinking []byte `json:"thinking"`
	ID       string `json:"id"`
	Call     struct {
		Error []byte `json:"error"`
		Value struct {
			Name      string       `json:"name"`
			Arguments jsontext.Raw `json:"arguments"`
		} `json:"value"`
	} `json:"toolCall"`
	Result struct {
		Status string       `json:"status"`
		Error  []byte       `json:"error"`
		Value  jsontext.Raw `json:"value"` // a list of contents, or an object with one
	} `json:"toolResult"`
}

// record adds the events of a message to a recorder: those of calls and answers, or one prompt with texts and pictures.
func record(to *history.Recorder, m *messagedb.Message) {
	isForModel := string(jsontext.Get(m.About, "userVisible")) == "false"
	var prompt [][]byte
	for _, p := range jsontext.Parts(m.Data, func(text []byte) part { return part{Type: "text", Text: text} }) {
		switch {
		case isForModel && p.Type != "toolRequest" && p.Type != "toolResponse": // hidden from the user
		case m.Role == "user" && p.Type == "text":
			prompt = append(prompt, p.Text)
		case m.Role == "user" && p.Type == "image":
			prompt = append(prompt, nil)
		default:
			p.record(to, m.At)
		}
	}
	to.AddPrompt(m.At, prompt)
}

// record adds the events of a part that is no prompt to a recorder.
func (p *part) record(to *history.Recorder, at time.Time) {
	switch p.Type {
	case "text":
		to.AddText(transcript.KindAssistant, at, p.Text)
	case "thinking":
		to.AddText(transcript.KindReasoning, at, p.Thinking)
	case "toolRequest", "frontendToolRequest":
		c := &p.Call.Value
		if c.Name == "" { // what the model wrote was no call
			c.Arguments = p.Call.Error
		}
		to.Add(history.Call(at, c.Name, p.ID, c.Arguments))
	case "toolResponse":
		to.Add(p.result(at))
	case "conversationCompacted":
		to.Add(transcript.Event{Kind: transcript.KindCompaction, Time: at})
	case "image", "redactedThinking", "toolConfirmationRequest", "actionRequired", "systemNotification": // no text to read
	default:
		to.Totals.Skipped++
	}
}

// result returns the event of the result of a call. Its text is that of the contents, or of the error if there are none.
func (p *part) result(at time.Time) transcript.Event {
	r := &p.Result
	e := transcript.Event{Kind: transcript.KindToolResult, Time: at, CallID: p.ID, Failed: r.Status == "error", Text: r.Error}
	contents := r.Value
	if bytes.HasPrefix(contents, []byte("{")) {
		var value struct {
			Content jsontext.Raw `json:"content"`
			IsError bool         `json:"isError"`
		}
		jsontext.Decode(r.Value, &value)
		contents, e.Failed = value.Content, e.Failed || value.IsError
	}
	if texts := history.Texts(contents); len(texts) > 0 {
		e.Text = history.Join(texts)
	}
	return e
}
