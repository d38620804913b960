// Package recording writes what is said in a session into the JP workspace that it belongs to: each conversation of the
// session as one of the workspace, for everything that reads those, JP itself among them.
//
// What is recorded follows from the log of the session alone. Each recorded event has the number of the event of the log
// that it comes from, in metadata that JP keeps, and each conversation has a label with the ids that it has in the
// session. So what a crash kept from being written is written by the next process, and nothing is written twice. Whoever
// calls has the session open: nobody else records it at the same time.
//
// The package must never decide what happens in a session, end one because something cannot be recorded, or change what
// others have written into a workspace.
package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/conv"
	"github.com/convtools/convtools/runtime/session/sessionlog"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Recorder records a session. It is safe for concurrent use.
type Recorder struct {
	logs      string
	session   string
	workspace *jp.Workspace
	writer    *jp.Writer
	model     func(string) jp.Model
	warn      func(string)

	mu            sync.Mutex
	read          bool // what was in the log before the first event that is observed
	conversations map[string]*conversation
	order         []string // their ids, as they were opened
	warned        bool
}

// conversation is one that is recorded.
type conversation struct {
	id, parent string
	opened     time.Time
	title      string
	settings   conv.Settings
	pending    []entry // not known to be recorded
	before     bool    // a process before this one held it, and where it is recorded is not looked up
	as         transcript.ID
	there      bool // as was there before the session
	known      bool // where it is recorded, if it is, and up to which event
	seq        int64
}

// entry is an item of the history of a conversation, and the event of the log that it comes from.
type entry struct {
	seq  int64
	at   time.Time
	item session.Item
}

// Options is what a [Recorder] depends on.
type Options struct {
	Logs, Session string // the directory of the logs, and the session
	Workspace     *jp.Workspace
	Now           func() time.Time
	Model         func(name string) jp.Model // what JP calls the model that is configured under a name
	Warn          func(string)               // gets what could not be recorded, once
}

// New returns what records a session.
func New(o Options) *Recorder {
	const patience = 5 * time.Second // JP holds a lock as long as it works in a conversation, but others only for a moment
	return &Recorder{
		logs: o.Logs, session: o.Session, workspace: o.Workspace, model: o.Model, warn: o.Warn, conversations: map[string]*conversation{},
		writer: o.Workspace.Writer(jp.WriterOptions{Now: o.Now, Wait: patience}),
	}
}

// Observe takes an event of the log, once it is there. At the end of a task it records what was said.
func (r *Recorder) Observe(e session.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.catchUp(e.Seq)
	r.take(e)
	r.lookUp(r.conversations[e.Conversation])
	switch e.Body.(type) {
	case session.TaskComplete, session.TaskFailed, session.TurnAborted, session.CallsClosed:
		_ = r.record(r.conversations[e.Conversation]) // which has been said, or Finish returns
	}
}

// lookUp notes where a process before this one has recorded a conversation, before anything more is said in it: what is
// removed from there meanwhile is not made again.
func (r *Recorder) lookUp(c *conversation) {
	if c == nil || !c.before || c.as != "" || c.outside() || c.there {
		return
	}
	c.before = false
	c.as, _ = r.workspace.Labelled(context.Background(), c.opened, Label, r.value(c)) // what is wrong is said where it is recorded
}

// RemovedError is the error for a conversation that was removed from where it is recorded while it went on.
type RemovedError struct {
	ID      transcript.ID
	Session string
}

func (e *RemovedError) Error() string {
	return fmt.Sprintf("conversation %s was removed while it went on, so what was said is not recorded there: convtools session show %s prints it", e.ID, e.Session)
}

// Finish records what is in the log and was not recorded. It is called before the session is closed. The error is a
// [*RemovedError]; what else could not be recorded has been said.
func (r *Recorder) Finish() error {
	const end = 1<<63 - 1
	r.mu.Lock()
	defer r.mu.Unlock()
	r.catchUp(end)
	var removed error
	for _, id := range r.order {
		var missing *store.NotFoundError
		if errors.As(r.record(r.conversations[id]), &missing) {
			removed = &RemovedError{ID: r.conversations[id].as, Session: r.session}
		}
	}
	return removed
}

// RecordedAs returns the id under which a conversation is recorded, or else the one of which it was begun that is; empty
// where none is.
func (r *Recorder) RecordedAs(id string) transcript.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := r.conversations[id]; c != nil; c = r.conversations[c.parent] {
		if c.as != "" {
			return c.as
		}
	}
	return ""
}

