package conversations

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/trust"
)

// Indexes are the indexes of stores, for all libraries that share them. An index is only
// ever a shortcut: what it has is used where the store has not changed since, and all else
// is read. They are safe for concurrent use.
type Indexes struct {
	dir   string
	least int64 // bytes of text that a store has for which there is an index

	mu   sync.Mutex
	open map[string]*index.Index // by name of their directory
}

// indexFormat is what an index has that this package puts there. Indexes of another one are
// left alone.
const indexFormat = "v2"

// NewIndexes returns the indexes in a directory, which need not be there.
func NewIndexes(dir string) *Indexes {
	return &Indexes{dir: filepath.Join(dir, indexFormat), least: minIndexed, open: map[string]*index.Index{}}
}

// OpenIndexes returns the indexes that the user's cache directory has, or will have; nil
// where the environment does not tell which that is.
func OpenIndexes(getenv func(string) string) *Indexes {
	dir := trust.CacheDir(getenv)
	if dir == "" {
		return nil
	}
	return NewIndexes(filepath.Join(dir, "index"))
}

// minIndexed is how many bytes of text a store has for which there is an index: less is
// searched in no time.
const minIndexed = 20 << 20

// of returns the index of a store; nil where there are none.
func (x *Indexes) of(s store.Store) *index.Index {
	if x == nil {
		return nil
	}
	sum := sha256.Sum256([]byte(s.Name() + "\x00" + s.Place()))
	name := s.Name() + "-" + hex.EncodeToString(sum[:8])
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open[name] == nil {
		x.open[name] = index.Open(filepath.Join(x.dir, name))
	}
	return x.open[name]
}

// Close closes the files of all indexes.
func (x *Indexes) Close() {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, open := range x.open {
		open.Close()
	}
	clear(x.open)
}

// Clear removes all indexes, also those of other formats.
func (x *Indexes) Clear() error {
	if x == nil {
		return nil
	}
	x.Close()
	return os.RemoveAll(filepath.Dir(x.dir))
}

// indexNote is what an index says of its store.
type indexNote struct {
	Store, Place string
	// Version is that of the store, all of which is indexed, without anything that would
	// have to be said of it. Empty where that is not so.
	Version string
	// Small is set where the store has too little text for an index.
	Small bool
}

// indexFacts is what an index has of a conversation beside its messages.
type indexFacts struct {
	// Read is set where everything could be read. Of others there are no messages.
	Read    bool      `json:"r,omitempty"`
	Events  int       `json:"e,omitempty"`
	LastAt  time.Time `json:"l,omitzero"`
	BadTime bool      `json:"b,omitempty"`
	Size    [4]int    `json:"s,omitzero"` // the fields of a [Size], in order

	// What is known without reading the events, of what messages are shown with.
	NativeID string `json:"n,omitempty"`
	Source   string `json:"o,omitempty"`
}

// conversation returns what is known of the conversation of an entry.
func (f *indexFacts) conversation(c *index.Conversation) *transcript.Conversation {
	return &transcript.Conversation{ID: transcript.ID(c.Key), Title: c.Title, NativeID: f.NativeID, Source: f.Source}
}

// indexVersion is the version that a conversation has in an index: what is recorded, and
// what a store makes of it only together with others.
func indexVersion(ctx context.Context, c *store.Conversation) (string, error) {
	version, err := c.Version(ctx)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q %d %t %t", version, c.Title, c.Parent, c.Order, c.Hidden, c.Archived)
	return string(sum.Sum(nil)[:12]), nil
}

// copiedKind is added to the kind of a message that is a copy of one of another
// conversation.
const copiedKind = 32

// allKinds and kindsOf are sets of kinds of messages in an index, those that are told in
// another conversation left out.
const allKinds = 1<<copiedKind - 1

func kindsOf(roles transcript.Roles) uint64 {
	if roles == 0 {
		return allKinds
	}
	set := uint64(0)
	for k := range transcript.Kind(copiedKind) {
		if role := k.Role(); role != transcript.NoRole && roles.Has(role) {
			set |= 1 << k
		}
	}
	return set
}

// toolKinds are the kinds of messages that may be of an own tool.
const toolKinds = 1<<transcript.KindToolCall | 1<<transcript.KindToolResult

// indexExtra is what an index has of a message beside its text.
type indexExtra struct {
	role string // as recorded, where it is not that of the kind
	tool string // that is called, or has the result
}

