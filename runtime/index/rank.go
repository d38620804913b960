package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"
)

// Spread has the number and the size of messages, and of some terms the number of messages that have each.
type Spread struct {
	Messages int
	Bytes    int64 // the size of the stored texts
	With     []int // number of messages with a term, in the order of the terms
}

// Add adds the spread of the same terms in another index.
func (s *Spread) Add(other Spread) {
	s.Messages, s.Bytes = s.Messages+other.Messages, s.Bytes+other.Bytes
	for i, n := range other.With {
		s.With[i] += n
	}
}

// Spread returns how many messages have each of some terms, and the number and size of all messages. It also counts the
// messages of removed conversations that are still in a segment, which is exact enough for weights.
func (v *View) Spread(terms []string) (spread Spread, err error) {
	spread.With = make([]int, len(terms))
	err = v.index.guard(func() error {
		for _, s := range v.scans(&Query{}) {
			s.prepare()
			spread.Messages += int(s.messages)
			spread.Bytes += int64(s.Sections[secTexts].Size) //nolint:gosec // of a file
			for n, term := range terms {
				spread.With[n] += int(s.list(hasTerm | termKey(term)).count)
			}
		}
		return nil
	})
	return spread, err
}

// RankQuery asks for the conversations with the most and the rarest of some terms in their messages.
type RankQuery struct {
	Filter
	Terms    []RankTerm // at most 64
	Most     int        // the maximum number of conversations in the result
	Coverage float32    // the factor of the weight of each term that a conversation has in any message
	Average  float64    // the average number of stored bytes of a message
	// Counts returns the factor of the scores of messages of a kind.
	Counts func(kind uint8) float32
	// Excludes, if not nil, reports by its kind and its extra data whether a message gets no score.
	Excludes func(kind uint8, extra []byte) bool
	// Holds, if not nil, reports by the key of its conversation and its number whether a message may get a score.
	Holds func(key string, number uint32) bool
}

// RankTerm is a term, as package terms returns it, with its weight. A Common term gives no score to a message without a
// term that is not Common.
type RankTerm struct {
	Text   string
	Weight float64
	Common bool
}

// Ranked is a conversation in the result of Rank: a message of it has a score.
type Ranked struct {
	*Conversation
	Messages []Scored // all, by their numbers
	Covered  float32  // the sum of the weights of the terms that its messages with a score have, each term once
}

// Scored is a message with its BM25 score: 0 if it has no term, or if the query excludes it.
type Scored struct {
	Number uint32
	Kind   uint8
	Score  float32
	Time   time.Time

	segment *segment
	message uint32
}

// Read returns the text and the extra data of a message that the view returned.
func (v *View) Read(m Scored) (text, extra []byte, err error) {
	err = v.index.guard(func() error {
		t := m.segment.texts()
		text, extra = t.read(m.message), t.extra(m.message)
		return nil
	})
	return text, extra, err
}

// Extra returns the extra data of a message that the view returned.
func (v *View) Extra(m Scored) (extra []byte, err error) {
	err = v.index.guard(func() error {
		t := m.segment.texts()
		extra = t.extra(m.message)
		return nil
	})
	return extra, err
}

// Best has the best scores of a conversation, highest first. Each counts half as much as the one before.
type Best [5]float32

// Add inserts a score in its place, and drops the lowest one.
func (b *Best) Add(score float32) {
	for i := range b {
		if score > b[i] {
			score, b[i] = b[i], score
		}
	}
}

// Sum returns the score of the conversation: each score counts half as much as the score before.
func (b *Best) Sum() (sum float32) {
	share := float32(1)
	for _, score := range b {
		sum += share * score
		share /= 2
	}
	return sum
}

// Idf returns the weight of a term that is in with of all messages: the rarer, the more.
func Idf(with, all int) float64 {
	return math.Log(1 + (float64(all-min(with, all))+0.5)/(float64(with)+0.5))
}

// The constants of BM25 for the length of a message and the frequency of a term.
const (
	bm25K1 = 1.2
	bm25B  = 0.6
	// onceCounts and oftenCounts are the assumed frequencies of a term that is in a message, or is often in it.
	onceCounts, oftenCounts = 1.1, 3.6
)

// Rank returns the conversations with the best messages, best first. Of conversations with the same score, that with the
// newest message with a score comes first.
func (v *View) Rank(ctx context.Context, q RankQuery) (ranked []Ranked, err error) {
	err = v.index.guard(func() error {
		r := &ranking{query: &q, view: v, standings: make([]standing, len(v.Conversations)), scores: map[*segment][]float32{}}
		for _, s := range v.scans(&Query{Filter: q.Filter}) {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.scoreSegment(s)
		}
		ranked = r.messages(r.best())
		return ctx.Err()
	})
	return ranked, err
}

// Occurs reports whether a term is in any message that the query can score. It ignores q.Terms and q.Holds.
func (v *View) Occurs(ctx context.Context, q RankQuery, term string) (found bool, err error) {
	q.Holds = nil
	err = v.index.guard(func() error {
		for _, s := range v.scans(&Query{Filter: q.Filter}) {
			if err := ctx.Err(); err != nil {
				return err
			}
			s.prepare()
			for c := s.cursor(hasTerm | termKey(term)); c.document < s.to; c.next() {
				if c.document >= s.next && s.ranks(&q, c.document) { // those before s.next are too new for the filter
					found = true
					return nil
				}
			}
		}
		return nil
	})
	return found, err
}