// catchUp takes the events before one that this process did not observe.
func (r *Recorder) catchUp(before int64) {
	if r.read {
		return
	}
	r.read = true
	if before == 1 {
		return
	}
	defer func() {
		for _, c := range r.conversations {
			c.before = true
		}
	}()
	for record, err := range sessionlog.Read(r.logs, r.session) {
		if err != nil {
			r.failed(err)
			return
		}
		for _, e := range record.Events {
			if e.Seq >= before {
				return
			}
			r.take(e)
		}
	}
}

// take notes what an event adds to a conversation.
func (r *Recorder) take(e session.Event) {
	c := r.conversations[e.Conversation]
	switch body := e.Body.(type) {
	case session.ConversationOpened:
		c = &conversation{id: e.Conversation, parent: body.Parent, opened: e.At, title: body.Context.Title}
		c.settings, _ = conv.ParseSettings(body.Context.Settings) // without them it is an ordinary one
		r.place(c)
		for _, item := range body.History {
			if !c.there {
				c.pending = append(c.pending, entry{e.Seq, e.At, item})
			}
		}
		r.conversations[c.id] = c
		r.order = append(r.order, c.id)
	case session.ItemRecorded:
		c.pending = append(c.pending, entry{e.Seq, e.At, body.Item})
	case session.CallsClosed:
		for _, output := range body.Outputs {
			c.pending = append(c.pending, entry{e.Seq, e.At, output})
		}
	}
}

// place notes the conversation that the root is recorded as from before the session. A fork of the session, whose root has
// another id than the fork, is recorded in a new one.
func (r *Recorder) place(c *conversation) {
	if c.parent != "" || !c.outside() && c.id != r.session {
		return
	}
	if id, err := jp.ParseID(c.settings.Recorded); err == nil {
		c.as, c.there = id, true
	}
}

// outside reports whether a program outside has the place of a conversation's model. That program records what is said
// there.
func (c *conversation) outside() bool { return c.settings.Outside && c.parent == "" }

// record writes what of a conversation is pending. What cannot be written stays so.
func (r *Recorder) record(c *conversation) error {
	if c == nil || c.outside() || len(c.pending) == 0 {
		return nil
	}
	ctx := context.Background() // what was said is recorded also where nobody waits any more
	if err := r.write(ctx, c); err != nil {
		c.known = false // what has been written of it has to be looked for
		r.failed(err)
		return err
	}
	c.pending = nil
	return nil
}

func (r *Recorder) write(ctx context.Context, c *conversation) error {
	if !c.known {
		if c.there {
			mine := r.session
			_, err := r.writer.Edit(ctx, c.as, func(transcript.Conversation) jp.Change {
				return jp.Change{Labels: map[string]*string{Label: &mine}}
			})
			if err != nil {
				return err
			}
		} else if c.as == "" {
			if made, err := r.create(ctx, c); err != nil || made {
				return err
			}
		}
		var err error
		if c.seq, err = r.position(ctx, c); err != nil {
			return err
		}
		c.known = true
	}
	events, last := r.events(c, c.seq)
	if len(events) == 0 {
		return nil
	}
	if err := r.writer.Append(ctx, c.as, events...); err != nil {
		return err
	}
	c.seq = last
	return nil
}

// create makes the conversation with all that is pending, and reports whether it was not there.
func (r *Recorder) create(ctx context.Context, c *conversation) (bool, error) {
	events, last := r.events(c, 0)
	n := jp.New{
		Begun: c.opened, Title: c.titled(), Hidden: c.settings.Hidden, Label: Label, Value: r.value(c), Events: events, Model: r.model(c.settings.Model),
	}
	if parent := r.conversations[c.parent]; parent != nil {
		if parent.as == "" { // a process before this one has recorded it, if any
			_ = r.record(parent) // as in Observe
		}
		n.Parent = parent.as
	}
	id, made, err := r.writer.Create(ctx, n)
	if err != nil {
		return false, err
	}
	c.as = id
	if made {
		c.known, c.seq = true, last
	}
	return made, nil
}

// Label is the key of the label that a recorded conversation has: the id of the session and, but for the root, behind a
// slash that of the conversation in it.
const Label = jp.LabelSession

// value is that of the label of a conversation.
func (r *Recorder) value(c *conversation) string {
	if c.parent != "" {
		return r.session + "/" + c.id
	}
	return r.session
}

// Origin returns the session and the conversation in it that a recorded conversation comes from, and false where it is
// another one. A root has its session's id.
func Origin(c transcript.Conversation) (sessionID, conversation string, ok bool) {
	value, ok := c.Labels[Label]
	sessionID, conversation, found := strings.Cut(value, "/")
	if !found {
		conversation = sessionID
	}
	return sessionID, conversation, ok && sessionID != ""
}

