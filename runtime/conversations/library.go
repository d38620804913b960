package conversations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/convtools/convtools/runtime/conversations/internal/literal"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// Options configures a [Library].
type Options struct {
	// Dir is a directory in the workspace, or the workspace's id. Empty stands for
	// the working directory of the process. Only [Open] looks at it.
	Dir string
	// AllProjects stands for the conversations of every project on this machine in place
	// of those of Dir's. Only [Open] looks at it.
	AllProjects bool
	// Sources are the kinds of stores that are opened, as [Filter.Sources] has them; none
	// stand for all. Only [Open] looks at it.
	Sources []string
	// Getenv looks up the environment; nil means os.Getenv.
	Getenv func(string) string
	// Now is the clock for ages; nil means time.Now.
	Now func() time.Time
	// Memory bounds what all libraries that share it hold of events at one time. Nil
	// is a bound for this library alone.
	Memory *store.Memory
	// Once makes a library that opens and lists each store once, for several queries of
	// one call: what is recorded meanwhile is not listed. It is closed after use.
	Once bool
	// Indexes are those of the stores, as far as there are any; nil for none.
	Indexes *Indexes
	// ProjectDatabases is that of [store.Options].
	ProjectDatabases bool
}

func (o *Options) env() func(string) string {
	if o.Getenv == nil {
		return os.Getenv
	}
	return o.Getenv
}

// Library answers questions about the conversations of stores. It implements
// [Source], and holds no open files between queries, but with [Options.Once].
type Library struct {
	stores  []store.Store
	place   string
	nowhere *NoWorkspaceError // where there is no workspace; nil for no matter
	some    atomic.Bool       // a conversation was listed
	now     func() time.Time
	memory  *store.Memory
	listed  *listings // nil for listing anew with each query
	indexes *Indexes  // nil for none
	project bool      // stores of programs have the conversations of a project only
	off     []string  // kinds of stores that the user switched off
	offBy   string    // what the file that does so is called in messages

	warnings []string // about the settings

	// restrictions are those that it was opened with, and excludes reports whether they exclude
	// a directory; both are nil where it was not opened.
	restrictions *restrictions
	excludes     func(dir string) bool
}

var _ Source = (*Library)(nil)

// New returns a library of the conversations in stores.
func New(o Options, stores ...store.Store) *Library {
	l := &Library{stores: stores, now: o.Now, memory: o.Memory, indexes: o.Indexes}
	if len(stores) > 0 {
		l.place = stores[0].Place()
	}
	if l.now == nil {
		l.now = time.Now
	}
	if o.Once {
		l.listed = &listings{}
	}
	if l.memory == nil {
		l.memory = store.NewMemory(store.DefaultMemory)
	}
	return l
}

// Place is the directory of the project, for people; empty where it is all of them.
func (l *Library) Place() string { return l.place }

// Origin is where conversations come from.
type Origin struct {
	Program string // that records them, as people call it
	Place   string // a path
}

// Origins returns where the conversations of a library come from.
func (l *Library) Origins() []Origin {
	programs := map[string]string{}
	for _, k := range kinds() {
		programs[k.name] = k.program
	}
	var origins []Origin
	for _, s := range l.stores {
		origins = append(origins, Origin{Program: programs[s.Name()], Place: s.Place()})
	}
	return origins
}

