package session

import (
	"iter"
	"slices"
	"strings"
	"time"
)

// State is a session between two steps. It is a value: a step returns another one. The zero State is before [Start].
type State struct {
	id     string
	config Config
	seq    int64
	at     time.Time // of the last event

	tasks       TaskID // how many there have been
	turns       TurnID
	frames      FrameID
	submissions SubmissionID

	conversations []*Conversation // in the order of creation, with tombstones; never changed, only replaced
	stack         []batch         // the top is last
	queue         []Submission    // the next one is first
	task          *task           // nil if nothing runs
}

// Ids count from 1 within a session; 0 is none.
type (
	TaskID       int
	TurnID       int
	FrameID      int
	SubmissionID int
)

// Conversation is one context with a history of its own.
type Conversation struct {
	ID     string // a UUID in lower case
	Parent string // the conversation that created it; empty for the root
	Context

	Opened     time.Time
	LastActive time.Time // of the last item or completed task
	Destroyed  bool      // a tombstone: it cannot be addressed, and keeps its history
	Messages   int       // the number of entries that conv.history has
	Usage      Usage     // of its own samples and calls

	turn    *turn // nil if no logical turn is open
	history *node // the last item
}

// Context is what a conversation is created with. A new one has its caller's, with what the call overrides.
type Context struct {
	Title    string  `json:"title,omitempty"`
	Base     *string `json:"base,omitempty"`     // base instructions; nil is the provider's default, empty is none
	Settings string  `json:"settings,omitempty"` // data of the host, such as the model; inherited unread
	Capabilities
}

// Entry is an item of a history, and the event that recorded it.
type Entry struct {
	Item
	Seq int64
	At  time.Time
}

// node is an entry of a history, linked to the one before: states share the beginning of a history.
type node struct {
	Entry
	prev *node
}

// turn is an open logical turn.
type turn struct {
	id         TurnID
	submission SubmissionID // that it comes from, directly or through calls
	frame      FrameID      // the call that it answers; 0 for a submission
	outside    bool         // the submission is a call: no model is asked
	samples    int          // its own requests to the model
	interrupts int          // its own calls that replaced a task
	message    string       // its last assistant message
	usage      Usage        // with that of the logical turns that its calls started
	budget     Budget       // of usage
}

// task is the one that runs. It waits for the tool of the first ordinary call in open, or for the model if there is none.
type task struct {
	id           TaskID
	conversation string
	open         []Item // calls without an output, in the order of the response
	stop         *Stop  // not nil: the task ends as soon as nothing of it runs any more
}

// batch is the frames of one response.
type batch struct {
	caller string
	task   TaskID // that they replaced
	frames []frame
}

// frame is one call of conv.create or conv.send that replaced the task of its caller.
type frame struct {
	id     FrameID
	call   Item
	result *Result // nil until the logical turn of the target has ended
}

// Submission is input from outside that waits: a message, or a call of conv.create or conv.send.
type Submission struct {
	ID           SubmissionID `json:"id"`
	Conversation string       `json:"conversation_id"`
	Context      []Part       `json:"context,omitempty"` // for the model only: not a message of the conversation
	Input        []Part       `json:"input,omitempty"`
	Budget       Budget       `json:"budget,omitzero"`
	Call         *Item        `json:"call,omitempty"`
}

// Idle reports whether nothing runs. Then nothing waits either: a step starts what can run.
func (s State) Idle() bool { return s.task == nil }

// Queue returns the submissions that wait, the next one first.
func (s State) Queue() []Submission { return slices.Clone(s.queue) }

// Conversation returns the conversation with an id, destroyed or not, or nil. It must not be changed.
func (s State) Conversation(id string) *Conversation {
	if i := slices.IndexFunc(s.conversations, func(c *Conversation) bool { return c.ID == id }); i >= 0 {
		return s.conversations[i]
	}
	return nil
}

// Conversations returns all conversations in the order of their creation, destroyed ones too.
func (s State) Conversations() iter.Seq[*Conversation] { return slices.Values(s.conversations) }

// Root returns the first conversation, and nil before Start.
func (s State) Root() *Conversation {
	if len(s.conversations) == 0 {
		return nil
	}
	return s.conversations[0]
}

// Latest returns the history of a conversation, newest entry first.
func (c *Conversation) Latest() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for n := c.history; n != nil && yield(n.Entry); n = n.prev {
		}
	}
}

// Items returns the history of a conversation, oldest item first: what the model is asked with.
func (c *Conversation) Items() []Item {
	var items []Item
	for entry := range c.Latest() {
		items = append(items, entry.Item)
	}
	slices.Reverse(items)
	return items
}

