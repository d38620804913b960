package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
)

// maxLine is how many characters of a line are shown, beside the marks of a cut.
const maxLine = 400

// hit is a line that was found.
type hit struct {
	conversation.GrepHit
	event, line int // where it stands; see [conversations.Line]
}

// searching is one call of conversation_grep in the making.
type searching struct {
	call   contract.Call
	params conversation.GrepParams
	found  conversations.Matches
	hits   []hit
}

// Grep answers conversation_grep.
func (t *Tools) Grep(ctx context.Context, call contract.Call, p conversation.GrepParams) (*conversation.GrepEnvelope, error) {
	undone := "nothing could be left out as the current conversation"
	if p.IncludeCurrent {
		undone = ""
	}
	s := &searching{call: located(call, undone), params: p}
	if call.Context.InConversation && call.Context.ConversationID == "" && !p.IncludeCurrent {
		s.call.Notes = append(slices.Clone(s.call.Notes), "Which conversation you are in is not known here, so it was not left out: hits may be your own words.")
	}
	q := conversations.SearchQuery{
		Filter:  conversations.Filter{IDs: p.IDs, Hidden: p.IncludeHidden},
		Pattern: p.Pattern, IgnoreCase: p.IgnoreCase, Context: p.Context,
		Scopes: scopesOf(p.Scopes), MaxMatches: p.Limit, MaxLine: maxLine, CountAll: true,
		Line: s.add,
	}
	if current := s.call.Context.ConversationID; current != "" && !p.IncludeCurrent {
		q.Exclude = []string{current}
	}
	err := t.ask(ctx, call, func(ctx context.Context, source conversations.Source) (err error) {
		s.found, err = source.Search(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	return fit(len(s.hits), conversation.GrepMaxChars, s.envelope), nil
}

func (s *searching) add(l *conversations.Line) error {
	s.hits = append(s.hits, hit{
		GrepHit: conversation.GrepHit{
			ID: string(l.Conversation.ID), Turn: l.Turn, Scope: l.Scope.String(), Timestamp: l.Time,
			IsMatch: l.IsMatch, Chars: l.Chars, Text: string(l.Text),
		},
		event: l.Event, line: l.Number,
	})
	return nil
}

// shown is the first n hits, without context that belongs to a match behind
// them: it would promise a match that is not there.
func (s *searching) shown(n int) []hit {
	shown := s.hits[:n]
	if n == len(s.hits) {
		return shown
	}
	end, after := 0, 0
	for i := range shown {
		switch {
		case shown[i].IsMatch:
			end, after = i+1, s.params.Context
		case after > 0 && i == end && adjacent(&shown[i-1], &shown[i]):
			end, after = i+1, after-1
		}
	}
	return shown[:end]
}

// envelope groups the first n hits by conversation.
func (s *searching) envelope(n int) *conversation.GrepEnvelope {
	var e conversation.GrepEnvelope
	shown := s.shown(n)
	for i := range shown {
		h := &shown[i]
		line := h.GrepHit
		if i == 0 || h.ID != shown[i-1].ID {
			e.Conversations = append(e.Conversations, s.group(h.ID))
		} else {
			line.GapBefore = s.params.Context > 0 && !adjacent(&shown[i-1], h)
		}
		c := &e.Conversations[len(e.Conversations)-1]
		c.Hits = append(c.Hits, line)
		if h.IsMatch {
			e.Returned++
		}
	}
	e.Matches, e.ConversationCount, e.Searched = s.found.Total, s.found.Matched, s.found.Searched
	if e.Searched < 0 {
		e.Searched = e.ConversationCount
	}
	e.Truncated = e.Returned < e.Matches
	e.Notes = append(remarks(s.call), s.notes(&e)...)
	if !e.Truncated && len(shown) < len(s.hits) {
		e.Notes = append(e.Notes, fmt.Sprintf("%s did not fit into %d characters.", count(len(s.hits)-len(shown), "line of context", "lines of context"), conversation.GrepMaxChars))
	}
	return &e
}

// group begins the hits of a conversation.
func (s *searching) group(id string) conversation.GrepConversation {
	c := conversation.GrepConversation{ID: id}
	for i := range s.found.Conversations {
		if found := &s.found.Conversations[i]; string(found.ID) == id {
			c.Title, c.Matches, c.Turns = clip(found.Title, maxTitle), found.Matches, found.Turns
		}
	}
	return c
}

// adjacent reports whether b is the line behind a. A source that does not number
// lines is trusted to leave none out inside one event.
func adjacent(a, b *hit) bool {
	if a.line == 0 || b.line == 0 {
		return a.Turn == b.Turn && a.Scope == b.Scope && a.Timestamp.Equal(b.Timestamp)
	}
	return a.event == b.event && a.line+1 == b.line
}

func (s *searching) notes(e *conversation.GrepEnvelope) []string {
	var notes []string
	switch {
	case e.Matches == 0:
		notes = append(notes, s.nothingFound())
	case e.Truncated:
		notes = append(notes, s.truncated(e))
	}
	if s.found.Searched < 0 {
		notes = append(notes, "searched counts only conversations with a match: how many were searched is not known.")
	}
	if len(s.found.Aside.Excluded) > 0 {
		notes = append(notes, "The current conversation, "+s.call.Context.ConversationID+", was left out; include_current=true searches it too.")
	}
	return append(notes, asideNotes(s.found.Aside.Problems, func(left []conversations.Problem) string {
		return "Searched in part or not at all: " + namely(left, "events.json is damaged, what stands before the damage was searched: ") + "."
	})...)
}

// truncated says how many matches are not shown, why, and how to see them.
func (s *searching) truncated(e *conversation.GrepEnvelope) string {
	p := s.params
	note := fmt.Sprintf("Showing %d of %d matches, newest conversations first", e.Returned, e.Matches)
	if e.Returned < min(p.Limit, e.Matches) {
		note += fmt.Sprintf(": no more fit into %d characters", conversation.GrepMaxChars)
	}
	note += "."
	if more := min(e.Matches, conversation.GrepLimitMaximum); e.Returned == p.Limit && more > p.Limit && s.roomForMore(e) {
		note += fmt.Sprintf(" limit=%d shows more.", more)
	}
	narrower := []string{"a longer pattern"}
	if len(p.IDs) == 0 {
		narrower = append(narrower, "ids=[…]")
	}
	if len(p.Scopes) == 0 {
		narrower = append(narrower, `scopes=["chat"]`)
	}
	return note + " Narrow with " + join(narrower, "or") + "; read a hit with conversation_read(id, turn)."
}

// roomForMore reports whether another match, with its context and in a conversation of
// its own, would still fit: a higher limit must not be recommended in vain.
func (s *searching) roomForMore(e *conversation.GrepEnvelope) bool {
	const (
		hitChars   = maxLine + 260 // with its marks and attributes
		groupChars = maxTitle + 200
		noteChars  = 1000
	)
	return chars(e)+(1+2*s.params.Context)*hitChars+groupChars+noteChars <= conversation.GrepMaxChars
}

// nothingFound says what was searched for and where, and what else to try.
func (s *searching) nothingFound() string {
	p := s.params
	searched := s.found.Searched
	if searched == 0 {
		switch {
		case len(s.found.Aside.Excluded) > 0 && len(p.IDs) > 0:
			return "Nothing was searched: ids names the current conversation alone."
		case len(s.found.Aside.Excluded) > 0:
			return "Nothing was searched: there is no other live conversation. conversation_list with archived=true shows archived ones, which ids may name."
		case len(s.found.Aside.Problems) == 0:
			return "Nothing was searched: there are no live conversations here, hidden ones aside. conversation_list with archived=true shows archived ones, which ids may name."
		}
	}
	how := "in any case"
	if !p.IgnoreCase {
		how = "in exactly this case"
	}
	where := "any scope"
	if len(p.Scopes) > 0 {
		where = "scopes=" + list(p.Scopes)
	}
	note := fmt.Sprintf("No line contains %s, %s, in %s", text.Quote(p.Pattern), how, where)
	if searched >= 0 {
		note += " of the " + count(searched, "conversation", "conversations") + " searched"
	}
	var ideas []string
	if strings.ContainsAny(strings.TrimSpace(p.Pattern), " \t") {
		ideas = append(ideas, "a single word of it")
	} else {
		ideas = append(ideas, "a shorter or another word")
	}
	if !p.IgnoreCase {
		ideas = append(ideas, "ignore_case=true")
	}
	if len(p.Scopes) > 0 {
		ideas = append(ideas, "no scopes")
	}
	if len(p.IDs) > 0 {
		ideas = append(ideas, "no ids")
	} else {
		ideas = append(ideas, "ids of archived conversations (conversation_list with archived=true)")
	}
	return note + ". Try " + strings.Join(ideas, ", or ") + "."
}
