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

// maxPhrases is the number of different phrases of a question that an event must have. Later quotes are read as
// words.
const maxPhrases = 8

// maxRankWords is the number of different terms of a question that are looked for.
const maxRankWords = 64

// newRanking parses the question. It may have no words.
func (l *Library) newRanking(q *SearchQuery, result *Results) *ranking {
	r := &ranking{query: q, result: result, terms: terms.NewReader(l.settings.language)}
	result.terms = r.terms
	rest := strings.ToValidUTF8(q.Question, "\ufffd")
	var words strings.Builder
	for len(r.phrases) < maxPhrases {
		before, after, ok := strings.Cut(rest, `"`)
		phrase, behind, closed := strings.Cut(after, `"`)
		if !ok || !closed {
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
	for _, all := range []bool{false, true} {
		r.terms.Each(question, func(term []byte, at int) {
			if t := string(term); len(r.words) < maxRankWords && !seen[t] && (all || !r.terms.IsFunctionWord(t)) {
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

// wordAt returns the word that begins at an offset.
func wordAt(s []byte, at int) string {
	word := string(s[at:])
	if i := strings.IndexFunc(word, func(r rune) bool { return text.IsSpace(r) || strings.ContainsRune(`,;:!?()"`, r) }); i > 0 {
		word = word[:i]
	}
	return strings.TrimRight(word, ".'")
}

// spread returns the numbers of messages in all indexes with each term.
func (r *ranking) spread(asked []string) (index.Spread, error) {
	total := index.Spread{With: make([]int, len(asked))}
	for _, s := range r.result.query.sources {
		spread, err := s.view.Spread(asked)
		if err != nil {
			return total, err
		}
		total.Add(spread)
	}
	return total, nil
}

// weigh sets the weights of the words.
func (r *ranking) weigh() error {
	asked := make([]string, len(r.words))
	for i, w := range r.words {
		asked[i] = w.term
	}
	total, err := r.spread(asked)
	if err != nil {
		return err
	}
	r.asks = index.RankQuery{
		Most: lookAt, Coverage: float32(coverage), Counts: kindCounts,
		Average: float64(total.Bytes) / float64(max(total.Messages, 1)),
	}
	result := r.result
	result.weights = excerpt.Weights{}
	hasRare := false
	for i := range r.words {
		w, n := &r.words[i], total.With[i]
		weight := math.Pow(index.Idf(n, total.Messages), idfPower)
		result.weights[w.term] = weight
		isCommon := float64(n) > commonShare*float64(total.Messages)
		hasRare = hasRare || !isCommon && n > 0
		r.asks.Terms = append(r.asks.Terms, index.RankTerm{Text: w.term, Weight: weight, Common: isCommon})
		const rare = 20 // one event in so many has it
		if w.of = slices.IndexFunc(result.Words, func(o Word) bool { return o.Word == w.word }); w.of < 0 {
			w.of = len(result.Words)
			result.Words = append(result.Words, Word{Word: w.word, Term: w.term, Events: n, Rare: n*rare <= total.Messages || n <= 2})
		}
	}
	for i := range r.asks.Terms {
		r.asks.Terms[i].Common = r.asks.Terms[i].Common && hasRare
	}
	return nil
}

// spell finds the words that no searched conversation has, even if others in the indexes do, and near spellings of
// them.
func (r *ranking) spell(ctx context.Context) error {
	for i, w := range r.words {
		word := &r.result.Words[w.of]
		if r.asks.Terms[i].Common || word.Events == 0 || word.Term != w.term {
			continue
		}
		if there, err := r.occurs(ctx, w.term); err != nil {
			return err
		} else if !there {
			word.Events = 0
		}
	}
	for i := range r.result.Words {
		if w := &r.result.Words[i]; w.Events == 0 {
			var err error
			if w.Near, err = r.near(ctx, strings.ToLower(w.Word)); err != nil {
				return err
			}
		}
	}
	return nil
}

// occurs reports whether a searched conversation has a term.
func (r *ranking) occurs(ctx context.Context, term string) (bool, error) {
	q := r.asks
	for _, s := range r.result.query.sources {
		q.Filter = r.query.inIndex(s)
		if there, err := s.view.Occurs(ctx, q, term); there || err != nil {
			return there, err
		}
	}
	return false, nil
}

const (
	letters = "abcdefghijklmnopqrstuvwxyz"
	// leastNear and mostNear bound the letters of a word for which near spellings are looked for: most words near a
	// short one are other words, and longer ones are names.
	leastNear, mostNear = 5, 24
	// tryNear is the number of spellings that are looked for in the searched conversations.
	tryNear = 4
)

// near returns the spelling one edit away from a word that most messages have; empty if no searched conversation has
// one.
func (r *ranking) near(ctx context.Context, word string) (string, error) {
	if len(word) < leastNear || len(word) > mostNear || strings.Trim(word, letters) != "" {
		return "", nil
	}
	var spellings, asked []string
	for _, s := range oneEdit(word) {
		r.terms.Each([]byte(s), func(term []byte, _ int) { spellings, asked = append(spellings, s), append(asked, string(term)) })
	}
	total, err := r.spread(asked)
	if err != nil {
		return "", err
	}
	for range tryNear {
		best := slices.Index(total.With, slices.Max(append(total.With, 0)))
		if best < 0 || total.With[best] == 0 {
			break
		}
		if there, err := r.occurs(ctx, asked[best]); there || err != nil {
			return spellings[best], err
		}
		total.With[best] = 0
	}
	return "", nil
}

// oneEdit returns the words with one letter less, two letters swapped, one letter changed, or one letter more.
func oneEdit(word string) (all []string) {
	for i := range len(word) + 1 {
		before, behind := word[:i], word[i:]
		if len(behind) > 1 {
			all = append(all, before+behind[1:2]+behind[:1]+behind[2:])
		}
		if behind != "" {
			all = append(all, before+behind[1:])
		}
		for _, c := range letters {
			all = append(all, before+string(c)+behind)
			if behind != "" {
				all = append(all, before+string(c)+behind[1:])
			}
		}
	}
	return all
}
