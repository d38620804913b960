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
	conversation *ranked
	place        int     // the index among the messages of the conversation
	saidPlace    int     // the index among the messages that are not of tools
	own, score   float64 // score is own with the shares of the scores of other messages
	asks         bool    // the message is of the assistant and ends with a question
	hit          *Hit    // nil until the message was read, which also sets asks
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

// passages adds the best passages in the found conversations to the results. It first reads the messages with the best
// own scores, because reading can raise an own score. Then each message gets its score: the own score and shares of
// others. It reads the best of these, and adds what is beside a kept message: a short reply, or the message replied to.
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
		c.spreadScores()
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
	kept := r.keepDistinct(candidates)
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
	return r.addResults(found, kept)
}

// sum returns the score of the conversation from the own scores of its messages.
func (c *ranked) sum() float64 {
	var best index.Best
	for _, m := range c.messages {
		best.Add(float32(m.own))
	}
	return float64(best.Sum()) + coverage*c.covered
}

// spreadScores sets the score of each message to its own score plus shares of the own scores of other messages: of the
// messages beside it, of its request if it is the answer, and of the best message. A tool's result here counts in full,
// without the factor kindCounts. A message that is neither a result nor an outcome has its score lowered.
func (c *ranked) spreadScores() {
	best := 0.0
	var said []*rankedMessage
	for _, m := range c.messages {
		best = max(best, m.own)
		if m.score = m.own / float64(kindCounts(m.Kind)); !isOfTool(m.Kind) { // own has the factor, score has not
			m.saidPlace = len(said)
			said = append(said, m)
		}
	}
	shares := []float64{besideOne, besideTwo} // by the distance of two messages, less 1
	for i, m := range said {
		for j, share := range shares[:min(i, len(shares))] {
			before := said[i-1-j]
			before.score += share * m.own
			m.score += share * before.own
		}
		if a := m.answer(); a != nil && a.saidPlace > i+len(shares) { // a nearer answer has a share as a message beside m
			a.score += answerShare * m.own
		}
	}
	for _, m := range c.messages {
		if m.score == 0 {
			continue
		}
		m.score += conversationShare * best
		if isResult := kindOf(m.Kind) == transcript.KindToolResult; !isResult && !m.isOutcome() {
			m.score *= asideCounts
		}
	}
}

// answer returns the last message of the assistant between the request m and the next; nil if there is no such message.
func (m *rankedMessage) answer() (answer *rankedMessage) {
	if kindOf(m.Kind) != transcript.KindUser {
		return nil
	}
	for _, next := range m.conversation.messages[m.place+1:] {
		switch kindOf(next.Kind) {
		case transcript.KindUser:
			return answer
		case transcript.KindAssistant:
			answer = next
		}
	}
	return answer
}

// isOutcome reports whether the message is a request of the user, or a statement that ends the assistant's work: the
// next message, if there is one, is a request or a statement too, and no call, result or thought.
func (m *rankedMessage) isOutcome() bool {
	isSaid := func(m *rankedMessage) bool { // a request or a statement
		return kindOf(m.Kind).Scope()&(transcript.ScopeUser|transcript.ScopeAssistant|transcript.ScopeStructured) != 0
	}
	rest := m.conversation.messages[m.place:] // m and the messages after it
	return isSaid(m) && (kindOf(m.Kind) == transcript.KindUser || len(rest) == 1 || isSaid(rest[1]))
}

