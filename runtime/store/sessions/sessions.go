// Package sessions reads the conversations of convtools' own sessions from their logs. It leaves out sessions that are
// recorded in a JP workspace.
//
// A log can have several conversations; package session/log describes its format. The package never creates, changes or
// locks a file, and reads only whole lines.
package sessions

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "convtools"

// IDs returns the form of ids: the UUID of a session for the session's first conversation; for another conversation the
// UUID of the session and, as the part, the UUID of the conversation.
func IDs() *history.IDs {
	const prefix = "convtools-"
	return &history.IDs{Prefix: prefix, Part: history.IsUUID, Example: prefix + "2c154aa7-742d-46ce-af44-de020dbaa17b"}
}

// ID returns the id of a conversation of a session. The arguments are UUIDs. root is the session's first conversation.
func ID(session, root, conversation string) transcript.ID {
	if conversation == root {
		conversation = "" // the id of the root is that of the session alone
	}
	return IDs().ID(session, conversation)
}

// Home returns the directory of the logs, or "" if the environment does not name it.
func Home(getenv func(string) string) string { return history.InData(getenv, "convtools", "sessions") }

// Store has the conversations of the sessions of a project. It implements [store.Store].
type Store struct{ history.Store }

// Open returns the store, and false if the directory has no logs of sessions.
func Open(o store.Options) (*Store, bool) {
	s, ok := history.Open(o, Name, Home(o.Env()), "", IDs())
	if entries, err := os.ReadDir(s.Dir); ok && err == nil {
		ok = slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			session, isLog := strings.CutSuffix(e.Name(), ".jsonl")
			return isLog && history.IsUUID(session)
		})
	}
	return &Store{s}, ok
}

// record is a line of a log; the first line has no events.
type record struct {
	Events []event `json:"events"`
}

// event is an event of a log, or an output of a tool in one.
type event struct {
	At           time.Time `json:"ts"`
	Conversation string    `json:"conversation_id"`
	Type         string    `json:"type"`
	Parent       string    `json:"parent_id"`
	Context      struct {
		Title    string `json:"title"`
		Settings []byte `json:"settings"`
	} `json:"context"`
	Outputs []event `json:"outputs"`

	Origin    string       `json:"origin"`
	Text      jsontext.Raw `json:"text"` // a text or parts
	CallID    string       `json:"call_id"`
	Tool      string       `json:"tool"`
	Arguments []byte       `json:"arguments"`
	Content   []byte       `json:"content"`
	Failed    bool         `json:"failed"`
}

// part is a part of the text of an event.
type part struct {
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
}

// settings is the settings of a conversation, in its context.
type settings struct {
	Dir     string `json:"dir"`
	Hidden  bool   `json:"hidden"`
	JP      bool   `json:"jp"`
	Outside bool   `json:"outside"`
}

// conversation is the metadata of a conversation in the log of a session.
type conversation struct {
	Session, Root string
	ID, Parent    string
	Title         string
	Request       string
	Settings      settings
	Opened, Last  time.Time
}

// log is the log of a session, with the metadata of its conversations.
type log struct {
	history.Entry[[]*conversation]
	project *project.Project
}

// find returns the logs of sessions, and problems for a directory that cannot be read.
func (s *Store) find(root *history.Root) (all []*log, problems []store.Problem) {
	return history.Entries(&s.Store, root, ".", nil, func(l *log) bool {
		session, isLog := strings.CutSuffix(l.File, ".jsonl")
		l.project, l.ID = s.Project, ID(session, "", "")
		return isLog && history.IsUUID(session)
	})
}

// Peek implements [history.Listed]: it sets l.Meta to the conversations of the log that are not empty and not recorded
// elsewhere, and returns the working directory of the first of these conversations. If any is in an excluded directory,
// Peek returns that directory, so that the metadata is not cached.
func (l *log) Peek(ctx context.Context, _ *history.Root, f *os.File, size int64) (dir string, err error) {
	session := strings.TrimSuffix(l.File, ".jsonl")
	var all []*conversation
	err = jsonl.Each(ctx, f, size, func(data []byte, _ int64) bool {
		x, _ := jsontext.Parse[record](data) // reading the conversation counts damaged lines
		for i := range x.Events {
			e := &x.Events[i]
			if e.Type == "conversation_opened" {
				c := &conversation{Session: session, ID: e.Conversation, Parent: e.Parent, Title: e.Context.Title, Opened: e.At}
				jsontext.Decode(e.Context.Settings, &c.Settings)
				all = append(all, c)
				c.Root = all[0].ID // the first conversation of a log is the root
			}
			if n := slices.IndexFunc(all, func(c *conversation) bool { return c.ID == e.Conversation }); n >= 0 {
				all[n].addEvent(e)
			}
		}
		return true
	})
	for _, c := range all {
		isRecordedElsewhere := c.Settings.JP || c.Settings.Outside && c.Parent == "" // by JP, or as another program's session
		if !c.Last.IsZero() && !isRecordedElsewhere {
			l.Meta = append(l.Meta, c)
			if dir == "" || l.project.Excludes(c.Settings.Dir) {
				dir = c.Settings.Dir
			}
		}
	}
	return dir, err
}

