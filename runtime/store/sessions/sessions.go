// Package sessions reads the conversations of convtools' own sessions from their logs, as far as they are recorded
// nowhere else: a session that was begun in a JP workspace is recorded there.
//
// It is a reader of the lines of a log, one conversation of a session at a time. It never creates, changes or locks
// anything, and what is not a whole line is not looked at. The format is that of package session/log.
package sessions

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "convtools"

// IDPrefix is what the ids of conversations of this store begin with.
const IDPrefix = "convtools-"

// ids are of sessions, and of their conversations that are not the root.
func ids() *history.IDs {
	return &history.IDs{Prefix: IDPrefix, Part: history.IsUUID, Example: IDPrefix + "2c154aa7-742d-46ce-af44-de020dbaa17b"}
}

// ID returns the id of a conversation of a session: that of the session, with "." and the conversation's own behind it
// where it is not the root.
func ID(session, root, conversation string) transcript.ID {
	if conversation == root {
		conversation = ""
	}
	return ids().ID(session, conversation)
}

// Split returns the session of an id, and the conversation in it; empty stands for the root. It reports false for what is
// no id of this store.
func Split(id string) (session, conversation string, ok bool) {
	return ids().Split(strings.ToLower(id))
}

// ParseID reads an id, whose case does not matter. The error is a [*store.BadIDError].
func ParseID(text string) (transcript.ID, error) { return ids().ParseID(strings.ToLower(text)) }

// Claims reports whether a text can only be meant as an id of this store, be it a wrong one.
func Claims(text string) bool { return ids().Claims(text) }

// Home returns the directory of the logs, or "" where the environment does not tell. It is the same on all systems.
func Home(getenv func(string) string) string {
	if data := getenv("XDG_DATA_HOME"); filepath.IsAbs(data) { // https://specifications.freedesktop.org/basedir-spec/latest/
		return filepath.Join(data, "convtools", "sessions")
	}
	return history.InHome(getenv, ".local", "share", "convtools", "sessions")
}

// extension is that of a log.
const extension = ".jsonl"

// Store is the conversations of sessions of a project, as a [store.Store], in the directory of the logs.
type Store struct{ history.Store }

// ParseID implements [store.Store].
func (s *Store) ParseID(text string) (transcript.ID, error) { return ParseID(text) }

// Open returns the store, and false where there are no sessions.
func Open(o store.Options) (*Store, bool) {
	s := &Store{history.New(o, Name, cmp.Or(o.Home, Home(o.Env())), ids())}
	return s, s.Dir != "" && store.IsThere(s.Dir) && hasSessions(s.Dir)
}

// hasSessions reports whether a directory has logs of sessions. One that cannot be looked at may: opening it reports why.
func hasSessions(dir string) bool {
	root, err := safefile.OpenDir(dir)
	if err != nil {
		return true
	}
	defer root.Close()
	entries, err := safefile.ReadDirIn(root, ".", -1)
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return sessionOf(e.Name()) != "" })
}

// sessionOf returns the session that a file is the log of; "" for none.
func sessionOf(file string) string {
	session, ok := strings.CutSuffix(file, extension)
	if !ok || !history.IsUUID(session) {
		return ""
	}
	return session
}

// line is a line of a log: its first one, or a record.
type line struct {
	Origin *struct {
		Session string `json:"session_id"`
		Seq     int64  `json:"seq"`
	} `json:"forked_from"`
	Events []event `json:"events"`
}

// event is what is read of an event of a log.
type event struct {
	Seq          int64     `json:"seq"`
	At           time.Time `json:"ts"`
	Conversation string    `json:"conversation_id"`
	Type         string    `json:"type"`
	Parent       string    `json:"parent_id"`
	Context      struct {
		Title    string `json:"title"`
		Settings string `json:"settings"`
	} `json:"context"`
	item
	Outputs []item `json:"outputs"`
}

// item is what is read of an item of a history. In the place of the text of a message there may be parts.
type item struct {
	Origin    string          `json:"origin"`
	Text      json.RawMessage `json:"text"`
	CallID    string          `json:"call_id"`
	Tool      string          `json:"tool"`
	Arguments string          `json:"arguments"`
	Content   string          `json:"content"`
	Failed    bool            `json:"failed"`
}

type part struct {
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
}

// settings is what is read of what the program keeps with a conversation.
type settings struct {
	Dir     string `json:"dir"`
	Hidden  bool   `json:"hidden"`
	JP      bool   `json:"jp"`
	Outside bool   `json:"outside"`
}

