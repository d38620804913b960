// Package store says what a place with recorded conversations offers: a list of them, their events in
// order, and a version that changes when they do. Each kind of store is a package below this one; the
// comment of package internal/history says how to add one.
//
// A store is only read through this package. It follows no recorded link to a place outside of the
// directories that its user chose. It reports records that it cannot use, and they never hide others.
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

// Store is a place with conversations. It has no open files and is safe for concurrent use.
type Store interface {
	// Name returns the name of the kind of store, such as "claude-code".
	Name() string
	// Place returns the path of the store, for people.
	Place() string
	// ParseID reads an id in any spelling that people and tools use, of a conversation that need not
	// exist. The error is a [*BadIDError].
	ParseID(text string) (transcript.ID, error)
	// Version returns a text that changes when any conversation does; empty if only a list shows that.
	Version(ctx context.Context) (string, error)
	// List returns conversations. The listing is closed after use.
	List(ctx context.Context, scope Scope) (*Listing, error)
}

// Scope selects conversations for a list.
type Scope struct {
	Set Set
	// IDs, if there are any, are the only conversations that are needed, live or archived. A store can
	// then leave out others, and links that are recorded only in others. It returns a conversation
	// that its lists leave out, if that can be read.
	IDs []transcript.ID
}

// Set selects live or archived conversations, or both with Live|Archived.
type Set uint8

// The sets.
const (
	Live Set = 1 << iota
	Archived
)

// Has reports whether a conversation is in the scope.
func (s Scope) Has(id transcript.ID, archived bool) bool {
	if len(s.IDs) > 0 {
		return slices.Contains(s.IDs, id)
	}
	return archived && s.Set&Archived != 0 || !archived && s.Set&Live != 0
}

// Listing is a list of conversations. It is safe for concurrent use.
type Listing struct {
	// Conversations are in the order of their ids. They are read before the listing is closed. A
	// conversation that is both live and archived is live if the set has both.
	Conversations []Conversation
	Problems      []Problem
	Remarks       []string // sentences for people that report no problem, without a full stop
	Release       func()   // nil if there is nothing to release
}

// Keep sorts the conversations, and removes those that are not in a scope.
func (l *Listing) Keep(scope Scope) {
	l.Conversations = slices.DeleteFunc(l.Conversations, func(c Conversation) bool { return !scope.Has(c.ID, c.Archived) })
	slices.SortFunc(l.Conversations, func(a, b Conversation) int { return a.ID.Compare(b.ID) })
}

// Close releases the files that the listing holds open.
func (l *Listing) Close() {
	if l.Release != nil {
		l.Release()
		l.Release = nil
	}
}

// Conversation is a conversation in a list.
type Conversation struct {
	transcript.Conversation
	Request  string    // the beginning of the first request as [Request] returns it, if it is known
	Problems []Problem // of its metadata
	LastAt   time.Time // the time of its last event; zero if that is not known without reading the events
	// Order is its place in the store, for events of equal time; 0 in stores that sort by id. It does
	// not change when conversations are added.
	Order int64
	Record
}

// Record is the recorded form of a conversation.
type Record interface {
	// Version returns a text that changes when the metadata or the events do.
	Version(ctx context.Context) (string, error)
	// Read calls yield with the events in order until it returns false; a nil yield only counts them. An
	// event is valid until yield returns. A conversation that was renamed or archived since the
	// listing is found again; if it is gone, the error is a [*NotFoundError]. If the events end
	// early, the error is a [*DamageError], with the totals up to there.
	Read(ctx context.Context, yield func(*transcript.Event) bool) (Totals, error)
}

// Totals describes the events of a conversation.
type Totals struct {
	Turns     int
	Events    int       // as the program that owns the store counts
	LastAt    time.Time // the time of the last event; zero if it has none that can be used
	Uncounted error     // the reason why the program counts nothing: Events and LastAt are zero
	BadTime   bool      // the time of the last event is recorded, and cannot be used
	Skipped   int       // records that are damaged or of unknown types
	TooLarge  int       // events over the size limit, which were left out
	Cut       bool      // the end was left out because of a size limit
}

// Options describes a store of the sessions that a program recorded on this machine.
type Options struct {
	Home    string                   // the program's directory; empty for the one that the environment names
	Project *project.Project         // selects sessions by their directories
	Getenv  func(name string) string // nil for os.Getenv
	// Cache, if not nil, returns the cached metadata of the files of a kind of store in a place.
	Cache func(kind, place string) *filecache.Cache
	// ProjectDatabases also reads databases in the project that the user has not named.
	ProjectDatabases bool
}

// Env returns the function that looks up the environment.
func (o *Options) Env() func(string) string {
	if o.Getenv == nil {
		return os.Getenv
	}
	return o.Getenv
}

// IsThere reports whether a directory exists. If it cannot be examined, the result is true: opening it
// reports the reason.
func IsThere(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// Recognizer is a store that recognizes calls from the program that records its conversations.
type Recognizer interface {
	// Caller returns what is certain about the origin of a call. It never guesses: leaving out a wrong
	// conversation is worse than leaving out none. Errors of reading count as no knowledge.
	Caller(ctx context.Context, from caller.Caller) Caller
}

// Caller is the origin of a call.
type Caller struct {
	Evidence Evidence // that the call comes from the store's program
	// IDs are the calling conversation and then the ones that it is a part of; empty if they are not
	// certain. They need not be recorded.
	IDs []transcript.ID
}

// Evidence is a kind of evidence for the origin of a call. A larger value is stronger.
type Evidence uint8

// The kinds of evidence.
const (
	NoEvidence    Evidence = iota
	ByEnvironment          // the environment, which a program in another program's shell inherits
	ByCall                 // data that the program sends with the call, or has recorded about it
)
