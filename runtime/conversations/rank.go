package conversations

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
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
	terms   *terms.Reader
	phrases []string
	words   []rankWord
	result  *Results
}

// rankWord is a term of a question.
type rankWord struct {
	term, word string
}

// parse reads the question.
func (r *ranking) parse() {
	rest := strings.ToValidUTF8(r.query.Question, "\ufffd")
	var quoted []string
	var words strings.Builder
	for len(quoted) < maxPhrases {
		before, after, ok := strings.Cut(rest, `"`)
		phrase, behind, closed := strings.Cut(after, `"`)
		if !ok || !closed {
			break
		}
		if phrase = strings.TrimSpace(phrase); phrase != "" && !slices.Contains(quoted, phrase) {
			quoted = append(quoted, phrase)
		}
		words.WriteString(before + " " + phrase + " ")
		rest = behind
	}
	r.phrases = quoted
	rest = words.String() + rest
	seen := map[string]bool{}
	for _, all := range []bool{false, true} {
		text := []byte(rest)
		r.terms.Each(text, func(term []byte, at int) {
			if t := string(term); !seen[t] && (all || !r.terms.IsFunctionWord(t)) && len(r.words) < maxRankWords {
				seen[t] = true
				r.words = append(r.words, rankWord{t, wordAt(text, at)})
			}
		})
		if len(r.words) > 0 {
			return
		}
	}
}

// maxPhrases is how many different phrases of a question have to be in a passage's event: quotes after
// them are read as words.
const maxPhrases = 8

// maxRankWords is how many different terms of a question are looked for.
const maxRankWords = 64

// wordAt returns the word that begins at a place, as it is written.
func wordAt(s []byte, at int) string {
	word := string(s[at:])
	if i := strings.IndexFunc(word, func(r rune) bool { return text.IsSpace(r) || strings.ContainsRune(`,;:!?()"`, r) }); i > 0 {
		word = word[:i]
	}
	return strings.TrimRight(word, ".'")
}

// rank finds the passages that answer a question best.
func (l *Library) rank(ctx context.Context, q *SearchQuery, result *Results) (err error) {
	r := ranking{query: q, terms: terms.NewReader(l.language), result: result}
	result.terms = r.terms
	if r.parse(); len(r.words) == 0 {
		return nil
	}
	if result.opened, err = l.views(ctx, &q.Filter, false, &result.Aside); err != nil {
		return err
	}
	total, err := r.weigh()
	if err != nil {
		return err
	}
	found, err := r.conversations(ctx, total)
	if err != nil {
		return err
	}
	if err := r.spell(ctx, total); err != nil {
		return err
	}
	return r.passages(ctx, found)
}

// weigh finds out how much the words weigh, and returns how many messages there are, of how
// many bytes.
func (r *ranking) weigh() (index.Spread, error) {
	asked := make([]string, len(r.words))
	for i, w := range r.words {
		asked[i] = w.term
	}
	total := index.Spread{With: make([]int, len(asked))}
	for _, s := range r.result.opened {
		spread, err := s.index.Spread(asked)
		if err != nil {
			return total, err
		}
		total.Add(spread)
	}
	r.result.weights = excerpt.Weights{}
	for i, w := range r.words {
		n := total.With[i]
		r.result.weights[w.term] = math.Pow(index.Idf(n, total.Messages), idfPower)
		const rare = 20 // of so many events one has it
		word := Word{Word: w.word, Term: w.term, Events: n, Rare: n*rare <= total.Messages || n <= 2}
		if i := slices.IndexFunc(r.result.Words, func(o Word) bool { return o.Word == word.Word }); i < 0 {
			r.result.Words = append(r.result.Words, word)
		}
	}
	return total, nil
}

