// Package crush reads the conversations that Crush recorded for a project, from the database in the
// directory .crush of the project. The form is that of the sources of August 2026; no version was run here.
//
// Crush notes the directories of its projects and of their databases in projects.json, in ~/.local/share/crush or
// CRUSH_GLOBAL_DATA, on Windows in %LOCALAPPDATA%\crush, and below WSL in the Linux home. Only a database that is noted
// there is read: one that lies in a project can be anybody's. A session belongs to the project of its database. It
// grows by rows of its messages, and the last message is rewritten while it is streamed.
//
// The session of a sub-agent has a parent. Its key is the message and the call that started it. There are no
// forks. Crush adds nothing to the messages of its user that it records; a file that is attached stays a
// file. A summary of all messages before it is a message with a mark.
package crush

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "crush"

const (
	projectsFile, maxProjects = "projects.json", 16 << 20
	databaseFile              = "crush.db"
)

// Open returns the store of the project's databases, and false if it finds neither databases nor problems. The home
// directory has Crush's list of databases, or is itself the directory of a database.
func Open(o store.Options) (*messagedb.Store, bool) {
	base, isThere := history.Open(o, Name, Home(o.Env()), "", IDs())
	s := &messagedb.Store{Store: base, Queries: messagedb.Tables(queries), IDOf: idOf, Record: record}
	s.Databases = func() ([]messagedb.Database, []store.Problem) { return databases(&s.Store) }
	found, problems := s.Databases()
	return s, isThere && len(found)+len(problems) > 0
}

// Home returns the directory in which Crush notes its projects, or "" if the environment does not name it.
func Home(getenv func(string) string) string {
	if data := getenv("CRUSH_GLOBAL_DATA"); data != "" {
		return data
	}
	if local := getenv("LOCALAPPDATA"); runtime.GOOS == "windows" && local != "" {
		return filepath.Join(local, "crush")
	}
	return history.InData(getenv, "crush")
}

// IDs returns the form of ids: the uuid of a session. The id of a sub-agent's session has two parts instead: the uuid
// of the message that started the sub-agent, and the id of the tool call in that message.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "crush-", Session: history.IsName, Part: history.IsName, Example: "crush-2c154aa7-742d-46ce-af44-de020dbaa17b"}
}

// callMark is between the message and the call in the key of a sub-agent's session, and titlePrefix begins the
// key of the session in which a title is made.
const callMark, titlePrefix = "$$", "title-"

// idOf returns the id of the session with a key in Crush's database; "" for a key of another form, or of a session that
// only makes a title. A key is Crush's own id or, for a sub-agent, the id of a message, callMark, and the id of a call.
func idOf(key string) transcript.ID {
	const most = 64 // characters
	session, call, isAgent := strings.Cut(key, callMark)
	part := strings.Map(func(c rune) rune {
		if !history.IsPlain(string(c)) {
			return '-'
		}
		return c
	}, call)
	part = part[:min(len(part), most)]
	lacksPart := isAgent && part == ""
	if !history.IsName(session) || lacksPart || strings.HasPrefix(session, titlePrefix) {
		return ""
	}
	return IDs().ID(session, part)
}

// databases returns the databases of the wanted projects in the program's list, and the problem of reading the list.
func databases(s *history.Store) (all []messagedb.Database, problems []store.Problem) {
	var noted struct {
		Projects []struct {
			Path    string `json:"path"`
			DataDir string `json:"data_dir"`
		} `json:"projects"`
	}
	add := func(project, data string) {
		if path := filepath.Join(data, databaseFile); s.Project.Has(project) && isOwn(data, path) {
			all = append(all, messagedb.Database{Path: path, Dir: project})
		}
	}
	add(filepath.Dir(s.Dir), s.Dir) // the home can be the directory of a database
	file := filepath.Join(s.Dir, projectsFile)
	data, err := safefile.Read(file, maxProjects)
	if err == nil {
		err = json.Unmarshal(data, &noted)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		problems = append(problems, history.Problem("", store.Unreadable, file, err))
	}
	for _, p := range noted.Projects {
		add(p.Path, p.DataDir)
	}
	return all, problems
}