func (e *indexExtra) append(b []byte, kind transcript.Kind) []byte {
	if role := e.role; role != kind.Role().String() {
		b = append(b, 1)
		b = binary.AppendUvarint(b, uint64(len(role)))
		b = append(b, role...)
	} else if e.tool != "" {
		b = append(b, 0)
	}
	return append(b, e.tool...)
}

func parseExtra(b []byte, kind transcript.Kind) indexExtra {
	e := indexExtra{role: kind.Role().String()}
	if len(b) == 0 {
		return e
	}
	own := b[0] == 1
	if b = b[1:]; own {
		size, n := binary.Uvarint(b)
		size = min(size, uint64(len(b)-max(n, 0)))
		e.role, b = string(b[max(n, 0):][:size]), b[max(n, 0)+int(size):] //nolint:gosec // at most len(b)
	}
	e.tool = string(b)
	return e
}

// toolNames tells which tool a call or a result is of.
type toolNames struct {
	ids  map[string]string // of calls: the tool of the last one with this id
	next []string          // of the calls without an id since the last request
	buf  []byte
}

// of returns the tool of an event; empty for none. It must see all events of a conversation
// in order.
func (c *toolNames) of(e *transcript.Event) string {
	switch e.Kind {
	case transcript.KindTurnStart, transcript.KindUser:
		c.next = c.next[:0]
	case transcript.KindToolCall:
		c.buf = e.AppendName(c.buf[:0], maxOwnName)
		name := string(c.buf)
		c.buf = e.AppendCallID(c.buf[:0], maxCallID)
		switch {
		case len(c.buf) > 0:
			if c.ids == nil || len(c.ids) >= maxOpenCalls {
				c.ids = map[string]string{}
			}
			c.ids[string(c.buf)] = name
		case len(c.next) < maxOpenCalls:
			c.next = append(c.next, name)
		}
		return name
	case transcript.KindToolResult:
		c.buf = e.AppendCallID(c.buf[:0], maxCallID)
		if len(c.buf) > 0 {
			return c.ids[string(c.buf)]
		}
		if len(c.next) > 0 {
			name := c.next[0]
			c.next = c.next[1:]
			return name
		}
	}
	return ""
}

// indexed is what the index of a store has for a query.
type indexed struct {
	store store.Store
	view  *index.View
	note  indexNote
	// whole is set where the index has all that the store has.
	whole bool
	// fresh are the conversations that are as the index has them, by key; nil where whole.
	fresh map[string]*store.Conversation
}

// inIndexes is what indexes have for a query.
type inIndexes []*indexed

func (in inIndexes) close() {
	for _, i := range in {
		i.view.Close()
	}
}

// whole reports whether an index has all of a store.
func (in inIndexes) whole(s store.Store) bool {
	return slices.ContainsFunc(in, func(i *indexed) bool { return i.whole && i.store == s })
}

// inIndexes returns the indexes of the stores that a filter lets through.
func (l *Library) inIndexes(ctx context.Context, f *Filter) (in inIndexes) {
	if l.indexes == nil || len(f.IDs) > 0 {
		return nil
	}
	for _, s := range l.stores {
		if !f.asks(s.Name()) {
			continue
		}
		i := &indexed{store: s}
		var err error
		if i.view, err = l.indexes.of(s).View(); err != nil {
			continue // there is none, or it cannot be used: the store is read
		}
		if json.Unmarshal([]byte(i.view.State().Note), &i.note) != nil || i.note.Small {
			i.view.Close()
			continue
		}
		if versioned, ok := s.(store.Versioned); ok && i.note.Version != "" && len(f.Labels) == 0 && !l.hasAny(i.view, f) {
			version, err := versioned.Version(ctx)
			i.whole = err == nil && version == i.note.Version
		}
		in = append(in, i)
	}
	return in
}

// hasAny reports whether an index has one of the conversations that are left out, or may be
// next of kin to these.
func (l *Library) hasAny(view *index.View, f *Filter) bool {
	ids, err := l.parseIDs(slices.Concat(f.Exclude, f.KinOf))
	return err != nil || slices.ContainsFunc(ids, func(id transcript.ID) bool {
		c, err := view.Lookup(string(id))
		return c != nil || err != nil
	})
}

