package conversations

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/conversations/internal/passage"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/index/terms"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// RankQuery asks which passages of conversations answer a question best.
type RankQuery struct {
	// Filter says which conversations are searched: live and archived ones alike,
	// whatever Archived says.
	Filter
	// Text is the question, in the words of whoever asks. What is between double quotes has
	// to be in a passage's event as it stands, in any case.
	Text string
	// Since and Until bound the times of events, both inclusive. With either, events without
	// a time are left out. Nil stands for no bound.
	Since, Until *time.Time
	// Scopes are the kinds of text that are searched, and with Errors the results of calls that
	// failed too; neither stands for all.
	Scopes transcript.Scopes
	Errors bool
	// Own is as in an [EventQuery]: calls and results of these tools are left out.
	Own func(tool string) bool
	// MaxPassages is how many passages are returned at the most, MaxText how many bytes one has
	// at the most, and MaxWide how many it has with more around it.
	MaxPassages, MaxText, MaxWide int
}

// Ranking is the answer to a [RankQuery].
type Ranking struct {
	// Conversations are those with a passage, and others that rank high, best first.
	Conversations []RankedConversation
	// Words are those of the question that say what it is about.
	Words []RankedWord
	Aside Aside
}

// RankedWord is a word of a question.
type RankedWord struct {
	Word   string // as it was asked
	Term   string // the beginning that its forms have in common, in small letters
	Events int    // that have it, or another form of it
	Rare   bool   // few events have it, so that it tells much
}

// RankedConversation is a conversation that answers a question.
type RankedConversation struct {
	transcript.Conversation
	Score    float64
	Passages []RankedPassage // in the order of their events
}

// RankedPassage is a passage of an event.
type RankedPassage struct {
	Number int // as [Event.Number]
	Turn   int // from 1; 0 where it has none
	Kind   transcript.Kind
	Failed bool      // it is the result of a call that failed
	Time   time.Time // zero where not known
	Score  float64   // of all passages, the best one has the highest
	Answer int       // of a request, the number of the event that answers it; 0 where there is none
	Excerpt
	Wide Excerpt // the same with more around it
}

// Excerpt is a part of a text, without white space around it.
type Excerpt struct {
	Text          string
	Before, After bool // the text has more on that side
}

func excerpt(text []byte, p passage.Passage) Excerpt {
	return Excerpt{
		Text:   strings.TrimSpace(strings.ToValidUTF8(string(text[p.Start:p.End]), "\ufffd")),
		Before: strings.TrimSpace(string(text[:p.Start])) != "", After: strings.TrimSpace(string(text[p.End:])) != "",
	}
}

// How messages are ranked. What a rule is worth is how many points go without it, measured by
// make recall with four pairs of LoCoMo (755 questions: all evidence on the page; right
// conversation first) and with 50 coding sessions (99 commits: right session first; among five).
//
//	rule                          all   first   sessions: first   five
//	messages beside one          10.0     0.1              0.0    0.0
//	share of the conversation     1.1     0.0              0.0    0.0
//	power of rare words           0.6    -0.1              0.0   -1.0
//	words side by side            0.6     1.3              2.0    2.0
//	five best, not one            0.2     4.9              5.1    4.0
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
	// bestOf is how many of the best messages of a conversation make its score, each for half
	// of the one before.
	bestOf = 5
	// resultCounts is what a tool's result counts, which holds many words that nobody meant.
	resultCounts = 0.1
	// commonShare is the share of all messages from which on a word only adds to others.
	commonShare = 0.25
	// lookAt is in how many conversations passages are looked for, and readAt how many events are
	// read for them.
	lookAt, readAt = 24, 96
	// readAhead is how many bytes of an event are looked at for passages.
	readAhead = 1 << 20
)

// Rank returns the passages that answer a question best. What has changed since it was last
// asked is read first.
func (l *Library) Rank(ctx context.Context, q RankQuery) (Ranking, error) {
	r := ranking{library: l, query: &q, terms: terms.NewReader(terms.English)}
	r.parse()
	err := r.run(ctx)
	var damage *index.DamageError
	if errors.As(err, &damage) { // it is made anew
		r = ranking{library: l, query: &q, terms: r.terms, anew: true}
		r.parse()
		err = r.run(ctx)
	}
	return r.result, err
}

// ranking is an answer in the making.
type ranking struct {
	library *Library
	query   *RankQuery
	anew    bool // the indexes that are there cannot be used
	terms   *terms.Reader
	phrases []string
	words   []rankWord
	weights passage.Weights
	result  Ranking
	stores  []*rankStore
	all     map[string]*store.Conversation // that are searched, by key
}

