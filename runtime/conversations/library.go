package conversations

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/index/terms"
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
	// Once makes a library that opens and lists each store once, for several queries of
	// one call: what is recorded meanwhile is not listed. It is closed after use.
	Once bool
	// Indexes are those of the stores, as far as there are any; nil for none.
	Indexes *Indexes
	// Progress, if not nil, is what [Library.RefreshIndexes] calls, for indexes that a query has
	// brought up to date.
	Progress func(s store.Store, done, all int)
	// ProjectDatabases is that of [store.Options].
	ProjectDatabases bool
	// Store, where it is not nil, is read in place of all others, for Dir's project alone. Its
	// conversations may be of any kind. Only [Open] looks at it.
	Store store.Store
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
	stores   []store.Store
	place    string
	nowhere  *NoWorkspaceError // where there is no workspace; nil for no matter
	some     atomic.Bool       // a conversation was listed
	now      func() time.Time
	listed   *listings // nil for listing anew with each query
	indexes  *Indexes  // nil for none
	progress func(s store.Store, done, all int)
	project  bool           // stores of programs have the conversations of a project only
	off      []string       // kinds of stores that the user switched off
	offBy    string         // what the file that does so is called in messages
	language terms.Language // that words are read in

	warnings []string // about the settings

	// restrictions are those that it was opened with, and excludes reports whether they exclude
	// a directory; both are nil where it was not opened.
	restrictions *restrictions
	excludes     func(dir string) bool
	here         func(dir string) bool // whether a directory is of the project; nil where that is no matter
}

var _ Source = (*Library)(nil)

