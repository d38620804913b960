package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// recorder writes the conversations of a session into a JP workspace. A recorded conversation has a label with its ids
// in the session, and each event has metadata with the number of its event in the log. So the next process can record
// what a crash prevented, and nothing is recorded twice. A failure to record never ends the session.
type recorder struct {
	session   string
	workspace *jp.Workspace
	writer    *jp.Writer
	model     func(name string) jp.Model
	warn      func(string)

	mu    sync.Mutex
	state session.State            // after the last event
	ids   map[string]transcript.ID // of records, by the ids in the session; "" if there is no record yet
}

func newRecorder(id string, w *jp.Workspace, p *Project) *recorder {
	const lockWait = 5 * time.Second // JP keeps the lock of a conversation while it works there
	return &recorder{
		session: id, workspace: w, writer: w.Writer(jp.WriterOptions{Now: p.host.Now, Wait: lockWait}),
		model: p.jpModel, warn: p.host.WarnOnce, ids: map[string]transcript.ID{},
	}
}

// observe keeps s, the state after an event's step, and records the event's conversation at the end of a task or batch.
func (r *recorder) observe(e session.Event, s session.State) {
	c := s.Conversation(e.Conversation)
	if c == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = s
	if _, known := r.ids[c.ID]; !known { // find the record now: if a person removes it later, it is not made again
		_, _ = r.recordedIDOf(c) // after an error, record tries again
	}
	switch e.Kind {
	case session.TaskComplete, session.TaskFailed, session.TurnAborted, session.CallsClosed:
		_ = r.record(c) // record warns of an error, and finish tries again
	}
}

// finish records the rest of all conversations. The error says that a record was removed. Other errors are warnings.
func (r *recorder) finish(s session.State) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = s
	var removed error
	for c := range s.Conversations() {
		if _, isMissing := errors.AsType[*store.NotFoundError](r.record(c)); isMissing {
			removed = fmt.Errorf("conversation %s was removed while the session was open, so the rest is not recorded: convtools session show %s prints it", r.ids[c.ID], r.session)
		}
	}
	return removed
}

// recordedAs returns the id under which a conversation, or its nearest ancestor with a record, is recorded, or "".
func (r *recorder) recordedAs(id string) transcript.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := r.state.Conversation(id); c != nil; c = r.state.Conversation(c.Parent) {
		if r.ids[c.ID] != "" {
			return r.ids[c.ID]
		}
	}
	return ""
}

// recordedIDOf returns the id under which a conversation is recorded, or "". It keeps the id in r.ids.
func (r *recorder) recordedIDOf(c *session.Conversation) (id transcript.ID, err error) {
	if r.ids[c.ID] == "" {
		r.ids[c.ID], err = recordedID(context.Background(), r.workspace, r.session, c)
	}
	return r.ids[c.ID], err
}

// labelOf returns the [jp.LabelSession] of a conversation: the id of the session for the root, and SESSION/ID for any other.
func labelOf(session string, c *session.Conversation) string {
	if c.Parent == "" {
		return session
	}
	return session + "/" + c.ID
}

// byLabel returns the conversation that the label of a recorded one names, and whether it has a label.
func byLabel(c transcript.Conversation) (Conversation, bool) {
	session, id, below := strings.Cut(c.Labels[jp.LabelSession], "/")
	if !below {
		id = session // a root has the id of its session
	}
	return Conversation{Session: session, ID: id}, session != ""
}

// continuedID returns the id of the record that the session continues, if c is the root of such a session.
func continuedID(c *session.Conversation) (id transcript.ID, ok bool) {
	id, err := jp.ParseID(SettingsOf(c.Context).Recorded)
	return id, err == nil && c.Parent == ""
}

