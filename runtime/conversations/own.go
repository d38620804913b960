package conversations

import "github.com/convtools/convtools/runtime/transcript"

const (
	// maxOwnName is how many characters of the name of a tool are looked at.
	maxOwnName = 200
	// maxCallID is how many characters of a call's id are looked at.
	maxCallID = 200
	// maxOpenCalls bounds how many calls a conversation may have of which the result
	// has not come: those of an assistant that works are few.
	maxOpenCalls = 10_000
)

// ownCalls finds the results of own calls in one conversation.
type ownCalls struct {
	ids  map[string]bool // of calls: whether the last one with this id is own
	next []bool          // of the calls without an id since the last request: whether they are own
	buf  []byte
}

// searched reports whether an event is searched, and whether it is left out then as
// one of an own tool. It must see all events of a conversation in order. Own may be
// nil.
func (c *ownCalls) searched(e *transcript.Event, scopes transcript.Scopes, own func(tool string) bool, ownToo bool) (search, leftOut bool) {
	isOwn := own != nil && c.isOwn(e, own)
	if isOwn && ownToo {
		return true, false
	}
	return scopes&e.Kind.Scope() != 0, isOwn
}

// isOwn reports whether an event is a call of an own tool, or the result of one: the
// result has the id of its call, and where calls have none, results come in their
// order.
func (c *ownCalls) isOwn(e *transcript.Event, own func(tool string) bool) bool {
	switch e.Kind {
	case transcript.KindTurnStart, transcript.KindUser:
		c.next = c.next[:0] // calls that were given up have no result
	case transcript.KindToolCall:
		c.buf = e.AppendName(c.buf[:0], maxOwnName)
		isOwn := own(string(c.buf))
		c.open(e, isOwn)
		return isOwn
	case transcript.KindToolResult:
		c.buf = e.AppendCallID(c.buf[:0], maxCallID)
		if len(c.buf) > 0 {
			return c.ids[string(c.buf)]
		}
		if len(c.next) > 0 {
			isOwn := c.next[0]
			c.next = c.next[1:]
			return isOwn
		}
	}
	return false
}

// open notes a call.
func (c *ownCalls) open(e *transcript.Event, isOwn bool) {
	c.buf = e.AppendCallID(c.buf[:0], maxCallID)
	switch {
	case len(c.buf) == 0:
		if len(c.next) < maxOpenCalls {
			c.next = append(c.next, isOwn)
		}
	case !isOwn:
		delete(c.ids, string(c.buf)) // of an own call, where ids are used again
	default:
		if c.ids == nil || len(c.ids) >= maxOpenCalls {
			c.ids = map[string]bool{}
		}
		c.ids[string(c.buf)] = true
	}
}