// addEvent sets what an event says of its conversation: the last time, and the first request.
func (c *conversation) addEvent(e *event) {
	switch e.Type {
	case "user_message", "agent_message", "tool_call", "tool_output", "calls_closed":
		c.Last = e.At
	}
	if e.Type == "user_message" && e.Origin != "host" && c.Request == "" {
		c.Request = store.Request(string(e.text()))
	}
}

// List implements [store.Store].
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	return history.List(ctx, &s.Store, scope, s.find, func(_ *history.Root, all []*log, to *store.Listing) error {
		for _, l := range all {
			for _, c := range l.Meta {
				if s.Project.Has(c.Settings.Dir) {
					to.Conversations = append(to.Conversations, s.conversation(l, c))
				}
			}
		}
		return nil
	})
}

// conversation returns the list's entry for a conversation in a log.
func (s *Store) conversation(l *log, c *conversation) store.Conversation {
	decode := func(ctx context.Context, root *history.Root, to *history.Recorder) error {
		return c.decode(ctx, root, l.File, to)
	}
	meta := history.Session{Title: c.Title, Request: c.Request, Dir: c.Settings.Dir, Created: c.Opened, Last: c.Last}
	listed := s.Conversation(ID(c.Session, c.Root, c.ID), &meta, decode, l.Stamp)
	listed.Hidden = c.Settings.Hidden
	if c.Parent != "" {
		listed.Parent = ID(c.Session, c.Root, c.Parent)
	}
	return listed
}

// decode adds the events of the conversation in a log to a recorder.
func (c *conversation) decode(ctx context.Context, root *history.Root, file string, to *history.Recorder) error {
	return to.Lines(ctx, root, file, func(data []byte, offset int64) bool {
		isHeader := offset == 0 // it is parsed to see whether it is damaged
		if !isHeader && !bytes.Contains(data, []byte(c.ID)) {
			return true // it has no event of this conversation
		}
		x, ok := jsontext.Parse[record](data)
		for i := range x.Events {
			if e := &x.Events[i]; e.Conversation == c.ID {
				e.addTo(to)
			}
		}
		return ok
	})
}

// addTo adds the event to a recorder, unless it is for the model only ("host"), and then the outputs of tools in it.
func (e *event) addTo(to *history.Recorder) {
	x := transcript.Event{Time: e.At, CallID: e.CallID, Name: e.Tool}
	switch e.Type {
	case "user_message":
		x.Kind, x.Text = transcript.KindUser, e.text()
	case "agent_message":
		x.Kind, x.Text = transcript.KindAssistant, e.text()
	case "tool_call":
		x = history.Call(e.At, e.Tool, e.CallID, e.Arguments)
	case "tool_output":
		x.Kind, x.Text, x.Failed = transcript.KindToolResult, e.Content, e.Failed
	}
	if x.Kind != transcript.KindUnknown && e.Origin != "host" {
		to.Add(x)
	}
	for i := range e.Outputs {
		o := &e.Outputs[i]
		o.Type, o.At = "tool_output", e.At
		o.addTo(to)
	}
}

// text returns the text of a message, with the address or the size of an image in its place.
func (e *event) text() []byte {
	var texts []string
	for _, p := range jsontext.Parts(e.Text, func(text []byte) part { return part{Text: string(text)} }) {
		switch kind, data, inline := strings.Cut(p.ImageURL, ";"); {
		case p.ImageURL == "":
			texts = append(texts, p.Text)
		case inline && strings.HasPrefix(kind, "data:"):
			texts = append(texts, fmt.Sprintf("[%s of %d bytes]", kind[len("data:"):], len(data)))
		default:
			texts = append(texts, "["+p.ImageURL+"]")
		}
	}
	return []byte(strings.Join(texts, "\n"))
}
