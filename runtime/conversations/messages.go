package conversations

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// MessageQuery asks for messages, the newest first. A message is an event that has a
// [transcript.Role]. Its text is the one that is searched, of a tool call its name and
// on the next line the arguments with the strings in them unescaped, without white space
// around it.
type MessageQuery struct {
	// Filter says which conversations are searched: live and archived ones alike,
	// whatever Archived says.
	Filter
	// Text is what a message has in its text, or its conversation in the title, taken
	// literally and in any case: runes are equal that fold to the same by Unicode simple
	// folding. It has no white space around it. Empty is in every message.
	Text string
	// Roles are those of the messages; 0 stands for all.
	Roles transcript.Roles
	// Since and Until bound the times of messages, both inclusive. With either, messages
	// without a time do not match. Nil stands for no bound.
	Since, Until *time.Time
	// Events, where it is not zero, selects messages by their numbers.
	Events EventRange
	// Own is as in an [EventQuery]: calls and results of these tools are only counted.
	Own func(tool string) bool
	// After leaves out what stands at a position and before it. What matches is counted
	// all the same. Nil leaves out nothing.
	After *MessagePosition
	// Limit is how many messages are returned at the most; from 1. All of them are held
	// in memory.
	Limit int
	// MaxText is how many characters of a text are returned, the first ones; 0 stands for
	// all.
	MaxText int
	// Counting is asked again and again, once the messages to return are certain, whether
	// to go on for the sake of [MessageMatches.Total]. It may be called from several
	// goroutines at a time. Nil is to count to the end.
	Counting func() bool
}

// MessageMatches is the answer to a [MessageQuery].
type MessageMatches struct {
	Messages []Message
	// More reports whether more messages match behind the last one.
	More bool
	// Total is how many messages match, before and behind those that are returned too.
	// With AtLeast there may be more than that.
	Total   int
	AtLeast bool
	Own     int // messages that were left out as calls and results of Own, as far as they were counted
	Aside   Aside
}

// Message is a message that matches.
type Message struct {
	// Conversation has what messages are shown with for certain: id, native id, title, source.
	Conversation *transcript.Conversation
	Position     MessagePosition
	Kind         transcript.Kind
	Role         string // as [transcript.Event.RoleName]
	Text         string
	Cut          bool // Text is only the beginning of the text
	Chars        int  // of the whole text, in characters
}

// MessagePosition is where a message stands among all of them: the newest first, those
// without a time last; those of equal times as their store has them. It goes on being
// where it was when messages are recorded.
type MessagePosition struct {
	Time  time.Time // zero where there is none that can be used
	Order int64     // [store.Conversation.Order]
	ID    transcript.ID
	Event int // as [Event.Number]
}

// Compare returns a negative number where p stands before other.
func (p *MessagePosition) Compare(other *MessagePosition) int {
	if !p.Time.Equal(other.Time) {
		if p.Time.IsZero() || other.Time.IsZero() {
			return boolCompare(p.Time.IsZero(), other.Time.IsZero())
		}
		return other.Time.Compare(p.Time)
	}
	return cmp.Or(cmp.Compare(p.Order, other.Order), p.ID.Compare(other.ID), cmp.Compare(p.Event, other.Event))
}

// boolCompare orders false before true.
func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Messages implements [Source]. Conversations are read, several at a time, the one with
// the newest message first as far as that is known; those that are too old to have a
// message among the newest are only counted.
func (l *Library) Messages(ctx context.Context, q MessageQuery) (MessageMatches, error) {
	result, err := l.messages(ctx, &q, true)
	var damage *index.DamageError
	if errors.As(err, &damage) {
		return l.messages(ctx, &q, false)
	}
	return result, err
}

// messages answers a query, with indexes or without. The error is an [*index.DamageError]
// where one of them cannot be used.
func (l *Library) messages(ctx context.Context, q *MessageQuery, indexes bool) (MessageMatches, error) {
	var result MessageMatches
	var in inIndexes
	if indexes && q.Events == (EventRange{}) {
		in = l.inIndexes(ctx, &q.Filter)
		defer in.close()
	}
	s := newMessageSearching(l, q, &result)
	found, closeAll, err := l.unindexed(ctx, &q.Filter, in, s.query.pattern, &result.Aside)
	if err != nil {
		return result, err
	}
	defer closeAll()
	if err := s.inIndexes(ctx, in); err != nil {
		return result, err
	}
	if err := s.run(ctx, found); err != nil {
		return result, err
	}
	if err := s.count(ctx, in); err != nil {
		return result, err
	}
	s.newest.result(&result, q.Limit)
	return result, ctx.Err()
}

// messageQuery is what a search for messages looks for.
type messageQuery struct {
	MessageQuery
	pattern *pattern // nil for every text
}

// newPattern returns what finds a text of any characters in texts of events that hold it
// as it is; nil for the empty text.
func newPattern(text string) *pattern {
	text = strings.ToValidUTF8(text, "\ufffd")
	if text == "" {
		return nil
	}
	p := &pattern{text: text, chars: utf8.RuneCountInString(text), ignoreCase: true}
	p.require(text, true)
	p.unescaped()
	return p
}

