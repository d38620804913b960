package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// recorder writes what is said in a session into the JP workspace that it belongs to: each conversation of the session as
// one of the workspace, for everything that reads those, JP itself among them.
//
// What is recorded follows from the histories of the session alone. Each recorded event has the number of the event of
// the log that it comes from, in metadata that JP keeps, and each conversation has a label with the ids that it has in the
// session. So what a crash kept from being written is written by the next process, and nothing is written twice. The
// caller has the session open, so no other process records it at the same time.
//
// It must never end a session because something cannot be recorded, or change what others have written into a workspace.
type recorder struct {
	session   string
	workspace *jp.Workspace
	writer    *jp.Writer
	model     func(name string) jp.Model // what JP calls the model that is configured under a name
	warn      func(string)               // gets what could not be recorded, once

	mu     sync.Mutex
	state  session.State        // that was observed last
	known  map[string]*recorded // by the id of the conversation
	warned bool
}

// recorded is where a conversation is recorded.
type recorded struct {
	as    transcript.ID // empty where it is not known
	there bool          // as was there before the session
	seq   int64         // the last event of the log that is recorded; 0 where that is not known
}

func newRecorder(id string, w *jp.Workspace, now func() time.Time) *recorder {
	const lockWait = 5 * time.Second // JP holds a lock as long as it works in a conversation, but others only for a moment
	return &recorder{
		session: id, workspace: w, known: map[string]*recorded{}, writer: w.Writer(jp.WriterOptions{Now: now, Wait: lockWait}),
	}
}

// observe takes an event that was written to the log, with the state after it. At the end of a task it records the
// messages.
func (r *recorder) observe(e session.Event, s session.State) {
	c := s.Conversation(e.Conversation)
	if c == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = s
	r.find(c, e.Kind == session.ConversationOpened)
	switch e.Kind {
	case session.TaskComplete, session.TaskFailed, session.TurnAborted, session.CallsClosed:
		_ = r.record(c) // which has been said, or finish returns
	}
}

// label is the key of the label of a recorded conversation. Its value is the id of the session, followed by a slash and
// the id of the conversation unless that is the root.
const label = jp.LabelSession

// labelOf is the value of the label of a conversation.
func labelOf(of string, c *session.Conversation) string {
	if c.Parent != "" {
		return of + "/" + c.ID
	}
	return of
}

// labelled returns the session and the conversation in it that a recorded conversation comes from, and false where it is
// another one. A root has its session's id.
func labelled(c transcript.Conversation) (at Place, ok bool) {
	value, ok := c.Labels[label]
	at.Session, at.Conversation, _ = strings.Cut(value, "/")
	if at.Conversation == "" {
		at.Conversation = at.Session
	}
	return at, ok && at.Session != ""
}

// recordedUnder returns the id under which a conversation of a session is recorded, which may be empty, and reports whether
// that was there before the session.
func recordedUnder(ctx context.Context, w *jp.Workspace, of string, c *session.Conversation) (id transcript.ID, there bool, err error) {
	if id, err := jp.ParseID(SettingsOf(c.Context).Recorded); err == nil && c.Parent == "" {
		return id, true, nil
	}
	if isOutside(c) {
		return "", false, nil
	}
	id, err = w.Labelled(ctx, c.Opened, label, labelOf(of, c))
	return id, false, err
}

// find returns where a conversation is recorded. Of one that is not new it is looked up before anything more is said in
// it: what is removed from there meanwhile is not made again.
func (r *recorder) find(c *session.Conversation, isNew bool) *recorded {
	at := r.known[c.ID]
	if at == nil {
		at = &recorded{}
		r.known[c.ID] = at
		if !isNew || c.Parent == "" {
			at.as, at.there, _ = recordedUnder(context.Background(), r.workspace, r.session, c) // what is wrong is said where it is recorded
		}
	}
	return at
}

// finish records the rest of the histories. It is called before the session is closed. The error says that a conversation
// was removed; other problems have been reported to warn.
func (r *recorder) finish(s session.State) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = s
	var removed error
	for c := range s.Conversations() {
		var missing *store.NotFoundError
		if errors.As(r.record(c), &missing) {
			removed = fmt.Errorf("conversation %s was removed while it went on, so what was said is not recorded there: convtools session show %s prints it", r.known[c.ID].as, r.session)
		}
	}
	return removed
}

// recordedAs returns the id under which a conversation is recorded. If it is not recorded, recordedAs returns the id of its
// nearest recorded ancestor, or an empty id.
func (r *recorder) recordedAs(id string) transcript.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := r.state.Conversation(id); c != nil; c = r.state.Conversation(c.Parent) {
		if at := r.known[c.ID]; at != nil && at.as != "" {
			return at.as
		}
	}
	return ""
}

// record writes what of a conversation is not recorded yet.
func (r *recorder) record(c *session.Conversation) error {
	if isOutside(c) {
		return nil
	}
	at := r.find(c, false)
	err := r.write(at, c)
	var missing *store.NotFoundError // which finish returns
	if err == nil || r.warned || errors.As(err, &missing) {
		return err
	}
	r.warned = true
	said := err
	var locked *jp.LockedError
	if errors.As(err, &locked) {
		said = fmt.Errorf("%w; it is recorded when the session is used next", err)
	}
	r.warn(fmt.Sprintf("what is said cannot be recorded in %s: %v", r.workspace.Root(), said))
	return err
}

// rootOpened is the number of the event that has what was there before the session.
const rootOpened = 2