// The keys in the metadata of a recorded event: the event of the log, and the session where the conversation was there
// before it and may have events of another one.
const (
	positionKey = "convtools_seq"
	sessionKey  = "convtools_session"
)

// metadata returns that of what is recorded of an event of the log in a conversation.
func (r *Recorder) metadata(c *conversation, seq int64) map[string]any {
	if c.there {
		return map[string]any{positionKey: seq, sessionKey: r.session}
	}
	return map[string]any{positionKey: seq}
}

// position returns the last event of the log that is recorded in a conversation; 0 for none.
func (r *Recorder) position(ctx context.Context, c *conversation) (int64, error) {
	opened, _, err := r.workspace.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer opened.Close()
	found, err := opened.Find(ctx, c.as)
	if err != nil {
		return 0, err
	}
	var last int64
	_, err = found.Read(ctx, nil, func(e *transcript.Event) bool {
		var metadata struct {
			Seq     int64  `json:"convtools_seq"`
			Session string `json:"convtools_session"`
		}
		if json.Unmarshal(jsontext.Get(e.Object, "metadata"), &metadata) == nil && (!c.there || metadata.Session == r.session) {
			last = max(last, metadata.Seq)
		}
		return true
	})
	return last, err
}

// events returns what is pending behind an event of the log, as JP has it, and the last event that it comes from.
func (r *Recorder) events(c *conversation, after int64) (all []jp.NewEvent, last int64) {
	last = after
	for _, p := range c.pending {
		if p.seq <= after {
			continue
		}
		last = p.seq
		all = append(all, p.events(r.metadata(c, p.seq))...)
	}
	return all, last
}

// events returns what an item is in a conversation of JP. What only models read is left out.
func (e entry) events(metadata map[string]any) []jp.NewEvent {
	if e.item.Origin == session.FromHost {
		return nil
	}
	recorded := jp.NewEvent{At: e.at, Metadata: metadata}
	switch e.item.Kind {
	case session.UserMessage:
		recorded.Kind, recorded.Text = transcript.KindUser, said(e.item.Parts)
		return []jp.NewEvent{{At: e.at, Kind: transcript.KindTurnStart}, recorded}
	case session.AgentMessage:
		recorded.Kind, recorded.Text = transcript.KindAssistant, said(e.item.Parts)
	case session.ToolCall:
		recorded.Kind, recorded.CallID, recorded.Name = transcript.KindToolCall, e.item.CallID, model.Flat(string(e.item.Tool)) // which providers take
		recorded.Arguments = json.RawMessage(e.item.Arguments)
		var object map[string]json.RawMessage
		if json.Unmarshal(recorded.Arguments, &object) != nil || object == nil {
			recorded.Arguments, _ = json.Marshal(map[string]string{"arguments": e.item.Arguments}) // of texts, which have a form
		}
	case session.ToolOutput:
		recorded.Kind, recorded.CallID = transcript.KindToolResult, e.item.CallID
		recorded.Text, recorded.Failed = e.item.Content, !e.item.Success
	default:
		return nil
	}
	return []jp.NewEvent{recorded}
}

// said returns the texts of a message. For an image there is its address, or what is known of it.
func said(parts []session.Part) string {
	var texts []string
	for _, p := range parts {
		switch kind, _, inline := strings.Cut(strings.TrimPrefix(p.ImageURL, "data:"), ";"); {
		case p.ImageURL == "":
			texts = append(texts, p.Text)
		case inline && strings.HasPrefix(p.ImageURL, "data:"):
			texts = append(texts, fmt.Sprintf("[%s of %d bytes]", kind, len(p.ImageURL)))
		default:
			texts = append(texts, "["+p.ImageURL+"]")
		}
	}
	return strings.Join(texts, "\n")
}

// titled returns the title of a conversation, or the beginning of what was said first.
func (c *conversation) titled() string {
	if c.title != "" {
		return c.title
	}
	const most = 60
	for _, p := range c.pending {
		if p.item.Kind == session.UserMessage && p.item.Origin != session.FromHost {
			line, _, _ := strings.Cut(strings.TrimSpace(said(p.item.Parts)), "\n")
			return text.Cut(line, most)
		}
	}
	return ""
}

func (r *Recorder) failed(err error) {
	var missing *store.NotFoundError
	if r.warned || r.warn == nil || errors.As(err, &missing) { // which Finish returns
		return
	}
	r.warned = true
	var locked *jp.LockedError
	if errors.As(err, &locked) {
		err = fmt.Errorf("%w; it is recorded when the session is used next", err)
	}
	r.warn(fmt.Sprintf("what is said cannot be recorded in %s: %v", r.workspace.Root(), err))
}