// New returns a library of the conversations in stores.
func New(o Options, stores ...store.Store) *Library {
	l := &Library{stores: stores, now: o.Now, indexes: o.Indexes, progress: o.Progress}
	if len(stores) > 0 {
		l.place = stores[0].Place()
	}
	if l.now == nil {
		l.now = time.Now
	}
	if o.Once {
		l.listed = &listings{}
	}
	if l.indexes == nil {
		l.indexes = &Indexes{open: map[string]*index.Index{}}
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

// Close releases what a library holds that opens stores once.
func (l *Library) Close() error {
	if l.listed != nil {
		l.listed.close()
	}
	return nil
}

// asking is a query to the stores of a library.
type asking struct {
	library *Library
	listed  *listings
	stores  []store.Store // that the query is about
	off     []Problem     // those that are switched off
	// answered reports whether other stores of the library answer in another way.
	answered bool
	from     map[transcript.ID]store.Store // of what is listed; nil where nobody asks
}

// ask returns the stores that a query is about, without those for which except, if not nil,
// returns true.
func (l *Library) ask(f *Filter, listed *listings, except func(store.Store) bool) *asking {
	o := &asking{library: l, listed: listed, off: l.switchedOff(f)}
	for _, s := range l.stores {
		switch {
		case !f.asks(s.Name()):
		case except != nil && except(s):
			o.answered = true
		default:
			o.stores = append(o.stores, s)
		}
	}
	return o
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

// list returns all conversations of a set in the order of their ids.
func (o *asking) list(ctx context.Context, set store.Set, aside *Aside) ([]store.Conversation, error) {
	aside.Problems = append(aside.Problems, o.off...)
	var all []store.Conversation
	for _, s := range o.stores {
		found, err := o.listOne(ctx, s, store.Scope{Set: set}, &aside.Problems)
		if err != nil {
			return nil, err
		}
		o.library.entitle(s, found)
		if len(all) == 0 {
			all = found
		} else {
			all = append(all, found...)
		}
	}
	if len(all) > 0 {
		o.library.some.Store(true)
	} else if len(aside.Problems) == 0 && !slices.ContainsFunc(o.stores, func(s store.Store) bool { return isArchive(s.Name()) }) {
		if err := o.library.Nothing(ctx); err != nil {
			return nil, err
		}
	}
	if len(o.stores) > 1 {
		all = sorted(all, func(a, b *store.Conversation) int { return a.ID.Compare(b.ID) })
		// The same conversation in a home and in a copy of that: the first store counts.
		all = slices.CompactFunc(all, func(a, b store.Conversation) bool { return a.ID == b.ID })
	}
	return all, nil
}

// listOne lists a store. Where that fails and others can be read, it is a problem.
func (o *asking) listOne(ctx context.Context, s store.Store, scope store.Scope, problems *[]Problem) ([]store.Conversation, error) {
	found, more, err := o.listed.list(ctx, s, scope)
	if err != nil && (len(o.stores) == 1 && !o.answered || ctx.Err() != nil) {
		return nil, &UnavailableError{Path: s.Place(), Err: err}
	}
	if err != nil {
		more = append(more, Problem{Path: s.Place(), Err: err})
	}
	found = append(found, o.library.indexed(s, scope, found, more)...)
	*problems = append(*problems, of(s, more)...)
	for i := range found {
		if id := found[i].ID; o.from != nil && o.from[id] == nil {
			o.from[id] = s
		}
	}
	return found, nil
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

// of names the store that problems are of.
func of(s store.Store, problems []Problem) []Problem {
	for i := range problems {
		problems[i].Source = s.Name()
	}
	return problems
}

// find returns the conversations with these ids, live or archived.
func (o *asking) find(ctx context.Context, ids []transcript.ID, aside *Aside) ([]store.Conversation, error) {
	all := map[transcript.ID]*store.Conversation{}
	problems := slices.Clone(o.off)
	for _, s := range o.stores {
		left := slices.DeleteFunc(slices.Clone(ids), func(id transcript.ID) bool { return all[id] != nil })
		if len(left) == 0 {
			break
		}
		found, err := o.listOne(ctx, s, store.Scope{IDs: left}, &problems)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if c := &found[i]; slices.Contains(left, c.ID) && all[c.ID] == nil {
				o.entitleOne(ctx, s, c)
				all[c.ID] = c
			}
		}
	}
	var found []store.Conversation
	var missing []transcript.ID
	for _, id := range ids {
		c := all[id]
		if c == nil {
			missing = append(missing, id)
			continue
		}
		found = append(found, *c)
		aside.Problems = append(aside.Problems, slices.DeleteFunc(slices.Clone(c.Problems), isBadField)...)
	}
	if len(missing) > 0 {
		return nil, o.missing(ctx, missing, problems)
	}
	return found, nil
}

// maxNearest is how many ids an error suggests.
const maxNearest = 20

// missing returns the error for ids that were not found, where problems are of looking for them.
func (o *asking) missing(ctx context.Context, ids []transcript.ID, problems []Problem) error {
	e := &NotFoundError{IDs: ids, Place: o.library.Place()}
	for _, p := range problems {
		if slices.Contains(ids, p.ID) {
			return fmt.Errorf("looking for conversation %s: %s: %w", p.ID, p.Path, p.Err)
		}
		if p.ID == "" {
			e.Unread = append(e.Unread, p)
		}
	}
	for _, s := range o.stores {
		all, _, err := o.listed.list(ctx, s, store.Scope{Set: store.Live | store.Archived})
		if err != nil {
			continue // which is among the problems
		}
		for _, id := range ids {
			for _, near := range store.Nearest(id, all) {
				if len(e.Nearest) < maxNearest && !slices.Contains(e.Nearest, near) {
					e.Nearest = append(e.Nearest, near)
				}
			}
		}
	}
	return cmp.Or(ctx.Err(), o.library.Nothing(ctx), error(e))
}

func isBadField(p Problem) bool { return p.Kind == BadField }

// set is the set of conversations that a filter is about.
func (f *Filter) set() store.Set {
	switch {
	case f.Both:
		return store.Live | store.Archived
	case f.Archived:
		return store.Archived
	}
	return store.Live
}

// pick returns the conversations that a filter lets through, in the order of
// their ids or as they were named.
func (o *asking) pick(ctx context.Context, f Filter, aside *Aside) ([]store.Conversation, error) {
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
		found, err = o.list(ctx, f.set(), aside)
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
		return f.from(source) || !slices.Contains(Sources(), source) // which has conversations of any kind
	case isArchive(source):
		return slices.ContainsFunc(f.IDs, func(id string) bool { return SourceOf(transcript.ID(id)) == source })
	}
	return true
}

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
	pattern := excerpt.Literal(text, true)
	if pattern == nil {
		return func(string) bool { return true }
	}
	return func(title string) bool { return pattern.IsIn([]byte(title)) }
}
