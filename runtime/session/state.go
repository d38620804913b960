package session

import (
	"iter"
	"slices"
	"time"
)

// State is all that a session is at one moment. It is a value: a step returns another one, and both stay valid.
// The zero State is that of a session before its [Start].
type State struct {
	id     string
	config Config
	seq    int64
	at     time.Time
	usage  Usage

	tasks       TaskID
	turns       TurnID
	frames      FrameID
	submissions SubmissionID

	conversations []*Conversation // in the order of creation, tombstones too; never changed, only replaced
	stack         []Batch         // the top is last
	queue         []Submission    // the next is first
	task          *Task           // the one that runs
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
	Destroyed  bool      // a tombstone: not listed, not addressable, its history kept
	Messages   int       // how many entries conv.history has for it
	Usage      Usage     // of its own samples and calls, without those of others

	turn    *LogicalTurn // open from its first task to its last one's end
	history *node        // the last item
}

// Context is what a conversation is created with. A new one has that of its caller at the time of the call, with what
// the call overrides.
type Context struct {
	Title    string  `json:"title,omitempty"`
	Base     *string `json:"base,omitempty"`     // base instructions; nil means the provider's default, empty means none
	Settings string  `json:"settings,omitempty"` // what the host keeps with a conversation, as model and working directory; inherited unread
	Capabilities
}

// Entry is an item of a history, and the event that has recorded it.
type Entry struct {
	Item
	Seq int64
	At  time.Time
}

// node is one entry of a history. Histories are linked from the end to the beginning, so that states share what they
// have in common and none sees what another one appends.
type node struct {
	Entry
	prev *node
}

// LogicalTurn is the answer to one input in the making.
type LogicalTurn struct {
	ID         TurnID
	Submission SubmissionID // the input from outside that it comes from, at first or at last hand
	Frame      FrameID      // the call that it answers; 0 where it answers a submission
	Samples    int          // requests to the model
	Interrupts int          // calls that have replaced a task of its own
	Usage      Usage        // with that of all logical turns that its calls started
	Budget     Budget       // what Usage may reach
	Message    string       // the last assistant message of this logical turn, and of no earlier one
	Outside    bool         // it answers a call of a program outside: no model is asked
}

// Task is the run that goes on.
type Task struct {
	ID           TaskID
	Conversation string

	sampling bool   // waits for the model; otherwise for the tool of the first ordinary call in open
	open     []Item // calls without an output yet, in the order of the response
	stop     *stop  // ends as soon as nothing of it runs any more
}

// stop is why a task is to end early.
type stop struct {
	Stop
	tool string // the call whose tool ran when the task was stopped
}

// Batch is the frames of one response.
type Batch struct {
	Caller string  `json:"caller"`
	Task   TaskID  `json:"task_id"` // the one that was replaced
	Frames []Frame `json:"frames"`
}

// Frame is one call of conv.create or conv.send that has replaced the task of its caller.
type Frame struct {
	ID      FrameID `json:"id"`
	Call    Item    `json:"call"` // its id, its tool and what it asks for
	Target  string  `json:"target"`
	Depth   int     `json:"depth"` // 1 is a call from a logical turn that a submission started
	Started bool    `json:"started,omitempty"`
	Result  *Result `json:"result,omitempty"` // nil until the logical turn of the target has ended
}

// Submission is input from outside that waits for its turn: something said to a conversation, or a call of conv.create or
// conv.send that a program outside makes in the place of a conversation's model.
type Submission struct {
	ID           SubmissionID `json:"id"`
	Conversation string       `json:"conversation_id"`
	Context      []Part       `json:"context,omitempty"` // what the host adds for the model; not a message of the conversation
	Input        []Part       `json:"input,omitempty"`
	Budget       Budget       `json:"budget,omitzero"`
	Call         *Item        `json:"call,omitempty"`
}

// ID returns the id of the session; empty means that it has not been started.
func (s State) ID() string { return s.id }

// Idle reports whether nothing runs and nothing waits.
func (s State) Idle() bool { return s.task == nil }

// Usage returns what all samples and calls of the session have used.
func (s State) Usage() Usage { return s.usage }

// Running returns the task that runs and the conversation that it belongs to.
func (s State) Running() (task TaskID, conversation string) {
	if s.task == nil {
		return 0, ""
	}
	return s.task.ID, s.task.Conversation
}

// Deadline returns when the task that runs is to end at the latest, and the zero time where nothing runs or it may take as
// long as it likes. The host reports [Expire] then.
func (s State) Deadline() time.Time {
	if s.task == nil {
		return time.Time{}
	}
	return s.Conversation(s.task.Conversation).turn.Budget.Deadline
}

