package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"
)

// Spread is in how many of some messages terms are.
type Spread struct {
	Messages int
	Bytes    int64 // that are stored of them
	With     []int // by term
}

// Add adds the messages of another index.
func (s *Spread) Add(other Spread) {
	s.Messages, s.Bytes = s.Messages+other.Messages, s.Bytes+other.Bytes
	for i, n := range other.With {
		s.With[i] += n
	}
}

// Spread returns how many messages have each of some terms. Those of conversations that are
// gone count too: it is for statistics.
func (v *View) Spread(found []string) (spread Spread, err error) {
	spread.With = make([]int, len(found))
	err = guard(func() error {
		for _, s := range v.segments {
			spread.Messages += int(s.messages)
			spread.Bytes += int64(s.Sections[secTexts].Size) //nolint:gosec // of a file
			for n, term := range found {
				spread.With[n] += int(s.list(hasTerm | keyOf([]byte(term))).count)
			}
		}
		return nil
	})
	return spread, err
}

// RankQuery asks for the messages that have the most, and the rarest, of some terms.
type RankQuery struct {
	Terms []RankTerm
	// Average is how many bytes are stored of a message on average.
	Average float64
	// Kinds has a bit for each kind that is looked for.
	Kinds uint64
	// Since and Until, where they are not zero, are as in a [Query].
	Since, Until time.Time
	// Wanted is as in a [Query].
	Wanted func(*Conversation) bool
	// IsApart reports whether a message is left out, by what else is stored of it. It is asked
	// about those of the kinds in ApartKinds.
	IsApart    func(kind uint8, extra []byte) bool
	ApartKinds uint64
}

// RankTerm is a term as package terms has it, and how much it weighs. One that is Common is
// in so many messages that it only adds to those that have another one.
type RankTerm struct {
	Text   string
	Weight float64
	Common bool
}

// Ranked is a conversation with messages that have terms.
type Ranked struct {
	*Conversation
	Messages []Scored // by their numbers
}

// Scored is a message, with its score as BM25 has it, and a bit for each of the first 64 terms
// that it has.
type Scored struct {
	Number uint32
	Kind   uint8
	Score  float32
	Terms  uint64
	Time   time.Time

	segment, message uint32
}

// Length and frequency as they count in BM25: a message that is twice as long as others has
// each term for less, and one that has a term often has it for more.
const (
	bm25K1 = 1.2
	bm25B  = 0.6
	// onceCounts and oftenCounts are how often a message has a term, which is known to be
	// there, and to be there often.
	onceCounts, oftenCounts = 1.1, 3.6
)

// Rank returns the conversations with messages that have terms, in no order.
func (v *View) Rank(ctx context.Context, q RankQuery) (ranked []Ranked, err error) {
	err = guard(func() error {
		found := map[string]*Ranked{}
		for _, s := range v.scans(&Query{Since: q.Since, Until: q.Until, Wanted: q.Wanted}) {
			if err := ctx.Err(); err != nil {
				return err
			}
			s.rank(&q, found)
		}
		for _, r := range found {
			slices.SortFunc(r.Messages, compareNumbers)
			ranked = append(ranked, *r)
		}
		return nil
	})
	return ranked, err
}

func compareNumbers(a, b Scored) int { return cmp.Compare(a.Number, b.Number) }

// rank adds the messages of a segment.
func (s *scan) rank(q *RankQuery, found map[string]*Ranked) {
	with := s.weigh(q)
	if with == nil {
		return
	}
	s.load()
	ranked := make([]*Ranked, len(s.owners))
	for n := with.found.next(s.next, s.to); n < s.to; n = with.found.next(n+1, s.to) {
		kind, c := s.rows.kind(n), s.of(n)
		if q.Kinds>>(kind&63)&1 == 0 || !c.wanted || q.IsApart != nil && q.ApartKinds>>(kind&63)&1 != 0 && q.IsApart(kind, s.extra(n)) {
			continue
		}
		to := &ranked[s.rows.owner(n)]
		if *to == nil {
			if *to = found[c.Key]; *to == nil {
				*to = &Ranked{Conversation: c.Conversation}
				found[c.Key] = *to
			}
		}
		m := s.scored(n)
		from, end := s.rows.text(n)
		m.Terms, m.Score = with.terms[n], with.score(n, float64(end-from)/q.Average)
		(*to).Messages = append((*to).Messages, m)
	}
}

