package conv

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

// An outside program has a session of its own, and takes the place of the model of its root: each call is a submission
// to the root, which the "model" answers with that call, and then, once the call has its output, with nothing. So the
// call is a frame like any other, with its limits, its budget and its place in the log.

// outsideCall is a call of an outside program, as the submission has it.
type outsideCall struct {
	// ID is the id of the call. It is that of the conversation to create, too.
	ID        string          `json:"call_id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

func (c outsideCall) String() string {
	data, _ := json.Marshal(c) // of strings and valid JSON, which always have a form
	return string(data)
}

// parseOutsideCall returns the call that a message to the root holds, and false where it holds none.
func parseOutsideCall(parts []session.Part) (outsideCall, bool) {
	var c outsideCall
	if len(parts) != 1 {
		return c, false
	}
	err := json.Unmarshal([]byte(parts[0].Text), &c)
	return c, err == nil && c.ID != ""
}

// target returns the conversation that a call of conv.create or conv.send asks.
func (c outsideCall) target() string {
	if c.Tool == string(session.ConvCreate) {
		return c.ID
	}
	var send struct {
		ConversationID string `json:"conversation_id"`
	}
	_ = json.Unmarshal(c.Arguments, &send) // they have been validated
	return strings.ToLower(send.ConversationID)
}

// outside is the model of the root: the outside program.
type outside struct{}

// Sample answers a submission with its call, and the output of that with nothing.
func (outside) Sample(_ context.Context, r model.Request, _ func(string)) (model.Response, error) {
	if len(r.Items) == 0 || r.Items[len(r.Items)-1].Kind != model.UserMessage {
		return model.Response{}, nil
	}
	var parts []session.Part
	for _, p := range r.Items[len(r.Items)-1].Parts {
		parts = append(parts, session.Part{Text: p.Text, ImageURL: p.ImageURL})
	}
	c, ok := parseOutsideCall(parts)
	if !ok {
		return model.Response{}, nil
	}
	return model.Response{Items: []model.Item{{
		Kind: model.ToolCall, CallID: c.ID, Name: c.Tool, Wire: c.Tool, Arguments: string(c.Arguments),
	}}}, nil
}

// outsideTools is the tools of a session of an outside program. What a call of the root asks for was prepared when the
// program called; after a crash it is prepared again.
type outsideTools struct {
	*Tools

	mu       sync.Mutex
	prepared map[string]session.Request // by the id of the call
}

// Prepare implements engine.Tools.
func (t *outsideTools) Prepare(ctx context.Context, c *session.Conversation, call model.Item) session.Request {
	if c.Parent != "" {
		return t.Tools.Prepare(ctx, c, call)
	}
	t.mu.Lock()
	request, ok := t.prepared[call.CallID]
	delete(t.prepared, call.CallID)
	t.mu.Unlock()
	if !ok {
		request = t.Tools.Prepare(ctx, c, call)
	}
	if create, ok := request.(session.Create); ok {
		create.ConversationID = call.CallID
		request = create
	}
	return request
}

func (t *outsideTools) keep(id string, request session.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prepared[id] = request
}

// progress is how far a call of an outside program is.
type progress int

const (
	unknownCall progress = iota
	runningCall
	doneCall
	endedCall // without an output: it was interrupted before it was made
)

// outcome is what a session has of a call of an outside program.
type outcome struct {
	progress progress
	target   string
	content  string
	success  bool
}

// outcomeOf looks for a call, the last first.
func outcomeOf(s session.State, id string) outcome {
	root := s.Root()
	items := root.Items()
	open := false // whether the logical turn of the last submission that has started goes on
	if _, running := s.Running(); running == root.ID {
		open = true
	}
	for _, b := range s.Stack() {
		open = open || b.Caller == root.ID
	}
	for i := len(items) - 1; i >= 0; i-- {
		switch item := items[i]; item.Kind {
		case session.ToolOutput:
			if item.CallID == id {
				return outcome{progress: doneCall, content: item.Content, success: item.Success}
			}
		case session.UserMessage:
			c, ok := parseOutsideCall(item.Parts)
			switch {
			case ok && c.ID == id && open:
				return outcome{progress: runningCall, target: c.target()}
			case ok && c.ID == id:
				return outcome{progress: endedCall, target: c.target()}
			}
			open = false
		}
	}
	for _, q := range s.Queue() {
		if c, ok := parseOutsideCall(q.Input); ok && c.ID == id {
			return outcome{progress: runningCall, target: c.target()}
		}
	}
	return outcome{}
}