// recordedID returns the id under which a conversation is recorded in a workspace, or "". The root of a session that
// continues a record has the id of that record. Any other root of a program outside has "": the program records it.
func recordedID(ctx context.Context, w *jp.Workspace, session string, c *session.Conversation) (transcript.ID, error) {
	if id, continues := continuedID(c); continues || isOutside(c) { // id is "" unless continues is true
		return id, nil
	}
	return w.Labelled(ctx, c.Opened, jp.LabelSession, labelOf(session, c))
}

// record records the rest of a conversation. It warns of an error, unless the error is that the record was removed.
func (r *recorder) record(c *session.Conversation) error {
	if isOutside(c) {
		return nil
	}
	err := r.recordRest(context.Background(), c) // even if nobody waits any more
	if _, isMissing := errors.AsType[*store.NotFoundError](err); err == nil || isMissing {
		return err
	}
	r.warn(fmt.Sprintf("the session cannot be recorded in %s until it is used next: %v", r.workspace.Root(), err))
	return err
}

// recordRest records the entries of a conversation that come after the last recorded event. It creates the record if there
// is none. A session may continue a record of another session: before the first entry, the record gets the session's label.
func (r *recorder) recordRest(ctx context.Context, c *session.Conversation) error {
	after := int64(0)    // the number, in the log, of the last recorded event
	const rootOpened = 2 // the number of the event that opens the root: always the second event of a log
	_, continues := continuedID(c)
	if continues {
		after = rootOpened // the record has the history in this event already
	}
	id, err := r.recordedIDOf(c)
	if err == nil && id != "" {
		err = inWorkspace(ctx, r.workspace, id, func(found store.Conversation) error {
			isOfSession := func(m mark) bool { return !continues || m.Session == r.session } // a continued record has marks of other sessions, too
			last, err := lastMark(ctx, found, isOfSession)
			after = max(after, last)
			return err
		})
	}
	events := r.events(c, after)
	switch {
	case err != nil || len(events) == 0:
		return err
	case id == "": // there is no record yet
		r.ids[c.ID], err = r.writer.Create(ctx, r.newRecord(c, events))
		return err
	case continues && after == rootOpened: // the record has no mark of this session, so nothing of the session was recorded yet
		_, err = r.writer.Edit(ctx, id, func(transcript.Conversation) jp.Change {
			return jp.Change{Labels: map[string]*string{jp.LabelSession: &r.session}}
		})
		if err != nil {
			return err
		}
	}
	return r.writer.Append(ctx, id, events...)
}

// newRecord returns the new record of a conversation with its first events. It records the parent if that has no record.
func (r *recorder) newRecord(c *session.Conversation, events []jp.NewEvent) jp.New {
	settings := SettingsOf(c.Context)
	title, value := TitleOf(c), labelOf(r.session, c)
	change := jp.Change{Title: &title, Hidden: &settings.Hidden, Labels: map[string]*string{jp.LabelSession: &value}}
	if parent := r.state.Conversation(c.Parent); parent != nil {
		if r.ids[parent.ID] == "" {
			_ = r.record(parent) // finish returns the error
		}
		id := r.ids[parent.ID]
		change.Parent = &id
	}
	return jp.New{Begun: c.Opened, Events: events, Model: r.model(settings.Model), Change: change}
}

// jpModel returns a configured model as JP's configuration has it. A model that JP cannot run has only a name.
func (p *Project) jpModel(name string) jp.Model {
	chosen, err := configured.Choose(p.Config, name)
	if err != nil || !chosen.HTTP() { // the model cannot be used any more, or is a command or a script
		return jp.Model{Name: cmp.Or(chosen.Name, name)} // after an error, chosen may be empty
	}
	table := chosen.Value
	u, _ := url.Parse(table.BaseURL) // Choose has checked it
	providers := map[string]string{
		"api.openai.com": "openai", "api.anthropic.com": "anthropic", "openrouter.ai": "openrouter",
		"api.cerebras.ai": "cerebras", "api.deepseek.com": "deepseek", "generativelanguage.googleapis.com": "google",
	}
	m := jp.Model{Name: table.Model, KeyEnv: table.KeyEnv, Provider: providers[u.Hostname()]}
	if m.Provider != "" {
		return m
	}
	m.BaseURL = strings.TrimSuffix(strings.TrimRight(table.BaseURL, "/"), "/v1") // JP adds /v1
	switch {
	case table.API == "messages":
		m.Provider = "anthropic"
	case table.API == "responses" || table.BaseURL == "":
		m.Provider = "openai"
	case u.Port() == "11434": // the default of Ollama
		m.Provider, m.KeyEnv = "ollama", ""
	default: // JP's provider llamacpp sends requests to any server that has the API Chat Completions
		m.Provider, m.KeyEnv = "llamacpp", ""
	}
	return m
}