// messageSearching is a search for messages in progress.
type messageSearching struct {
	library *Library
	query   messageQuery
	result  *MessageMatches
	newest  newestMessages
	counted bool                 // what indexes have is
	older   []store.Conversation // too old for the newest, not counted yet
}

func newMessageSearching(l *Library, q *MessageQuery, result *MessageMatches) *messageSearching {
	s := &messageSearching{library: l, query: messageQuery{MessageQuery: *q, pattern: newPattern(q.Text)}, result: result}
	s.newest.most = q.Limit + 1 // one more tells whether there are more
	return s
}

// messageFinding is what the search of one conversation for messages found.
type messageFinding struct {
	total, own int
	skipped    bool // it was not searched
	stopped    bool // it was not searched to its end, because counting ended
	problem    *Problem
}

func (s *messageSearching) run(ctx context.Context, found []store.Conversation) error {
	found = slices.DeleteFunc(found, func(c store.Conversation) bool {
		return s.query.Since != nil && !c.NewestAt.IsZero() && c.NewestAt.Before(*s.query.Since)
	})
	found, err := s.findable(ctx, found)
	if err != nil {
		return err
	}
	// What may have the newest messages first, and that is what is not known too.
	slices.SortStableFunc(found, func(a, b store.Conversation) int {
		return cmp.Or(boolCompare(!a.NewestAt.IsZero(), !b.NewestAt.IsZero()), b.NewestAt.Compare(a.NewestAt), b.LastAt.Compare(a.LastAt))
	})
	err = s.each(ctx, found, func(ctx context.Context, c *store.Conversation, buffer *store.Buffer) messageFinding {
		if s.newest.passed(c.NewestAt) {
			return messageFinding{skipped: true}
		}
		return s.search(ctx, c, buffer, nil)
	})
	return err
}

// count counts what need not be among the newest.
func (s *messageSearching) count(ctx context.Context, in inIndexes) error {
	if err := s.countIndexed(ctx, in); err != nil {
		return err
	}
	return s.each(ctx, s.older, func(ctx context.Context, c *store.Conversation, buffer *store.Buffer) messageFinding {
		return s.search(ctx, c, buffer, s.query.Counting)
	})
}

// each searches conversations, several at a time.
func (s *messageSearching) each(ctx context.Context, list []store.Conversation,
	one func(context.Context, *store.Conversation, *store.Buffer) messageFinding,
) error {
	findings := make([]messageFinding, len(list))
	return s.library.readAll(ctx, list,
		func(ctx context.Context, i int, buffer *store.Buffer) { findings[i] = one(ctx, &list[i], buffer) },
		func(i int) error {
			f := &findings[i]
			s.result.Total += f.total
			s.result.Own += f.own
			if f.problem != nil {
				s.result.Aside.Problems = append(s.result.Aside.Problems, *f.problem)
			}
			if f.skipped {
				s.older = append(s.older, list[i])
			}
			if f.stopped {
				s.result.AtLeast = true
				return errEnough
			}
			return nil
		})
}

// search searches a conversation, as long as counting, if not nil, returns true. An error
// of the context is seen outside.
func (s *messageSearching) search(ctx context.Context, c *store.Conversation, buffer *store.Buffer, counting func() bool) (f messageFinding) {
	if counting != nil && !counting() {
		return messageFinding{stopped: true}
	}
	events, err := c.Events(ctx, buffer)
	if err != nil {
		return messageFinding{problem: unreadable(c.ID, err)}
	}
	defer events.Close()
	m := messageSearch{messageQuery: &s.query, newest: &s.newest, conversation: c, buffer: buffer}
	m.all = s.query.pattern == nil || s.query.pattern.isIn(ctx, []byte(c.Title))
	if !m.all && sift(ctx, events, []*pattern{s.query.pattern}) {
		return f
	}
	for events.Next(ctx) {
		if counting != nil && !counting() {
			f.stopped = true
			break
		}
		m.event(ctx, events.Event())
	}
	if !f.stopped {
		f.problem = problemOf(c.ID, events)
	}
	f.total, f.own = m.total, m.own
	return f
}

// messageSearch is the search of one conversation for messages.
type messageSearch struct {
	*messageQuery
	newest       *newestMessages
	conversation *store.Conversation
	buffer       *store.Buffer
	all          bool // every message matches
	numbering    transcript.Numbering
	calls        ownCalls
	total, own   int
}

func (s *messageSearch) event(ctx context.Context, e *transcript.Event) {
	number := s.numbering.Next(e.Kind)
	s.numbered(ctx, e, number, s.Own != nil && s.calls.isOwn(e, s.Own))
}