// write writes what follows the last event that is recorded, which is looked up in the conversation where it is not known.
func (r *recorder) write(at *recorded, c *session.Conversation) (err error) {
	ctx := context.Background() // what was said is recorded also where nobody waits any more
	after := at.seq
	if at.there {
		after = max(after, rootOpened)
	}
	events, last := r.events(at, c, after)
	if len(events) == 0 {
		return nil
	}
	defer func() {
		if at.seq = last; err != nil {
			at.seq = 0 // what has been written is not known
		}
	}()
	switch {
	case at.seq != 0:
		return r.writer.Append(ctx, at.as, events...)
	case at.there:
		_, err = r.writer.Edit(ctx, at.as, func(transcript.Conversation) jp.Change {
			return jp.Change{Labels: map[string]*string{label: &r.session}}
		})
	case at.as == "":
		at.as, err = r.workspace.Labelled(ctx, c.Opened, label, labelOf(r.session, c)) // a try before this one may have made it
		if err == nil && at.as == "" {
			at.as, err = r.writer.Create(ctx, r.new(c, events))
			return err
		}
	}
	if err != nil {
		return err
	}
	err = inWorkspace(ctx, r.workspace, at.as, func(found store.Conversation) error {
		recorded, err := lastMark(ctx, found, func(m mark) bool { return !at.there || m.Session == r.session })
		after = max(after, recorded)
		return err
	})
	if events, _ = r.events(at, c, after); err != nil || len(events) == 0 {
		return err
	}
	return r.writer.Append(ctx, at.as, events...)
}

// new returns what a conversation is made as.
func (r *recorder) new(c *session.Conversation, events []jp.NewEvent) jp.New {
	settings := SettingsOf(c.Context)
	title, value := TitleOf(c), labelOf(r.session, c)
	n := jp.New{Begun: c.Opened, Events: events, Model: r.model(settings.Model)}
	n.Change = jp.Change{Title: &title, Hidden: &settings.Hidden, Labels: map[string]*string{label: &value}}
	if parent := r.state.Conversation(c.Parent); parent != nil {
		if r.find(parent, false).as == "" { // a process before this one has recorded it, if any
			_ = r.record(parent) // as in observe
		}
		n.Parent = &r.known[parent.ID].as
	}
	return n
}

// mark is what is in the metadata of a recorded event: the event of the log, and the session where the conversation was
// there before it and may have events of another one.
type mark struct {
	Seq     int64  `json:"convtools_seq"`
	Session string `json:"convtools_session"`
}

// lastMark returns the last event of a log that one of a recorded conversation comes from, of those that count.
func lastMark(ctx context.Context, c store.Conversation, counts func(mark) bool) (last int64, err error) {
	_, err = c.Read(ctx, func(e *transcript.Event) bool {
		var m mark
		if json.Unmarshal(jsontext.Get(e.Object, "metadata"), &m) == nil && counts(m) {
			last = max(last, m.Seq)
		}
		return true
	})
	return last, err
}

// events returns what of a history comes after an event of the log, as JP has it, and the last event of the history.
func (r *recorder) events(at *recorded, c *session.Conversation, after int64) (all []jp.NewEvent, last int64) {
	var pending []session.Entry
	for entry := range c.Latest() {
		if last = max(last, entry.Seq); entry.Seq <= after {
			break
		}
		pending = append(pending, entry)
	}
	for _, entry := range slices.Backward(pending) {
		metadata := map[string]any{"convtools_seq": entry.Seq}
		if at.there {
			metadata["convtools_session"] = r.session
		}
		all = append(all, eventsOf(entry, metadata)...)
	}
	return all, last
}

// eventsOf returns what an item is in a conversation of JP. What only models read is left out.
func eventsOf(e session.Entry, metadata map[string]any) []jp.NewEvent {
	if e.Origin == session.FromHost {
		return nil
	}
	recorded := jp.NewEvent{At: e.At, Metadata: metadata, CallID: e.CallID}
	switch e.Kind {
	case session.UserMessage:
		recorded.Kind, recorded.Text = transcript.KindUser, said(e.Parts)
		return []jp.NewEvent{{At: e.At, Kind: transcript.KindTurnStart}, recorded}
	case session.AgentMessage:
		recorded.Kind, recorded.Text = transcript.KindAssistant, said(e.Parts)
	case session.ToolCall:
		recorded.Kind, recorded.Name, recorded.Arguments = transcript.KindToolCall, model.Flat(e.Name), json.RawMessage(e.Arguments) // a name that providers take
		var object map[string]json.RawMessage
		if json.Unmarshal(recorded.Arguments, &object) != nil || object == nil {
			recorded.Arguments, _ = json.Marshal(map[string]string{"arguments": e.Arguments}) // of texts, which have a form
		}
	case session.ToolOutput:
		recorded.Kind, recorded.Text, recorded.Failed = transcript.KindToolResult, e.Output, e.Failed
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

// TitleOf returns the title of a conversation, or the beginning of what was said first.
func TitleOf(c *session.Conversation) string {
	if c.Title != "" {
		return c.Title
	}
	for _, item := range c.Items() {
		if item.Kind == session.UserMessage && item.Origin != session.FromHost {
			return FirstLine(item.Parts)
		}
	}
	return ""
}

// FirstLine is the beginning of what was said.
func FirstLine(parts []session.Part) string {
	const most = 60
	line, _, _ := strings.Cut(strings.TrimSpace(said(parts)), "\n")
	return text.Cut(line, most)
}
