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
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store/filecache"
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
	// Version returns a text that is another one when the metadata or the events of any
	// conversation have changed, or there are others; empty where only a list tells.
	Version(ctx context.Context) (string, error)
	// List returns conversations. The listing is closed after use.
	List(ctx context.Context, scope Scope) (*Listing, error)
}

// Scope says which conversations a list is about.
type Scope struct {
	Set Set
	// IDs, where there are any, are the only ones that are needed, live or archived: others
	// may be left out, as may be parents that only others tell. A conversation that is left
	// out of lists is there, where it can be read.
	IDs []transcript.ID
}

// Has reports whether a conversation is in the scope.
func (s Scope) Has(id transcript.ID, archived bool) bool {
	if len(s.IDs) > 0 {
		return slices.Contains(s.IDs, id)
	}
	return archived && s.Set&Archived != 0 || !archived && s.Set&Live != 0
}

// Listing is what a store has. It is safe for concurrent use.
type Listing struct {
	// Conversations are in the order of their ids. One that is live in one place and archived
	// in another is live where the set has both. They are read before the listing is closed.
	Conversations []Conversation
	Problems      []Problem // what could not be used
	Remarks       []string  // sentences for people on what is no problem, without a full stop
	Release       func()    // nil for nothing to be released
}

// Keep orders the conversations, and leaves out those that are not in a scope.
func (l *Listing) Keep(scope Scope) {
	l.Conversations = slices.DeleteFunc(l.Conversations, func(c Conversation) bool { return !scope.Has(c.ID, c.Archived) })
	slices.SortFunc(l.Conversations, func(a, b Conversation) int { return a.ID.Compare(b.ID) })
}

// Close releases what the listing holds.
func (l *Listing) Close() {
	if l.Release != nil {
		l.Release()
		l.Release = nil
	}
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
	// Cache has what is known of files; nil for nothing.
	Cache *filecache.Shelf
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

// Conversation is a conversation in a list.
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

// Record is what is recorded in a conversation.
type Record interface {
	// Version returns a text that is another one when the metadata or the events have
	// changed.
	Version(ctx context.Context) (string, error)
	// Read calls yield with the events in order until it returns false; a nil yield counts
	// them alone. An event is valid until yield returns. Where the conversation was renamed or
	// archived since it was listed, it is found again; where it is gone, the error is a
	// [*NotFoundError]. Events that end early have a [*DamageError], with the totals up to
	// there.
	Read(ctx context.Context, yield func(*transcript.Event) bool) (Totals, error)
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