// know finds out which of some conversations, which are of stores, the indexes have as they
// are now.
func (in inIndexes) know(ctx context.Context, l *Library, found []store.Conversation, from map[transcript.ID]store.Store) error {
	for _, i := range in {
		var of []*store.Conversation
		for n := range found {
			if from[found[n].ID] == i.store {
				of = append(of, &found[n])
			}
		}
		if err := i.know(ctx, l, of); err != nil {
			return err
		}
	}
	return nil
}

// knows returns the index that has a conversation as it is now, or nil.
func (in inIndexes) knows(id transcript.ID) *indexed {
	for _, i := range in {
		if i.fresh[string(id)] != nil {
			return i
		}
	}
	return nil
}

// unindexed returns the conversations that a filter lets through and no index has as they
// are now. What indexes have of them is set.
func (l *Library) unindexed(ctx context.Context, f *Filter, in inIndexes, aside *Aside) (left []store.Conversation, closeAll func(), err error) {
	o, err := l.openExcept(ctx, f, in.whole)
	if err != nil {
		return nil, nil, err
	}
	if len(o.sessions) == 0 && len(in) > 0 {
		return nil, o.close, nil
	}
	if len(in) > 0 {
		o.from = map[transcript.ID]store.Store{}
		l.some.Store(true)
	}
	found, err := o.pickOf(ctx, store.Live|store.Archived, *f, aside)
	if err == nil {
		err = in.know(ctx, l, found, o.from)
	}
	if err != nil {
		o.close()
		return nil, nil, err
	}
	left = slices.DeleteFunc(slices.Clone(found), func(c store.Conversation) bool { return in.knows(c.ID) != nil })
	return left, o.close, nil
}

// pickForMatches is pick for a search for patterns.
func (l *Library) pickForMatches(ctx context.Context, o *opened, f *Filter, aside *Aside, patterns []*pattern) ([]store.Conversation, error) {
	in := l.inIndexes(ctx, f)
	defer in.close()
	if len(in) > 0 {
		o.from = map[transcript.ID]store.Store{}
	}
	found, err := o.pick(ctx, *f, aside)
	if err == nil {
		err = l.withoutMatch(ctx, in, found, o.from, patterns)
	}
	return found, err
}

// withoutMatch marks the conversations that have no match of any of some patterns, as far as
// indexes tell, so that they are not read for that.
func (l *Library) withoutMatch(ctx context.Context, in inIndexes, found []store.Conversation, from map[transcript.ID]store.Store, patterns []*pattern) error {
	if len(in) == 0 || slices.ContainsFunc(patterns, func(p *pattern) bool { return p.part == nil }) {
		return nil
	}
	if err := in.know(ctx, l, found, from); err != nil {
		return err
	}
	for _, i := range in {
		may := map[string]bool{}
		var err error
		for _, p := range patterns {
			q := index.Query{Text: p.partText, Find: p.part.Find, TextOnly: true}
			q.Wanted = func(c *index.Conversation) bool { return i.fresh[c.Key] != nil && !may[c.Key] }
			if e := i.view.Keys(ctx, q, func(key string) bool { may[key] = true; return true }); e != nil {
				err = e
			}
		}
		if err != nil {
			continue // the conversations are read
		}
		for n := range found {
			if key := string(found[n].ID); i.fresh[key] != nil && !may[key] {
				found[n].Record = matchless{found[n].Record}
			}
		}
	}
	return ctx.Err()
}

// matchless is a conversation without a match. It is read only where somebody wants to
// know something else.
type matchless struct{ store.Record }

// Events implements [store.Record].
func (m matchless) Events(_ context.Context, buffer *store.Buffer) (store.Events, error) {
	return &matchlessEvents{record: m.Record, buffer: buffer}, nil
}

type matchlessEvents struct {
	store.Events // nil before they are read
	record       store.Record
	buffer       *store.Buffer
	err          error
}

// Sift implements [store.Sifter].
func (e *matchlessEvents) Sift(context.Context, func([]byte) bool) (bool, error) { return false, nil }

func (e *matchlessEvents) Next(ctx context.Context) bool {
	if e.Events == nil && e.err == nil {
		e.Events, e.err = e.record.Events(ctx, e.buffer)
	}
	return e.err == nil && e.Events.Next(ctx)
}

func (e *matchlessEvents) Err() error {
	if e.err != nil || e.Events == nil {
		return e.err
	}
	return e.Events.Err()
}