// isOwn reports whether a directory and the database in it exist and are no links, which could lead to another project.
func isOwn(dir, database string) bool {
	dirInfo, dirErr := os.Lstat(dir)
	fileInfo, fileErr := os.Lstat(database)
	return filepath.IsAbs(dir) && dirErr == nil && dirInfo.IsDir() && fileErr == nil && fileInfo.Mode().IsRegular()
}

// queries returns the SQL for the sessions and the messages, as [messagedb.Tables] wants it; false for other tables.
func queries(has messagedb.Has) (sessions, messages string, ok bool) {
	isSummary := has.Or("messages", "is_summary_message", "0")
	sessions = `SELECT id AS key, parent_session_id AS parent, parent_session_id IS NOT NULL AS agent,
		CASE WHEN title NOT IN ('New Session', 'Untitled Session') THEN title END AS title, '' AS dir,
		created_at AS created, updated_at AS updated, 0 AS archived,
		(SELECT count(*) || ' ' || max(updated_at) || ' ' || total(octet_length(parts)) FROM messages WHERE session_id = sessions.id) || ' ' || updated_at AS version
		FROM sessions WHERE EXISTS (SELECT 1 FROM messages WHERE session_id = sessions.id)`
	messages = "SELECT role, created_at AS at, " + isSummary + " AS about, parts AS data, rowid AS place FROM messages WHERE session_id = ?1"
	return sessions, messages, has("sessions", "parent_session_id") && has("messages", "parts")
}

// part is a part of a message.
type part struct {
	Type string `json:"type"`
	Data struct {
		Text     []byte `json:"text"`
		Thinking []byte `json:"thinking"`
		// of a call
		ID    string `json:"id"`
		Name  string `json:"name"`
		Input []byte `json:"input"`
		// of a result
		Call    string `json:"tool_call_id"`
		Content []byte `json:"content"`
		IsError bool   `json:"is_error"`
		// of a command that the user ran
		Command []byte `json:"command"`
		Output  []byte `json:"output"`
		Exit    int64  `json:"exit_code"`
	} `json:"data"`
}

// record adds the events of a message to a recorder: those of calls and answers, or one prompt with texts and pictures.
func record(to *history.Recorder, m *messagedb.Message) {
	if string(m.About) == "1" { // the summary of the messages before it
		to.Add(transcript.Event{Kind: transcript.KindCompaction, Time: m.At})
		return
	}
	var prompt [][]byte
	for _, p := range jsontext.Parts(m.Data, func([]byte) (none part) { return none }) {
		switch {
		case m.Role == "user" && p.Type == "text":
			prompt = append(prompt, p.Data.Text)
		case m.Role == "user" && (p.Type == "binary" || p.Type == "image_url"):
			prompt = append(prompt, nil)
		default:
			p.record(to, m.At)
		}
	}
	to.AddPrompt(m.At, prompt)
}

// record adds the events of a part that is no prompt to a recorder.
func (p *part) record(to *history.Recorder, at time.Time) {
	switch d := &p.Data; p.Type {
	case "text":
		to.AddText(transcript.KindAssistant, at, d.Text)
	case "reasoning":
		to.AddText(transcript.KindReasoning, at, d.Thinking)
	case "tool_call":
		to.Add(history.Call(at, d.Name, d.ID, d.Input))
	case "tool_result":
		to.Add(transcript.Event{Kind: transcript.KindToolResult, Time: at, CallID: d.Call, Failed: d.IsError, Text: d.Content})
	case "shell_command":
		to.Add(history.Call(at, p.Type, "", history.Object("command", string(d.Command))))
		to.Add(transcript.Event{Kind: transcript.KindToolResult, Time: at, Failed: d.Exit != 0, Text: d.Output})
	case "finish", "binary", "image_url": // no text to read
	default:
		to.Totals.Skipped++
	}
}
