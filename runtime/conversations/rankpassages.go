package conversations

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/transcript"
)

// rankedMessage is a message that may be shown.
type rankedMessage struct {
	index.Scored
	of         *ranked
	place      int     // index among the messages of the conversation
	said       int     // index among the messages that are not of tools
	own, score float64 // score includes the shares of the messages beside it
	isRead     bool
	asks       bool // the assistant ends with a question
	hit        Hit
}

// Passages returns the best passages of a text for the question, in the order of the text: each of at most most
// bytes, all of at most total. It returns none for a text without a word of the question.
func (r *Results) Passages(text string, most, total int) (spans []excerpt.Span) {
	if len(r.weights) == 0 {
		return nil
	}
	for _, p := range excerpt.Several(r.terms, []byte(text), r.weights, most, total) {
		spans = append(spans, excerpt.Span{Start: p.Start, End: p.End})
	}
	return spans
}

// passages finds the passages in the conversations that rank highest.
func (r *ranking) passages(ctx context.Context, found []*ranked) error {
	var scored, candidates []*rankedMessage
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
	for _, c := range found {
		c.Score = c.sum()
		c.spread()
		for _, m := range c.messages {
			if m.score > 0 && r.shows(m) {
				candidates = append(candidates, m)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b *ranked) int { return cmp.Compare(b.Score, a.Score) })
	if err := r.readBest(ctx, candidates, func(m *rankedMessage) float64 { return m.score }); err != nil {
		return err
	}
	kept := r.keep(candidates)
	for _, m := range kept {
		beside := m.beside()
		if beside == nil || slices.Contains(kept, beside) || len(kept) == r.query.Limit || !r.shows(beside) {
			continue
		}
		if err := r.read(beside); err != nil {
			return err
		}
		if beside.hit.Text != "" && (beside.isShort(shortReply) || beside.place < m.place) {
			beside.hit.Score = replyCounts * m.score
			kept = append(kept, beside)
		}
	}
	return r.answer(found, kept)
}

// sum returns the score of the conversation.
func (c *ranked) sum() float64 {
	var best index.Best
	for _, m := range c.messages {
		best.Add(float32(m.own))
	}
	return float64(best.Sum()) + coverage*c.covered
}

// spread adds shares of the scores of messages to the messages beside them.
func (c *ranked) spread() {
	best := 0.0
	var said []*rankedMessage
	for _, m := range c.messages {
		best = max(best, m.own)
		if m.score = m.own; !isOfTool(m.Kind) {
			m.said = len(said)
			said = append(said, m)
		}
	}
	for i, m := range said {
		for before, share := range []float64{besideOne, besideTwo} {
			if before = i - 1 - before; before >= 0 {
				said[before].score += share * m.own
				m.score += share * said[before].own
			}
		}
		const reached = 2
		if a := m.answer(); a != nil && a.said > i+reached {
			a.score += answerShare * m.own
		}
	}
	for _, m := range c.messages {
		if m.score == 0 {
			continue
		}
		m.score += conversationShare * best
		if !m.isOutcome() {
			m.score *= asideCounts
		}
	}
}

// answer returns the last message of the assistant before the next request; nil for none.
func (m *rankedMessage) answer() (answer *rankedMessage) {
	if kindOf(m.Kind) != transcript.KindUser {
		return nil
	}
	for _, next := range m.of.messages[m.place+1:] {
		switch kindOf(next.Kind) {
		case transcript.KindUser:
			return answer
		case transcript.KindAssistant:
			answer = next
		}
	}
	return answer
}

// isOutcome reports whether the message is a request, or a statement that no work of the assistant follows.
func (m *rankedMessage) isOutcome() bool {
	isSaid := func(m *rankedMessage) bool {
		return kindOf(m.Kind).Scope()&(transcript.ScopeUser|transcript.ScopeAssistant|transcript.ScopeStructured) != 0
	}
	rest := m.of.messages[m.place:]
	return isSaid(m) && (kindOf(m.Kind) == transcript.KindUser || len(rest) == 1 || isSaid(rest[1]))
}

// beside returns the message that is shown with a message: the user's reply to a question of the assistant, or the
// assistant's message before a short reply; nil for none.
func (m *rankedMessage) beside() *rankedMessage {
	all := m.of.messages
	if next := m.place + 1; m.asks && next < len(all) && kindOf(all[next].Kind) == transcript.KindUser {
		return all[next]
	}
	if kindOf(m.Kind) != transcript.KindUser || !m.isShort(shortAnswer) {
		return nil
	}
	for _, before := range slices.Backward(all[:m.place]) {
		switch kindOf(before.Kind) {
		case transcript.KindUser:
			return nil
		case transcript.KindAssistant:
			return before
		}
	}
	return nil
}

// isShort reports whether a message that was read has at most most bytes.
func (m *rankedMessage) isShort(most int) bool {
	p := m.hit.Passage
	return len(p.Text) <= most && !p.Before && !p.After
}

// shows reports whether a message may be shown: a message beside a found one may be outside of the query.
func (r *ranking) shows(m *rankedMessage) bool {
	q := r.query
	return r.inRange(m.Number) && q.kinds()>>m.Kind&1 != 0 && (len(r.phrases) == 0 || m.own > 0) && q.isIn(m.Time)
}

// keep returns the first candidates, each text once.
func (r *ranking) keep(candidates []*rankedMessage) (kept []*rankedMessage) {
	texts := map[string]*rankedMessage{"": nil}
	for _, m := range candidates {
		if len(kept) == r.query.Limit || !m.isRead {
			break
		}
		p := m.hit.Passage
		same, ok := texts[p.Text]
		if !ok {
			texts[p.Text], p.Score = m, m.score
			kept = append(kept, m)
		} else if same != nil && same.of != m.of && !slices.Contains(same.hit.Also, m.of.ID) {
			same.hit.Also = append(same.hit.Also, m.of.ID)
		}
	}
	return kept
}

// answer adds the found conversations to the results, best first, and then the kept messages, by their scores.
func (r *ranking) answer(found []*ranked, kept []*rankedMessage) (err error) {
	result, place := r.result, map[*ranked]int{}
	for i, c := range found {
		place[c] = i
		if c.Latest, err = r.latest(c); err != nil {
			return err
		}
		result.Conversations = append(result.Conversations, c.Matched)
	}
	slices.SortFunc(kept, func(a, b *rankedMessage) int {
		return cmp.Or(cmp.Compare(b.hit.Score, a.hit.Score), cmp.Compare(place[a.of], place[b.of]), cmp.Compare(a.Number, b.Number))
	})
	for _, m := range kept {
		result.Hits = append(result.Hits, m.hit)
	}
	result.Total, result.AtLeast = len(kept), len(kept) == r.query.Limit
	return nil
}

// latest returns the last statement with nearly the best score; nil for none.
func (r *ranking) latest(c *ranked) (*Hit, error) {
	best := 0.0
	for _, m := range c.messages {
		best = max(best, m.own)
	}
	for _, m := range slices.Backward(c.messages) {
		if !isOfTool(m.Kind) && m.own > 0 && m.own >= latestShare*best {
			return &m.hit, r.read(m)
		}
	}
	return nil, nil
}

// readBest sorts messages by score and reads the first ones.
func (r *ranking) readBest(ctx context.Context, messages []*rankedMessage, score func(*rankedMessage) float64) error {
	slices.SortFunc(messages, func(a, b *rankedMessage) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), b.Time.Compare(a.Time), cmp.Compare(a.Number, b.Number))
	})
	for _, m := range messages[:min(len(messages), readAt)] {
		if err := cmp.Or(ctx.Err(), r.read(m)); err != nil {
			return err
		}
	}
	return nil
}

