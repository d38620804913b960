package command

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// searchRecord is a line as "grep" prints it.
type searchRecord struct {
	ID         string    `json:"id"`
	Title      string    `json:"title"`
	Turn       int       `json:"turn"`
	Scope      string    `json:"scope"`
	Timestamp  time.Time `json:"timestamp"`
	Text       string    `json:"text"`
	Match      bool      `json:"match"`
	Submatches []struct {
		Start int `json:"start"` // byte offset into the text
		End   int `json:"end"`
	} `json:"submatches"`
	Line  int  `json:"line"`
	Event *int `json:"event"`
	Chars int  `json:"chars"`
	// Of the event.
	Number     int `json:"number"`
	EventChars int `json:"event_chars"`
}

type searchSummary struct {
	Matches       *int `json:"matches"`
	Own           int  `json:"excluded_tool_matches"`
	Searched      *int `json:"searched"`
	Matched       *int `json:"conversations_matched"`
	Conversations []struct {
		ID      string `json:"id"`
		Matches int    `json:"matches"`
		Turns   int    `json:"turns"`
	} `json:"conversations"`
	Excluded []string  `json:"excluded"`
	Skipped  []problem `json:"skipped"`
}

// Search implements [conversations.Source].
func (s source) Search(ctx context.Context, q conversations.SearchQuery) (conversations.Matches, error) {
	c, err := call(s.config.Search, q, slices.Concat(q.IDs, q.Exclude)...)
	if err != nil {
		return conversations.Matches{}, err
	}
	out, err := s.run(ctx, c, "grep")
	if err != nil {
		return conversations.Matches{}, err
	}
	found := search{query: q}
	var summary searchSummary
	if err := out.each(&summary, found.add); err != nil {
		return conversations.Matches{}, err
	}
	return found.handOver(summary)
}

// search is what a search has found.
type search struct {
	query    conversations.SearchQuery
	matches  []conversations.Match
	lines    []conversations.Line // those within the bounds
	of       []int                // index in matches of each line
	total    int                  // matching lines that were printed
	returned int                  // of these, those within the bounds
	behind   int                  // lines of context behind the last match within the bounds
}

func (s *search) add(raw json.RawMessage) error {
	var r searchRecord
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	id, err := recordID(r.ID)
	if err != nil {
		return err
	}
	scope, ok := scopeOf(r.Scope)
	if !ok {
		return fmt.Errorf("its scope, %s, is none", text.Quote(r.Scope))
	}
	if n := len(s.matches); n == 0 || s.matches[n-1].ID != id {
		s.matches = append(s.matches, conversations.Match{Conversation: transcript.Conversation{ID: id, Title: r.Title, Source: conversations.SourceOf(id)}})
	}
	in := &s.matches[len(s.matches)-1]
	line := r.typed(scope, s.query.MaxLine)
	full := s.query.MaxMatches > 0 && s.returned >= s.query.MaxMatches
	if r.Match {
		s.total++
		in.Matches++
		in.Turns = max(in.Turns, r.Turn)
	} else {
		s.behind++
	}
	switch {
	case full && (r.Match || s.behind > s.query.Context || s.returned < s.total || !adjacent(&s.lines[len(s.lines)-1], &line)):
		return nil
	case r.Match:
		s.returned++
		in.Shown++
		s.behind = 0
	}
	s.lines, s.of = append(s.lines, line), append(s.of, len(s.matches)-1)
	return nil
}

// scopeOf returns the single scope of a name.
func scopeOf(name string) (transcript.Scopes, bool) {
	for _, known := range transcript.NamedScopes() {
		if known.Name == name && known.Scopes&(known.Scopes-1) == 0 {
			return known.Scopes, true
		}
	}
	return 0, false
}

// marks is how many characters more than it was asked for a program may print
// around a line that it has cut.
const marks = 10

// adjacent reports whether b may be the line behind a.
func adjacent(a, b *conversations.Line) bool {
	return a.Event == b.Event && a.Scope == b.Scope && a.Turn == b.Turn && (a.Number == 0 || a.Number+1 == b.Number)
}

func (r *searchRecord) typed(scope transcript.Scopes, maxLine int) conversations.Line {
	line := conversations.Line{
		Scope: scope, Turn: r.Turn, Event: -1, EventNumber: max(r.Number, 0), EventChars: max(r.EventChars, 0), Number: r.Line, Time: r.Timestamp,
		Text: []byte(r.Text), IsMatch: r.Match, Chars: r.Chars,
	}
	if r.Event != nil {
		line.Event = *r.Event
	}
	if scope == transcript.ScopeTitle {
		line.Number = 1 // the only line there is
	}
	var spans []conversations.Span
	for _, m := range r.Submatches {
		if 0 <= m.Start && m.Start <= m.End && m.End <= len(r.Text) {
			spans = append(spans, conversations.Span{Start: m.Start, End: m.End})
		}
	}
	if n := utf8.RuneCountInString(r.Text); maxLine > 0 && n > maxLine+marks {
		at := 0
		if len(spans) > 0 {
			at = spans[0].Start
		}
		line.Text, spans = []byte(window(r.Text, at, maxLine)), nil
		line.Chars = max(r.Chars, n)
	}
	line.Spans = slices.Values(spans)
	return line
}

// window is the n characters of a line around byte offset at, with … where
// something is cut off.
func window(line string, at, n int) string {
	before := utf8.RuneCountInString(line[:at])
	runes := []rune(line)
	from := min(max(before-n/2, 0), len(runes)-n)
	part := string(runes[from : from+n])
	if from > 0 {
		part = "…" + part
	}
	if from+n < len(runes) {
		part += "…"
	}
	return part
}

// handOver hands over what was found, with the numbers of the summary where there
// is one, and those that were seen where not.
func (s *search) handOver(summary searchSummary) (conversations.Matches, error) {
	counted := map[transcript.ID]int{} // by index in the summary
	for i, c := range summary.Conversations {
		if id, err := conversations.ParseID(c.ID); err == nil {
			counted[id] = i
		}
	}
	for i := range s.matches {
		if at, ok := counted[s.matches[i].ID]; ok {
			s.matches[i].Matches, s.matches[i].Turns = summary.Conversations[at].Matches, summary.Conversations[at].Turns
		}
	}
	result := conversations.Matches{
		Total: or(summary.Matches, s.total), Returned: s.returned, Own: max(summary.Own, 0),
		Searched: or(summary.Searched, -1), Matched: or(summary.Matched, len(s.matches)),
		Aside: aside(summary.Excluded, summary.Skipped),
	}
	begun := -1
	for i := range s.lines {
		m := &s.matches[s.of[i]]
		if s.of[i] != begun {
			begun = s.of[i]
			result.Conversations = append(result.Conversations, *m)
			if s.query.Found != nil {
				if err := s.query.Found(m); err != nil {
					return conversations.Matches{}, err
				}
			}
		}
		s.lines[i].Conversation = &m.Conversation
		if s.query.Line != nil {
			if err := s.query.Line(&s.lines[i]); err != nil {
				return conversations.Matches{}, err
			}
		}
	}
	return result, nil
}

func or(p *int, otherwise int) int {
	if p == nil {
		return otherwise
	}
	return *p
}
