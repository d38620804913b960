package conversations

import (
	"cmp"
	"context"
	"slices"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/conversations/internal/passage"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/transcript"
)

// rankedMessage is a message that may be shown.
type rankedMessage struct {
	index.Scored
	of         *ranked
	place      int     // among the messages of the conversation
	own, score float64 // score has what the messages beside it add
	read       bool
	passage    RankedPassage
}

// passages finds the passages in the conversations that rank highest.
func (r *ranking) passages(ctx context.Context, found []*ranked) error {
	if err := r.gather(ctx, found); err != nil {
		return err
	}
	var scored []*rankedMessage
	for _, c := range found {
		for _, m := range c.messages {
			if m.own > 0 {
				scored = append(scored, m)
			}
		}
	}
	if err := r.readBest(ctx, scored, func(m *rankedMessage) float64 { return m.own }); err != nil {
		return err
	}
	var candidates []*rankedMessage
	for _, c := range found {
		c.score = c.sum()
		candidates = append(candidates, slices.DeleteFunc(c.spread(), func(m *rankedMessage) bool { return !r.shows(m) })...)
	}
	slices.SortStableFunc(found, func(a, b *ranked) int { return cmp.Compare(b.score, a.score) })
	if err := r.readBest(ctx, candidates, func(m *rankedMessage) float64 { return m.score }); err != nil {
		return err
	}
	r.answer(found, candidates)
	return nil
}

// answer makes the answer of the best candidates, which come first.
func (r *ranking) answer(found []*ranked, candidates []*rankedMessage) {
	shown := map[*ranked][]RankedPassage{}
	texts := map[string]bool{}
	n := 0
	for _, m := range candidates {
		if n == r.query.MaxPassages || !m.read {
			break
		}
		if m.passage.Text == "" || texts[m.passage.Text] {
			continue
		}
		texts[m.passage.Text] = true
		n++
		m.passage.Score = m.score
		shown[m.of] = append(shown[m.of], m.passage)
	}
	for _, c := range found {
		list := shown[c]
		slices.SortFunc(list, func(a, b RankedPassage) int { return cmp.Compare(a.Number, b.Number) })
		r.result.Conversations = append(r.result.Conversations, RankedConversation{c.Conversation.Conversation, c.score, list})
	}
}

// gather gets all messages of conversations, with the scores of their own.
func (r *ranking) gather(ctx context.Context, found []*ranked) error {
	for _, s := range r.stores {
		var keys []string
		for _, c := range found {
			if c.in == s {
				keys = append(keys, c.Key)
			}
		}
		messages, err := s.view.Messages(ctx, keys)
		if err != nil {
			return err
		}
		for _, c := range found {
			if c.in != s {
				continue
			}
			own := map[uint32]float64{}
			for _, m := range c.Messages {
				own[m.Number] = float64(m.Score) * kindCounts(m.Kind)
			}
			for _, m := range messages[c.Key] {
				if m.Number > 0 && m.Kind < copiedKind {
					c.messages = append(c.messages, &rankedMessage{Scored: m, of: c, place: len(c.messages), own: own[m.Number]})
				}
			}
		}
	}
	return nil
}

// readBest puts messages with the highest score first, and reads the first of them.
func (r *ranking) readBest(ctx context.Context, messages []*rankedMessage, score func(*rankedMessage) float64) error {
	slices.SortFunc(messages, func(a, b *rankedMessage) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), b.Time.Compare(a.Time), cmp.Compare(a.Number, b.Number))
	})
	for _, m := range messages[:min(len(messages), readAt)] {
		if m.read {
			continue
		}
		if err := cmp.Or(ctx.Err(), r.read(m)); err != nil {
			return err
		}
	}
	return nil
}

// shows reports whether a message may be shown: one that is beside those that were found need
// not be what the query asks for.
func (r *ranking) shows(m *rankedMessage) bool {
	q := r.query
	return r.kinds()>>m.Kind&1 != 0 && (len(r.phrases) == 0 || m.own > 0) &&
		(q.Since == nil || !m.Time.IsZero() && !m.Time.Before(*q.Since)) && (q.Until == nil || !m.Time.IsZero() && !m.Time.After(*q.Until))
}

// answer returns the number of the last thing an assistant said before the next request.
func (m *rankedMessage) answer() int {
	if kindOf(m.Kind) != transcript.KindUser {
		return 0
	}
	answer := 0
	for _, next := range m.of.messages[m.place+1:] {
		switch kindOf(next.Kind) {
		case transcript.KindUser:
			return answer
		case transcript.KindAssistant:
			answer = int(next.Number)
		}
	}
	return answer
}

// sum returns the score of the conversation.
func (c *ranked) sum() float64 {
	var all []float64
	for _, m := range c.messages {
		all = append(all, m.own)
	}
	return bestSum(all)
}

// spread returns the messages of a conversation that have a score, their own or of those beside them.
func (c *ranked) spread() []*rankedMessage {
	best := 0.0
	var said, candidates []*rankedMessage
	for _, m := range c.messages {
		best = max(best, m.own)
		if toolKinds>>m.Kind&1 == 0 {
			said = append(said, m)
		} else {
			m.score = m.own
		}
	}
	at := func(i int) float64 {
		if i < 0 || i >= len(said) {
			return 0
		}
		return said[i].own
	}
	for i, m := range said {
		m.score = at(i) + besideOne*(at(i-1)+at(i+1)) + besideTwo*(at(i-2)+at(i+2))
	}
	for _, m := range c.messages {
		if m.score > 0 {
			m.score += conversationShare * best
			candidates = append(candidates, m)
		}
	}
	return candidates
}

// read reads the text of a message, and finds its best passage.
func (r *ranking) read(m *rankedMessage) error {
	text, extra, err := m.of.in.texts.Read(m.Scored)
	if err != nil {
		return err
	}
	turn := parseExtra(extra, kindOf(m.Kind)).turn
	for len(text) > readAhead { // of one event that much is looked at, so that no answer waits for it
		_, size := utf8.DecodeLastRune(text[:readAhead])
		text = text[:readAhead-size]
	}
	best, wide := passage.Best(r.terms, text, r.weights, r.query.MaxText, r.query.MaxWide)
	m.own += best.Beside * kindCounts(m.Kind)
	m.read = true
	m.passage = RankedPassage{
		Number: int(m.Number), Turn: turn, Kind: kindOf(m.Kind), Failed: failedKinds>>m.Kind&1 != 0, Time: m.Time, Answer: m.answer(),
		Excerpt: excerpt(text, best), Wide: excerpt(text, wide),
	}
	return nil
}