// scored returns a message without its score.
func (s *scan) scored(n uint32) Scored {
	return Scored{Number: s.rows.number(n), Kind: s.rows.kind(n), Time: s.rows.time(n), segment: s.number, message: n}
}

// weights are which terms the messages of a segment have.
type weights struct {
	found       set
	once, often []float32 // the sums of the weights of terms, by message
	terms       []uint64
}

// weigh adds up the weights of the terms that messages have; it returns nil where none of the
// messages has any. Common terms come last.
func (s *scan) weigh(q *RankQuery) (with *weights) {
	for _, common := range []bool{false, true} {
		for i, term := range q.Terms {
			key := keyOf([]byte(term.Text))
			l := s.list(hasTerm | key)
			if term.Common != common || l.count == 0 || common && with == nil {
				continue
			}
			if with == nil {
				with = &weights{newSet(s.messages), make([]float32, s.messages), make([]float32, s.messages), make([]uint64, s.messages)}
			}
			bit, weight := uint64(1)<<min(i, 63), float32(term.Weight)
			s.each(l, func(n uint32) {
				if !common {
					with.found.add(n)
				}
				with.once[n] += weight
				with.terms[n] |= bit
			})
			s.each(s.list(hasOften|key), func(n uint32) {
				with.once[n] -= weight
				with.often[n] += weight
			})
		}
	}
	return with
}

// each calls yield with each message of a list.
func (s *scan) each(l list, yield func(message uint32)) {
	if l.count == 0 {
		return
	}
	all := newSet(s.messages)
	s.addList(all, l)
	for n := all.next(0, s.messages); n < s.messages; n = all.next(n+1, s.messages) {
		yield(n)
	}
}

// score returns the score of a message, which is so many times as long as others.
func (w *weights) score(n uint32, length float64) float32 {
	norm := bm25K1 * (1 - bm25B + bm25B*length)
	return w.once[n]*float32(onceCounts*(bm25K1+1)/(onceCounts+norm)) + w.often[n]*float32(oftenCounts*(bm25K1+1)/(oftenCounts+norm))
}

// Messages returns the messages of some conversations, by keys, in the order of their numbers.
func (v *View) Messages(ctx context.Context, keys []string) (messages map[string][]Scored, err error) {
	messages = map[string][]Scored{}
	err = guard(func() error {
		of := map[uint32]string{}
		for _, key := range keys {
			if n, ok := v.find(key); ok {
				of[n] = key
			}
		}
		for _, s := range v.scans(&Query{}) {
			if err := ctx.Err(); err != nil {
				return err
			}
			numbers := s.numbers()
			if !slices.ContainsFunc(numbers, func(n uint32) bool { return of[n] != "" }) {
				continue
			}
			s.load()
			for n := range s.messages {
				if key := of[numbers[s.owner(n)]]; key != "" {
					messages[key] = append(messages[key], s.scored(n))
				}
			}
		}
		for _, m := range messages {
			slices.SortStableFunc(m, compareNumbers)
		}
		return nil
	})
	return messages, err
}

// Texts reads the texts of messages of a view. It is for one goroutine.
type Texts struct {
	view  *View
	texts map[uint32]*texts
}

// Texts returns what reads the texts of messages.
func (v *View) Texts() *Texts { return &Texts{v, map[uint32]*texts{}} }

// Read returns the text of a message that Rank or Messages of the view returned, and what else is
// stored of it. They are valid until the next call.
func (t *Texts) Read(m Scored) (text, extra []byte, err error) {
	err = guard(func() error {
		of := t.texts[m.segment]
		if of == nil {
			of = &texts{segment: t.view.segments[m.segment]}
			t.texts[m.segment] = of
		}
		text, extra = of.read(m.message), of.extra(m.message)
		return nil
	})
	return text, extra, err
}

// Idf returns how much a term weighs that some of all messages have: the rarer, the more.
func Idf(with, all int) float64 {
	return math.Log(1 + (float64(all-min(with, all))+0.5)/(float64(with)+0.5))
}
