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
	// idfPower raises the weight of rare words above that of BM25.
	idfPower = 1.2
	// besideOne and besideTwo are the shares of the scores of the messages next to a message, and next but one, that
	// are added to its score.
	besideOne, besideTwo = 0.5, 0.25
	// conversationShare is the share of the best score in its conversation that is added to a message's score.
	conversationShare = 0.3
	// coverage is the share of a word's weight in the score of a conversation that has the word: a conversation with
	// all words ranks before one with the same word often.
	coverage = 0.05
	// resultCounts is the factor of a tool's result in the score of a conversation: it has many words by chance.
	// Among the passages it would cost: of 59 questions the pages have 46 and 34 percent of the answers' words instead
	// of 41 and 32.
	resultCounts = 0.1
	// answerShare is the share of a request's score that is added to the last statement before the next request, if
	// the messages beside it do not reach that. Of twelve questions about long conversations the first page answers
	// 12 instead of 11; no figure above changes.
	answerShare = 0.3
	// asideCounts is the factor, among the passages of a conversation, of all that is neither a request nor its
	// outcome: work has ideas that were dropped. It changes no figure above; of twelve questions about long
	// conversations the first page answers 11 instead of 10, and is a sixth shorter. In the score of a conversation it
	// would cost 7 points of the right session among five.
	asideCounts = 0.6
	// commonShare is the share of all messages from which a word only adds to the score of messages with rarer words.
	commonShare = 0.25
	// lookAt is the number of conversations in which passages are looked for, and readAt the number of events that
	// are read for them.
	lookAt, readAt = 24, 96
	// latestShare is the share of the best score in its conversation that the latest statement needs.
	latestShare = 0.65
	// shortReply is the most bytes of a reply that is shown beside the assistant's question, and replyCounts its share
	// of the question's score. With LoCoMo it costs nothing; 160 bytes cost 0.2 points of some evidence on the page.
	shortReply, replyCounts = 120, 0.99
	// shortAnswer is the most bytes of a reply that ranks by itself and is shown with the assistant's message before
	// it.
	shortAnswer = 50
	// readAhead is the number of bytes of an event in which passages are looked for.
	readAhead = 1 << 20
)

// ranking is a ranked answer in progress.
type ranking struct {
	query   *SearchQuery
	result  *Results
	terms   *terms.Reader
	phrases []string
	words   []rankWord
	asks    index.RankQuery // the query for every index, without Filter and Holds
}

// rankWord is a term of a question, and the word in the question that has it.
type rankWord struct{ term, word string }

// rank adds the best passages for the question to the results, or the best commands if only commands are asked for.
func (r *ranking) rank(ctx context.Context) error {
	if err := r.setWeights(); err != nil {
		return err
	}
	if err := r.clearMissing(ctx); err != nil {
		return err
	}
	if onlyCommands := r.query.Commands && r.query.Scopes == 0 && !r.query.Errors; onlyCommands {
		return r.commands(ctx)
	}
	found, err := r.conversations(ctx)
	if err != nil {
		return err
	}
	return r.passages(ctx, found)
}

// ranked is a conversation with its messages.
type ranked struct {
	*Matched
	in       *source
	entry    *index.Conversation
	covered  float64          // as [index.Ranked.Covered]
	messages []*rankedMessage // all but copied ones, by their numbers
}

// kindCounts returns the factor of the score of messages of a kind.
func kindCounts(kind uint8) float32 {
	if kindOf(kind) == transcript.KindToolResult {
		return resultCounts
	}
	return 1
}

// conversations returns the conversations of all indexes that rank highest, at most lookAt, the best first.
func (r *ranking) conversations(ctx context.Context) ([]*ranked, error) {
	var found []*ranked
	for _, s := range r.result.query.sources {
		holding, err := r.holding(ctx, s) // the messages with all phrases of the question; nil if it has no phrases
		if err != nil {
			return nil, err
		}
		q := r.asks
		q.Filter = r.query.indexFilter(s)
		if holding != nil || r.query.Events != (EventRange{}) {
			q.Holds = func(key string, number uint32) bool {
				return r.inRange(number) && (holding == nil || holding[messageKey{key, number}])
			}
		}
		inIndex, err := s.view.Rank(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range inIndex {
			found = append(found, r.newRanked(s, &inIndex[i]))
		}
	}
	slices.SortStableFunc(found, func(a, b *ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.LastEventAt.Compare(a.LastEventAt), b.ID.Compare(a.ID))
	})
	return found[:min(len(found), lookAt)], nil
}

// newRanked returns a conversation that the index of a source has ranked. Unless the query names conversations, it leaves
// out copies of messages of another conversation: they match in that conversation.
func (r *ranking) newRanked(s *source, inIndex *index.Ranked) *ranked {
	c := &ranked{Matched: s.matched(inIndex.Conversation), in: s, entry: inIndex.Conversation, covered: float64(inIndex.Covered)}
	all := make([]rankedMessage, len(inIndex.Messages))
	for i, m := range inIndex.Messages {
		isTitle, isCopy := m.Number == 0, m.Kind >= copiedKind
		if !isTitle && (!isCopy || len(r.query.IDs) > 0) {
			all[i] = rankedMessage{Scored: m, conversation: c, place: len(c.messages), own: float64(m.Score)}
			c.messages = append(c.messages, &all[i])
		}
	}
	c.Score = c.sum()
	return c
}

// inRange reports whether an event with a number is in the range of the query.
func (r *ranking) inRange(number uint32) bool {
	return r.query.Events == EventRange{} || r.query.Events.Has(int(number))
}

type messageKey struct {
	key    string
	number uint32
}

// holding returns the messages of a source that have all phrases of the question; nil if the question has none.
func (r *ranking) holding(ctx context.Context, s *source) (holding map[messageKey]bool, err error) {
	for _, phrase := range r.phrases {
		p := excerpt.Literal(phrase, true)
		found := map[messageKey]bool{}
		q := index.Query{Text: p.Required(), Has: p.HasRequired, TextOnly: true, Filter: r.query.indexFilter(s)}
		for hit, err := range s.view.Search(ctx, q) {
			if err != nil {
				return nil, err
			}
			key := messageKey{hit.Key, hit.Number}
			if isFirstPhrase := holding == nil; isFirstPhrase || holding[key] {
				found[key] = true
			}
		}
		holding = found
		if len(holding) == 0 {
			break
		}
	}
	return holding, nil
}