// ranked is a conversation with what is known of its messages.
type ranked struct {
	*Matched
	in       *view
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

// asks returns the query of an index.
func (r *ranking) asks(total index.Spread) index.RankQuery {
	q := index.RankQuery{
		Most: lookAt, Coverage: float32(coverage), Kinds: r.query.kinds(), Counts: kindCounts, ApartKinds: toolKinds | toolKinds<<copiedKind,
		Average: float64(total.Bytes) / float64(max(total.Messages, 1)),
	}
	rare := false
	for i, w := range r.words {
		t := index.RankTerm{Text: w.term, Weight: r.result.weights[w.term], Common: float64(total.With[i]) > commonShare*float64(total.Messages)}
		rare = rare || !t.Common && total.With[i] > 0
		q.Terms = append(q.Terms, t)
	}
	for i := range q.Terms {
		q.Terms[i].Common = q.Terms[i].Common && rare
	}
	q.Since, q.Until = r.query.between()
	if r.query.Own != nil {
		q.IsApart = r.query.isOwn
	}
	return q
}

// conversations returns the conversations that rank highest.
func (r *ranking) conversations(ctx context.Context, total index.Spread) ([]*ranked, error) {
	q := r.asks(total)
	if err := r.missing(ctx, q); err != nil {
		return nil, err
	}
	var all []*ranked
	for _, s := range r.result.opened {
		holding, err := r.holding(ctx, s)
		if err != nil {
			return nil, err
		}
		q.Wanted, q.Holds = s.filter(), nil
		if holding != nil || r.query.Events != (EventRange{}) {
			q.Holds = func(key string, number uint32) bool {
				return r.inRange(number) && (holding == nil || holding[messageKey{key, number}])
			}
		}
		found, err := s.index.Rank(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if c := r.ranked(s, &f); !slices.ContainsFunc(all, func(o *ranked) bool { return o.ID == c.ID }) {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.LastEventAt.Compare(a.LastEventAt), b.ID.Compare(a.ID))
	})
	return all[:min(len(all), lookAt)], nil
}

// ranked returns a conversation of an index that ranks high.
func (r *ranking) ranked(in *view, of *index.Ranked) *ranked {
	c := &ranked{Matched: in.matched(of.Conversation), in: in, covered: float64(of.Covered)}
	for _, m := range of.Messages {
		if m.Number > 0 && (m.Kind < copiedKind || len(r.query.IDs) > 0) {
			c.messages = append(c.messages, &rankedMessage{Scored: m, of: c, place: len(c.messages), own: float64(m.Score)})
		}
	}
	c.Score = c.sum()
	return c
}

// missing finds the words that are in nothing of what is searched: the indexes have other
// conversations too.
func (r *ranking) missing(ctx context.Context, q index.RankQuery) error {
	for i, w := range r.words {
		at := slices.IndexFunc(r.result.Words, func(o Word) bool { return o.Word == w.word })
		word := &r.result.Words[at]
		if q.Terms[i].Common || word.Events == 0 || word.Term != w.term {
			continue
		}
		if there, err := r.occurs(ctx, q, w.term); err != nil {
			return err
		} else if !there {
			word.Events = 0
		}
	}
	return nil
}

// occurs reports whether a term is in what is searched.
func (r *ranking) occurs(ctx context.Context, q index.RankQuery, term string) (bool, error) {
	for _, s := range r.result.opened {
		q.Wanted = s.filter()
		if there, err := s.index.Occurs(ctx, q, term); there || err != nil {
			return there, err
		}
	}
	return false, nil
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
func (r *ranking) holding(ctx context.Context, s *view) (map[messageKey]bool, error) {
	var all map[messageKey]bool
	for _, phrase := range r.phrases {
		if all != nil && len(all) == 0 {
			break
		}
		p := excerpt.Literal(phrase, true)
		found := map[messageKey]bool{}
		q := index.Query{Text: p.Required(), Find: p.Find, TextOnly: true, Kinds: r.query.kinds(), Wanted: s.filter()}
		for hit, err := range s.index.Search(ctx, q) {
			if err != nil {
				return nil, err
			}
			if key := (messageKey{hit.Key, hit.Number}); all == nil || all[key] {
				found[key] = true
			}
		}
		all = found
	}
	return all, nil
}
