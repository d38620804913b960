package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

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

// nameOf returns what a conversation of a session is called.
func nameOf(s session.State, id string) string {
	n := 0
	for c := range s.Conversations() {
		if n++; c.ID == id && n > 1 {
			return fmt.Sprintf("#%d", n)
		}
	}
	return "root"
}

// event writes what an event is to a person, if anything.
func (p *progress) event(e session.Event, s session.State) {
	if e.Conversation == "" {
		return
	}
	name := nameOf(s, e.Conversation)
	switch e.Kind {
	case session.UserMessage:
		if e.Origin == session.FromConv {
			p.line(name, "is asked by "+nameOf(s, e.From)+": "+e.Text())
		}
	case session.AgentMessage:
		if e.Conversation != p.streamed {
			p.line(name, "says: "+e.Text())
		}
	case session.ToolCall:
		p.line(name, "calls "+e.Name)
	case session.ToolOutput:
		if e.Failed {
			p.line(name, e.Name+" fails: "+reasonIn(e.Output))
		}
	case session.TaskStarted:
		if e.Continues != nil {
			p.line(name, "goes on")
		}
	case session.CallsDeferred:
		var targets []string
		for _, f := range e.Batch.Frames {
			targets = append(targets, nameOf(s, f.Target))
		}
		p.line(name, fmt.Sprintf("is replaced by %s: %s now, then %s goes on", e.Batch.Frames[0].Call.Name, runs(targets), name))
	case session.TaskComplete:
		p.line(name, "is done")
	case session.TaskFailed:
		p.line(name, "has failed: "+e.Failure.Message)
	case session.TurnAborted:
		if e.Reason == session.Interrupted {
			p.line(name, "is interrupted")
		}
	case session.CallsClosed:
		p.line(name, "does not go on: what it waited for is interrupted")
	case session.ConversationDestroyed:
		p.line(name, "is destroyed")
	case session.Recovered:
		p.line(name, "goes on where the last process ended")
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

// runs says of conversations that they run, one after the other.
func runs(names []string) string {
	if len(names) == 1 {
		return names[0] + " runs"
	}
	return strings.Join(names[:len(names)-1], ", ") + " and then " + names[len(names)-1] + " run"
}

// line writes a line. There is nowhere to report an error to.
func (p *progress) line(name, what string) {
	if p.before != nil {
		p.before()
	}
	const most = 160
	fmt.Fprintf(p.out, "%-5s %s\n", name, text.Cut(text.Line(what), most))
}
