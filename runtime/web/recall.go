package web

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/web/document"
)

// Limits of an answer.
const (
	maxPassages = 20
	maxPassage  = 600 // bytes
)

// answer is the passages that answer a question.
type answer struct {
	Conversations []matched
	Missing       []string // words that occur nowhere
	HasWords      bool
}

// matched is a conversation that answers, with its best passages.
type matched struct {
	row
	Passages []passage
}

// passage is a part of an event, with marks.
type passage struct {
	Number  int
	Address string
	Who     string
	Time    time.Time
	Parts   []markedPart
}

// markedPart is a part of a passage. IsMark reports whether it is a word of the question.
type markedPart struct {
	Text   string
	IsMark bool
}

// recall returns the passages that answer the question of a query, among the conversations that its filters select.
func (s *Server) recall(ctx context.Context, library *conversations.Library, q query) (*answer, error) {
	search := conversations.SearchQuery{
		Question: q.Words, Order: conversations.Relevance, Limit: maxPassages, MaxText: maxPassage, MaxWide: maxPassage,
		Since: q.From, Until: q.until(), Own: s.isOwn,
	}
	var err error
	if search.Filter, err = s.filter(q); err != nil {
		return nil, err
	}
	if q.Program != "" {
		search.Sources = []string{q.Program}
	}
	if q.Project != "" {
		search.IDs, err = inProject(ctx, library, search.Filter, q)
		if err != nil {
			return nil, err
		}
		if len(search.IDs) == 0 { // Search would search all conversations
			return &answer{HasWords: true}, nil
		}
	}
	found, err := library.Search(ctx, search)
	if err != nil {
		return nil, err
	}
	return answerOf(found, q), nil
}

// inProject returns the ids of the conversations of f that are of the program and the project in the query q.
func inProject(ctx context.Context, library *conversations.Library, f conversations.Filter, q query) (ids []string, err error) {
	listing, err := library.List(ctx, conversations.ListQuery{Filter: f, NoEvents: true})
	if err != nil {
		return nil, err
	}
	for i := range listing.Conversations {
		if c := &listing.Conversations[i]; q.selects(c) {
			ids = append(ids, string(c.ID))
		}
	}
	return ids, nil
}

// answerOf returns the passages that a search has found, with the words and the quoted phrases of the question marked.
func answerOf(found *conversations.Results, q query) *answer {
	a := &answer{HasWords: len(found.Words) > 0}
	var marks []string
	for i, part := range strings.Split(q.Words, `"`) {
		if isQuoted := i%2 == 1; isQuoted {
			marks = append(marks, part)
		}
	}
	for _, word := range found.Words {
		marks = append(marks, word.Term, word.Word) // of "story" the term "stori" marks "stories"
		if word.Events == 0 {
			a.Missing = append(a.Missing, text.Line(word.Word))
		}
	}
	for _, c := range found.Conversations {
		hits := found.Of(c)
		if len(hits) == 0 {
			continue
		}
		m := matched{row: rowOf(&c.Listed, q.All)}
		m.At = hits[0].Time
		for _, h := range hits {
			said := strings.TrimSpace(text.Visible(h.Text))
			m.Passages = append(m.Passages, passage{
				Number: h.Number, Address: conversationAddress(c.ID, h.Number), Who: h.Kind.Scope().String(), Time: h.Time,
				Parts: slices.Collect(parts(said, marks)),
			})
		}
		a.Conversations = append(a.Conversations, m)
	}
	return a
}

// parts yields the occurrences of the marks, of overlapping ones only the first, and the texts between them.
func parts(said string, marks []string) iter.Seq[markedPart] {
	var spans []excerpt.Span
	for _, mark := range marks {
		spans = slices.AppendSeq(spans, excerpt.Occurrences(said, mark))
	}
	slices.SortFunc(spans, func(a, b excerpt.Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	return func(yield func(markedPart) bool) {
		end := 0
		for _, span := range spans {
			if span.Start < end {
				continue
			}
			if span.Start > end && !yield(markedPart{Text: said[end:span.Start]}) {
				return
			}
			if !yield(markedPart{Text: said[span.Start:span.End], IsMark: true}) {
				return
			}
			end = span.End
		}
		if end < len(said) {
			yield(markedPart{Text: said[end:]})
		}
	}
}

// Day returns the day of a row.
func (r row) Day() string { return document.Day(r.At) }