// Queue returns the submissions that wait, the next one first.
func (s State) Queue() []Submission { return slices.Clone(s.queue) }

// Conversation returns the conversation with an id, destroyed or not, and nil where there is none. It belongs to the
// state and must not be changed.
func (s State) Conversation(id string) *Conversation {
	if i := slices.IndexFunc(s.conversations, func(c *Conversation) bool { return c.ID == id }); i >= 0 {
		return s.conversations[i]
	}
	return nil
}

// Conversations returns all conversations in the order of their creation, destroyed ones too.
func (s State) Conversations() iter.Seq[*Conversation] { return slices.Values(s.conversations) }

// Root returns the first conversation of the session, and nil before its start.
func (s State) Root() *Conversation {
	if len(s.conversations) == 0 {
		return nil
	}
	return s.conversations[0]
}

// Latest returns the history of a conversation, the newest entry first.
func (c *Conversation) Latest() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for n := c.history; n != nil && yield(n.Entry); n = n.prev {
		}
	}
}

// Items returns the history of a conversation, the oldest item first: what the model is sampled with.
func (c *Conversation) Items() []Item {
	var items []Item
	for entry := range c.Latest() {
		items = append(items, entry.Item)
	}
	slices.Reverse(items)
	return items
}

// suspended reports whether a conversation waits for the answer to a call of its own.
func (s State) suspended(id string) bool {
	return slices.ContainsFunc(s.stack, func(b Batch) bool { return b.Caller == id })
}

// awaited returns the first frame of a batch without a result, and nil where there is none: the one whose target runs, or
// has to.
func (b Batch) awaited() *Frame {
	i := slices.IndexFunc(b.Frames, func(f Frame) bool { return f.Result == nil })
	if i < 0 {
		return nil
	}
	return &b.Frames[i]
}

// live returns how many conversations are not destroyed.
func (s State) live() int {
	n := 0
	for _, c := range s.conversations {
		if !c.Destroyed {
			n++
		}
	}
	return n
}

// Room returns how many more conversations the session may have, beside those that wait to be created. Destroyed ones do
// not count.
func (s State) Room() int {
	room := s.config.MaxConversations - s.live()
	for _, q := range s.queue {
		if q.Call != nil && q.Call.Request.Create != nil {
			room--
		}
	}
	return room
}

// Doing returns whether a conversation is running, suspended while it waits for an answer, queued, or idle.
func (s State) Doing(id string) string {
	switch {
	case s.task != nil && s.task.Conversation == id:
		return "running"
	case s.suspended(id):
		return "suspended"
	case slices.ContainsFunc(s.queue, func(q Submission) bool {
		return q.Conversation == id || q.Call != nil && q.Call.Target() == id
	}):
		return "queued"
	}
	for _, b := range s.stack {
		if slices.ContainsFunc(b.Frames, func(f Frame) bool { return f.Target == id && f.Result == nil }) {
			return "queued"
		}
	}
	return "idle"
}

// Idling returns the conversations, without the root, that are idle, the one that has been so longest first.
func (s State) Idling() []*Conversation {
	idling := slices.DeleteFunc(slices.Clone(s.conversations), func(c *Conversation) bool {
		return c.Destroyed || c.Parent == "" || s.Doing(c.ID) != "idle"
	})
	slices.SortStableFunc(idling, func(a, b *Conversation) int { return a.LastActive.Compare(b.LastActive) })
	return idling
}

// tool returns the call whose tool runs.
func (t *Task) tool() (Item, bool) {
	if t.sampling {
		return Item{}, false
	}
	i := slices.IndexFunc(t.open, Item.ordinary)
	if i < 0 {
		return Item{}, false
	}
	return t.open[i], true
}

// clone returns a state that can be changed by events while s stays as it is. Conversations are shared: edit replaces
// the ones that change.
func (s State) clone() State {
	s.conversations = slices.Clone(s.conversations)
	s.stack = cloneStack(s.stack)
	s.queue = slices.Clone(s.queue)
	if s.task != nil {
		t := *s.task
		t.open = slices.Clone(t.open)
		s.task = &t
	}
	return s
}

func cloneStack(stack []Batch) []Batch {
	stack = slices.Clone(stack)
	for i := range stack {
		stack[i].Frames = slices.Clone(stack[i].Frames)
	}
	return stack
}

// edit returns a copy of a conversation that is in the place of the one before.
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