// info is what the log of a session has of a conversation, without what is said.
type info struct {
	Session, Root string
	ID, Parent    string
	Title         string
	Request       string
	Settings      settings
	Opened, Last  time.Time
	Said          bool   // something is
	Fork          string // the session that this one was forked from
}

// name is the id of the conversation.
func (i *info) name() transcript.ID { return ID(i.Session, i.Root, i.ID) }

// log is the log of a session, and what it has of the conversations in it.
type log struct {
	history.Entry[[]*info]
	session string
	project *project.Project
}

// Peek implements [history.Listed]: it finds the conversations of the session that are recorded here.
func (l *log) Peek(ctx context.Context, root *history.Root) error {
	f, stat, err := root.File(l.File)
	if err != nil {
		return err
	}
	defer f.Close()
	session := l.session
	var all []*info
	fork := ""
	err = jsonl.Each(ctx, f, 0, stat.Size(), func(data []byte, offset, _ int64) bool {
		var l line
		if offset > 0 && !tells(data) || json.Unmarshal(data, &l) != nil {
			return true // whoever reads the conversation is told
		}
		if l.Origin != nil {
			fork = l.Origin.Session
		}
		for i := range l.Events {
			e := &l.Events[i]
			if e.Type == "conversation_opened" {
				c := &info{Session: session, ID: e.Conversation, Parent: e.Parent, Title: e.Context.Title, Opened: e.At.UTC(), Fork: fork}
				_ = json.Unmarshal([]byte(e.Context.Settings), &c.Settings) // without them it is of no project
				all = append(all, c)
				c.Root = all[0].ID
			}
			if at := slices.IndexFunc(all, func(c *info) bool { return c.ID == e.Conversation }); at >= 0 {
				all[at].see(e)
			}
		}
		return true
	})
	l.Meta = slices.DeleteFunc(all, func(i *info) bool {
		return !i.Said || i.Settings.JP || i.Settings.Outside && i.Parent == ""
	})
	return err
}

// see notes what an event of the conversation says of it.
func (i *info) see(e *event) {
	switch e.Type {
	case "user_message", "agent_message", "tool_call", "tool_output", "calls_closed":
		i.Said, i.Last = true, e.At.UTC()
	}
	if e.Type == "user_message" && e.Origin != "host" && i.Title == "" && i.Request == "" {
		i.Request = store.Request(string(e.said()))
	}
}

// tells reports whether a line may have more than pieces of a message.
func tells(data []byte) bool {
	const piece = `"type":"agent_message_delta"`
	return bytes.Count(data, []byte(`"type":"`)) > bytes.Count(data, []byte(piece))
}

// Where implements [history.Listed].
func (l *log) Where() string {
	i := slices.IndexFunc(l.Meta, func(i *info) bool { return l.project.Excludes(i.Settings.Dir) })
	if i < 0 {
		return ""
	}
	return l.Meta[i].Settings.Dir
}

// List implements [store.Store].
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	return history.List(ctx, &s.Store, scope, func(root *history.Root) (all []*log, problems []store.Problem, err error) {
		entries, err := root.ReadDir(".")
		for _, entry := range entries {
			if session := sessionOf(entry.Name()); session != "" {
				l := &log{session: session, project: s.Project}
				l.File = entry.Name()
				all = append(all, l)
			}
		}
		return all, nil, err
	}, func(_ *history.Root, all []*log, to *store.Listing) error {
		for _, l := range all {
			for _, i := range l.Meta {
				if s.Project.Has(i.Settings.Dir) {
					to.Conversations = append(to.Conversations, s.conversation(l, i))
				}
			}
		}
		return nil
	})
}

// conversation returns what a list has of a conversation.
func (s *Store) conversation(l *log, i *info) store.Conversation {
	of := history.Session{Title: i.Title, Request: i.Request, Dir: i.Settings.Dir, Created: i.Opened, Last: i.Last}
	c := s.Conversation(i.name(), &of, &history.File{
		Store: &s.Store, ID: i.name(), Name: l.File, Stamps: []filecache.Stamp{l.Stamp}, Script: i.script,
	})
	c.Hidden = i.Settings.Hidden
	switch {
	case i.Parent != "":
		c.Parent = ID(i.Session, i.Root, i.Parent)
	case history.IsUUID(i.Fork):
		c.Parent = ID(i.Fork, "", "")
	}
	return c
}
