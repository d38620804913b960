package command

import (
	"encoding/json"
	"fmt"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/session"
)

// nameOf returns the name of a conversation for people: root, or #N for the Nth of the session.
func nameOf(s session.State, id string) string {
	n := 0
	for c := range s.Conversations() {
		if n++; c.ID == id && n > 1 {
			return fmt.Sprintf("#%d", n)
		}
	}
	return "root"
}

// progressOf returns what people are told of an event, as a line without its end. It is empty for most events.
func progressOf(e session.Event, s session.State) string {
	c := s.Conversation(e.Conversation)
	if c == nil {
		return ""
	}
	name, about := nameOf(s, c.ID), ""
	if c.Parent != "" {
		if c.Title != "" {
			name += " (" + c.Title + ")"
		}
		about = name + " "
	}
	line := ""
	switch e.Kind {
	case session.UserMessage:
		if e.Origin == session.FromConv {
			line = "asking " + name + ": " + e.Text()
		}
	case session.AgentMessage:
		line = name + ": " + e.Text()
	case session.ToolCall:
		if e.Name != session.ConvCreate && e.Name != session.ConvSend { // "asking" follows
			line = about + "calling " + e.Name
		}
	case session.ToolOutput:
		if e.Failed {
			line = about + e.Name + " failed: " + reasonIn(e.Output)
		}
	case session.TaskStarted:
		if e.Continues != nil {
			line = about + "going on"
		}
	case session.TaskComplete:
		line = about + "done"
	case session.TaskFailed:
		line = about + "failed: " + e.Failure.Message
	case session.TurnAborted:
		if e.Reason == session.Interrupted {
			line = about + "interrupted"
		}
	case session.CallsClosed:
		line = about + "stopped: the conversation it waited for was interrupted"
	case session.ConversationDestroyed:
		line = about + "destroyed"
	case session.Recovered:
		line = about + "going on where the last process ended"
	}
	const most = 160 // characters
	return text.Cut(text.Line(line), most)
}

// reasonIn returns the reason in the output of a call that was refused, or else the output.
func reasonIn(output string) string {
	var refused struct {
		Reason string `json:"reason"`
	}
	if json.Unmarshal([]byte(output), &refused) == nil && refused.Reason != "" {
		return refused.Reason
	}
	return output
}
