package conversationcli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// What search prints by default.
const (
	pipedLimit   = 50  // messages in a pipe
	pipedChars   = 300 // of the text of a message in a pipe
	usualColumns = 80  // of a terminal whose size is not known
	usualRows    = 24
	roleColumns  = 11 // of the role at the left of a block
	mostRanked   = 200
)

// query returns what the command line asks the engine for.
func (s *searching) query(sources []string) conversations.SearchQuery {
	q := conversations.SearchQuery{Since: s.since, Until: s.until, Own: isOwn(s.family)}
	q.Both, q.Sources = true, s.Sources
	if len(q.Sources) == 0 {
		q.Sources = sources
	}
	for r := transcript.RoleUser; r <= transcript.RoleTool; r++ {
		if slices.Contains(s.Roles, r.String()) {
			q.Roles |= transcript.RolesOf(r)
		}
	}
	if s.Order == "relevance" {
		q.Order, q.Question, q.Limit = conversations.Relevance, s.Query, mostRanked
		q.MaxText, q.MaxWide = recalledText, recalledText
	} else {
		q.Pattern = excerpt.Literal(s.Query, true)
	}
	return q
}

// search prints the messages that match: blocks on a terminal, else a line for each.
func (s *searching) search(ctx context.Context) error {
	library, sources, err := s.everywhere()
	if err != nil {
		return err
	}
	defer library.Close()
	q := s.query(sources)
	calling := s.leaveOutCaller(ctx, library, &q)
	found, err := library.Search(ctx, q)
	s.warnOf(found.Aside.Problems)
	if err != nil {
		return err
	}
	s.noteCaller(calling, found.Aside.Excluded, "")
	mark, beginning, err := shownPatterns(&q, found.Words)
	if err != nil {
		return err
	}
	hits := s.ordered(found, &q)
	shown := hits[:min(len(hits), s.most())]
	for i, hit := range shown {
		said, err := found.Read(hit)
		if err != nil {
			return err
		}
		if hit.Passage != nil {
			said = []byte(hit.Text)
		}
		said, pattern := bytes.TrimSpace(said), mark
		if !pattern.IsIn(said) {
			pattern = beginning
		}
		if s.out.terminal {
			s.out.write(either(i > 0, "\n", ""))
			s.block(hit, said, pattern)
		} else {
			s.record(hit, said, pattern)
		}
	}
	if err := s.out.flush(); err != nil { // notes come after the messages
		return err
	}
	s.noteMore(found, len(shown), len(hits))
	if len(shown) == 0 {
		err = s.explain(ctx, library, q)
	}
	return cmp.Or(err, foundAny(len(shown) > 0))
}

// most is how many messages are printed.
func (s *searching) most() int {
	switch {
	case s.Limit > 0:
		return int(s.Limit)
	case !s.out.terminal:
		return pipedLimit
	}
	perBlock := 2*int(s.context) + 4 // a line that matches may take two rows
	return max(1, (cmp.Or(s.host.Height, usualRows)-2)/perBlock)
}

// ordered returns the hits that may be shown, as many of each conversation as are wanted: what
// was said, then titles, then what tools were given and printed, each in the order of time.
func (s *searching) ordered(found *conversations.Results, q *conversations.SearchQuery) (shown []*conversations.Hit) {
	var hits []*conversations.Hit
	for i := range found.Hits {
		h := &found.Hits[i]
		at := timeOf(h)
		isEarly, isLate := q.Since != nil && at.Before(*q.Since), q.Until != nil && at.After(*q.Until)
		if !isEarly && !isLate { // a title is found whatever the time
			hits = append(hits, h)
		}
	}
	if q.Order == conversations.ByConversation {
		slices.SortFunc(hits, func(a, b *conversations.Hit) int {
			return cmp.Or(cmp.Compare(placeOf(a), placeOf(b)), s.compareTimes(timeOf(a), timeOf(b)),
				cmp.Compare(a.Conversation.ID, b.Conversation.ID), s.inOrder(cmp.Compare(a.Index, b.Index)))
		})
	}
	taken := map[*conversations.Matched]uint{}
	for _, h := range hits {
		if taken[h.Conversation]++; s.each == 0 || taken[h.Conversation] <= s.each {
			shown = append(shown, h)
		}
	}
	return shown
}

// placeOf returns where a kind of hit is among all, from 0.
func placeOf(h *conversations.Hit) int {
	switch {
	case h.Index < 0:
		return 1
	case transcript.RolesOf(transcript.RoleTool).Has(h.Kind.Role()):
		return 2
	}
	return 0
}

