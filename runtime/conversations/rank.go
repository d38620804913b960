package conversations

import (
	"cmp"
	"context"
	"slices"

	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/index/terms"
	"github.com/convtools/convtools/runtime/transcript"
)

// How messages are ranked. What a rule is worth is how many points go without it, measured by
// make recall with four pairs of LoCoMo (755 questions: all evidence on the page; right
// conversation first) and with 50 coding sessions (99 commits: right session first; among five).
//
//	rule                          all   first   sessions: first   five
//	messages beside one          10.0     0.1              0.0    0.0
//	share of the conversation     1.1     0.0              0.0    0.0
//	power of rare words           0.6    -0.1              0.0   -1.0
//	words side by side            0.6     1.3              2.0    2.0
//	coverage of the words         0.0     0.3              0.0   -1.0
//	five best, not one (Best)     0.2     4.9              5.1    4.0
//	often apart from once         0.3    -0.3              5.1    3.0
//	results count a tenth         0.0     0.0              3.0    5.0
const (
	// idfPower makes rare words count for more than BM25 has them.
	idfPower = 1.2
	// besideOne and besideTwo are the shares of their scores that the messages next to one, and
	// next but one, add to it.
	besideOne, besideTwo = 0.5, 0.25
	// conversationShare is the share of the best score in its conversation that a message has too.
	conversationShare = 0.3
	// coverage is what the weight of a word counts in the score of a conversation that has it anywhere:
	// one that has all words ranks before one that has the same one often.
	coverage = 0.05
	// resultCounts is what a tool's result counts, which holds many words that nobody meant.
	resultCounts = 0.1
	// answerShare is the share of the score of a request that the last statement before the next one
	// has, where the rules of messages beside one do not reach it. Of twelve questions about long
	// conversations the first page answers 12 in place of 11; no figure above changes.
	answerShare = 0.3
	// asideCounts is what reasoning, calls and inquiries count among the passages of a conversation:
	// they hold ideas that were dropped, and what was said after them says more in fewer words. It
	// changes no figure above; of twelve questions about long conversations the first page answers
	// 11 in place of 10, and is a sixth shorter. Of the score of a conversation it would cost 7
	// points of the right session among five.
	asideCounts = 0.6
	// commonShare is the share of all messages from which on a word only adds to others.
	commonShare = 0.25
	// lookAt is in how many conversations passages are looked for, and readAt how many events are
	// read for them.
	lookAt, readAt = 24, 96
	// latestShare is the share of the best score in its conversation that the latest statement has.
	latestShare = 0.65
	// shortReply is how many bytes a reply to a question of the assistant has that is shown beside
	// it, and replyCounts the share of the score of the question that it has. With LoCoMo it costs
	// nothing; 160 bytes cost 0.2 points of some evidence on the page.
	shortReply, replyCounts = 120, 0.99
	// shortAnswer is how many bytes a reply has that ranks by itself and is shown with what the
	// assistant said before it.
	shortAnswer = 50
	// readAhead is how many bytes of an event are looked at for passages.
	readAhead = 1 << 20
)

// ranking is an answer in the making.
type ranking struct {
	query   *SearchQuery
	result  *Results
	terms   *terms.Reader
	phrases []string
	words   []rankWord
	asks    index.RankQuery // of every index, but for what differs
}

// rankWord is a term of a question.
type rankWord struct {
	term, word string
	of         int // its place among the words of the result
}

// rank finds the passages that answer a question best.
func (r *ranking) rank(ctx context.Context) error {
	if err := r.weigh(); err != nil {
		return err
	}
	if err := r.spell(ctx); err != nil {
		return err
	}
	found, err := r.conversations(ctx)
	if err != nil {
		return err
	}
	return r.passages(ctx, found)
}

// ranked is a conversation with what is known of its messages.
type ranked struct {
	*Matched
	in       *source
	covered  float64          // [index.Ranked.Covered]
	messages []*rankedMessage // all, by their numbers
}

// kindCounts is what the score of a message of a kind counts.
func kindCounts(kind uint8) float32 {
	if kindOf(kind) == transcript.KindToolResult {
		return resultCounts
	}
	return 1
}

// conversations returns the conversations that rank highest.
func (r *ranking) conversations(ctx context.Context) ([]*ranked, error) {
	var all []*ranked
	for _, s := range r.result.asked.sources {
		holding, err := r.holding(ctx, s)
		if err != nil {
			return nil, err
		}
		q := r.asks
		q.Filter = r.query.inIndex(s)
		if holding != nil || r.query.Events != (EventRange{}) {
			q.Holds = func(key string, number uint32) bool {
				return r.inRange(number) && (holding == nil || holding[messageKey{key, number}])
			}
		}
		found, err := s.view.Rank(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range found {
			all = append(all, r.ranked(s, &found[i]))
		}
	}
	slices.SortStableFunc(all, func(a, b *ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.LastEventAt.Compare(a.LastEventAt), b.ID.Compare(a.ID))
	})
	return all[:min(len(all), lookAt)], nil
}

// ranked returns a conversation of an index that ranks high.
func (r *ranking) ranked(in *source, of *index.Ranked) *ranked {
	c := &ranked{Matched: in.matched(of.Conversation), in: in, covered: float64(of.Covered)}
	for _, m := range of.Messages {
		if m.Number > 0 && (m.Kind < copiedKind || len(r.query.IDs) > 0) {
			c.messages = append(c.messages, &rankedMessage{Scored: m, of: c, place: len(c.messages), own: float64(m.Score)})
		}
	}
	c.Score = c.sum()
	return c
}

// inRange reports whether a query asks for events with a number.
func (r *ranking) inRange(number uint32) bool {
	return r.query.Events == EventRange{} || r.query.Events.Has(int(number))
}

type messageKey struct {
	key    string
	number uint32
}

// holding returns the messages that hold all phrases; nil where there are no phrases.
func (r *ranking) holding(ctx context.Context, s *source) (all map[messageKey]bool, err error) {
	for _, phrase := range r.phrases {
		p := excerpt.Literal(phrase, true)
		found := map[messageKey]bool{}
		q := index.Query{Text: p.Required(), Find: p.Find, TextOnly: true, Filter: r.query.inIndex(s)}
		for hit, err := range s.view.Search(ctx, q) {
			if err != nil {
				return nil, err
			}
			if key := (messageKey{hit.Key, hit.Number}); all == nil || all[key] {
				found[key] = true
			}
		}
		if all = found; len(all) == 0 {
			break
		}
	}
	return all, nil
}
