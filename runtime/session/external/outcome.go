package external

import (
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
			if item.CallID == id && !open {
				return outcome{progress: doneCall, content: item.Content, success: item.Success}
			}
		case session.UserMessage:
			c, ok := conv.ParseOutsideCall(item.Parts)
			switch {
			case ok && c.ID == id && open:
				return outcome{progress: runningCall, target: c.Target()}
			case ok && c.ID == id:
				return outcome{progress: endedCall, target: c.Target()}
			}
			open = false
		}
	}
	for _, q := range s.Queue() {
		if c, ok := conv.ParseOutsideCall(q.Input); ok && c.ID == id {
			return outcome{progress: runningCall, target: c.Target()}
		}
	}
	return outcome{}
}
