// Package conversations is the only way to recorded conversations, whichever program recorded them and wherever they
// are. Queries and answers are typed, and have no text for a person or a model. Recorded text never chooses a file or
// a program. An answer lists the conversations that it leaves out and the ones that cannot be read.
package conversations

import (
	"context"
	"iter"
	"time"

	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Source answers queries about recorded conversations. It is safe for concurrent use. A query stops with its context.
type Source interface {
	List(ctx context.Context, q ListQuery) (Listing, error)
	Search(ctx context.Context, q SearchQuery) (*Results, error)
	Read(ctx context.Context, q ReadQuery) (Reading, iter.Seq[*Event], error)
}

// Filter selects the conversations of a query.
type Filter struct {
	// IDs, if any, are the conversations: live or archived, hidden or not. A missing one is a [*NotFoundError].
	IDs     []string
	Exclude []string // conversations that are left out
	// Kin leaves out the ancestors, sub-agents and forks of the first of Exclude too. It has no effect with IDs.
	Kin      bool
	Archived bool // selects archived conversations instead of live ones
	Both     bool // selects live and archived ones, with any value of Archived
	Hidden   bool // selects hidden ones too
	// Sources, if any, are kinds of stores, of [Sources]. The default is all kinds but archives, which have no project.
	Sources []string
	Labels  []Label // labels that a conversation must have, all of them
	// File, if not empty, selects conversations with a call that changes the file, as far as the indexes have the calls.
	// File is an absolute path, a path from the root of the project, or the end of one.
	File string
}

// Label is a label of a conversation. A nil value matches any.
type Label struct {
	Key   string
	Value *string
}

// Sort is the key by which conversations are sorted. Of equal ones the first created comes first. Conversations without
// the key come last in both directions.
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
	ByLocality // the store of a workspace that has it
)

// ListQuery lists conversations.
type ListQuery struct {
	Filter
	TitleContains string // in any case; empty matches every title
	UserOnly      bool   // only those in the user's own store of a workspace
	Sort          Sort
	Ascending     bool // oldest, or smallest, first
	Limit         int  // 0 for all
	Offset        int  // the number of conversations to skip
	NoEvents      bool // leaves out values for which events have to be read, unless Sort or Sizes needs them
	// Sizes adds the numbers of turns, requests and characters of the returned conversations. It updates the indexes
	// first, so that events are decoded once.
	Sizes bool
}

// Listing is the result of a [ListQuery].
type Listing struct {
	Conversations []Listed
	Total         int // on all pages
	Omitted
}

// Listed is a conversation in a [Listing].
type Listed struct {
	transcript.Conversation
	Events      int
	LastEventAt time.Time // zero if there is no event or the last one has no time
	Size        *Size     // nil without [ListQuery.Sizes], and if it is not known
	Damage      *Problem  // the reason if the events could not be counted
}

// Size is the size of a conversation.
type Size struct {
	Turns    int
	Requests int // events of the user
	Numbered int // events that have a number
	Chars    int // characters of the texts of numbered events
}

// Omitted describes the conversations that a query left out or could not read.
type Omitted struct {
	Excluded []transcript.ID // left out by the query
	Hidden   int             // left out because they are hidden
	Problems []Problem
}

// EventRange selects numbered events from First to Last, both included. A Last of 0 or too high is the last event.
type EventRange struct{ First, Last int }

// Has reports whether the range has a number. The zero range has none.
func (e EventRange) Has(n int) bool {
	return 0 < e.First && e.First <= n && (e.Last == 0 || n <= e.Last)
}

// ReadQuery reads one conversation.
type ReadQuery struct {
	// ID is the conversation, in any spelling. Empty is the live one that was activated last; if there is none the
	// error is a [*NotFoundError] without ids.
	ID string
	// Turns returns the first and the last turn to read, given the number of turns; none if the last is before the
	// first. A turn that does not exist is a [*RangeError]. Nil selects all turns.
	Turns func(of int) (first, last int)
	// Events, if not zero, selects numbered events in place of Turns. If the first does not exist, the error is a
	// [*RangeError].
	Events EventRange
	// Kinds reports whether events of a kind are wanted; nil selects all kinds.
	Kinds func(transcript.Kind) bool
}

// Reading is the result of a [ReadQuery] without the events. It describes the conversation also if the error is a
// [*RangeError].
type Reading struct {
	transcript.Conversation
	Turns     int // of the whole conversation
	FirstTurn int // the selected turns, or those of the selected events; 0 if there are none
	LastTurn  int
	Events    int       // numbered events of the whole conversation
	Damage    *Problem  // set if the record ends early
	Problems  []Problem // the other problems of looking for the conversation and of reading it
}

// Event is an event of a conversation.
type Event struct {
	transcript.Event
	Number  int // from 1 among the numbered events of the conversation; 0 for others
	Request int // the number of requests of the user up to this event, included
}

// Body returns the text of the event for reading: of a tool call its arguments as indented JSON.
func (e *Event) Body() []byte { return eventtext.Body(&e.Event) }
