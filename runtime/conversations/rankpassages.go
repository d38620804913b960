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
	place      int     // among the messages of the conversation
	own, score float64 // score has what the messages beside it add
	read       bool
	asks       bool // the assistant ends with a question
	hit        Hit
}

// Passages returns where in a text the passages are that answer the question best, in its order:
// each of at most most bytes, and all of at most total. There are none where it has no word.
func (r *Results) Passages(text string, most, total int) []excerpt.Span {
	var spans []excerpt.Span
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
		c.Score = c.sum()
		candidates = append(candidates, slices.DeleteFunc(c.spread(), func(m *rankedMessage) bool { return !r.shows(m) })...)
	}
	slices.SortStableFunc(found, func(a, b *ranked) int { return cmp.Compare(b.Score, a.Score) })
	if err := r.readBest(ctx, candidates, func(m *rankedMessage) float64 { return m.score }); err != nil {
		return err
	}
	return r.answer(found, candidates)
}

// answer makes the answer of the best candidates, which come first.
func (r *ranking) answer(found []*ranked, candidates []*rankedMessage) error {
	var kept []*rankedMessage
	texts := map[string]*rankedMessage{}
	for _, m := range candidates {
		if len(kept) == r.query.Limit || !m.read {
			break
		}
		p := &m.hit
		same := texts[p.Text]
		switch {
		case p.Text == "":
		case same == nil:
			texts[p.Text], p.Score = m, m.score
			kept = append(kept, m)
		case same.of != m.of && !slices.Contains(same.hit.Also, m.of.ID):
			same.hit.Also = append(same.hit.Also, m.of.ID)
		}
	}
	for _, m := range kept {
		beside := m.reply()
		if beside == nil {
			beside = m.proposal()
		}
		if beside == nil || slices.Contains(kept, beside) || len(kept) == r.query.Limit {
			continue
		}
		if err := r.read(beside); err != nil {
			return err
		}
		p := &beside.hit
		isShort := len(p.Text) <= shortReply && !p.Before && !p.After
		if p.Text != "" && r.shows(beside) && (isShort || beside.place < m.place) {
			p.Score = replyCounts * m.score
			kept = append(kept, beside)
		}
	}
	place := map[*ranked]int{}
	for i, c := range found {
		place[c] = i
	}
	slices.SortFunc(kept, func(a, b *rankedMessage) int {
		return cmp.Or(cmp.Compare(b.hit.Score, a.hit.Score), cmp.Compare(place[a.of], place[b.of]), cmp.Compare(a.Number, b.Number))
	})
	for _, m := range kept {
		r.result.Hits = append(r.result.Hits, m.hit)
	}
	for _, c := range found {
		latest, err := r.latest(c)
		if err != nil {
			return err
		}
		c.Latest = latest
		r.result.Conversations = append(r.result.Conversations, c.Matched)
	}
	r.result.Total, r.result.AtLeast = len(kept), len(kept) == r.query.Limit
	return nil
}

// reply returns what the user said to a question of the assistant; nil where there is none.
func (m *rankedMessage) reply() *rankedMessage {
	if next := m.place + 1; m.asks && next < len(m.of.messages) && kindOf(m.of.messages[next].Kind) == transcript.KindUser {
		return m.of.messages[next]
	}
	return nil
}

// proposal returns what the assistant said before a short reply of the user, which says little without
// it; nil where there is none.
func (m *rankedMessage) proposal() *rankedMessage {
	if p := &m.hit; kindOf(m.Kind) != transcript.KindUser || len(p.Text) > shortAnswer || p.Before || p.After {
		return nil
	}
	for _, before := range slices.Backward(m.of.messages[:m.place]) {
		switch kindOf(before.Kind) {
		case transcript.KindUser:
			return nil
		case transcript.KindAssistant:
			return before
		}
	}
	return nil
}

// latest returns the last thing said that answers nearly as well as the best; nil where there
// is none.
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

// readBest puts messages with the highest score first, and reads the first of them.
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

// shows reports whether a message may be shown: one that is beside those that were found need
// not be what the query asks for.
func (r *ranking) shows(m *rankedMessage) bool {
	q := r.query
	return r.inRange(m.Number) && r.query.kinds()>>m.Kind&1 != 0 && (len(r.phrases) == 0 || m.own > 0) &&
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
	var best index.Best
	for _, m := range c.messages {
		best.Add(float32(m.own))
	}
	return float64(best.Sum()) + coverage*c.covered
}

// spread returns the messages of a conversation that have a score, their own or of those beside them.
func (c *ranked) spread() []*rankedMessage {
	best := 0.0
	var said, candidates []*rankedMessage
	for _, m := range c.messages {
		best = max(best, m.own)
		if !isOfTool(m.Kind) {
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
	for i, m := range said {
		if m.own == 0 || kindOf(m.Kind) != transcript.KindUser {
			continue
		}
		answer := m.answer()
		const beside = 2 // which have a share already
		for _, a := range said[min(i+1+beside, len(said)):] {
			if int(a.Number) == answer {
				a.score += answerShare * m.own
				break
			}
		}
	}
	for _, m := range c.messages {
		if m.score > 0 {
			m.score += conversationShare * best
			switch kindOf(m.Kind) {
			case transcript.KindReasoning, transcript.KindToolCall, transcript.KindInquiry:
				m.score *= asideCounts
			}
			candidates = append(candidates, m)
		}
	}
	return candidates
}

// read reads the text of a message, if it is not, and finds its best passage: of what the assistant
// said without a word of the question the end, where it proposes and asks.
func (r *ranking) read(m *rankedMessage) error {
	if m.read {
		return nil
	}
	text, extra, err := m.of.in.view.Read(m.Scored)
	if err != nil {
		return err
	}
	m.hit = m.of.in.hit(m.of.Matched, m.Scored, extra)
	for len(text) > readAhead { // of one event that much is looked at, so that no answer waits for it
		_, size := utf8.DecodeLastRune(text[:readAhead])
		text = text[:readAhead-size]
	}
	best, wide := excerpt.BestPassage(r.terms, text, r.result.weights, r.query.MaxText, r.query.MaxWide)
	if best.Value == 0 && kindOf(m.Kind) == transcript.KindAssistant {
		best, wide = excerpt.LastPassage(text, r.query.MaxText), excerpt.LastPassage(text, r.query.MaxWide)
	}
	m.own += best.Beside * float64(kindCounts(m.Kind))
	m.read = true
	m.asks = kindOf(m.Kind) == transcript.KindAssistant && bytes.HasSuffix(bytes.TrimSpace(text), []byte("?"))
	m.hit.Passage = &Passage{Answer: m.answer(), Excerpt: best.Of(text), Wide: wide.Of(text)}
	return nil
}
