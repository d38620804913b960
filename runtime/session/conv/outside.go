package conv

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

// OutsideCall is a call of conv.create or conv.send by a program outside of the session. The program has the place of the
// model of the root: the call is a submission to the root, which [Outside] answers with that very call, and then, once
// the call has its output, with nothing. So it is a frame like any other, with its limits and its place in the log.
type OutsideCall struct {
	// ID is the id of the call. It is that of the conversation to create, too.
	ID        string          `json:"call_id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// Submission returns the input for the root that stands for the call.
func (c OutsideCall) Submission() []session.Part {
	data, _ := json.Marshal(c) // of strings and valid JSON, which always have a form
	return []session.Part{{Text: string(data)}}
}

// ParseOutsideCall returns the call that an input for the root stands for, and false where it stands for none.
func ParseOutsideCall(parts []session.Part) (OutsideCall, bool) {
	var c OutsideCall
	if len(parts) != 1 {
		return c, false
	}
	err := json.Unmarshal([]byte(parts[0].Text), &c)
	return c, err == nil && c.ID != ""
}

// Target returns the conversation that the call asks.
func (c OutsideCall) Target() string {
	if c.Tool == string(session.ConvCreate) {
		return c.ID
	}
	var send struct {
		ConversationID string `json:"conversation_id"`
	}
	_ = json.Unmarshal(c.Arguments, &send) // they have been validated
	return strings.ToLower(send.ConversationID)
}

// isOutside reports whether a program outside has the place of a conversation's model.
func isOutside(c *session.Conversation) bool {
	settings, err := ParseSettings(c.Settings)
	return err == nil && settings.Outside && c.Parent == ""
}

// Outside returns the model of a conversation whose place a program outside has, and false for others.
func Outside(c *session.Conversation) (model.Model, bool) { return outside{}, isOutside(c) }

type outside struct{}

// Sample answers a submission with its call, and the output of that with nothing.
func (outside) Sample(_ context.Context, r model.Request, _ func(string)) (model.Response, error) {
	if len(r.Items) == 0 || r.Items[len(r.Items)-1].Kind != model.UserMessage {
		return model.Response{}, nil
	}
	var parts []session.Part
	for _, p := range r.Items[len(r.Items)-1].Parts {
		parts = append(parts, session.Part(p))
	}
	c, ok := ParseOutsideCall(parts)
	if !ok {
		return model.Response{}, nil
	}
	return model.Response{Items: []model.Item{{
		Kind: model.ToolCall, CallID: c.ID, Name: c.Tool, Wire: c.Tool, Arguments: string(c.Arguments),
	}}}, nil
}