// rankWord is a term of a question.
type rankWord struct {
	term, word string
}

// rankStore is the index of a store, for one query.
type rankStore struct {
	store store.Store
	view  *index.View
	texts *index.Texts
}

// parse reads the question.
func (r *ranking) parse() {
	rest := strings.ToValidUTF8(r.query.Text, "\ufffd")
	var quoted []string
	for {
		before, after, ok := strings.Cut(rest, `"`)
		phrase, behind, closed := strings.Cut(after, `"`)
		if !ok || !closed {
			break
		}
		if phrase = strings.TrimSpace(phrase); phrase != "" {
			quoted = append(quoted, phrase)
		}
		rest = before + " " + phrase + " " + behind
	}
	r.phrases = quoted
	seen := map[string]bool{}
	for _, all := range []bool{false, true} {
		text := []byte(rest)
		r.terms.Each(text, func(term []byte, at int) {
			if t := string(term); !seen[t] && (all || !terms.IsFunctionWord(t)) && len(r.words) < maxRankWords {
				seen[t] = true
				r.words = append(r.words, rankWord{t, wordAt(text, at)})
			}
		})
		if len(r.words) > 0 {
			return
		}
	}
}

// maxRankWords is how many different terms of a question are looked for.
const maxRankWords = 64

// wordAt returns the word that begins at a place, as it is written.
func wordAt(text []byte, at int) string {
	word := string(text[at:])
	if i := strings.IndexFunc(word, func(r rune) bool { return IsSpace(r) || strings.ContainsRune(`,;:!?()"`, r) }); i > 0 {
		word = word[:i]
	}
	return strings.TrimRight(word, ".'")
}

func (r *ranking) run(ctx context.Context) error {
	if len(r.words) == 0 {
		return nil
	}
	if err := r.open(ctx); err != nil {
		return err
	}
	defer func() {
		for _, s := range r.stores {
			s.view.Close()
		}
	}()
	total, err := r.weigh()
	if err != nil {
		return err
	}
	found, err := r.conversations(ctx, total)
	if err != nil {
		return err
	}
	return r.passages(ctx, found)
}

// open brings the indexes up to date, and picks what is searched.
func (r *ranking) open(ctx context.Context) error {
	l, f := r.library, r.query.Filter
	if err := l.refreshFor(ctx, &f, r.anew, &r.result.Aside); err != nil {
		return err
	}
	o, err := l.open(ctx, &f)
	if err != nil {
		return err
	}
	defer o.close()
	o.from = map[transcript.ID]store.Store{}
	found, err := o.pickOf(ctx, store.Live|store.Archived, f, &r.result.Aside)
	if err != nil {
		return err
	}
	r.all = map[string]*store.Conversation{}
	for i := range found {
		r.all[string(found[i].ID)] = &found[i]
	}
	for _, s := range l.stores {
		if !f.asks(s.Name()) {
			continue
		}
		view, err := l.indexes.of(s).View()
		if err != nil {
			continue // why is in the answer
		}
		r.stores = append(r.stores, &rankStore{s, view, view.Texts()})
	}
	return r.unread(found, o.from)
}

// unread adds what could not be read of conversations to the answer.
func (r *ranking) unread(found []store.Conversation, from map[transcript.ID]store.Store) error {
	for i := range found {
		at := slices.IndexFunc(r.stores, func(s *rankStore) bool { return s.store == from[found[i].ID] })
		if at < 0 {
			continue
		}
		c, err := r.stores[at].view.Lookup(string(found[i].ID))
		if err != nil {
			return err
		}
		problem := Problem{ID: found[i].ID, Source: found[i].Source, Kind: Unreadable, Err: errUnread}
		if c != nil {
			f := readFacts(c)
			if f.Read {
				continue
			}
			if f.Why != "" {
				problem.Kind, problem.Err = store.ProblemKind(f.Problem), errors.New(f.Why)
			}
		}
		r.result.Aside.Problems = append(r.result.Aside.Problems, problem)
	}
	return nil
}

// errUnread is why a conversation has no messages in an index, where nothing else is known.
var errUnread = errors.New("it cannot be read")

// weigh finds out how much the words weigh, and returns how many messages there are, of how
// many bytes.
func (r *ranking) weigh() (index.Spread, error) {
	asked := make([]string, len(r.words))
	for i, w := range r.words {
		asked[i] = w.term
	}
	total := index.Spread{With: make([]int, len(asked))}
	for _, s := range r.stores {
		spread, err := s.view.Spread(asked)
		if err != nil {
			return total, err
		}
		total.Add(spread)
	}
	r.weights = passage.Weights{}
	for i, w := range r.words {
		n := total.With[i]
		r.weights[w.term] = math.Pow(index.Idf(n, total.Messages), idfPower)
		const rare = 20 // of so many events one has it
		word := RankedWord{Word: w.word, Term: w.term, Events: n, Rare: n*rare <= total.Messages || n <= 2}
		if i := slices.IndexFunc(r.result.Words, func(o RankedWord) bool { return o.Word == word.Word }); i < 0 {
			r.result.Words = append(r.result.Words, word)
		}
	}
	return total, nil
}