func (e *matchlessEvents) Totals() store.Totals {
	if e.Events == nil {
		return store.Totals{Uncounted: e.err}
	}
	return e.Events.Totals()
}

func (e *matchlessEvents) Restart() {
	if e.Events != nil {
		e.Events.Restart()
	}
}

func (e *matchlessEvents) Close() {
	if e.Events != nil {
		e.Events.Close()
	}
}

// know finds out which conversations of a store are as the index has them.
func (i *indexed) know(ctx context.Context, l *Library, found []*store.Conversation) error {
	i.fresh = map[string]*store.Conversation{}
	list := make([]store.Conversation, len(found))
	for n, c := range found {
		list[n] = *c
	}
	isFresh := make([]bool, len(found))
	return l.readAll(ctx, list, func(ctx context.Context, n int, _ *store.Buffer) {
		entry, err := i.view.Lookup(string(list[n].ID))
		if err != nil || entry == nil {
			return
		}
		if !i.whole {
			version, err := indexVersion(ctx, &list[n])
			if err != nil || version != entry.Version {
				return
			}
		}
		isFresh[n] = readFacts(entry).Read
	}, func(n int) error {
		if isFresh[n] {
			i.fresh[string(list[n].ID)] = found[n]
		}
		return nil
	})
}

// query returns what an index is asked for the messages that a query asks for, of kinds.
// indexes before it have the same conversation first.
func (i *indexed) query(q *messageQuery, before inIndexes, kinds uint64) index.Query {
	iq := index.Query{Text: q.Text, Kinds: kinds}
	if q.pattern != nil {
		iq.Text, iq.Find = q.pattern.text, q.pattern.finder.Find
	}
	// The zero time is no bound there, and no message has it.
	if q.Since != nil {
		if iq.Since = *q.Since; iq.Since.IsZero() {
			iq.Since = iq.Since.Add(1)
		}
	}
	if q.Until != nil {
		if iq.Until = *q.Until; iq.Until.IsZero() {
			iq.Until = iq.Until.Add(-1)
		}
	}
	if !i.whole {
		iq.Wanted = func(c *index.Conversation) bool { return i.fresh[c.Key] != nil }
		return iq
	}
	before = slices.DeleteFunc(slices.Clone(before), func(b *indexed) bool { return !b.whole || b.store.Name() != i.store.Name() })
	if len(before) > 0 {
		iq.Wanted = func(c *index.Conversation) bool {
			return !slices.ContainsFunc(before, func(b *indexed) bool {
				same, err := b.view.Lookup(c.Key)
				return same != nil || err != nil
			})
		}
	}
	return iq
}

// inIndexes searches indexes for the newest messages. Where it comes to their end, all are
// counted.
func (s *messageSearching) inIndexes(ctx context.Context, in inIndexes) error {
	total, own := 0, 0
	s.counted = s.query.After == nil
	defer func() {
		if s.counted {
			s.result.Total, s.result.Own = total, own
		}
	}()
	for n, i := range in {
		q := i.query(&s.query, in[:n], kindsOf(s.query.Roles))
		if after := s.query.After; after != nil {
			q.After = &index.Position{Time: after.Time, Order: after.Order, Key: string(after.ID), Number: uint32(after.Event)} //nolint:gosec // a count
		}
		conversations := map[string]*transcript.Conversation{}
		for hit, err := range i.view.Search(ctx, q) {
			if err != nil {
				return err
			}
			m := Message{
				Kind:     transcript.Kind(hit.Kind),
				Position: MessagePosition{Time: hit.Time, Order: hit.Order, ID: transcript.ID(hit.Key), Event: int(hit.Number)},
			}
			if !s.newest.wants(&m.Position) {
				s.counted = false
				break
			}
			text, extra, err := hit.Read()
			if err != nil {
				return err
			}
			x := parseExtra(extra, m.Kind)
			if s.query.isOwn(x.tool) {
				own++
				continue
			}
			total++
			m.Role = x.role
			if m.Conversation = conversations[hit.Key]; m.Conversation == nil {
				if c := i.fresh[hit.Key]; c != nil {
					m.Conversation = &c.Conversation
				} else {
					facts := readFacts(hit.Conversation)
					m.Conversation = facts.conversation(hit.Conversation)
				}
				conversations[hit.Key] = m.Conversation
			}
			s.newest.add(&m, text, s.query.MaxText)
		}
	}
	return nil
}