// read reads the text of a message, if it has none, and finds its best passage: for an assistant's message without a
// word of the question its end, which has proposals and questions.
func (r *ranking) read(m *rankedMessage) error {
	if m.isRead {
		return nil
	}
	text, extra, err := m.of.in.view.Read(m.Scored)
	if err != nil {
		return err
	}
	for len(text) > readAhead { // this bounds the time of an answer
		_, size := utf8.DecodeLastRune(text[:readAhead])
		text = text[:readAhead-size]
	}
	text = m.of.in.shown(text, extra)
	isAssistant := kindOf(m.Kind) == transcript.KindAssistant
	best, wide := excerpt.BestPassage(r.terms, text, r.result.weights, r.query.MaxText, r.query.MaxWide)
	if best.Value == 0 && isAssistant {
		best, wide = excerpt.LastPassage(text, r.query.MaxText), excerpt.LastPassage(text, r.query.MaxWide)
	}
	m.isRead, m.own = true, m.own+best.Beside*float64(kindCounts(m.Kind))
	m.asks = isAssistant && bytes.HasSuffix(bytes.TrimSpace(text), []byte("?"))
	m.hit = m.of.in.hit(m.of.entry, m.Scored, extra)
	m.hit.Passage = &Passage{Excerpt: best.Of(text), Wide: wide.Of(text), Outcome: m.isOutcome()}
	if a := m.answer(); a != nil {
		m.hit.Answer = int(a.Number)
	}
	return nil
}
