package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/bits"
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
// gone, and titles, count too: it is for statistics.
func (v *View) Spread(found []string) (spread Spread, err error) {
	spread.With = make([]int, len(found))
	err = guard(func(found []string) error {
		for i := range v.segments {
			s := &v.segments[i]
			spread.Messages += int(s.Messages)
			spread.Bytes += int64(s.Sections[secText].Size) //nolint:gosec // of a file
			for n, term := range found {
				l, err := s.list(hasTerm | gram(keyOf([]byte(term))))
				if err != nil {
					return err
				}
				spread.With[n] += int(l.count)
			}
		}
		return nil
	}, found)
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
	err = guard(func(ctx context.Context) error {
		scans, err := v.scans(&Query{Since: q.Since, Until: q.Until, Wanted: q.Wanted, Kinds: q.Kinds})
		if err != nil {
			return err
		}
		found := map[string]*Ranked{}
		for i, s := range scans {
			if s.done {
				continue
			}
			if err := s.rank(ctx, &q, uint32(i), found); err != nil { //nolint:gosec // a count
				return err
			}
		}
		for _, r := range found {
			slices.SortFunc(r.Messages, func(a, b Scored) int { return cmp.Compare(a.Number, b.Number) })
			ranked = append(ranked, *r)
		}
		return nil
	}, ctx)
	return ranked, err
}

// scores are the scores of the messages of a segment.
type scores struct {
	once, often []float32 // the sums of the weights of terms
	terms       []uint64
}

// rank adds the messages of a segment.
func (s *scan) rank(ctx context.Context, q *RankQuery, segment uint32, found map[string]*Ranked) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	with, err := s.score(q)
	if err != nil || with == nil {
		return err
	}
	if err := s.load(); err != nil {
		return err
	}
	if _, err := s.texts.codes(0); err != nil { // for where messages end
		return err
	}
	s.wanted = make([]uint8, s.Conversations)
	owners := make([]*Ranked, s.Conversations)
	const lookEvery = 4096
	for n := s.next; n < s.to; n++ {
		if n%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if with.terms[n] == 0 {
			continue
		}
		wanted, err := s.isRanked(q, n)
		if err != nil {
			return err
		}
		if !wanted {
			continue
		}
		owner := s.ownerOf(n)
		if owners[owner] == nil {
			c, err := s.conversationOf(n)
			if err != nil {
				return err
			}
			if found[c.Key] == nil {
				found[c.Key] = &Ranked{Conversation: c}
			}
			owners[owner] = found[c.Key]
		}
		m := s.scored(n, segment)
		m.Terms, m.Score = with.terms[n], with.of(n, s.length(n)/q.Average)
		owners[owner].Messages = append(owners[owner].Messages, m)
	}
	return nil
}

// scored returns a message without its score.
func (s *scan) scored(n, segment uint32) Scored {
	return Scored{
		Number: binary.LittleEndian.Uint32(s.numbers[4*n:]), Kind: s.kinds[n], Time: timeOf(s.time(n)),
		segment: segment, message: n,
	}
}

// length returns how many bytes are stored of a message.
func (s *scan) length(n uint32) float64 {
	from := uint32(0)
	if n > 0 {
		from = binary.LittleEndian.Uint32(s.texts.ends[4*(n-1):])
	}
	return float64(binary.LittleEndian.Uint32(s.texts.ends[4*n:]) - from)
}

// isRanked reports whether a query lets a message through.
func (s *scan) isRanked(q *RankQuery, n uint32) (bool, error) {
	kind := s.kinds[n]
	if q.Kinds>>(kind&63)&1 == 0 {
		return false, nil
	}
	if s.ownerOf(n) >= s.Conversations {
		return false, s.damaged()
	}
	wanted, err := s.isWanted(n)
	if !wanted || err != nil || q.IsApart == nil || q.ApartKinds>>(kind&63)&1 == 0 {
		return wanted, err
	}
	extra, err := s.texts.extra(n)
	return err == nil && !q.IsApart(kind, extra), err
}