// parseIDs reads ids, each once.
func (l *Library) parseIDs(texts []string) ([]transcript.ID, error) {
	var ids []transcript.ID
	seen := map[transcript.ID]bool{}
	for _, text := range texts {
		var id transcript.ID
		var err error = &BadIDError{Text: text, Reason: "there is no store of conversations"}
		for _, s := range l.stores {
			if id, err = s.ParseID(text); err == nil {
				break
			}
		}
		if err != nil {
			if id, err = l.parseID(text, err); err != nil {
				return nil, err
			}
		}
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// parseID reads an id that is of none of the stores of a library: it may still be one
// of another kind of store, which there is none of. err is what those said.
func (l *Library) parseID(text string, err error) (transcript.ID, error) {
	if k := claimant(text); k != nil && len(l.stores) > 0 {
		return k.parseID(text)
	}
	return "", err
}

// listings is what stores have listed, and the sessions that did.
type listings struct {
	mu     sync.Mutex
	opened map[store.Store]session
	done   map[listedSet]listing
}

// session is an opened store.
type session struct {
	store.Session
	unread []Problem
}

// open opens a store, or has it opened already.
func (l *listings) open(ctx context.Context, s store.Store) (store.Session, []Problem, error) {
	if l == nil {
		return s.Open(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if o, ok := l.opened[s]; ok {
		return o.Session, slices.Clone(o.unread), nil
	}
	opened, unread, err := s.Open(ctx)
	if err != nil {
		return nil, unread, err
	}
	if l.opened == nil {
		l.opened = map[store.Store]session{}
	}
	l.opened[s] = session{opened, unread}
	return opened, slices.Clone(unread), nil
}

// Close releases what a library holds that opens stores once.
func (l *Library) Close() error {
	if l.listed == nil {
		return nil
	}
	l.listed.mu.Lock()
	defer l.listed.mu.Unlock()
	for _, o := range l.listed.opened {
		o.Close()
	}
	l.listed.opened, l.listed.done = nil, nil
	return nil
}

// listedSet is a set of conversations of a store.
type listedSet struct {
	store store.Store
	set   store.Set
}

// listing is what a store has listed. Nobody changes it.
type listing struct {
	found    []store.Conversation
	problems []Problem
}

// list lists a set of a store, which s is opened of, or has it listed already. What it
// returns is the caller's.
func (l *listings) list(ctx context.Context, of store.Store, s store.Session, set store.Set) ([]store.Conversation, []Problem, error) {
	if l == nil {
		return s.List(ctx, set)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	key := listedSet{of, set}
	done, ok := l.done[key]
	if !ok {
		var err error
		if done.found, done.problems, err = s.List(ctx, set); err != nil {
			return done.found, done.problems, err
		}
		if l.done == nil {
			l.done = map[listedSet]listing{}
		}
		l.done[key] = done
	}
	return slices.Clone(done.found), slices.Clone(done.problems), nil
}

// opened is the stores of a library, opened for one query.
type opened struct {
	library  *Library
	sessions []store.Session
	stores   []store.Store // of the sessions
	unread   []Problem
	answered bool                          // other stores of the library answer in another way
	from     map[transcript.ID]store.Store // of what is listed; nil where nobody asks
	// may is what only those conversations are listed for that may have it, as far as stores
	// can tell; nil to list all.
	may func(part []byte) bool
}

// open opens the stores that a query is about.
func (l *Library) open(ctx context.Context, f *Filter) (*opened, error) {
	return l.openExcept(ctx, f, nil)
}

// openExcept is open of the stores for which except returns false.
func (l *Library) openExcept(ctx context.Context, f *Filter, except func(store.Store) bool) (*opened, error) {
	o := &opened{library: l, unread: l.switchedOff(f)}
	var failed error
	for _, s := range l.stores {
		if !f.asks(s.Name()) {
			continue
		}
		if except != nil && except(s) {
			o.answered = true
			continue
		}
		session, unread, err := l.listed.open(ctx, s)
		if err != nil {
			failed = &UnavailableError{Path: s.Place(), Err: err}
			o.unread = append(o.unread, Problem{Source: s.Name(), Path: s.Place(), Err: err})
			continue
		}
		o.sessions, o.stores = append(o.sessions, session), append(o.stores, s)
		o.unread = append(o.unread, of(s, unread)...)
	}
	if len(o.sessions) == 0 && failed != nil && !o.answered {
		return nil, failed
	}
	return o, nil
}

// Warnings returns what a person should know of the settings, a sentence each: of what nothing reads.
func (l *Library) Warnings() []string { return l.warnings }

// switchedOff returns the kinds of stores that a query is about and that the user switched off.
func (l *Library) switchedOff(f *Filter) (off []Problem) {
	for _, name := range l.off {
		if slices.Contains(f.Sources, name) || slices.ContainsFunc(f.IDs, func(id string) bool { return cmp.Or(SourceOf(transcript.ID(id)), jp.Name) == name }) {
			off = append(off, Problem{Source: name, Kind: SwitchedOff, Path: l.offBy, Err: fmt.Errorf("%s is switched off", name)})
		}
	}
	return off
}

func (o *opened) close() {
	if o.library.listed != nil {
		return // with the library
	}
	for _, s := range o.sessions {
		s.Close()
	}
}

// list returns all conversations of a set in the order of their ids.
func (o *opened) list(ctx context.Context, set store.Set, aside *Aside) ([]store.Conversation, error) {
	aside.Problems = append(aside.Problems, o.unread...)
	var all []store.Conversation
	for i, s := range o.sessions {
		found, problems, err := o.listOne(ctx, i, s, set)
		if err != nil && (len(o.sessions) > 1 || o.answered) && ctx.Err() == nil {
			problems = append(problems, Problem{Path: o.stores[i].Place(), Err: err}) // the others can be read
		} else if err != nil {
			return nil, fmt.Errorf("listing the conversations: %w", err)
		}
		if o.from != nil {
			for j := range found {
				if id := found[j].ID; o.from[id] == nil {
					o.from[id] = o.stores[i]
				}
			}
		}
		if len(all) == 0 {
			all = found
		} else {
			all = append(all, found...)
		}
		aside.Problems = append(aside.Problems, of(o.stores[i], problems)...)
	}
	if len(all) > 0 {
		o.library.some.Store(true)
	} else if len(aside.Problems) == 0 && !slices.ContainsFunc(o.stores, func(s store.Store) bool { return isArchive(s.Name()) }) {
		if err := o.library.Nothing(ctx); err != nil {
			return nil, err
		}
	}
	if len(o.sessions) > 1 {
		all = sorted(all, func(a, b *store.Conversation) int { return a.ID.Compare(b.ID) })
		// The same conversation in a home and in a copy of that: the first store counts.
		all = slices.CompactFunc(all, func(a, b store.Conversation) bool { return a.ID == b.ID })
	}
	return all, nil
}

// sorted returns conversations in an order, equal ones as they stand. They are large, and each
// is moved once.
func sorted(list []store.Conversation, compare func(a, b *store.Conversation) int) []store.Conversation {
	places := make([]int, len(list))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(i, j int) int { return cmp.Or(compare(&list[i], &list[j]), i-j) })
	moved := make([]store.Conversation, len(list))
	for to, from := range places {
		moved[to] = list[from]
	}
	return moved
}

// listOne lists a set of one store.
func (o *opened) listOne(ctx context.Context, i int, s store.Session, set store.Set) ([]store.Conversation, []Problem, error) {
	narrower, ok := s.(store.Narrower)
	if ok && o.may != nil && !o.hasOther(o.stores[i]) {
		if found, ok, err := narrower.ListHolding(ctx, set, o.may); ok && err == nil {
			o.library.some.Store(true)
			return found, nil, nil
		}
	}
	return o.library.listed.list(ctx, o.stores[i], s, set)
}

// hasOther reports whether there is another store of the same kind: of a conversation that
// both have, that of the first one counts.
func (o *opened) hasOther(s store.Store) bool {
	return slices.ContainsFunc(o.stores, func(other store.Store) bool { return other != s && other.Name() == s.Name() })
}

// of names the store that problems are of.
func of(s store.Store, problems []Problem) []Problem {
	for i := range problems {
		problems[i].Source = s.Name()
	}
	return problems
}

// find returns the conversations with these ids, live or archived.
func (o *opened) find(ctx context.Context, ids []transcript.ID, aside *Aside) ([]store.Conversation, error) {
	missing := &NotFoundError{Place: o.library.Place(), Unread: o.unread}
	var found []store.Conversation
	for _, id := range ids {
		c, err := o.findOne(ctx, id)
		var notFound *NotFoundError
		switch {
		case errors.As(err, &notFound):
			missing.IDs = append(missing.IDs, id)
			for _, near := range notFound.Nearest {
				if len(missing.Nearest) < maxNearest && !slices.Contains(missing.Nearest, near) {
					missing.Nearest = append(missing.Nearest, near)
				}
			}
		case err != nil:
			return nil, fmt.Errorf("looking for conversation %s: %w", id, err)
		default:
			found = append(found, c)
			aside.Problems = append(aside.Problems, slices.DeleteFunc(slices.Clone(c.Problems), isBadField)...)
		}
	}
	if len(missing.IDs) > 0 {
		return nil, cmp.Or(o.library.Nothing(ctx), error(missing))
	}
	return found, nil
}

// maxNearest bounds how many ids an error suggests.
const maxNearest = 20

func isBadField(p Problem) bool { return p.Kind == BadField }

func (o *opened) findOne(ctx context.Context, id transcript.ID) (store.Conversation, error) {
	missing := &NotFoundError{IDs: []transcript.ID{id}}
	for _, s := range o.sessions {
		c, err := s.Find(ctx, id)
		var notFound *NotFoundError
		if !errors.As(err, &notFound) {
			return c, err
		}
		missing.Nearest = append(missing.Nearest, notFound.Nearest...)
	}
	return store.Conversation{}, missing
}

// pick returns the conversations that a filter lets through, in the order of
// their ids or as they were named.
func (o *opened) pick(ctx context.Context, f Filter, aside *Aside) ([]store.Conversation, error) {
	set := store.Live
	if f.Archived {
		set = store.Archived
	}
	if f.Both {
		set = store.Live | store.Archived
	}
	return o.pickOf(ctx, set, f, aside)
}

// pickOf is pick of the conversations of a set.
func (o *opened) pickOf(ctx context.Context, set store.Set, f Filter, aside *Aside) ([]store.Conversation, error) {
	ids, err := o.library.parseIDs(f.IDs)
	if err != nil {
		return nil, err
	}
	exclude, err := o.library.parseIDs(f.Exclude)
	if err != nil {
		return nil, err
	}
	var found []store.Conversation
	if len(ids) > 0 {
		found, err = o.find(ctx, ids, aside)
	} else {
		found, err = o.list(ctx, set, aside)
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		of, err := o.library.parseIDs(f.KinOf)
		if err != nil {
			return nil, err
		}
		exclude = append(exclude, kin(found, of)...)
	}
	return slices.DeleteFunc(found, func(c store.Conversation) bool {
		switch {
		case !hasLabels(c.Labels, f.Labels), !f.from(cmp.Or(c.Source, jp.Name)):
			return true
		case c.Hidden && !f.Hidden && len(ids) == 0:
			aside.Hidden++
			return true
		case slices.Contains(exclude, c.ID):
			aside.Excluded = append(aside.Excluded, c.ID)
			return true
		}
		return false
	}), nil
}

// from reports whether a filter lets a kind of store through.
func (f *Filter) from(source string) bool {
	return len(f.Sources) == 0 || slices.Contains(f.Sources, source)
}

// asks reports whether a query with the filter looks into a kind of store. An archive is
// asked only by its name, and for its own ids.
func (f *Filter) asks(source string) bool {
	switch {
	case len(f.IDs) == 0 && len(f.Sources) == 0:
		return !isArchive(source)
	case len(f.IDs) == 0:
		return f.from(source)
	case isArchive(source):
		return slices.ContainsFunc(f.IDs, func(id string) bool { return SourceOf(transcript.ID(id)) == source })
	}
	return true
}

// toldElsewhere reports whether an event is a copy of one that a search over all
// conversations finds in another of them.
func (f *Filter) toldElsewhere(e *transcript.Event) bool { return e.Copied && len(f.IDs) == 0 }

func hasLabels(labels map[string]string, wanted []Label) bool {
	for _, want := range wanted {
		value, ok := labels[want.Key]
		if !ok || want.Value != nil && value != *want.Value {
			return false
		}
	}
	return true
}

// titleFilter reports whether a title contains a text, ignoring case. Every title
// contains the empty text, also a missing one.
func titleFilter(text string) func(title string) bool {
	if text == "" {
		return func(string) bool { return true }
	}
	finder := literal.New(strings.ToValidUTF8(text, "\ufffd"), true)
	return func(title string) bool {
		start, _ := finder.Find([]byte(title))
		return start >= 0
	}
}
