package external

import (
	"strings"

	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/conv"
)

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

// outcomeOf looks for a call: in the queue, and in the history of the root, the last first.
func outcomeOf(s session.State, id string) outcome {
	for _, q := range s.Queue() {
		if c, ok := callOf(q.Input, id); ok {
			return outcome{progress: runningCall, target: c.Target()}
		}
	}
	root := s.Root()
	_, running := s.Running()
	open := running == root.ID // whether the logical turn of the last submission that has started goes on
	for _, b := range s.Stack() {
		open = open || b.Caller == root.ID
	}
	items := root.Items()
	for i := len(items) - 1; i >= 0; i-- {
		switch item := items[i]; item.Kind {
		case session.ToolOutput:
			if item.CallID == id && !open {
				return outcome{progress: doneCall, content: item.Content, success: item.Success}
			}
		case session.UserMessage:
			c, ok := callOf(item.Parts, id)
			switch {
			case ok && open:
				return outcome{progress: runningCall, target: c.Target()}
			case ok:
				return outcome{progress: endedCall, target: c.Target()}
			}
			open = false
		}
	}
	return outcome{}
}

// callOf returns the call with an id that an input for the root stands for, and false where it is another one.
func callOf(parts []session.Part, id string) (conv.OutsideCall, bool) {
	if len(parts) != 1 || !strings.Contains(parts[0].Text, id) { // before reading what may be long, and is read often
		return conv.OutsideCall{}, false
	}
	c, ok := conv.ParseOutsideCall(parts)
	return c, ok && c.ID == id
}