// score adds up the weights of the terms that messages have; it returns nil where none of the
// messages has any.
func (s *scan) score(q *RankQuery) (*scores, error) {
	var with *scores
	lists := s.empty(nil)
	for _, common := range []bool{false, true} {
		for i, term := range q.Terms {
			if term.Common != common {
				continue
			}
			key := gram(keyOf([]byte(term.Text)))
			l, err := s.list(hasTerm | key)
			if err != nil {
				return nil, err
			}
			if l.count == 0 || common && with == nil {
				continue
			}
			if with == nil {
				with = &scores{make([]float32, s.Messages), make([]float32, s.Messages), make([]uint64, s.Messages)}
			}
			clear(lists)
			if err := s.add(lists, l); err != nil {
				return nil, err
			}
			bit := uint64(1) << min(i, 63)
			lists.each(s.Messages, func(n uint32) {
				if !common || with.terms[n] != 0 {
					with.once[n] += float32(term.Weight)
					with.terms[n] |= bit
				}
			})
			if l, err = s.list(hasOften | key); err != nil || l.count == 0 {
				if err != nil {
					return nil, err
				}
				continue
			}
			clear(lists)
			if err := s.add(lists, l); err != nil {
				return nil, err
			}
			lists.each(s.Messages, func(n uint32) {
				if with.terms[n]&bit != 0 {
					with.once[n] -= float32(term.Weight)
					with.often[n] += float32(term.Weight)
				}
			})
		}
	}
	return with, nil
}

// of returns the score of a message, which is so many times as long as others.
func (s *scores) of(n uint32, length float64) float32 {
	norm := bm25K1 * (1 - bm25B + bm25B*length)
	return s.once[n]*float32(onceCounts*(bm25K1+1)/(onceCounts+norm)) + s.often[n]*float32(oftenCounts*(bm25K1+1)/(oftenCounts+norm))
}

// each calls yield with each document of a set below most.
func (m set) each(most uint32, yield func(document uint32)) {
	for i, word := range m {
		for ; word != 0; word &= word - 1 {
			n := uint32(i*64 + bits.TrailingZeros64(word)) //nolint:gosec // of documents
			if n >= most {
				return
			}
			yield(n)
		}
	}
}

// Messages returns the messages of some conversations, by keys, in the order of their numbers.
func (v *View) Messages(ctx context.Context, keys []string) (messages map[string][]Scored, err error) {
	messages = map[string][]Scored{}
	err = guard(func(ctx context.Context) error {
		scans, err := v.scans(&Query{})
		if err != nil {
			return err
		}
		for i, s := range scans {
			owners := map[uint32]string{}
			for _, key := range keys {
				n, ok, err := s.find(key)
				if err != nil {
					return err
				}
				if ok && !s.Dead.has(n) {
					owners[n] = key
				}
			}
			if len(owners) == 0 {
				continue
			}
			if err := cmp.Or(ctx.Err(), s.load()); err != nil {
				return err
			}
			for n := range s.Messages {
				if key, ok := owners[s.ownerOf(n)]; ok {
					messages[key] = append(messages[key], s.scored(n, uint32(i))) //nolint:gosec // a count
				}
			}
		}
		for _, m := range messages {
			slices.SortStableFunc(m, func(a, b Scored) int { return cmp.Compare(a.Number, b.Number) })
		}
		return nil
	}, ctx)
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
	err = guard(func(m Scored) error {
		of := t.texts[m.segment]
		if of == nil {
			of = &texts{segment: &t.view.segments[m.segment]}
			t.texts[m.segment] = of
		}
		stored, err := of.stored(m.message)
		if err == nil {
			extra, text, err = of.split(stored)
		}
		return err
	}, m)
	return text, extra, err
}

// Idf returns how much a term weighs that some of all messages have: the rarer, the more.
func Idf(with, all int) float64 {
	return math.Log(1 + (float64(all-min(with, all))+0.5)/(float64(with)+0.5))
}
