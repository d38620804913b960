// Package conversations is the only way to recorded conversations, whoever
// recorded them and wherever they are kept. Queries and answers are typed: no
// flag, no argument list, no JSON and no sentence crosses this seam.
//
// It never words anything for a person or a model, and never lets what is
// recorded choose a file or a program. What is left out of an answer, or cannot
// be read, is part of the answer.
package conversations

import (
	"context"
	"iter"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// Source answers questions about recorded conversations. It is safe for
// concurrent use, and stops when a context is done.
type Source interface {
	List(ctx context.Context, q ListQuery) (Listing, error)
	Search(ctx context.Context, q SearchQuery) (Matches, error)
	SearchEvents(ctx context.Context, q EventQuery) (EventMatches, error)
	Messages(ctx context.Context, q MessageQuery) (MessageMatches, error)
	Read(ctx context.Context, q ReadQuery) (Reading, error)
	Rank(ctx context.Context, q RankQuery) (Ranking, error)
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
	// returned. Their texts are decoded for it.
	Sizes bool
	// MaxRead is how many bytes may be read to count what is in a conversation, unless the
	// order depends on it; 0 stands for no bound. Where more would be read, as far as its
	// store can tell, what is not kept of it stays uncounted.
	MaxRead int64
}

// Listing is the answer to a [ListQuery].
type Listing struct {
	Conversations []Listed
	// Total is how many there are on all pages. It is negative where that is not
	// known, and Seen then is how many there are at least.
	Total int
	Seen  int
	Aside Aside
}

// Listed is a conversation in a [Listing].
type Listed struct {
	transcript.Conversation
	Events      int       // negative where they were left uncounted
	LastEventAt time.Time // zero where there is no event, or the last one has no time
	// Size is nil unless [ListQuery.Sizes] asked for it, and where it is not known.
	Size *Size
	// Uncounted reports whether something was left uncounted because of
	// [ListQuery.MaxRead].
	Uncounted bool
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

// SearchQuery asks which lines of conversations hold a text.
type SearchQuery struct {
	Filter
	Pattern    string // one line; not empty
	Regexp     bool   // the pattern is a regular expression in RE2 syntax
	IgnoreCase bool
	Scopes     transcript.Scopes // 0 stands for all, and with OwnToo for none
	// ByEvent searches tool calls as an [EventQuery] does, and counts the characters of
	// events.
	ByEvent bool
	// Own and OwnToo are as in an [EventQuery].
	Own       func(tool string) bool
	OwnToo    bool
	Context   int // lines to hand over before and after a match
	Sort      Sort
	Ascending bool
	// Bounds on what is handed over; 0 stands for no bound.
	MaxConversations int  // with matches
	MaxMatches       int  // of all conversations together
	MaxMatchesOfEach int  // of one conversation
	MaxLine          int  // characters of a line; a longer one is cut to a window around its first match
	CountAll         bool // matches beyond the bounds are counted, in Matches.Total and of each conversation
	// Found is handed each conversation with a match, before its lines. Its counts of
	// all matches and turns are complete with CountAll, and else go as far as the
	// search did. Nil hands over none.
	Found func(*Match) error
	// Line is handed matching lines, and context, in order. A line is valid until
	// Line returns. Nil hands over none.
	Line func(*Line) error
}

// Matches is the answer to a [SearchQuery], beside what was handed over.
type Matches struct {
	// Total counts matching lines, as far as they were counted; Returned those
	// handed over.
	Total, Returned int
	Own             int // matching lines in calls and results of Own that were left out, as far as they were counted
	// Searched counts conversations that were searched, Matched those with a
	// match. Searched is negative where that is not known.
	Searched, Matched int
	// Conversations are those that were handed over.
	Conversations []Match
	Aside         Aside
}

// Match is a conversation with matches.
type Match struct {
	transcript.Conversation
	Matches int // matching lines
	Shown   int // those that are handed over
	Turns   int
}

// Line is a matching line, or a line of context.
type Line struct {
	Conversation *transcript.Conversation
	Scope        transcript.Scopes // exactly one
	Turn         int               // from 1; 0 for a title
	Event        int               // index in the conversation; -1 for a title, or where not known
	EventNumber  int               // as [Event.Number]; 0 for a title, or where not known
	EventChars   int               // as [EventMatch.Chars], with ByEvent
	Number       int               // in the text of the event, from 1; 0 where not known
	Time         time.Time         // zero where not known
	Text         []byte
	IsMatch      bool
	Chars        int // length of the whole line in characters where Text is a window of it, else 0
	// Spans are the matches in Text that are not empty, from left to right; nil where
	// they are not known. There may be millions in a line.
	Spans iter.Seq[Span]
}

// Span is a range of bytes.
type Span struct{ Start, End int }

// EventQuery asks which events of conversations hold a text. Conversations are
// those of the newest event first. Events of tool calls are searched as they were
// meant: what is escaped in a string of their arguments is unescaped, so that a
// line break in it ends a line.
type EventQuery struct {
	Filter
	Pattern string // one line; not empty; taken literally
	// Words, at most [MaxWords], stand in place of Pattern where there are any: an event
	// matches that holds each of them, wherever it stands in it. None is empty or has a
	// line break.
	Words []string
	// Any, with Words, is for events that hold any of them: their matching lines are found
	// and counted as those of a pattern are.
	Any        bool
	IgnoreCase bool
	Scopes     transcript.Scopes // 0 stands for none
	// Own reports whether a tool, by its recorded name, is one of those whose calls
	// and results are searched, whatever Scopes has, with OwnToo, and else are
	// only counted, as far as Scopes has them. Nil stands for no tool. It is called
	// from several goroutines at a time.
	Own    func(tool string) bool
	OwnToo bool
	// Number, where it is not 0, is the only event to search. Titles are left out then.
	// Where Filter.IDs names one conversation and it has no such event, the error is an
	// [*EventRangeError].
	Number int
	// Wanted reports whether the lines of an event are wanted; 0 is the title. Nil
	// stands for all. Events that match are handed over in any case. It is called from
	// several goroutines at a time, and may be called twice for an event.
	Wanted  func(id transcript.ID, number int) bool
	Context int // lines to hand over before and after a matching line
	// MaxLines is how many matching lines of one event are handed over, the first ones;
	// with Words but not Any, and without Number, those in which the words stand closest together.
	// 0 stands for all.
	MaxLines int
	// MaxLine is how many characters of a line are handed over; of a longer one, windows
	// around its matches, marked where they are cut. 0 stands for all.
	MaxLine int
	// MaxWindows is how many windows a line has, around its first matches. 0 stands for
	// as many as have room.
	MaxWindows int
	// Event is handed each event that matches, by conversation and number. It is valid
	// until Event returns.
	Event func(*EventMatch) error
}

// Apart reports whether an event has to hold several words, wherever they stand in it.
func (q *EventQuery) Apart() bool { return len(q.Words) > 0 && !q.Any }

// EventMatches is the answer to an [EventQuery], beside what was handed over.
type EventMatches struct {
	Total    int // matching lines; with Words that may stand apart, events that match
	Own      int // matching lines in calls and results of Own that were left out; or events, as Total
	Searched int // conversations; negative where that is not known
	// Conversations are those with a match, in order.
	Conversations []MatchedConversation
	// Words are, for each of the words of the query, how many of the searched events
	// hold it. Together names the conversations, newest first, that hold all words that
	// may stand apart, although in different events; it is bounded, and empty where an
	// event matches.
	Words    []int
	Together []transcript.ID
	Aside    Aside
}

// MatchedConversation is a conversation in which events match.
type MatchedConversation struct {
	transcript.Conversation
	Matches int // as Total
	Turns   int
}

// EventMatch is an event that matches, or a title.
type EventMatch struct {
	Conversation *transcript.Conversation
	Number       int               // as [Event.Number]; 0 for a title, or where not known
	Turn         int               // from 1; 0 for a title
	Scope        transcript.Scopes // exactly one
	Time         time.Time         // zero where not known
	Chars        int               // of its text, as it is read; 0 where not known, or the lines are not wanted
	Matches      int               // its matching lines; with Words, its lines that hold one of them
	Lines        []EventLine       // matching lines and their context, in order; nil where they are not wanted
	// Spread, with Words that may stand apart, is how many characters the shortest part of the text has
	// that holds all words; 0 where not known.
	Spread int
}

// EventLine is a line of an [EventMatch].
type EventLine struct {
	Number  int // in the text that was searched, from 1; 0 where not known
	IsMatch bool
	Text    string
	Chars   int // length of the whole line in characters where Text is windows of it, else 0
	// Sum is a hash of the whole line, which is equal for lines that differ only in white
	// space.
	Sum uint64
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
	// was activated last.
	ID    string
	Turns Turns
	// Events, where it is not zero, selects numbered events in place of Turns. Where
	// the first is none of the conversation, the error is an [*EventRangeError].
	Events EventRange
	// Kinds reports whether events of a kind are handed over; nil stands for all.
	Kinds func(transcript.Kind) bool
	// MaxText is how many characters of a text are handed over: of a longer one
	// its beginning and its end. In JSON this goes for each string, and there the cut
	// is marked. Of a name or an id it is the beginning. 0 stands for all.
	MaxText int
	// MaxJSON is the same for JSON as a whole. A source may take MaxText for it.
	MaxJSON int
	// Part, from 1, hands over that part of each text, of MaxText characters (the last
	// part may have fewer), in place of its beginning and its end; of JSON a part of it
	// as a whole. Behind the last part there is no text.
	Part int
	// NoText leaves the text of events out, for who wants only their JSON.
	NoText bool
	// Compaction is handed each compaction that is recorded in the conversation, in
	// order and before anything else; only its time and its JSON are there. A source that
	// cannot tell compactions hands over none, and nil is handed none.
	Compaction func(*Event) error
	// Opened is handed the reading before the first event. Nil is handed nothing.
	Opened func(*Reading) error
	// Event is handed the events in order. Nil is handed none.
	Event func(*Event) error
}

// Reading is the answer to a [ReadQuery], beside the events. It describes the
// conversation also where the error is a [*TurnRangeError] or an [*EventRangeError].
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
	Cut      bool // strings in Text were cut, and marked
	// Chars is the length of the whole text in characters, and Head how many of
	// its first characters Text begins with, where Text is not all of it; the rest
	// of Text is its end. Both are 0 otherwise. A text that is not a recorded
	// string is the JSON value that was recorded, indented. With [ReadQuery.Part],
	// Chars is always the length of the whole text, and Head is 0.
	Chars, Head int
	// AppendJSON appends the event as it is recorded, for programs.
	AppendJSON func(dst []byte, options transcript.JSONOptions) []byte
}
