package sessionlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/convtools/convtools/runtime/session"
)

// timeFormat is RFC 3339 to the millisecond, in UTC.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// event is the JSON form of an event: what every one has, its type, and the fields of that type beside them.
type event struct {
	Seq          int64                `json:"seq"`
	At           string               `json:"ts"`
	Session      string               `json:"session_id"`
	Conversation string               `json:"conversation_id"`
	Task         session.TaskID       `json:"task_id"`
	LogicalTurn  session.TurnID       `json:"logical_turn_id,omitempty"`
	Frame        session.FrameID      `json:"frame_id,omitempty"`
	SubmissionID session.SubmissionID `json:"submission_id,omitempty"`
	Type         string               `json:"type"`

	item                 // user_message, agent_message, reasoning, tool_call, tool_output; text: agent_message_delta too
	Request     *request `json:"request,omitempty"` // tool_call
	LastMessage *string  `json:"last_assistant_message,omitempty"`

	Config     *session.Config       `json:"config,omitempty"`
	Parent     string                `json:"parent_id,omitempty"`
	Context    *session.Context      `json:"context,omitempty"`
	History    []said                `json:"history,omitempty"`
	Submission *session.Submission   `json:"submission,omitempty"`
	Continues  *session.Continuation `json:"continues,omitempty"`
	Budget     session.Budget        `json:"budget,omitzero"`
	Usage      *session.Usage        `json:"usage,omitempty"`
	Failure    *session.Failure      `json:"error,omitempty"`
	Reason     session.AbortReason   `json:"reason,omitempty"`
	Batch      *batch                `json:"batch,omitempty"`
	Result     *session.Result       `json:"result,omitempty"`
	Outputs    []item                `json:"outputs,omitempty"`
	Chain      bool                  `json:"chain,omitempty"`
	Expired    bool                  `json:"expired,omitempty"`
	Destroy    []string              `json:"destroy,omitempty"`
}

// item is a [session.Item]; of what an event holds, the kind is its type.
type item struct {
	Origin    session.Origin `json:"origin,omitempty"`
	From      string         `json:"from,omitempty"`
	Text      *string        `json:"text,omitempty"` // in place of parts where these are one text
	Parts     []session.Part `json:"parts,omitempty"`
	CallID    string         `json:"call_id,omitempty"`
	Name      string         `json:"name,omitempty"`
	Tool      session.Tool   `json:"tool,omitempty"`
	Arguments *string        `json:"arguments,omitempty"`
	Content   *string        `json:"content,omitempty"`
	Success   *bool          `json:"success,omitempty"`
	Raw       string         `json:"raw,omitempty"`
}

// said is an item with its kind.
type said struct {
	Kind session.Kind `json:"kind"`
	item
}

// request is a [session.Request], under the name of its kind.
type request struct {
	Create   *session.Create   `json:"create,omitempty"`
	Send     *session.Send     `json:"send,omitempty"`
	List     *session.List     `json:"list,omitempty"`
	History  *session.History  `json:"history,omitempty"`
	Destroy  *session.Destroy  `json:"destroy,omitempty"`
	Ordinary *session.Ordinary `json:"ordinary,omitempty"`
	Invalid  *session.Invalid  `json:"invalid,omitempty"`
}

type call struct {
	ID        string  `json:"id"`
	Name      string  `json:"name,omitempty"`
	Arguments string  `json:"arguments,omitempty"`
	Raw       string  `json:"raw,omitempty"`
	Request   request `json:"request"`
}

type batch struct {
	Caller string         `json:"caller"`
	Task   session.TaskID `json:"task_id"`
	Frames []frame        `json:"frames"`
}

type frame struct {
	ID     session.FrameID `json:"id"`
	Call   call            `json:"call"`
	Target string          `json:"target"`
	Input  []session.Part  `json:"input,omitempty"`
	Depth  int             `json:"depth"`
	Budget session.Budget  `json:"budget,omitzero"`
}

// MarshalEvent returns the JSON form of an event, on one line: that of the log. It is flat: seq, ts, session_id,
// conversation_id, task_id and type are in each, an empty text or 0 where they do not apply.
func MarshalEvent(e session.Event) ([]byte, error) {
	var b bytes.Buffer
	if err := encode(&b, formOf(e)); err != nil {
		return nil, fmt.Errorf("encoding event %d: %w", e.Seq, err)
	}
	return b.Bytes()[:b.Len()-1], nil
}