func (q *messageQuery) isOwn(tool string) bool { return tool != "" && q.Own != nil && q.Own(tool) }

// hopeless reports whether to count the messages in indexes takes longer than anybody waits
// for it, where that is bounded.
func (s *messageSearching) hopeless(in inIndexes) (bool, error) {
	const mostLooked, mostRead = 200_000, 3000 // about five milliseconds
	if s.query.Counting == nil {
		return false, nil
	}
	sumLooked, sumRead := 0, 0
	for n, i := range in {
		looked, read, err := i.view.Candidates(i.query(&s.query, in[:n], kindsOf(s.query.Roles)))
		if err != nil {
			return false, err
		}
		sumLooked, sumRead = sumLooked+looked, sumRead+read
	}
	return sumLooked > mostLooked || sumRead > mostRead, nil
}

// countIndexed counts all messages in indexes, while there is time.
func (s *messageSearching) countIndexed(ctx context.Context, in inIndexes) error {
	if s.counted {
		return nil
	}
	hopeless, err := s.hopeless(in)
	if hopeless || err != nil {
		s.result.AtLeast = true
		return err
	}
	stop := func() bool { return s.query.Counting != nil && !s.query.Counting() }
	kinds := kindsOf(s.query.Roles)
	tools := uint64(0)
	if s.query.Own != nil {
		kinds, tools = kinds&^toolKinds, kinds&toolKinds
	}
	for n, i := range in {
		if kinds == 0 {
			break
		}
		found, all, err := i.view.Count(ctx, i.query(&s.query, in[:n], kinds), stop)
		if err != nil {
			return err
		}
		s.result.Total += found
		s.result.AtLeast = s.result.AtLeast || !all
	}
	for n, i := range in {
		if tools == 0 || s.result.AtLeast {
			break
		}
		if err := s.countTools(ctx, i, i.query(&s.query, in[:n], tools), stop); err != nil {
			return err
		}
	}
	return nil
}

// countTools counts calls and results of tools.
func (s *messageSearching) countTools(ctx context.Context, i *indexed, q index.Query, stop func() bool) error {
	for hit, err := range i.view.Search(ctx, q) {
		if err != nil {
			return err
		}
		if stop() {
			s.result.AtLeast = true
			return nil
		}
		_, extra, err := hit.Read()
		if err != nil {
			return err
		}
		if s.query.isOwn(parseExtra(extra, transcript.Kind(hit.Kind)).tool) {
			s.result.Own++
		} else {
			s.result.Total++
		}
	}
	return nil
}

// fillKnown fills in what indexes tell of conversations, and returns the others.
func (in inIndexes) fillKnown(entries []*entry, sizes bool) (left []*entry) {
	for _, e := range entries {
		i := in.knows(e.ID)
		if i == nil {
			left = append(left, e)
			continue
		}
		c, err := i.view.Lookup(string(e.ID))
		if err != nil || c == nil {
			left = append(left, e)
			continue
		}
		f := readFacts(c)
		e.filled, e.Events, e.LastEventAt, e.badTime, e.Damage = true, f.Events, f.LastAt, f.BadTime, nil
		if sizes {
			e.Size = &Size{Turns: f.Size[0], Requests: f.Size[1], Numbered: f.Size[2], Chars: f.Size[3]}
		}
	}
	return left
}

func readFacts(c *index.Conversation) (f indexFacts) {
	if json.Unmarshal(c.Facts, &f) != nil {
		return indexFacts{}
	}
	return f
}

// IndexReport says what became of the index of a store.
type IndexReport struct {
	Store, Place string
	Small        bool // it has too little text for an index
	Busy         bool // another process writes it
	Changed      int  // conversations that were read, as they had changed
	Removed      int
	Left         int // conversations that have changed and were not read
	Err          error
	index.Info
}

// IndexReports returns what there is of indexes of the library's stores. Nothing is read but
// that.
func (l *Library) IndexReports() []IndexReport {
	var reports []IndexReport
	for _, s := range l.stores {
		if l.indexes == nil {
			break
		}
		r := refreshing{library: l, store: s, index: l.indexes.of(s)}
		r.Store, r.IndexReport.Place = s.Name(), s.Place()
		r.current("")
		reports = append(reports, r.IndexReport)
	}
	return reports
}

// commitEvery is how many bytes of text are read before they are made part of an index.
const commitEvery = 256 << 20