// ranks reports whether a message may get a score, whatever its terms are.
func (s *scan) ranks(q *RankQuery, n uint32) bool {
	return s.passes(n) && (q.Holds == nil || q.Holds(s.conversation(n).Key, s.rows.number(n))) &&
		(q.Excludes == nil || !q.Excludes(s.rows.kind(n), s.extra(n)))
}

// ranking is the state of a call of Rank.
type ranking struct {
	query     *RankQuery
	view      *View
	standings []standing             // by conversation
	scores    map[*segment][]float32 // by message; nil if none has a term that is not common
	weighed   []weighed              // of the last segment
}

// standing is the result for a conversation.
type standing struct {
	Best
	terms   uint64    // of its messages with a score: bit i is for the query's term i
	newest  time.Time // of its messages with a score in the first segment that has one
	covered float32   // [Ranked.Covered]; best sets covered and score
	score   float32
}

// weighed has the terms of a message.
type weighed struct {
	once, often float32 // sums of the weights of the terms that the message has once or twice, and often
	terms       uint64  // bit i is for the query's term i
	rare        bool    // one of the terms is not common
}

// scoreSegment scores the messages of a segment, and adds the scores to the standings of their conversations.
func (r *ranking) scoreSegment(s *scan) {
	s.prepare()
	isHere := func(term RankTerm) bool { return !term.Common && s.list(hasTerm|termKey(term.Text)).count > 0 }
	if !slices.ContainsFunc(r.query.Terms, isHere) {
		return // no message gets a score
	}
	messages, scores := r.weigh(s), make([]float32, s.messages)
	r.scores[s.segment] = scores
	for n := s.next; n < s.to; n++ {
		message := &messages[n]
		if !message.rare || !s.ranks(r.query, n) { // without rare, all terms of the message are common
			continue
		}
		from, end := s.rows.text(n)
		scores[n] = message.bm25(float32(end-from)/float32(r.query.Average)) * r.query.Counts(s.rows.kind(n))
		standing := &r.standings[s.conversation(n).number]
		if standing.Best[0] == 0 { // this is the first score, so the message is the newest: newer messages come first
			standing.newest = s.rows.time(n)
		}
		standing.terms |= message.terms
		standing.Add(scores[n])
	}
}

// weigh returns the terms and their weights of each message of a segment, up to the end of the scan's range. The result is
// valid until the next call. A term that a message has often is in two lists: its weight moves from once to often.
func (r *ranking) weigh(s *scan) []weighed {
	messages := slices.Grow(r.weighed[:0], int(s.messages))[:s.messages]
	clear(messages)
	r.weighed = messages
	for i, term := range r.query.Terms {
		weight, key := float32(term.Weight), termKey(term.Text)
		for c := s.cursor(hasTerm | key); c.document < s.to; c.next() {
			m := &messages[c.document]
			m.once += weight
			m.terms |= 1 << i
			m.rare = m.rare || !term.Common
		}
		for c := s.cursor(hasOften | key); c.document < s.to; c.next() {
			messages[c.document].once -= weight
			messages[c.document].often += weight
		}
	}
	return messages
}

// bm25 returns the BM25 score of a message, from its length divided by the average. The frequency of a term counts as
// onceCounts if the term's weight is in w.once, and as oftenCounts if it is in w.often.
func (w *weighed) bm25(length float32) float32 {
	norm := bm25K1 * (1 - bm25B + bm25B*length)
	return w.once*(onceCounts*(bm25K1+1)/(onceCounts+norm)) + w.often*(oftenCounts*(bm25K1+1)/(oftenCounts+norm))
}

// best returns the numbers of at most [RankQuery.Most] conversations with a score, best first.
func (r *ranking) best() (numbers []int) {
	for n := range r.standings {
		s := &r.standings[n]
		if s.Best[0] == 0 { // no message has a score
			continue
		}
		for i, term := range r.query.Terms {
			if s.terms>>i&1 != 0 {
				s.covered += float32(term.Weight)
			}
		}
		s.score = s.Sum() + r.query.Coverage*s.covered
		at, _ := slices.BinarySearchFunc(numbers, n, func(a, b int) int {
			first, second := &r.standings[a], &r.standings[b]
			return cmp.Or(cmp.Compare(second.score, first.score), compareTimes(first.newest, second.newest), cmp.Compare(a, b))
		})
		if at < r.query.Most {
			numbers = slices.Insert(numbers, at, n)
			numbers = numbers[:min(len(numbers), r.query.Most)]
		}
	}
	return numbers
}

// messages returns the conversations with some numbers, in this order, with all their messages.
func (r *ranking) messages(numbers []int) []Ranked {
	ranked := make([]Ranked, len(numbers))
	byConversation := map[*Conversation]*Ranked{}
	for i, n := range numbers {
		c := r.view.Conversations[n]
		ranked[i].Conversation, ranked[i].Covered = c, r.standings[n].covered
		byConversation[c] = &ranked[i]
	}
	for _, s := range r.view.segments {
		owners := make([]*Ranked, len(s.conversations)) // nil for other conversations
		for place, c := range s.conversations {
			owners[place] = byConversation[c]
		}
		t := s.segment.texts()
		for n := s.messages; n > 0; { // backwards: a segment has the newest messages first
			n--
			if owner := owners[t.rows.owner(n)]; owner != nil {
				m := t.scored(n)
				if scores := r.scores[s.segment]; scores != nil {
					m.Score = scores[n]
				}
				owner.Messages = append(owner.Messages, m)
			}
		}
	}
	for _, c := range ranked {
		slices.SortStableFunc(c.Messages, func(a, b Scored) int { return cmp.Compare(a.Number, b.Number) })
	}
	return ranked
}