// encode writes v as JSON with recorded text as it is, and a line break.
func encode(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func formOf(e session.Event) event {
	f := event{
		Seq: e.Seq, At: e.At.UTC().Format(timeFormat), Session: e.Session, Conversation: e.Conversation, Task: e.Task,
		LogicalTurn: e.LogicalTurn, Frame: e.Frame, SubmissionID: e.Submission, Type: e.Body.Type(),
	}
	switch b := e.Body.(type) {
	case session.SessionStarted:
		f.Config = &b.Config
	case session.ConversationOpened:
		f.Parent, f.Context = b.Parent, &b.Context
		for _, i := range b.History {
			f.History = append(f.History, said{i.Kind, itemForm(i)})
		}
	case session.SubmissionQueued:
		f.Submission = &b.Submission
	case session.TaskStarted:
		f.Continues, f.Budget = b.Continues, b.Budget
	case session.AgentMessageDelta:
		f.Text = &b.Text
	case session.ItemRecorded:
		f.item = itemForm(b.Item)
		if b.Item.Kind == session.ToolCall {
			r := requestForm(b.Call.Request)
			f.Request = &r
		}
	case session.TokenCount:
		f.Usage = &b.Usage
	case session.TaskComplete:
		f.LastMessage = &b.LastAssistantMessage
	case session.TaskFailed:
		f.Failure = &b.Failure
	case session.TurnAborted:
		f.Reason = b.Reason
	case session.CallsDeferred:
		f.Batch = batchForm(b.Batch)
	case session.FrameResolved:
		f.Result = &b.Result
	case session.CallsClosed:
		for _, output := range b.Outputs {
			f.Outputs = append(f.Outputs, itemForm(output))
		}
	case session.StopRequested:
		f.Chain, f.Expired, f.Destroy = b.Chain, b.Expired, b.Destroy
	}
	return f
}

// event returns what a form stands for. The error names what is missing.
func (f *event) event() (session.Event, error) {
	at, err := time.Parse(time.RFC3339, f.At)
	if err != nil {
		return session.Event{}, err
	}
	e := session.Event{
		Seq: f.Seq, At: at.UTC(), Session: f.Session, Conversation: f.Conversation, Task: f.Task,
		LogicalTurn: f.LogicalTurn, Frame: f.Frame, Submission: f.SubmissionID,
	}
	e.Body, err = f.body()
	if err != nil {
		return session.Event{}, fmt.Errorf("event %d (%s): %w", f.Seq, f.Type, err)
	}
	return e, nil
}

func (f *event) body() (session.Body, error) {
	var missing fieldError
	body := f.bodyOf(&missing)
	if missing != "" {
		return nil, missing
	}
	return body, nil
}

// fieldError is the field that an event does not have.
type fieldError string

func (e fieldError) Error() string { return "it has no " + string(e) }

// required returns what a field holds, and notes the field where it is missing.
func required[T any](p *T, field fieldError, missing *fieldError) T {
	if p == nil {
		*missing = field
		return *new(T)
	}
	return *p
}

func (f *event) bodyOf(missing *fieldError) session.Body {
	switch f.Type {
	case session.SessionStarted{}.Type():
		return session.SessionStarted{ID: f.Session, Config: required(f.Config, "config", missing)}
	case session.ConversationOpened{}.Type():
		opened := session.ConversationOpened{Parent: f.Parent, Context: required(f.Context, "context", missing)}
		for _, i := range f.History {
			opened.History = append(opened.History, i.of(i.Kind))
		}
		return opened
	case session.ConversationDestroyed{}.Type():
		return session.ConversationDestroyed{}
	case session.SubmissionQueued{}.Type():
		return session.SubmissionQueued{Submission: required(f.Submission, "submission", missing)}
	case session.PlanDropped{}.Type():
		return session.PlanDropped{}
	case session.TaskStarted{}.Type():
		return session.TaskStarted{Continues: f.Continues, Budget: f.Budget}
	case session.AgentMessageDelta{}.Type():
		return session.AgentMessageDelta{Text: required(f.Text, "text", missing)}
	case string(session.UserMessage), string(session.AgentMessage), string(session.Reasoning), string(session.ToolOutput):
		return session.ItemRecorded{Item: f.of(session.Kind(f.Type))}
	case string(session.ToolCall):
		recorded := session.ItemRecorded{Item: f.of(session.ToolCall)}
		i := recorded.Item
		recorded.Call = session.Call{
			ID: i.CallID, Name: i.Name, Arguments: i.Arguments, Raw: i.Raw,
			Request: required(f.Request, "request", missing).request(missing),
		}
		return recorded
	case session.TokenCount{}.Type():
		return session.TokenCount{Usage: required(f.Usage, "usage", missing)}
	case session.TaskComplete{}.Type():
		return session.TaskComplete{LastAssistantMessage: required(f.LastMessage, "last_assistant_message", missing)}
	case session.TaskFailed{}.Type():
		return session.TaskFailed{Failure: required(f.Failure, "error", missing)}
	case session.TurnAborted{}.Type():
		return session.TurnAborted{Reason: f.Reason}
	case session.CallsDeferred{}.Type():
		return session.CallsDeferred{Batch: f.Batch.batch(missing)}
	case session.FrameResolved{}.Type():
		return session.FrameResolved{Result: required(f.Result, "result", missing)}
	case session.CallsClosed{}.Type():
		var closed session.CallsClosed
		for _, output := range f.Outputs {
			closed.Outputs = append(closed.Outputs, output.of(session.ToolOutput))
		}
		return closed
	case session.StopRequested{}.Type():
		return session.StopRequested{Chain: f.Chain, Expired: f.Expired, Destroy: f.Destroy}
	case session.Recovered{}.Type():
		return session.Recovered{}
	}
	*missing = "known type"
	return nil
}

func itemForm(i session.Item) item {
	f := item{Origin: i.Origin, From: i.From, CallID: i.CallID, Name: i.Name, Tool: i.Tool, Raw: i.Raw}
	if len(i.Parts) == 1 && i.Parts[0].ImageURL == "" {
		f.Text = &i.Parts[0].Text
	} else {
		f.Parts = i.Parts
	}
	switch i.Kind {
	case session.ToolCall:
		f.Arguments = &i.Arguments
	case session.ToolOutput:
		f.Content, f.Success = &i.Content, &i.Success
	}
	return f
}

func (f item) of(kind session.Kind) session.Item {
	i := session.Item{Kind: kind, Origin: f.Origin, From: f.From, Parts: f.Parts, CallID: f.CallID, Name: f.Name, Tool: f.Tool, Raw: f.Raw}
	if f.Text != nil {
		i.Parts = []session.Part{{Text: *f.Text}}
	}
	if f.Arguments != nil {
		i.Arguments = *f.Arguments
	}
	if f.Content != nil {
		i.Content = *f.Content
	}
	if f.Success != nil {
		i.Success = *f.Success
	}
	return i
}

func requestForm(r session.Request) request {
	switch r := r.(type) {
	case session.Create:
		return request{Create: &r}
	case session.Send:
		return request{Send: &r}
	case session.List:
		return request{List: &r}
	case session.History:
		return request{History: &r}
	case session.Destroy:
		return request{Destroy: &r}
	case session.Ordinary:
		return request{Ordinary: &r}
	case session.Invalid:
		return request{Invalid: &r}
	}
	return request{}
}

func (f request) request(missing *fieldError) session.Request {
	switch {
	case f.Create != nil:
		return *f.Create
	case f.Send != nil:
		return *f.Send
	case f.List != nil:
		return *f.List
	case f.History != nil:
		return *f.History
	case f.Destroy != nil:
		return *f.Destroy
	case f.Ordinary != nil:
		return *f.Ordinary
	case f.Invalid != nil:
		return *f.Invalid
	}
	*missing = "kind of request"
	return nil
}

func batchForm(b session.Batch) *batch {
	f := &batch{Caller: b.Caller, Task: b.Task}
	for _, fr := range b.Frames {
		f.Frames = append(f.Frames, frame{
			ID:     fr.ID,
			Call:   call{ID: fr.Call.ID, Name: fr.Call.Name, Arguments: fr.Call.Arguments, Raw: fr.Call.Raw, Request: requestForm(fr.Call.Request)},
			Target: fr.Target, Input: fr.Input, Depth: fr.Depth, Budget: fr.Budget,
		})
	}
	return f
}

func (f *batch) batch(missing *fieldError) session.Batch {
	if f == nil {
		*missing = "batch"
		return session.Batch{}
	}
	b := session.Batch{Caller: f.Caller, Task: f.Task}
	for _, fr := range f.Frames {
		c := fr.Call
		b.Frames = append(b.Frames, session.Frame{
			ID:     fr.ID,
			Call:   session.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Raw: c.Raw, Request: c.Request.request(missing)},
			Target: fr.Target, Input: fr.Input, Depth: fr.Depth, Budget: fr.Budget,
		})
	}
	return b
}
