package command

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/session"
)

// progress writes what happens in a session for people, a line each. Conversations have numbers in the order in which
// they were begun, and the first one is the root.
type progress struct {
	out io.Writer
	// streamed is the conversation whose messages are shown elsewhere; empty for none.
	streamed string
	// before is called before a line. It may be nil.
	before func()
}

// rootName is what the first conversation of a session is called.
const rootName = "root"

// nameOf returns what a conversation of a session is called.
func nameOf(s session.State, id string) string {
	n := 0
	for c := range s.Conversations() {
		if n++; c.ID == id && n > 1 {
			return fmt.Sprintf("#%d", n)
		}
	}
	return rootName
}

// titled returns what a conversation is called, with its title.
func titled(s session.State, id string) string {
	name := nameOf(s, id)
	if c := s.Conversation(id); name != rootName && c.Title != "" {
		name += " (" + c.Title + ")"
	}
	return name
}

// event writes what an event is to a person, if anything.
func (p *progress) event(e session.Event, s session.State) {
	if e.Conversation == "" {
		return
	}
	name := titled(s, e.Conversation)
	about := name + " "
	if name == rootName {
		about = ""
	}
	switch e.Kind {
	case session.UserMessage:
		if e.Origin == session.FromConv {
			p.line("asking " + name + ": " + e.Text())
		}
	case session.AgentMessage:
		if e.Conversation != p.streamed {
			p.line(name + ": " + e.Text())
		}
	case session.ToolCall:
		if e.Name != "conv.create" && e.Name != "conv.send" { // of which it is said who is asked
			p.line(about + "calling " + e.Name)
		}
	case session.ToolOutput:
		if e.Failed {
			p.line(about + e.Name + " failed: " + reasonIn(e.Output))
		}
	case session.TaskStarted:
		if e.Continues != nil {
			p.line(about + "going on")
		}
	case session.TaskComplete:
		if e.Conversation != p.streamed {
			p.line(about + "done")
		}
	case session.TaskFailed:
		p.line(about + "failed: " + e.Failure.Message)
	case session.TurnAborted:
		if e.Reason == session.Interrupted {
			p.line(about + "interrupted")
		}
	case session.CallsClosed:
		p.line(about + "stopped: the conversation it waited for was interrupted")
	case session.ConversationDestroyed:
		p.line(about + "destroyed")
	case session.Recovered:
		p.line(about + "going on where the last process ended")
	}
}

// reasonIn returns the reason that the content of a refusal has, or the content where it is none.
func reasonIn(content string) string {
	var refused struct {
		Reason string `json:"reason"`
	}
	if json.Unmarshal([]byte(content), &refused) == nil && refused.Reason != "" {
		return refused.Reason
	}
	return content
}

// line writes a line. There is nowhere to report an error to.
func (p *progress) line(what string) {
	if p.before != nil {
		p.before()
	}
	const most = 160
	fmt.Fprintln(p.out, text.Cut(text.Line(what), most))
}
