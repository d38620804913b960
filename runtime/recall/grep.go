package recall

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
)

// Bounds on the text of one hit, in characters. The command line has cut a long
// line to a window around its match already, and marked the ends; windowed again
// are only the lines of a program that did not.
const (
	maxLine    = 400
	maxEmitted = maxLine + 10
)

type grepRecord struct {
	conversation.GrepHit
	Title      string `json:"title"`
	Event      *int   `json:"event"`
	Line       *int   `json:"line"`
	Submatches []struct {
		Start int `json:"start"` // byte offset into the text
	} `json:"submatches"`
}

type grepSummary struct {
	Matches       *int `json:"matches"`
	Searched      *int `json:"searched"`
	Matched       *int `json:"conversations_matched"`
	Conversations []struct {
		ID      string `json:"id"`
		Matches int    `json:"matches"`
		Turns   int    `json:"turns"`
	} `json:"conversations"`
	Excluded []string  `json:"excluded"`
	Skipped  []skipped `json:"skipped"`
}

// searching is one call of conversation_grep in the making.
type searching struct {
	call    contract.Call
	params  conversation.GrepParams
	summary grepSummary
	hits    []grepRecord
	found   int // matches among hits
	within  int // conversations among hits
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
	args := conversation.GrepArgs(p, s.call.Context)
	if err := t.run(ctx, s.call, conversation.GrepCLI, args, conversation.GrepExitOK, &s.summary, s.add); err != nil {
		return nil, err
	}
	return fit(s.wanted(), conversation.GrepMaxChars, s.envelope), nil
}

func (s *searching) add(raw json.RawMessage) error {
	var r grepRecord
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	if !isIdentifier(r.ID) {
		return errNoID
	}
	if !isIdentifier(r.Scope) {
		return fmt.Errorf("its scope, %s, is none", quoted(r.Scope))
	}
	if n := utf8.RuneCountInString(r.Text); n > maxEmitted {
		at := 0
		if len(r.Submatches) > 0 {
			at = r.Submatches[0].Start
		}
		r.Text = window(r.Text, at, maxLine)
		r.Chars = max(r.Chars, n)
	}
	r.Title = clip(r.Title, maxTitle)
	if n := len(s.hits); n == 0 || s.hits[n-1].ID != r.ID {
		s.within++
	}
	if r.IsMatch {
		s.found++
	}
	s.hits = append(s.hits, r)
	return nil
}

// window is the n characters of a line around byte offset at, with … where
// something is cut off.
func window(line string, at, n int) string {
	before := utf8.RuneCountInString(line[:min(max(at, 0), len(line))])
	runes := []rune(line)
	from := min(max(before-n/2, 0), len(runes)-n)
	text := string(runes[from : from+n])
	if from > 0 {
		text = "…" + text
	}
	if from+n < len(runes) {
		text += "…"
	}
	return text
}

// wanted is how many hits there are up to the limit. A program may print more
// than it was asked for.
func (s *searching) wanted() int {
	matches := 0
	for i := range s.hits {
		if !s.hits[i].IsMatch {
			continue
		}
		if matches++; matches > s.params.Limit {
			return i
		}
	}
	return len(s.hits)
}

// shown is the first n hits, without context that belongs to a match behind
// them: it would promise a match that is not there.
func (s *searching) shown(n int) []grepRecord {
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
		hit := h.GrepHit
		if i == 0 || h.ID != shown[i-1].ID {
			e.Conversations = append(e.Conversations, s.group(h))
		} else {
			hit.GapBefore = s.params.Context > 0 && !adjacent(&shown[i-1], h)
		}
		c := &e.Conversations[len(e.Conversations)-1]
		c.Hits = append(c.Hits, hit)
		if h.IsMatch {
			e.Returned++
		}
	}
	e.Matches = valueOr(s.summary.Matches, s.found)
	e.ConversationCount = valueOr(s.summary.Matched, s.within)
	e.Searched = valueOr(s.summary.Searched, e.ConversationCount)
	e.Truncated = e.Returned < e.Matches
	e.Notes = append(remarks(s.call), s.notes(&e)...)
	if !e.Truncated && len(shown) < len(s.hits) {
		e.Notes = append(e.Notes, fmt.Sprintf("%s did not fit into %d characters.", count(len(s.hits)-len(shown), "line of context", "lines of context"), conversation.GrepMaxChars))
	}
	return &e
}

// group begins the group of a hit. Where no summary tells, it counts what was
// seen.
func (s *searching) group(h *grepRecord) conversation.GrepConversation {
	c := conversation.GrepConversation{ID: h.ID, Title: h.Title}
	for _, told := range s.summary.Conversations {
		if told.ID == h.ID {
			c.Matches, c.Turns = told.Matches, told.Turns
			return c
		}
	}
	for i := range s.hits {
		if s.hits[i].ID == h.ID && s.hits[i].IsMatch {
			c.Matches++
			c.Turns = max(c.Turns, s.hits[i].Turn)
		}
	}
	return c
}

// adjacent says that b is the line behind a. A program that does not number
// lines is trusted to leave none out inside one event.
func adjacent(a, b *grepRecord) bool {
	if a.Event == nil || b.Event == nil || a.Line == nil || b.Line == nil {
		return a.Turn == b.Turn && a.Scope == b.Scope && a.Timestamp.Equal(b.Timestamp)
	}
	return *a.Event == *b.Event && *a.Line+1 == *b.Line
}

func (s *searching) notes(e *conversation.GrepEnvelope) []string {
	var notes []string
	switch {
	case e.Matches == 0:
		notes = append(notes, s.nothingFound())
	case e.Truncated:
		notes = append(notes, s.truncated(e))
	}
	if s.summary.Searched == nil {
		notes = append(notes, "searched counts only conversations with a match: how many were searched is not known.")
	}
	if len(s.summary.Excluded) > 0 {
		notes = append(notes, "The current conversation, "+s.call.Context.ConversationID+", was left out; include_current=true searches it too.")
	}
	same, list := duplicates(s.summary.Skipped)
	if same != "" {
		notes = append(notes, same)
	}
	if len(list) > 0 {
		notes = append(notes, "Searched in part or not at all: "+namely(list)+".")
	}
	return notes
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

// roomForMore says that another match, with its context and in a conversation of
// its own, would still fit: a higher limit must not be recommended in vain.
func (s *searching) roomForMore(e *conversation.GrepEnvelope) bool {
	const (
		hitChars   = maxEmitted + 250 // with its attributes
		groupChars = maxTitle + 200
		noteChars  = 1000
	)
	return chars(e)+(1+2*s.params.Context)*hitChars+groupChars+noteChars <= conversation.GrepMaxChars
}

// nothingFound says what was searched for and where, and what else to try.
func (s *searching) nothingFound() string {
	p := s.params
	searched := s.summary.Searched
	if searched != nil && *searched == 0 {
		switch {
		case len(s.summary.Excluded) > 0 && len(p.IDs) > 0:
			return "Nothing was searched: ids names the current conversation alone."
		case len(s.summary.Excluded) > 0:
			return "Nothing was searched: there is no other live conversation. conversation_list with archived=true shows archived ones, which ids may name."
		case len(s.summary.Skipped) == 0:
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
	note := fmt.Sprintf("No line contains %s, %s, in %s", quoted(p.Pattern), how, where)
	if searched != nil {
		note += " of the " + count(*searched, "conversation", "conversations") + " searched"
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