// timeOf returns when a hit was recorded: of a title, the last event of its conversation.
func timeOf(h *conversations.Hit) time.Time {
	if h.Index < 0 {
		return h.Conversation.LastEventAt
	}
	return h.Time
}

// compareTimes orders times, the zero time last.
func (s *searching) compareTimes(a, b time.Time) int {
	if a.IsZero() || b.IsZero() {
		return b.Compare(a)
	}
	return s.inOrder(a.Compare(b))
}

// inOrder reverses a comparison unless the oldest come first.
func (s *searching) inOrder(compared int) int {
	if s.oldest {
		return compared
	}
	return -compared
}

// shownPatterns returns the pattern that marks what is shown of a message, which is any word of a
// question that was ranked, and one for the beginning of a message in which that is not.
func shownPatterns(q *conversations.SearchQuery, words []conversations.Word) (mark, beginning *excerpt.Pattern, err error) {
	var terms []string
	for _, w := range words {
		terms = append(terms, regexp.QuoteMeta(w.Term))
	}
	if beginning, err = excerpt.Compile("^", true, false); err != nil {
		return nil, nil, err
	}
	if mark = q.Pattern; mark == nil && len(terms) > 0 {
		mark, err = excerpt.Compile(strings.Join(terms, "|"), true, true)
	}
	return cmp.Or(mark, beginning), beginning, err
}

// block writes the lines around the first match in a message, below its id, program and day.
func (s *searching) block(h *conversations.Hit, said []byte, pattern *excerpt.Pattern) {
	columns := cmp.Or(s.out.width, usualColumns)
	place := fmt.Sprintf("%s  %s  %s", idOf(h), programOf(h), dayOf(h, s.host.Now().Location()))
	title := text.Truncate(text.Cell(h.Conversation.Title), columns-text.Width(place)-2)
	s.out.write(s.out.style(styleID, place) + either(title == "", "", "  ") + title + "\n")
	role := roleNameOf(h)
	columns = max(columns-roleColumns, 1)
	for line := range pattern.Lines(said, int(s.context), 1) {
		part := pattern.Window(said[line.Start:line.End], 2*columns, line.IsMatch)
		shown := text.Truncate(text.Cell(string(part.Text)), columns)
		if line.IsMatch {
			spans := pattern.Spans(part.Text)
			if part.Chars > 0 {
				spans = slices.Values(part.Matches)
			}
			shown = s.out.coloured(string(part.Text), spans, "")
		}
		if strings.TrimSpace(shown) == "" {
			continue
		}
		s.out.write(s.out.style(styleDim, fmt.Sprintf("%-*s", roleColumns, role)) + shown + "\n")
		role = ""
	}
}

// record writes a message on one line, for programs.
func (s *searching) record(h *conversations.Hit, said []byte, pattern *excerpt.Pattern) {
	for line := range pattern.Lines(said, 0, 1) {
		shown := pattern.Window(said[line.Start:line.End], pipedChars, true).Text
		s.out.write(strings.Join([]string{
			idOf(h), programOf(h), dayOf(h, time.UTC), roleNameOf(h), text.Cut(text.Cell(string(shown)), pipedChars),
		}, "\t") + "\n")
	}
}

// idOf returns the id of a message, as search show takes it; of a title that of its conversation.
func idOf(h *conversations.Hit) string {
	id := string(h.Conversation.ID)
	return either(h.Number > 0, fmt.Sprintf("%s:%d", id, h.Number), id)
}

// programOf returns the name of the kind of store that has a hit.
func programOf(h *conversations.Hit) string {
	return cmp.Or(conversations.SourceOf(h.Conversation.ID), jp.Name)
}

// dayOf returns the day of a hit.
func dayOf(h *conversations.Hit, zone *time.Location) string {
	at := timeOf(h)
	return either(at.IsZero(), "?", at.In(zone).Format(time.DateOnly))
}

// roleNameOf returns who says what a hit is, on one line.
func roleNameOf(h *conversations.Hit) string {
	return either(h.Index < 0, "title", text.Cut(text.Cell(cmp.Or(h.Role, "unknown")), roleColumns-1))
}

// noteMore says what there is besides what is shown.
func (s *searching) noteMore(found *conversations.Results, shown, all int) {
	switch matches := len(found.Hits); {
	case all == 0:
		s.note("No matching messages.")
	case shown < all:
		s.note("%d of %d shown; --limit %[2]d shows all%s", shown, all, either(s.each == 1 && matches > all, ", --max-matches 0 all matches of each conversation", ""))
	case matches > all:
		s.note("%s more in these conversations; --max-matches 0 shows all", text.Count(matches-all, "match", "matches"))
	}
}