// suspended reports whether a conversation is the caller of a batch: it waits for the answer to a call of its own.
func (s State) suspended(id string) bool {
	return slices.ContainsFunc(s.stack, func(b batch) bool { return b.caller == id })
}

// awaited returns the first frame of the top batch that has no result, or nil. Its target runs or starts next.
func (s *State) awaited() *frame {
	if len(s.stack) > 0 {
		frames := s.top().frames
		if i := slices.IndexFunc(frames, func(f frame) bool { return f.result == nil }); i >= 0 {
			return &frames[i]
		}
	}
	return nil
}

// top returns the batch at the top of the stack.
func (s *State) top() batch { return s.stack[len(s.stack)-1] }

// liveCount returns how many conversations are not destroyed.
func (s State) liveCount() int {
	n := 0
	for _, c := range s.conversations {
		if !c.Destroyed {
			n++
		}
	}
	return n
}

// Doing returns what a conversation does: "running"; "suspended" if it waits for the answer to its own call; "queued"
// if a submission or call in the queue, or a call without a result on the stack, is for it; and otherwise "idle".
func (s State) Doing(id string) string {
	switch {
	case s.task != nil && s.task.conversation == id:
		return "running"
	case s.suspended(id):
		return "suspended"
	}
	for _, q := range s.queue {
		if q.Conversation == id || q.Call != nil && q.Call.Target() == id {
			return "queued"
		}
	}
	for _, b := range s.stack {
		if slices.ContainsFunc(b.frames, func(f frame) bool { return f.result == nil && f.call.Target() == id }) {
			return "queued"
		}
	}
	return "idle"
}

// Replaceable returns the conversation to destroy before a new one can be created in a full session. It is the one that
// has been idle longest, except for the root. It is nil if the session is not full or no other conversation is idle.
func (s State) Replaceable() (oldest *Conversation) {
	count := s.liveCount() // count also gets the conversations that queued calls are going to create
	for _, q := range s.queue {
		if q.Call != nil && q.Call.Request.Create != nil {
			count++
		}
	}
	if count < s.config.MaxConversations {
		return nil
	}
	for _, c := range s.conversations {
		idle := !c.Destroyed && c.Parent != "" && s.Doing(c.ID) == "idle"
		if idle && (oldest == nil || c.LastActive.Before(oldest.LastActive)) {
			oldest = c
		}
	}
	return oldest
}

// addressed returns the conversation with an id, in lower or upper case, or a refusal if there is none or it is destroyed.
func (s State) addressed(id string) (*Conversation, *Refusal) {
	id = strings.ToLower(id)
	code := CodeNotFound
	switch c := s.Conversation(id); {
	case c != nil && !c.Destroyed:
		return c, nil
	case c != nil:
		code = CodeDestroyed
	case !validID(id):
		code = CodeInvalidID
	}
	return nil, &Refusal{Code: code, Reason: "conversation not found"}
}

// validID reports whether an id is a UUID in lower case.
func validID(id string) bool {
	digits := strings.ReplaceAll(id, "-", "")
	return len(id) == 36 && len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == ""
}

// refusalOfTarget returns why a caller cannot send to a conversation or destroy it, and nil if it can.
func (s State) refusalOfTarget(caller, id string) *Refusal {
	switch {
	case id == caller:
		return &Refusal{Code: CodeSelf, Reason: "this is the calling conversation itself"}
	case s.suspended(id):
		return &Refusal{Code: CodeSuspended, Reason: "the conversation waits for the answer to a call of its own, which has led to this one"}
	}
	return nil
}

// ordinaryCall returns the open call whose tool runs, and nil if the task waits for the model.
func (t *task) ordinaryCall() *Item {
	if i := slices.IndexFunc(t.open, Item.ordinary); i >= 0 {
		return &t.open[i]
	}
	return nil
}

// clone returns a copy that events can change. Conversations stay shared: State.edit copies each before it is changed.
func (s State) clone() State {
	s.conversations = slices.Clone(s.conversations)
	s.queue = slices.Clone(s.queue)
	s.stack = slices.Clone(s.stack)
	for i := range s.stack {
		s.stack[i].frames = slices.Clone(s.stack[i].frames)
	}
	if s.task != nil {
		t := *s.task
		t.open = slices.Clone(t.open)
		s.task = &t
	}
	return s
}

// edit replaces a conversation in s by a copy, which it returns to be changed. It returns nil if no conversation has the id.
func (s *State) edit(id string) *Conversation {
	before := s.Conversation(id)
	if before == nil {
		return nil
	}
	c := *before
	if c.turn != nil {
		turn := *c.turn
		c.turn = &turn
	}
	s.conversations[slices.Index(s.conversations, before)] = &c
	return &c
}