// numbered is event of one with a number that is known.
func (s *messageSearch) numbered(ctx context.Context, e *transcript.Event, number int, isOwn bool) {
	role := e.Kind.Role()
	if role == transcript.NoRole || s.toldElsewhere(e) || s.Roles != 0 && !s.Roles.Has(role) ||
		s.Events != (EventRange{}) && !s.Events.Has(number) {
		return
	}
	at := e.Time()
	if (s.Since != nil || s.Until != nil) && at.IsZero() || s.Since != nil && at.Before(*s.Since) || s.Until != nil && at.After(*s.Until) {
		return
	}
	stored, form := e.Stored()
	decoded := false
	if !s.all {
		if s.pattern.cannotMatch(stored, form) {
			return
		}
		decode(e, stored, form, s.buffer)
		unescapeCall(e, s.buffer)
		if decoded = true; !s.pattern.isIn(ctx, s.buffer.Text) {
			return
		}
	}
	if isOwn {
		s.own++
		return
	}
	s.total++
	position := MessagePosition{Time: at, Order: s.conversation.Order, ID: s.conversation.ID, Event: number}
	if s.After != nil && position.Compare(s.After) <= 0 || !s.newest.wants(&position) {
		return
	}
	if !decoded {
		decode(e, stored, form, s.buffer)
		unescapeCall(e, s.buffer)
	}
	s.newest.add(&Message{
		Conversation: &s.conversation.Conversation, Position: position, Kind: e.Kind, Role: e.RoleName(),
	}, s.buffer.Text, s.MaxText)
}

// Occurrences returns where a text occurs in s, as [MessageQuery.Text] does, from left to
// right and without overlaps.
func Occurrences(s, text string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		if p := newPattern(strings.TrimFunc(text, IsSpace)); p != nil {
			p.each([]byte(s), -1, yield)
		}
	}
}

// lookEvery is how many bytes of a text are searched before the context is looked at.
const lookEvery = 1 << 20

// isIn reports whether a literal pattern occurs in a text. It is false when the context is
// done.
func (p *pattern) isIn(ctx context.Context, text []byte) bool {
	longest := utf8.UTFMax * p.chars // of a match, in bytes
	for ctx.Err() == nil {
		part := text[:min(len(text), lookEvery+longest)]
		if start, _ := p.finder.Find(part); start >= 0 {
			return true
		}
		if len(part) == len(text) {
			return false
		}
		text = text[lookEvery:]
	}
	return false
}

// newestMessages keeps the first messages by their positions. It is safe for concurrent
// use.
type newestMessages struct {
	mu   sync.Mutex
	most int
	kept messageHeap // once there are most
}

// passed reports whether there are as many messages already, all of them newer than a
// time. Nothing is newer than the zero time, which is not known.
func (n *newestMessages) passed(at time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.kept) >= n.most && !at.IsZero() && n.kept[0].Position.Time.After(at)
}

// wants reports whether a message with a position is one of the first so far.
func (n *newestMessages) wants(p *MessagePosition) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.kept) < n.most || p.Compare(&n.kept[0].Position) < 0
}

// add adds a message with a text, of which it keeps the first most characters, or all
// where most is 0.
func (n *newestMessages) add(m *Message, text []byte, most int) {
	text = bytes.TrimFunc(text, IsSpace)
	m.Chars = runeCount(text)
	if m.Cut = most > 0 && m.Chars > most; m.Cut {
		text = text[:moveRunes(text, 0, most)]
	}
	m.Text = string(text)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case len(n.kept) < n.most:
		if n.kept = append(n.kept, m); len(n.kept) == n.most {
			heap.Init(&n.kept)
		}
	case m.Position.Compare(&n.kept[0].Position) < 0:
		n.kept[0] = m
		heap.Fix(&n.kept, 0)
	}
}

// runeCount is [utf8.RuneCount], and faster where a text begins with ASCII.
func runeCount(text []byte) int {
	const wordSize, high = 8, 0x8080808080808080
	ascii := 0
	for len(text)-ascii >= wordSize && binary.LittleEndian.Uint64(text[ascii:])&high == 0 {
		ascii += wordSize
	}
	return ascii + utf8.RuneCount(text[ascii:])
}

// result puts the first limit messages into an answer.
func (n *newestMessages) result(r *MessageMatches, limit int) {
	slices.SortFunc(n.kept, func(a, b *Message) int { return a.Position.Compare(&b.Position) })
	r.Messages = make([]Message, min(limit, len(n.kept)))
	for i := range r.Messages {
		r.Messages[i] = *n.kept[i]
	}
	r.More = len(n.kept) > limit
	if r.AtLeast {
		r.Total = max(r.Total, len(r.Messages))
	}
}

// messageHeap has the message that stands last at its top.
type messageHeap []*Message

func (h messageHeap) Len() int           { return len(h) }
func (h messageHeap) Less(i, j int) bool { return h[i].Position.Compare(&h[j].Position) > 0 }
func (h messageHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *messageHeap) Push(m any)        { *h = append(*h, m.(*Message)) }
func (h *messageHeap) Pop() any { // which [heap.Interface] asks for
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// IsSpace reports whether a rune is white space around queries and messages: what Unicode
// has as white space, and the separators of ASCII, 0x1c to 0x1f.
func IsSpace(r rune) bool { return 0x1c <= r && r <= 0x1f || unicode.IsSpace(r) }