// ranked is a conversation with what is known of its messages.
type ranked struct {
	*store.Conversation
	index.Ranked
	in       *rankStore
	score    float64
	messages []*rankedMessage // all, by their numbers
}

// kinds are the kinds of messages that are searched.
func (r *ranking) kinds() uint64 {
	if r.query.Scopes == 0 && !r.query.Errors {
		return allKinds
	}
	set := uint64(0)
	for k := range transcript.Kind(failedKind) {
		if r.query.Scopes&k.Scope() != 0 {
			set |= 1<<k | 1<<(k+failedKind)
		}
	}
	if r.query.Errors {
		set |= failedKinds
	}
	return set
}

// kindCounts is what the score of a message of a kind counts.
func kindCounts(kind uint8) float64 {
	if kindOf(kind) == transcript.KindToolResult {
		return resultCounts
	}
	return 1
}

// conversations returns the conversations that rank highest.
func (r *ranking) conversations(ctx context.Context, total index.Spread) ([]*ranked, error) {
	q := index.RankQuery{Kinds: r.kinds(), Average: float64(total.Bytes) / float64(max(total.Messages, 1)), ApartKinds: toolKinds}
	for i, w := range r.words {
		q.Terms = append(q.Terms, index.RankTerm{
			Text: w.term, Weight: r.weights[w.term], Common: float64(total.With[i]) > commonShare*float64(total.Messages),
		})
	}
	if !slices.ContainsFunc(q.Terms, func(t index.RankTerm) bool { return !t.Common }) {
		for i := range q.Terms {
			q.Terms[i].Common = false
		}
	}
	if r.query.Since != nil {
		q.Since = *r.query.Since
	}
	if r.query.Until != nil {
		q.Until = *r.query.Until
	}
	if own := r.query.Own; own != nil {
		q.IsApart = func(kind uint8, extra []byte) bool {
			tool := parseExtra(extra, kindOf(kind)).tool
			return tool != "" && own(tool)
		}
	}
	var all []*ranked
	seen := map[string]bool{}
	for _, s := range r.stores {
		q.Wanted = func(c *index.Conversation) bool { return r.all[c.Key] != nil && !seen[c.Key] }
		found, err := s.view.Rank(ctx, q)
		if err != nil {
			return nil, err
		}
		holding, err := r.holding(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			c := &ranked{Conversation: r.all[f.Key], Ranked: f, in: s}
			if holding != nil {
				c.Messages = slices.DeleteFunc(c.Messages, func(m index.Scored) bool { return !holding[messageKey{f.Key, m.Number}] })
			}
			if c.score = scoreOf(c.Messages); c.score > 0 {
				all = append(all, c)
			}
		}
		for _, f := range found {
			seen[f.Key] = true
		}
	}
	slices.SortFunc(all, func(a, b *ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.Conversation.LastAt.Compare(a.Conversation.LastAt), b.ID.Compare(a.ID))
	})
	return all[:min(len(all), lookAt)], nil
}

type messageKey struct {
	key    string
	number uint32
}

// holding returns the messages that hold all phrases; nil where there are no phrases.
func (r *ranking) holding(ctx context.Context, s *rankStore) (map[messageKey]bool, error) {
	var all map[messageKey]bool
	for _, phrase := range r.phrases {
		p := newPattern(phrase)
		found := map[messageKey]bool{}
		q := index.Query{Text: p.text, Find: p.finder.Find, TextOnly: true, Kinds: r.kinds()}
		q.Wanted = func(c *index.Conversation) bool { return r.all[c.Key] != nil }
		for hit, err := range s.view.Search(ctx, q) {
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

// scoreOf returns the score of a conversation with some messages.
func scoreOf(messages []index.Scored) float64 {
	var all []float64
	for _, m := range messages {
		all = append(all, float64(m.Score)*kindCounts(m.Kind))
	}
	return bestSum(all)
}

func bestSum(scores []float64) float64 {
	var best [bestOf]float64
	for _, score := range scores {
		for i := range best {
			if score > best[i] {
				score, best[i] = best[i], score
			}
		}
	}
	sum, share := 0.0, 1.0
	for _, b := range best {
		sum += share * b
		share /= 2
	}
	return sum
}
