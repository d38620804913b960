// Package conversations is the only way to recorded conversations, whoever
// recorded them and wherever they are kept. Queries and answers are typed, and
// never worded for a person or a model. What is recorded chooses no file and no
// program. What is left out of an answer, or cannot be read, is part of it.
package conversations

import (
	"context"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// Source answers questions about recorded conversations. It is safe for
// concurrent use, and stops when a context is done.
type Source interface {
	List(ctx context.Context, q ListQuery) (Listing, error)
	Search(ctx context.Context, q SearchQuery) (*Results, error)
	Read(ctx context.Context, q ReadQuery) (Reading, error)
}

// Filter says which conversations a query is about.
type Filter struct {
	// IDs, where there are any, are the conversations: live or archived, hidden or
	// not. One that does not exist is a [*NotFoundError].
	IDs []string
	// Exclude are conversations that are left out.
	Exclude []string
	// KinOf are conversations of which the kin is left out: their sub-agents, what they
	// are a sub-agent or a fork of, and their forks. They do not count with IDs.
	KinOf []string
	// Archived stands for the archived conversations instead of the live ones.
	Archived bool
	// Both stands for live and archived ones, whatever Archived says.
	Both bool
	// Hidden stands for the hidden ones too.
	Hidden bool
	// Sources, where there are any, are the kinds of stores to look in, of [Sources]. Where
	// there are none, these are all but archives, which belong to no project.
	Sources []string
	// Labels are labels that a conversation must all have.
	Labels []Label
}

// Label is a label of a conversation. A nil value stands for any.
type Label struct {
	Key   string
	Value *string
}

// Sort is what conversations are ordered by. Where values are equal, the one that
// was created first stands first; missing values stand last in either direction.
type Sort uint8

// The orders.
const (
	ByActivity   Sort = iota // last event
	ByCreation               // when it began
	ByActivation             // when it was last activated
	ByUpdate                 // the newest of last event and activation
	ByID
	ByExpiry
	BySize     // number of events
	ByLocality // which of a workspace's stores has it
)

// ListQuery asks which conversations there are.
type ListQuery struct {
	Filter
	TitleContains string // in any case; empty matches every title
	UserOnly      bool   // only those that no project's own store has
	Sort          Sort
	Ascending     bool // oldest, or smallest, first
	Limit         int  // most to return; 0 stands for all
	Offset        int  // how many to leave out first
	// NoEvents leaves out what only the events tell, so that they are not read, unless
	// the order or Sizes depends on them.
	NoEvents bool
	// Sizes counts turns, requests and characters too, of the conversations that are
	// returned. Where there are indexes these are brought up to date for it: what is decoded
	// to be counted is decoded once.
	Sizes bool
}

// Listing is the answer to a [ListQuery].
type Listing struct {
	Conversations []Listed
	Total         int // on all pages
	Aside         Aside
}

// Listed is a conversation in a [Listing].
type Listed struct {
	transcript.Conversation
	Events      int
	LastEventAt time.Time // zero where there is no event, or the last one has no time
	// Size is nil unless [ListQuery.Sizes] asked for it, and where it is not known.
	Size *Size
	// Damage is why the events could not be counted; nil where they were.
	Damage *Problem
}

// Size is how much is recorded in a conversation.
type Size struct {
	Turns    int
	Requests int // events of the user
	Numbered int // events that have a number
	Chars    int // characters of the texts of numbered events, as they are read
}

// Aside is what a query did not look at, or not to the end.
type Aside struct {
	Excluded []transcript.ID // left out because the query says so
	Hidden   int             // left out because they are hidden
	Problems []Problem
}

// EventRange selects numbered events, from First to Last inclusive. A Last of 0
// stands for the last there is, and so does one behind it.
type EventRange struct{ First, Last int }

// Has reports whether the range has a number; 0 is none.
func (e EventRange) Has(n int) bool {
	return 0 < e.First && e.First <= n && (e.Last == 0 || n <= e.Last)
}

// ReadQuery asks for what was recorded in one conversation.
type ReadQuery struct {
	// ID is the conversation, in any spelling; empty stands for the live one that
	// was activated last, and where there is none the error is a [*NotFoundError] without ids.
	ID string
	// Turns returns the first and the last turn that are asked for, of so many; none where the last
	// is before the first. One that does not exist is a [*RangeError]. Nil stands for all.
	Turns func(of int) (first, last int)
	// Events, where it is not zero, selects numbered events in place of Turns. Where
	// the first is none of the conversation, the error is a [*RangeError].
	Events EventRange
	// Kinds reports whether events of a kind are handed over; nil stands for all.
	Kinds func(transcript.Kind) bool
	// Opened is handed the reading before the first event. Nil is handed nothing.
	Opened func(*Reading) error
	// Event is handed the events in order. Nil is handed none.
	Event func(*Event) error
}

// Reading is the answer to a [ReadQuery], beside the events. It describes the
// conversation also where the error is a [*RangeError].
type Reading struct {
	transcript.Conversation
	Turns     int // of the whole conversation
	FirstTurn int // the turns that were asked for, or those of the numbered events that were; 0 where there are none
	LastTurn  int
	Events    int // numbered events of the whole conversation
	Requests  int // events of the user in the whole conversation
	// Damage is where the record ends early; nil where it does not.
	Damage *Problem
	Aside  Aside
}

// Event is an event that is read. It is valid until [ReadQuery.Event] returns.
type Event struct {
	Index   int // from 0; -1 where not known
	Number  int // from 1 among the numbered events of the conversation; 0 for others
	Request int // how many requests of the user there were up to here, this one included
	Turn    int // from 1
	Kind    transcript.Kind
	Time    time.Time // zero where not known
	Name    string    // of a called tool
	CallID  string    // joins a tool call with its result; as recorded, not checked
	IsError bool      // of a tool result
	// Text is what was said, asked, answered or returned, in UTF-8; of a tool call its
	// arguments.
	Text     []byte
	Encoding transcript.Encoding
	JSON     bool // Text is JSON, indented by two spaces
	// Recorded is the event as its store has it.
	Recorded *transcript.Event
}
