package conversations

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/index/terms"
)

// maxPhrases is the number of different phrases of a question that an event must have: later quotes are read as words.
// maxRankWords is the number of different terms that are looked for.
const maxPhrases, maxRankWords = 8, 64

// newRanking begins a ranking: it finds the phrases in quotation marks and the words of the question. It leaves out
// function words, such as "the", unless the question has no other words. There may be no words at all.
func (l *Library) newRanking(q *SearchQuery, result *Results) *ranking {
	r := &ranking{query: q, result: result, terms: terms.NewReader(l.settings.language)}
	result.terms = r.terms
	rest := strings.ToValidUTF8(q.Question, "\ufffd")
	var words strings.Builder
	for len(r.phrases) < maxPhrases {
		before, after, isOpened := strings.Cut(rest, `"`)
		phrase, behind, isClosed := strings.Cut(after, `"`)
		if !isOpened || !isClosed {
			break
		}
		if phrase = strings.TrimSpace(phrase); phrase != "" && !slices.Contains(r.phrases, phrase) {
			r.phrases = append(r.phrases, phrase)
		}
		words.WriteString(before + " " + phrase + " ")
		rest = behind
	}
	question := []byte(words.String() + rest)
	seen := map[string]bool{}
	for _, withFunctionWords := range []bool{false, true} {
		r.terms.Each(question, func(term []byte, at int) {
			t := string(term)
			isWanted := withFunctionWords || !r.terms.IsFunctionWord(t)
			if isWanted && !seen[t] && len(r.words) < maxRankWords {
				seen[t] = true
				r.words = append(r.words, rankWord{term: t, word: wordAt(question, at)})
			}
		})
		if len(r.words) > 0 {
			break
		}
	}
	return r
}

// wordAt returns the word that begins at an offset, without punctuation after it.
func wordAt(s []byte, at int) string {
	word := string(s[at:])
	if i := strings.IndexFunc(word, func(r rune) bool { return text.IsSpace(r) || strings.ContainsRune(`,;:!?()"`, r) }); i > 0 {
		word = word[:i]
	}
	return strings.TrimRight(word, ".'")
}

// setWeights counts the messages of all indexes that have each word of the question. By these counts it sets r.asks,
// the query for every index, and Words and weights of the result. The fewer messages have a word, the more it weighs.
func (r *ranking) setWeights() error {
	terms := make([]string, len(r.words))
	for i, w := range r.words {
		terms[i] = w.term
	}
	total := index.Spread{With: make([]int, len(terms))} // over all indexes
	for _, s := range r.result.query.sources {
		spread, err := s.view.Spread(terms)
		if err != nil {
			return err
		}
		total.Add(spread)
	}
	r.asks = index.RankQuery{
		Most: lookAt, Coverage: float32(coverage), Counts: kindCounts, Excludes: r.query.isOwn,
		Average: float64(total.Bytes) / float64(max(total.Messages, 1)),
	}
	result := r.result
	result.weights = excerpt.Weights{}
	hasUncommon := false // a message has a word that is not common
	for i, w := range r.words {
		n := total.With[i]
		weight := math.Pow(index.Idf(n, total.Messages), idfPower)
		result.weights[w.term] = weight
		isCommon := float64(n) > commonShare*float64(total.Messages)
		hasUncommon = hasUncommon || n > 0 && !isCommon
		r.asks.Terms = append(r.asks.Terms, index.RankTerm{Text: w.term, Weight: weight, Common: isCommon})
		isRare := n*20 <= total.Messages || n <= 2 // at most one event in 20, or two events: only told to the asker
		if !slices.ContainsFunc(result.Words, func(other Word) bool { return other.Word == w.word }) {
			result.Words = append(result.Words, Word{Word: w.word, Term: w.term, Events: n, Rare: isRare})
		}
	}
	for i := range r.asks.Terms { // without an uncommon term, none counts as common
		r.asks.Terms[i].Common = r.asks.Terms[i].Common && hasUncommon
	}
	return nil
}

// clearMissing sets Events to 0 for each word of the result that is in none of the searched messages. Before, Events
// counts all messages of the indexes.
func (r *ranking) clearMissing(ctx context.Context) error {
	asked := r.asks // the query for every index, still without a filter
	for i := range r.result.Words {
		w, isThere := &r.result.Words[i], false
		for _, s := range r.result.query.sources {
			if isThere || w.Events == 0 {
				break
			}
			asked.Filter = r.query.indexFilter(s) // selects the searched messages
			occurs, err := s.view.Occurs(ctx, asked, w.Term)
			if err != nil {
				return err
			}
			isThere = occurs
		}
		if !isThere {
			w.Events = 0
		}
	}
	return nil
}