// beside returns the message that is shown with m: the user's reply if m is a question of the assistant, or the
// assistant's message before m if m is a short reply of the user; nil for none.
func (m *rankedMessage) beside() *rankedMessage {
	all := m.conversation.messages
	if next := m.place + 1; m.asks && next < len(all) && kindOf(all[next].Kind) == transcript.KindUser {
		return all[next]
	}
	isShortReply := kindOf(m.Kind) == transcript.KindUser && m.isShort(shortAnswer)
	if !isShortReply {
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

// isShort reports whether the passage of m, which must have been read, is the whole text and has at most limit bytes.
func (m *rankedMessage) isShort(limit int) bool {
	p := m.hit.Passage
	return len(p.Text) <= limit && !p.Before && !p.After
}

// shows reports whether the query selects a message, so that it may be shown. With phrases, it selects only messages
// that have them all: only these have an own score. A message beside a found one may be outside of the query.
func (r *ranking) shows(m *rankedMessage) bool {
	q := r.query
	return q.kinds()&(1<<m.Kind) != 0 && r.inRange(m.Number) && (len(r.phrases) == 0 || m.own > 0) && q.isIn(m.Time)
}

// keepDistinct returns the first candidates with different passages, up to the limit of the query and to the first
// candidate that was not read. It sets the scores of their passages. If a later candidate in another conversation has
// the same passage, it adds that conversation to Also of the first.
func (r *ranking) keepDistinct(candidates []*rankedMessage) (kept []*rankedMessage) {
	texts := map[string]*rankedMessage{"": nil} // the first message with each text; "" counts as seen, so that it is not kept
	for _, m := range candidates {
		if len(kept) == r.query.Limit || m.hit == nil { // no hit: m and those after it were not read
			break
		}
		p := m.hit.Passage
		first, isSeen := texts[p.Text]
		if !isSeen {
			texts[p.Text], p.Score = m, m.score
			kept = append(kept, m)
			continue
		}
		isElsewhere := first != nil && first.conversation != m.conversation // first is nil for the empty text
		if isElsewhere && !slices.Contains(first.hit.Also, m.conversation.ID) {
			first.hit.Also = append(first.hit.Also, m.conversation.ID)
		}
	}
	return kept
}

// addResults adds the found conversations, as they are sorted, and the hits of the kept messages, the best first.
func (r *ranking) addResults(found []*ranked, kept []*rankedMessage) (err error) {
	result, places := r.result, map[*ranked]int{}
	for i, c := range found {
		places[c] = i
		if c.Latest, err = r.latest(c); err != nil {
			return err
		}
		result.Conversations = append(result.Conversations, c.Matched)
	}
	slices.SortFunc(kept, func(a, b *rankedMessage) int {
		return cmp.Or(cmp.Compare(b.hit.Score, a.hit.Score), cmp.Compare(places[a.conversation], places[b.conversation]), cmp.Compare(a.Number, b.Number))
	})
	for _, m := range kept {
		result.Hits = append(result.Hits, *m.hit)
	}
	result.Total, result.AtLeast = len(kept), len(kept) == r.query.Limit
	return nil
}

// latest reads and returns the last message of a conversation that was said, and whose own score is nearly the best of
// the conversation; nil if there is none.
func (r *ranking) latest(c *ranked) (*Hit, error) {
	best := 0.0
	for _, m := range c.messages {
		best = max(best, m.own)
	}
	for _, m := range slices.Backward(c.messages) {
		if !isOfTool(m.Kind) && m.own > 0 && m.own >= latestShare*best {
			err := r.read(m)
			return m.hit, err
		}
	}
	return nil, nil
}

// readBest sorts messages by the score that a function returns, the best first, and reads the first readAt messages.
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

// read reads a message and sets the fields hit and asks of m. It does nothing if m was read before. The hit gets the
// best passage for the question. If a message of the assistant has no word of the question, the passage is its end,
// where proposals and questions are. read also raises m.own if words of the question are side by side in the passage.
func (r *ranking) read(m *rankedMessage) error {
	if m.hit != nil {
		return nil
	}
	text, extra, err := m.conversation.in.view.Read(m.Scored)
	if err != nil {
		return err
	}
	if len(text) > readAhead { // this bounds the time of an answer
		_, size := utf8.DecodeLastRune(text[:readAhead])
		text = text[:readAhead-size] // size: the last character may be cut
	}
	text = m.conversation.in.shown(text, extra)
	isAssistant := kindOf(m.Kind) == transcript.KindAssistant
	best, wide := excerpt.BestPassage(r.terms, text, r.result.weights, r.query.MaxText, r.query.MaxWide)
	if best.Value == 0 && isAssistant {
		best, wide = excerpt.LastPassage(text, r.query.MaxText), excerpt.LastPassage(text, r.query.MaxWide)
	}
	m.own += best.Beside * float64(kindCounts(m.Kind)) // own has the factor of the kind already
	m.asks = isAssistant && bytes.HasSuffix(bytes.TrimSpace(text), []byte("?"))
	hit := m.conversation.in.newHit(m.conversation.entry, m.Scored, extra)
	m.hit, hit.Passage = &hit, &Passage{Excerpt: best.Of(text), Wide: wide.Of(text), Outcome: m.isOutcome()}
	if a := m.answer(); a != nil {
		m.hit.Answer = int(a.Number)
	}
	return nil
}