// mark is metadata of a recorded event. Session is set only in a record that a session continues.
type mark struct {
	Seq     int64  `json:"convtools_seq"` // of the event in the log
	Session string `json:"convtools_session,omitempty"`
}

// lastMark returns the highest Seq of the marks in a recorded conversation, or 0. A mark counts if counts returns true.
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

// events returns the events that record the entries of a conversation whose Seq is greater than after, oldest first.
func (r *recorder) events(c *session.Conversation, after int64) (all []jp.NewEvent) {
	_, continues := continuedID(c)
	for _, entry := range slices.Backward(slices.Collect(c.Latest())) {
		metadata := map[string]any{"convtools_seq": entry.Seq}
		if continues { // the record also has events of other sessions, which have numbers of their own
			metadata["convtools_session"] = r.session
		}
		if entry.Seq > after {
			all = append(all, eventsOf(entry, metadata)...)
		}
	}
	return all
}

// eventsOf returns the events that record an entry of a history. An entry for the model alone has none.
func eventsOf(e session.Entry, metadata map[string]any) []jp.NewEvent {
	if e.Origin == session.FromHost {
		return nil
	}
	recorded := jp.NewEvent{At: e.At, Metadata: metadata, CallID: e.CallID}
	switch e.Kind {
	case session.UserMessage:
		recorded.Kind, recorded.Text = transcript.KindUser, textOfParts(e.Parts)
		return []jp.NewEvent{{At: e.At, Kind: transcript.KindTurnStart}, recorded}
	case session.AgentMessage:
		recorded.Kind, recorded.Text = transcript.KindAssistant, textOfParts(e.Parts)
	case session.ToolCall:
		recorded.Kind, recorded.Name, recorded.Arguments = transcript.KindToolCall, model.Flat(e.Name), json.RawMessage(e.Arguments)
		var object map[string]json.RawMessage
		if json.Unmarshal(recorded.Arguments, &object) != nil || object == nil { // JP takes only an object
			recorded.Arguments, _ = json.Marshal(map[string]string{"arguments": e.Arguments}) // cannot fail
		}
	case session.ToolOutput:
		recorded.Kind, recorded.Text, recorded.Failed = transcript.KindToolResult, e.Output, e.Failed
	default:
		return nil
	}
	return []jp.NewEvent{recorded}
}

// textOfParts returns the text of a message. An image is its address or its type and size in brackets.
func textOfParts(parts []session.Part) string {
	var texts []string
	for _, p := range parts {
		data, inline := strings.CutPrefix(p.ImageURL, "data:")
		kind, _, _ := strings.Cut(data, ";")
		switch {
		case p.ImageURL == "":
			texts = append(texts, p.Text)
		case inline:
			texts = append(texts, fmt.Sprintf("[%s of %d bytes]", kind, len(p.ImageURL)))
		default:
			texts = append(texts, "["+p.ImageURL+"]")
		}
	}
	return strings.Join(texts, "\n")
}

// TitleOf returns the title of a conversation, or else the beginning of the first message of a user, or "".
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

// FirstLine returns the first line of a message, or its beginning if it is long.
func FirstLine(parts []session.Part) string {
	const most = 60 // characters
	line, _, _ := strings.Cut(strings.TrimSpace(textOfParts(parts)), "\n")
	return text.Cut(line, most)
}
