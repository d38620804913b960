package conversations_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/cases"
	basetext "github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
)

// said is a message of a [messageStore].
type said struct {
	kind   transcript.Kind
	text   string
	name   string // of a tool, or of a role
	call   string
	at     time.Time
	copied bool
}

func (s *said) event() transcript.Event {
	return transcript.Event{Turn: 1, Kind: s.kind, Copied: s.copied, Time: s.at, Name: s.name, CallID: s.call, Text: []byte(s.text)}
}

// chat is a conversation of a [messageStore].
type chat struct {
	store.Conversation
	events []said
	err    error // behind the last event
}

// messageStore is a store of conversations in memory.
type messageStore struct {
	memoryStore
	chats []chat
	err   error // of List
	large bool  // it cannot be copied, and lists nothing
	place string
	next  func()       // of the chats' records
	fail  func() error // of their second events; nil for none
}

func (m *messageStore) Place() string { return "memory" + m.place }

func (m *messageStore) List(_ context.Context, scope store.Scope) (*store.Listing, error) {
	l := &store.Listing{}
	if m.large {
		l.Problems = append(l.Problems, store.Problem{Path: "large.db", Err: &store.CopyTooLargeError{Size: 3 << 30, Most: 2 << 30}})
		return l, nil
	}
	for i := range m.chats {
		c := m.chats[i].Conversation
		c.Record = &chatRecord{chat: &m.chats[i], next: m.next, fail: m.fail}
		if scope.Has(c.ID, c.Archived) {
			l.Conversations = append(l.Conversations, c)
		}
	}
	slices.SortFunc(l.Conversations, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	return l, errors.Join(m.memoryStore.err, m.err)
}

// chatRecord reads a chat.
type chatRecord struct {
	chat *chat
	next func() // called with each event; nil for nothing
	fail func() error
}

func (r *chatRecord) Version(context.Context) (string, error) {
	return fmt.Sprintf("%+v %v", r.chat.events, r.chat.err), nil
}

func (r *chatRecord) Read(ctx context.Context, yield func(*transcript.Event) bool) (totals store.Totals, err error) {
	for n := range r.chat.events {
		if err := ctx.Err(); err != nil {
			return totals, err
		}
		if r.next != nil {
			r.next()
		}
		if r.fail != nil && n == 1 {
			return totals, r.fail()
		}
		totals.Events++
		e := r.chat.events[n].event()
		if e.Index = n; yield != nil && !yield(&e) {
			return totals, nil
		}
	}
	return totals, r.chat.err
}

// naive answers a query for messages in the plainest way, but for the texts.
func naive(q *messageQuery, stores []*messageStore) (all []aMessage, own int) {
	expr := regexp.MustCompile("(?is)" + regexp.QuoteMeta(q.Text))
	for _, s := range stores {
		for i := range s.chats {
			c := &s.chats[i]
			if c.Hidden && len(q.IDs) == 0 || slices.Contains(q.Exclude, string(c.ID)) || len(q.IDs) > 0 && !slices.Contains(q.IDs, string(c.ID)) {
				continue
			}
			calls := map[string]bool{}
			number := 0
			for _, e := range c.events {
				if !e.kind.Numbered() {
					continue
				}
				number++
				isOwn := false
				switch e.kind {
				case transcript.KindToolCall:
					isOwn = ownTool(e.name)
					calls[e.call] = isOwn
				case transcript.KindToolResult:
					isOwn = calls[e.call]
				}
				event := e.event()
				searched := string(eventtext.Searched(&event))
				text := strings.TrimFunc(searched, basetext.IsSpace)
				m := aMessage{
					Position: conversations.Position{Time: e.at, Order: c.Order, ID: c.ID, Event: number},
					Kind:     e.kind, Role: e.kind.Role().String(), Text: text, Chars: utf8.RuneCountInString(text),
				}
				if e.kind == transcript.KindSystem && e.name != "" {
					m.Role = e.name
				}
				switch role := e.kind.Role(); {
				case role == transcript.NoRole, e.copied && len(q.IDs) == 0,
					q.Scopes != 0 && q.Scopes&e.kind.Scope() == 0,
					(!q.Since.IsZero() || !q.Until.IsZero()) && e.at.IsZero(),
					e.at.Before(q.Since), !q.Until.IsZero() && e.at.After(q.Until),
					!expr.MatchString(searched) && !expr.MatchString(c.Title):
				case isOwn && q.Own != nil:
					own++
				default:
					all = append(all, m)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b aMessage) int {
		x, y := a.Position, b.Position
		switch {
		case x.Time.IsZero() != y.Time.IsZero():
			return map[bool]int{true: 1, false: -1}[x.Time.IsZero()]
		case !x.Time.Equal(y.Time):
			return y.Time.Compare(x.Time)
		case x.Order != y.Order:
			return int(x.Order - y.Order)
		case x.ID != y.ID:
			return x.ID.Compare(y.ID)
		}
		return x.Event - y.Event
	})
	return all, own
}

// foldingTraps are texts and queries that fold to each other, or nearly.
var foldingTraps = []string{
	"k", "K", "\u212a", "s", "S", "\u017f", "ß", "\u1e9e", "ss", "i", "I", "\u0130", "\u0131", "σ", "ς", "Σ", "é", "É", "e\u0301", "天", "気", "天気",
	"%", "_", `\`, `"`, "'", "\x00", "\n", " ", "🎉", "\ufffd", "\u200d", "a", "ab",
}

func trapText(rng *rand.Rand, most int) string {
	var b strings.Builder
	for range rng.IntN(most + 1) {
		b.WriteString(foldingTraps[rng.IntN(len(foldingTraps))])
	}
	return b.String()
}

func randomStores(rng *rand.Rand) []*messageStore {
	base := time.Date(2024, 1, 15, 0, 0, 0, 0, time.UTC)
	stores := []*messageStore{{}, {}}
	for i := range 1 + rng.IntN(6) {
		var c chat
		c.ID, c.Title = transcript.ID(fmt.Sprintf("memory-%d", i)), trapText(rng, 3)
		c.Order, c.Archived, c.Hidden = int64(rng.IntN(3)), rng.IntN(4) == 0, rng.IntN(8) == 0
		for range rng.IntN(12) {
			e := said{kind: transcript.Kind(rng.IntN(int(transcript.KindSystem) + 1)), text: trapText(rng, 6), copied: rng.IntN(9) == 0}
			switch e.kind {
			case transcript.KindToolCall, transcript.KindToolResult:
				e.name, e.call = toolNames[rng.IntN(len(toolNames))], fmt.Sprint("call", rng.IntN(2))
			case transcript.KindSystem:
				e.name = []string{"", "developer"}[rng.IntN(2)]
			}
			if rng.IntN(6) > 0 {
				e.at = base.Add(time.Duration(rng.IntN(8)) * time.Hour)
			}
			c.events = append(c.events, e)
			if rng.IntN(2) == 0 && e.at.After(c.LastAt) {
				c.LastAt = e.at
			}
		}
		s := stores[rng.IntN(2)]
		s.chats = append(s.chats, c)
	}
	return stores
}

func randomMessageQuery(rng *rand.Rand) messageQuery {
	q := messageQuery{Text: strings.TrimFunc(trapText(rng, 2), basetext.IsSpace), Limit: 1 + rng.IntN(8)}
	instant := func() time.Time { return time.Date(2024, 1, 15, rng.IntN(9)-1, 0, 0, rng.IntN(2), time.UTC) }
	if rng.IntN(3) == 0 {
		q.Since = instant()
	}
	if rng.IntN(3) == 0 {
		q.Until = instant()
	}
	if rng.IntN(3) == 0 {
		for range 2 {
			q.Scopes |= transcript.Role(1 + rng.IntN(4)).Scopes()
		}
	}
	if rng.IntN(2) == 0 {
		q.Own = ownTool
	}
	switch rng.IntN(6) {
	case 0:
		q.Exclude = []string{"memory-0"}
	case 1:
		q.IDs = []string{"memory-0"}
	}
	return q
}

// messagesLibrary is a library of stores, of which each answer is in order.
func messagesLibrary(stores []*messageStore) *conversations.Library {
	var all []store.Store
	for i, s := range stores {
		s.place = fmt.Sprint(i)
		all = append(all, s)
	}
	return conversations.New(conversations.Options{}, all...)
}

// withoutConversation is messages as the oracle has them.
func withoutConversation(t *testing.T, messages []aMessage) []aMessage {
	t.Helper()
	var out []aMessage
	for _, m := range messages {
		if m.Conversation.ID != m.Position.ID {
			t.Errorf("message of %s at %+v", m.Conversation.ID, m.Position)
		}
		m.Conversation = nil
		out = append(out, m)
	}
	return out
}

func TestMessagesOracle(t *testing.T) {
	t.Parallel()
	matched := 0
	for seed := range cases.Of(uint64(120)) {
		rng := rand.New(rand.NewPCG(seed, 12))
		stores := randomStores(rng)
		q := randomMessageQuery(rng)
		want, own := naive(&q, stores)
		l := messagesLibrary(stores)
		var got []aMessage
		for page := 0; ; page++ {
			m, err := newest(t.Context(), l, q)
			var missing *conversations.NotFoundError
			if errors.As(err, &missing) && len(q.IDs) > 0 && len(want) == 0 {
				break
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if m.Total != len(want) || m.AtLeast || m.Own != own {
				t.Fatalf("seed %d, page %d of %+v: %d match, %d own, want %d and %d", seed, page, q, m.Total, m.Own, len(want), own)
			}
			got = append(got, m.Messages...)
			if !m.More {
				break
			}
			q.After = &m.Messages[len(m.Messages)-1].Position
		}
		if diff := cmp.Diff(want, withoutConversation(t, got)); diff != "" {
			t.Fatalf("seed %d: %+v: (-want +got)\n%s", seed, q, diff)
		}
		matched += len(want)
	}
	if matched < 120 {
		t.Errorf("only %d matches in all: too few to compare", matched)
	}
}

// While pages are read messages arrive, with any time: nothing is shown twice, and
// nothing that was there from the beginning is left out.
func TestPagesWhileMessagesArrive(t *testing.T) {
	t.Parallel()
	for seed := range cases.Of(uint64(40)) {
		rng := rand.New(rand.NewPCG(seed, 13))
		stores := randomStores(rng)
		q := messageQuery{Text: foldingTraps[rng.IntN(6)], Limit: 1 + rng.IntN(3)}
		before, _ := naive(&q, stores)
		seen := map[conversations.Position]int{}
		for {
			m, err := newest(t.Context(), messagesLibrary(stores), q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range m.Messages {
				seen[m.Messages[i].Position]++
			}
			if !m.More {
				break
			}
			q.After = &m.Messages[len(m.Messages)-1].Position
			if s := stores[rng.IntN(2)]; len(s.chats) > 0 {
				c := &s.chats[rng.IntN(len(s.chats))]
				at := time.Date(2024, 1, 15, rng.IntN(9), 0, 0, 0, time.UTC)
				c.events = append(c.events, said{kind: transcript.KindUser, text: q.Text, at: at})
			}
		}
		for p, n := range seen {
			if n > 1 {
				t.Fatalf("seed %d: %+v is shown %d times", seed, p, n)
			}
		}
		for i := range before {
			if seen[before[i].Position] == 0 {
				t.Fatalf("seed %d: %+v is left out", seed, before[i].Position)
			}
		}
	}
}

// The messages of a real store, with the texts that a search by event sees.
func TestMessagesOfAWorkspace(t *testing.T) {
	t.Parallel()
	for seed := range cases.Of(uint64(10)) {
		rng := rand.New(rand.NewPCG(seed, 14))
		l := randomConversations(t, rng)
		all, err := l.List(t.Context(), conversations.ListQuery{Filter: conversations.Filter{Hidden: true}, NoEvents: true})
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			text := patterns[rng.IntN(len(patterns))]
			if rng.IntN(3) == 0 {
				text = strings.TrimFunc(randomText(rng, 4), basetext.IsSpace)
			}
			text = strings.TrimFunc(text, basetext.IsSpace)
			expr := regexp.MustCompile("(?is)" + regexp.QuoteMeta(text))
			want := map[string]string{}
			for _, c := range all.Conversations {
				if c.Hidden {
					continue
				}
				events, _ := recordedEvents(t, l, c.ID)
				for _, e := range events {
					if e.scope != 0 && (expr.MatchString(e.text) || expr.MatchString(c.Title)) && !e.own {
						want[fmt.Sprint(c.ID, e.number)] = strings.TrimFunc(e.text, basetext.IsSpace)
					}
				}
			}
			m, err := newest(t.Context(), l, messageQuery{Text: text, Limit: 10_000, Own: ownTool})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, message := range m.Messages {
				got[fmt.Sprint(message.Conversation.ID, message.Position.Event)] = message.Text
			}
			if diff := cmp.Diff(want, got); diff != "" || m.Total != len(want) {
				t.Fatalf("seed %d, %q: %d in all (-want +got)\n%s", seed, text, m.Total, diff)
			}
		}
	}
}

// Of many matches only the first are counted.
func TestCounting(t *testing.T) {
	t.Parallel()
	const all = 3100
	s := &messageStore{chats: []chat{{}}}
	s.chats[0].ID = "memory-a"
	for range all {
		s.chats[0].events = append(s.chats[0].events, said{kind: transcript.KindUser, text: "a tide"})
	}
	l := messagesLibrary([]*messageStore{s})
	q := messageQuery{Text: "tide", Limit: 3}
	m, err := newest(t.Context(), l, q)
	if err != nil || len(m.Messages) != 3 || !m.More || !m.AtLeast || m.Total < 3 || m.Total >= all {
		t.Errorf("%d messages of %d (at least: %t, more: %t), %v", len(m.Messages), m.Total, m.AtLeast, m.More, err)
	}
}

// What cannot be read costs itself, and is told.
func TestMessagesBesideProblems(t *testing.T) {
	t.Parallel()
	good, bad, broken := &messageStore{}, &messageStore{err: errors.New("no")}, &messageStore{}
	broken.memoryStore.err = errors.New("locked")
	c := chat{events: []said{{kind: transcript.KindUser, text: "x"}}, err: &store.DamageError{Event: 1, Err: errors.New("cut")}}
	c.ID = "memory-1"
	good.chats = []chat{c}
	m, err := newest(t.Context(), messagesLibrary([]*messageStore{good, bad, broken}), messageQuery{Limit: 1})
	if err != nil || len(m.Messages) != 1 {
		t.Fatal(m, err)
	}
	var got []string
	for _, p := range m.Problems {
		got = append(got, fmt.Sprintf("%s %d %v", p.ID, p.Kind, p.Err))
	}
	slices.Sort(got)
	want := []string{fmt.Sprintf(" %d locked", store.Unreadable), fmt.Sprintf(" %d no", store.Unreadable), fmt.Sprintf("memory-1 %d cut", store.DamagedEvents)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A text that is longer than asked for is counted whole, and only its beginning is held.
func TestTextOfAMessageIsCut(t *testing.T) {
	t.Parallel()
	s := &messageStore{}
	c := chat{events: []said{{kind: transcript.KindUser, text: "\u2028 été " + strings.Repeat("天", 1_000_000) + " \x1f"}}}
	c.ID = "memory-1"
	s.chats = []chat{c}
	m, err := newest(t.Context(), messagesLibrary([]*messageStore{s}), messageQuery{Text: "天", Limit: 1, MaxText: 5})
	if err != nil || len(m.Messages) != 1 || m.Messages[0].Text != "été 天" || m.Messages[0].Chars != 1_000_004 {
		t.Errorf("%+v, %v", m, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newest(ctx, messagesLibrary([]*messageStore{s}), messageQuery{Text: "x", Limit: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// Long texts are searched in parts: a match may stand across the border of two.
func TestMatchBetweenParts(t *testing.T) {
	t.Parallel()
	s := &messageStore{}
	c := chat{}
	c.ID = "memory-1"
	for i := range 12 {
		c.events = append(c.events, said{kind: transcript.KindUser, text: strings.Repeat("a", 1<<20-i) + "\u212aELVIN" + strings.Repeat("b", 1<<10)})
	}
	s.chats = []chat{c}
	m, err := newest(t.Context(), messagesLibrary([]*messageStore{s}), messageQuery{Text: "kelvin", Limit: 1})
	if err != nil || m.Total != len(c.events) {
		t.Errorf("%d match, %v", m.Total, err)
	}
}

// A search that is cancelled stops: each of its readers takes one more event at the most.
func TestMessagesStop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var read, after atomic.Int64
	s := &messageStore{next: func() {
		if read.Add(1) == 100 {
			cancel()
		}
		if ctx.Err() != nil {
			after.Add(1)
		}
	}}
	for i := range 50 {
		c := chat{events: make([]said, 1000)}
		c.ID = transcript.ID(fmt.Sprintf("memory-%02d", i))
		for i := range c.events {
			c.events[i] = said{kind: transcript.KindUser, text: "text"}
		}
		s.chats = append(s.chats, c)
	}
	m, err := newest(ctx, messagesLibrary([]*messageStore{s}), messageQuery{Text: "text", Limit: 5})
	if !errors.Is(err, context.Canceled) || after.Load() > int64(runtime.GOMAXPROCS(0))+1 {
		t.Errorf("%d events were read after it was cancelled; %+v, %v", after.Load(), m, err)
	}
}