// RefreshIndexes brings the indexes of all stores up to date. A store of which another
// process writes the index is left out. Progress, if not nil, is called with how many
// conversations of a store were looked at, and how many there are. Until tells when to end
// early, with a part of them; nil stands for never.
func (l *Library) RefreshIndexes(ctx context.Context, progress func(s store.Store, done, all int), until func() bool) ([]IndexReport, error) {
	var reports []IndexReport
	for _, s := range l.stores {
		if l.indexes == nil {
			break
		}
		r := refreshing{library: l, store: s, index: l.indexes.of(s), until: until, progress: progress}
		r.Store, r.IndexReport.Place = s.Name(), s.Place()
		err := r.run(ctx)
		var damage *index.DamageError
		if errors.As(err, &damage) {
			r.anew = true
			err = r.run(ctx)
		}
		if ctx.Err() != nil {
			return reports, ctx.Err()
		}
		r.Err = err
		reports = append(reports, r.IndexReport)
	}
	return reports, nil
}

// refreshing is an index that is brought up to date.
type refreshing struct {
	IndexReport
	library  *Library
	store    store.Store
	index    *index.Index
	until    func() bool
	progress func(s store.Store, done, all int)
	writer   *index.Writer
	note     indexNote
	anew     bool // what is there cannot be used
}

func (r *refreshing) run(ctx context.Context) error {
	version := ""
	if versioned, ok := r.store.(store.Versioned); ok {
		version, _ = versioned.Version(ctx) // where it fails, so does what follows
	}
	if !r.anew && r.current(version) {
		return nil
	}
	session, unread, err := r.store.Open(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	list, problems, err := session.List(ctx, store.Live|store.Archived)
	if err != nil {
		return err
	}
	try, cancel := context.WithTimeout(ctx, time.Millisecond)
	r.writer, err = r.index.Write(try)
	cancel()
	if err != nil {
		if r.Busy = errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil; r.Busy {
			return nil
		}
		return err
	}
	defer r.writer.Close()
	if r.anew {
		if err := r.writer.Clear(); err != nil {
			return err
		}
	}
	r.note = indexNote{Store: r.store.Name(), Place: r.store.Place()}
	whole := len(unread)+len(problems) == 0
	if whole && !r.library.partial(r.store) {
		if err := r.remove(ctx, list); err != nil {
			return err
		}
	}
	all, err := r.put(ctx, list)
	if err != nil {
		return err
	}
	if all && whole {
		r.note.Version = version
	}
	return r.finish(ctx)
}

// partial reports whether a store has only the conversations of a project.
func (l *Library) partial(s store.Store) bool {
	return l.project && s.Name() != jp.Name && !isArchive(s.Name())
}

// current reports whether there is nothing to do.
func (r *refreshing) current(version string) bool {
	view, err := r.index.View()
	if err != nil {
		return false // it is made anew
	}
	defer view.Close()
	r.Info = view.Info()
	var note indexNote
	if json.Unmarshal([]byte(view.State().Note), &note) != nil {
		return false
	}
	const lookAgain = 24 * time.Hour
	r.Small = note.Small
	return note.Small && r.library.now().Sub(time.Unix(r.Updated, 0)) < lookAgain || version != "" && note.Version == version
}

// remove removes what the store no longer has.
func (r *refreshing) remove(ctx context.Context, list []store.Conversation) error {
	there := map[string]bool{}
	for i := range list {
		there[string(list[i].ID)] = true
	}
	var gone []string
	err := r.writer.Conversations(func(c *index.Conversation) bool {
		if !there[c.Key] {
			gone = append(gone, c.Key)
		}
		return true
	})
	for _, key := range gone {
		err = cmp.Or(err, r.writer.Delete(ctx, key))
	}
	r.Removed = len(gone)
	return err
}

// put puts what has changed into the index, and reports whether it is all.
func (r *refreshing) put(ctx context.Context, list []store.Conversation) (all bool, err error) {
	buffer := store.NewBuffer(r.library.memory)
	defer buffer.Release()
	all = true
	committed := r.writer.Text()
	for i := range list {
		if r.progress != nil {
			r.progress(r.store, i, len(list))
		}
		c := &list[i]
		version, err := indexVersion(ctx, c)
		if err == nil {
			var old *index.Conversation
			if old, err = r.writer.Lookup(string(c.ID)); err == nil && old != nil && old.Version == version {
				all = all && readFacts(old).Read && !c.Hidden
				continue
			}
		}
		if r.until != nil && r.until() {
			r.Left++
			all = false
			continue
		}
		if err == nil {
			err = r.putOne(ctx, c, version, buffer)
		}
		var damage *index.DamageError
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case errors.As(err, &damage):
			return false, err
		case err != nil: // the store has it no longer, or it cannot be read
			all = false
		}
		all = all && !c.Hidden
		r.Changed++
		if text := r.writer.Text(); text-committed >= commitEvery {
			if err := r.commit(ctx); err != nil {
				return false, err
			}
			committed = text
		}
	}
	return all, nil
}

