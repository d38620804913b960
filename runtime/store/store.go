// Package store is what a place with recorded conversations has to offer: list
// them, find one by its id, stream its events, tell when one has changed. Each
// store of its own kind is a package below this one.
//
// Through this package a store is only read. It follows nothing recorded to a
// place outside of what its user chose, and what it cannot use it reports, and
// never lets it hide the rest.
package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// Store is a place with conversations. It holds no open files and is safe for
// concurrent use.
type Store interface {
	// Name is the name of the kind of store, such as "claude-code".
	Name() string
	// Place is where the store is, a path, for people.
	Place() string
	// ParseID reads an id in any spelling that people and tools use. It does not
	// look whether there is such a conversation. The error is a [*BadIDError].
	ParseID(text string) (transcript.ID, error)
	// Open opens the store for one query, with the parts of it that cannot be read
	// while others can. The caller closes the session.
	Open(ctx context.Context) (Session, []Problem, error)
}

// Options says what a store of the sessions that a program recorded on this machine has.
type Options struct {
	// Home is the directory that the program keeps everything in. Empty stands for the one
	// that the environment names.
	Home string
	// Project is which sessions: those of directories that it has.
	Project *project.Project
	// Getenv looks up the environment; nil means os.Getenv.
	Getenv func(string) string
	// Facts is where what was read is kept; nil for nowhere.
	Facts *facts.Directory
	// ProjectDatabases has databases read that are in the project and that nobody has named.
	ProjectDatabases bool
}

// Env returns what looks up the environment.
func (o *Options) Env() func(string) string {
	if o.Getenv == nil {
		return os.Getenv
	}
	return o.Getenv
}

// IsThere reports whether there is a directory that a program keeps conversations in. One
// that cannot be looked at is: opening it reports why.
func IsThere(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// Versioned is a store that can tell whether anything in it has changed without listing
// what it has.
type Versioned interface {
	// Version returns a text that is another one when the metadata or the events of any
	// conversation have changed, or there are others.
	Version(ctx context.Context) (string, error)
}

// Remarker is a store that has something to say of itself that is no problem.
type Remarker interface {
	// Remarks returns sentences for people, without a full stop.
	Remarks(ctx context.Context) []string
}

// Session is a store opened for one query. It is safe for concurrent use.
type Session interface {
	// List returns the conversations of a set in the order of their ids, and what
	// could not be used. A conversation that is live in one place and archived in
	// another counts as live where the set has both.
	List(ctx context.Context, set Set) ([]Conversation, []Problem, error)
	// Find returns one conversation, live or archived, without reading the metadata
	// of the others, and so without a parent that only they tell. The error is a
	// [*NotFoundError] where there is none.
	Find(ctx context.Context, id transcript.ID) (Conversation, error)
	// Close releases what the session holds; readers of events live on.
	Close()
}

// Recognizer is a store that can tell whether a call comes from the program that
// records its conversations, and from which of them.
type Recognizer interface {
	// Caller returns what is certain about where a call comes from. It never guesses: to
	// leave out another conversation than the one that calls is worse than to leave out
	// none. It reads as little as it can, and an error of reading is one of not knowing.
	Caller(ctx context.Context, from caller.Caller) Caller
}

// Caller is what a store knows of the caller of a call.
type Caller struct {
	// Evidence is what shows that the call comes from the store's program.
	Evidence Evidence
	// IDs are the conversation that the call comes from, and behind it others that it
	// is recorded to be a part of. Empty where that is not certain. There need not be
	// such a conversation in the store: some are not recorded.
	IDs []transcript.ID
}

// Evidence is what shows where a call comes from, the weakest first.
type Evidence uint8

// The kinds of evidence.
const (
	NoEvidence Evidence = iota
	// ByEnvironment: the environment of the process. A program that was started in
	// the shell of another one has that of both.
	ByEnvironment
	// ByCall: what the program sends with the call, or has recorded of it.
	ByCall
)

// Set selects live or archived conversations, or both with Live|Archived.
type Set uint8

// The sets.
const (
	Live Set = 1 << iota
	Archived
)

// Conversation is a conversation of a session.
type Conversation struct {
	transcript.Conversation
	// Request is how the first request begins, as [Request] makes it, as far as that is known: a
	// conversation without a title of its own is called by it.
	Request string
	// Problems are what of its metadata could not be used.
	Problems []Problem
	// LastAt is when its last event happened, as far as that is known without reading
	// the events; zero where it is not.
	LastAt time.Time
	// Order is where the conversation stands in its store, for what has equal times; 0
	// in stores that keep conversations in no order but that of their ids. It stays when
	// conversations are added.
	Order int64
	Record
}

// Keeper is a [Record] that keeps something that was found out by reading its events, for who
// reads it another time.
type Keeper interface {
	// Kept returns what was kept last, where metadata and events are what they were then.
	Kept() ([]byte, bool)
	// Keep keeps what the events that were listed tell.
	Keep(found []byte)
}

// Record is what is recorded in a conversation of a session.
type Record interface {
	// Events begins to read the events. Where the
	// conversation was renamed or archived since it was listed, it is found again;
	// where it is gone, the error is a [*NotFoundError].
	Events(ctx context.Context) (Events, error)
	// Version returns a text that is another one when the metadata or the events have
	// changed.
	Version(ctx context.Context) (string, error)
}

// Digested is a [Record] of which finding out the version may take reading all events.
type Digested interface {
	// IsDigested reports whether it does. Events are [DigestedEvents] then.
	IsDigested() bool
}

// DigestedEvents is [Events] that tell the version of what was read.
type DigestedEvents interface {
	// Version returns what [Record.Version] returns for what was read, once Next has returned
	// false at the end.
	Version() string
}

// Resumable is [Events] that may go on behind what was read another time.
type Resumable interface {
	// Mark returns what Resume needs to go on behind all events, once Next has returned false
	// at the end; nil where it could not.
	Mark(ctx context.Context) []byte
	// Resume goes on behind the events that a mark is of, and reports whether it can: they are
	// still there, and what follows changes nothing of them. It is called before Next, and where
	// it returns false, the events begin with the first one. Totals are of all of them.
	Resume(ctx context.Context, mark []byte) bool
}

// Events reads the events of a conversation, one after the other.
type Events interface {
	// Next advances to the next event. It returns false at the end and at the first
	// damage, when the context is done, and when reading fails.
	Next(ctx context.Context) bool
	// Event returns the current event, which is valid until the next call of Next.
	Event() *transcript.Event
	// Err returns why Next returned false: nil at the end, a [*DamageError], or
	// another error.
	Err() error
	// Totals describes the events up to here.
	Totals() Totals
	// Restart begins again with the first event.
	Restart()
	Close()
}

// Totals describes the events of a conversation, or of its beginning.
type Totals struct {
	Turns int
	// Events counts as the owner of the store counts, and LastAt is when the last
	// event happened; zero where it has no time, or none that can be used. Both are
	// zero where Uncounted is why the owner counts nothing.
	Events    int
	LastAt    time.Time
	Uncounted error
	// BadTime reports whether a time is recorded for the last event that cannot be
	// used.
	BadTime bool
	// Skipped counts records that are damaged, or of no known type, and were left out.
	Skipped int
	// TooLarge counts events that were left out because they are larger than what is read.
	TooLarge int
	// Cut reports whether the end was left out because all of it is more than what is read.
	Cut bool
}