// putOne puts a conversation into the index. One that cannot be read to its end has no
// messages there, and is read again once it has changed.
func (r *refreshing) putOne(ctx context.Context, c *store.Conversation, version string, buffer *store.Buffer) error {
	entry := index.Conversation{Key: string(c.ID), Version: version, Order: c.Order, Title: c.Title}
	reader := messageReader{conversation: c, buffer: buffer, entry: &entry}
	err := r.writer.Put(ctx, &entry, reader.all(ctx))
	if err == nil || ctx.Err() != nil || !reader.failed {
		return err
	}
	entry.Facts = (&indexFacts{}).encode()
	return errors.Join(err, r.writer.Put(ctx, &entry, func(func(*index.Message, error) bool) {}))
}

func (f *indexFacts) encode() []byte {
	data, _ := json.Marshal(f) // nothing in it can fail
	return data
}

// messageReader reads the messages of a conversation for an index.
type messageReader struct {
	conversation *store.Conversation
	buffer       *store.Buffer
	entry        *index.Conversation
	failed       bool // the conversation could not be read
}

// all returns the messages, and fills in the facts of the entry when they end.
func (r *messageReader) all(ctx context.Context) func(func(*index.Message, error) bool) {
	return func(yield func(*index.Message, error) bool) {
		events, err := r.conversation.Events(ctx, r.buffer)
		if err != nil {
			r.failed = true
			yield(nil, err)
			return
		}
		defer events.Close()
		var numbering transcript.Numbering
		var tools toolNames
		var extra []byte
		chars := 0
		for events.Next(ctx) {
			e := events.Event()
			number := numbering.Next(e.Kind)
			tool := tools.of(e)
			if number > 0 {
				chars += countChars(e, r.buffer)
			}
			if e.Kind.Role() == transcript.NoRole && e.Kind.Scope() == 0 {
				continue
			}
			stored, form := e.Stored()
			decode(e, stored, form, r.buffer)
			unescapeCall(e, r.buffer)
			kind := uint8(e.Kind)
			if e.Copied {
				kind += copiedKind
			}
			x := indexExtra{e.RoleName(), tool}
			extra = x.append(extra[:0], e.Kind)
			if !yield(&index.Message{Number: uint32(number), Kind: kind, Time: e.Time(), Text: r.buffer.Text, Extra: extra}, nil) { //nolint:gosec // a count
				return
			}
		}
		if err := events.Err(); err != nil {
			r.failed = true
			yield(nil, err)
			return
		}
		totals := events.Totals()
		if totals.Uncounted != nil {
			r.failed = true
			yield(nil, totals.Uncounted)
			return
		}
		r.entry.Facts = (&indexFacts{
			Read: true, Events: totals.Events, LastAt: totals.LastAt, BadTime: totals.BadTime,
			Size:     [...]int{totals.Turns, numbering.Requests, numbering.Events, chars},
			NativeID: r.conversation.NativeID, Source: r.conversation.Source,
		}).encode()
	}
}

// finish commits what was written, unless it is too little for an index.
func (r *refreshing) finish(ctx context.Context) error {
	if r.note.Small = r.Left == 0 && r.writer.Text() < r.library.indexes.least; r.note.Small {
		if err := r.writer.Clear(); err != nil {
			return err
		}
	}
	r.Small = r.note.Small
	if err := r.commit(ctx); err != nil {
		return err
	}
	view, err := r.index.View()
	if err != nil {
		return err
	}
	defer view.Close()
	r.Info = view.Info()
	return nil
}

func (r *refreshing) commit(ctx context.Context) error {
	note, err := json.Marshal(r.note)
	if err != nil {
		return err
	}
	return r.writer.Commit(ctx, index.State{Note: string(note), Updated: r.library.now().Unix()})
}
