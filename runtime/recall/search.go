package recall

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	maxQuery      = 100_000 // characters of a query
	maxMessage    = 2000    // of a message that are shown
	maxStructured = 50_000  // the same in an answer for programs
)

// separator is between the blocks of an answer. No line of a recorded text looks like its three hyphens.
const separator = "\n\n---\n\n"

// searching is one call of conversation_search.
type searching struct {
	asking
	params conversation.SearchParams
	shown  []message
}

// message is an event as it is shown.
type message struct {
	*conversations.Hit
	Text  string // without white space around it
	Cut   bool   // the end of the text is missing
	Chars int    // of the whole text; of a passage from a longer text, one more than the greatest number that is shown
}

// Search answers conversation_search, for a model.
func (t *Tools) Search(ctx context.Context, call contract.Call, p conversation.SearchParams) (string, error) {
	s, err := t.search(ctx, call, p, maxMessage)
	if err != nil {
		return "", err
	}
	return inBlocks(blocksOf(s.shown, given(p.IDs)), s.notes()), nil
}

// search returns the messages of all projects that the parameters ask for, from the stores of p.Sources or else of the
// settings. It cuts the text of a message at maxText characters. The error is a [*contract.Error].
func (t *Tools) search(ctx context.Context, call contract.Call, p conversation.SearchParams, maxText int) (*searching, error) {
	q, problems := messageQuery(p)
	if len(problems) > 0 {
		return nil, coerce.Unmet(&call, problems)
	}
	s := &searching{asking: asking{call: call, query: q, ifCurrentUnknown: "it may be among these"}, params: p}
	s.query.MaxText, s.query.MaxWide = maxText, maxText
	if len(p.Sources) == 0 {
		var err error
		if s.query.Sources, err = t.sources(call.Context.Dir); err != nil {
			return nil, failure(ctx, err)
		}
	}
	s.scope = conversations.Options{AllProjects: true, Sources: s.query.Sources}
	setShown := func(context.Context, conversations.Source) error { // reads texts, for which the source must be open
		for i := range s.found.Hits {
			m := message{Hit: &s.found.Hits[i]}
			if err := m.setText(s.found, maxText); err != nil {
				return err
			}
			s.shown = append(s.shown, m)
		}
		return nil
	}
	return s, s.asking.search(ctx, t, setShown) // sets s.found, and then calls setShown
}

// setText sets Text, Cut and Chars of a message. The text is the passage that answers a question. Without a passage it
// is the beginning of the event, of at most limit characters.
func (m *message) setText(found *conversations.Results, limit int) error {
	if p := m.Passage; p != nil {
		passage := strings.TrimFunc(p.Text, text.IsSpace)
		m.Text, m.Cut, m.Chars = either(p.Before, "...", "")+passage, p.After, utf8.RuneCountInString(passage)
		if isPart := p.Before || p.After; isPart {
			m.Chars = limit + 1 // the length of the event is not known: any number above limit says that the text is cut
		}
		return nil
	}
	content, err := found.Read(m.Hit)
	m.Text = strings.TrimFunc(string(content), text.IsSpace)
	m.Chars = utf8.RuneCountInString(m.Text)
	if m.Cut = m.Chars > limit; m.Cut {
		m.Text, _, _ = text.Ends(m.Text, limit, 0)
	}
	return err
}

// messageQuery returns the query that the parameters ask for, and all problems with the parameters; nil if there are none.
func messageQuery(p conversation.SearchParams) (conversations.SearchQuery, []contract.Problem) {
	q := conversations.SearchQuery{Limit: p.Limit, Filter: conversations.Filter{Sources: p.Sources}, Order: conversations.Newest}
	var problems dates
	q.Question = strings.TrimFunc(given(p.Query), text.IsSpace)
	q.Pattern = excerpt.Literal(q.Question, true)
	if n := utf8.RuneCountInString(q.Question); n > maxQuery {
		problems = append(problems, contract.Problem{
			Path: "query", Code: contract.CodeMaxLength,
			Message: fmt.Sprintf("query must be at most %d characters long, got %d.", maxQuery, n),
		})
	}
	for r := transcript.RoleUser; r <= transcript.RoleTool; r++ {
		if slices.Contains(p.Roles, r.String()) {
			q.Scopes |= r.Scopes()
		}
	}
	q.Since, q.Until = problems.between("start_date", p.StartDate, "end_date", p.EndDate)
	if after := given(p.Cursor); after != "" {
		position, err := parseCursor(after)
		if err != nil {
			problems = append(problems, contract.Mismatch("cursor", "be as a note of an earlier answer has it", after, ""))
		}
		q.After = &position
	}
	if p.Order == "relevance" {
		q.Order = conversations.Relevance
		if q.Question == "" || q.After != nil { // relevance needs a query, and a cursor is a position among the newest
			problems = append(problems, contract.Mismatch("order", "be newest where there is no query, or a cursor", p.Order, ""))
		}
	}
	return q, problems
}

// blocksOf returns a block of text for each message; if there is none, a block that says so. If withPlace is set, a block
// has the id and the event of its message. A text that is cut ends with three dots.
func blocksOf(messages []message, withPlace bool) (blocks []string) {
	for i := range messages {
		m := &messages[i]
		when := "(no time)"
		if !m.Time.IsZero() {
			when = m.Time.UTC().Format("2006-01-02 15:04")
		}
		head := "[" + when + "] " + cmp.Or(text.Line(clip(m.Role, maxTitle)), "unknown") + " (conv: " + nameOf(&m.Conversation.Conversation) + ")"
		if withPlace {
			head += " " + m.place()
		}
		blocks = append(blocks, head+"\n"+withoutSeparators(text.Visible(m.Text+either(m.Cut, "...", ""))))
	}
	if len(messages) == 0 {
		blocks = []string{"No matching messages."}
	}
	return blocks
}

// inBlocks joins blocks to an answer, with the notes in a block of their own.
func inBlocks(blocks, notes []string) string {
	if len(notes) > 0 {
		blocks = append(blocks, "[note] "+strings.Join(notes, "\n"))
	}
	return strings.Join(blocks, separator)
}

// nameOf returns the title of a conversation on one line, or the beginning of its id if it has none.
func nameOf(c *transcript.Conversation) string {
	if strings.TrimFunc(c.Title, text.IsSpace) != "" {
		return clip(text.Line(c.Title), maxTitle)
	}
	id, _, _ := text.Ends(cmp.Or(c.NativeID, string(c.ID)), 8, 0)
	return text.Line(id)
}

// withoutSeparators returns a text with a backslash before each line that looks like three hyphens, which separate
// blocks. A line that looks so after backslashes gets one more.
func withoutSeparators(s string) string {
	isUnseen := func(r rune) bool { return text.IsSpace(r) || text.IsHidden(r) || r == 0x2800 } // a pattern of Braille without dots
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.TrimFunc(strings.TrimLeft(line, `\`), isUnseen) == "---" {
			lines[i] = `\` + line
		}
	}
	return strings.Join(lines, "\n")
}

// place names the message as the parameters of conversation_read do.
func (m *message) place() string {
	return fmt.Sprintf("id: %s event: %d", m.Conversation.ID, m.Number)
}

// cursor returns a position as text, which callers hand back to continue after it.
func cursor(p *conversations.Position) string {
	return base64.RawURLEncoding.EncodeToString([]byte(coerce.JSON(p)))
}

// parseCursor returns the position that a cursor stands for. The error says that the function cursor did not write it.
func parseCursor(s string) (p conversations.Position, err error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err == nil && cursor(&p) != s {
		err = errors.New("it was not written by cursor")
	}
	return p, err
}

// notes returns the notes of the call, and notes on what the answer does not show: further messages, the ends of texts,
// calls and results of our tools, and what could not be searched.
func (s *searching) notes() []string {
	notes := remarks(s.call)
	f := s.found
	switch {
	case f.More:
		notes = append(notes, fmt.Sprintf("%s%s messages match in all; these are %s %d. The next: conversation_search with the same arguments and cursor=%q.",
			either(f.AtLeast, "more than ", ""), text.Number(f.Total), either(s.query.After == nil, "the newest", "the next"), len(s.shown), s.next()))
	case f.AtLeast && s.params.Order == "relevance":
		notes = append(notes, fmt.Sprintf("These are the %d that answer best; a larger limit shows more.", len(s.shown)))
	}
	var cut []string
	for i := range s.shown {
		if m := &s.shown[i]; m.Chars > maxMessage {
			cut = append(cut, m.place())
		}
	}
	if len(cut) > 0 {
		notes = append(notes, fmt.Sprintf("%s cut at %d characters. conversation_read with id and event shows one whole: %s.",
			text.Count(len(cut), "message is", "messages are"), maxMessage, bounded(cut, ", ", maxNames)))
	}
	if f.Own > 0 {
		notes = append(notes, fmt.Sprintf("%s left out, which are calls and results of these very tools.", text.Count(f.Own, "match is", "matches are")))
	}
	return append(notes, missedNotes(f.Problems)...)
}

// next returns the cursor of the next page; it is empty where there is none.
func (s *searching) next() string {
	if !s.found.More {
		return ""
	}
	last := s.shown[len(s.shown)-1].Position()
	return cursor(&last)
}

// structured answers conversation_search for programs.
type structured struct{ *Tools }

// Search answers in the form of Letta's tool of this name.
func (s structured) Search(ctx context.Context, call contract.Call, p conversation.SearchParams) (string, error) {
	found, err := s.search(ctx, call, p, maxStructured)
	if err != nil {
		return "", err
	}
	answer := lettaAnswer{
		Message: "No results found.", Results: []lettaResult{},
		Total: found.found.Total, TotalIsLeast: found.found.AtLeast, NextCursor: found.next(),
	}
	if n := len(found.shown); n > 0 {
		answer.Message = fmt.Sprintf("Showing %d results:", n)
	}
	mode := map[string]string{"search_mode": either(found.query.Question == "", "timestamp", "fts")}
	now := s.now().UTC()
	for i := range found.shown {
		m := &found.shown[i]
		r := lettaResult{
			Role: m.Role, Relevance: mode, Content: m.Text, Truncated: m.Chars > maxStructured,
			ID: fmt.Sprintf("%s:%d", m.Conversation.ID, m.Number), Title: m.Conversation.Title,
		}
		if at := m.Time; !at.IsZero() {
			stamp, ago := at.UTC().Format("2006-01-02T15:04:05.999999-07:00"), ago(now.Sub(at))
			r.Timestamp, r.TimeAgo = &stamp, &ago
		}
		answer.Results = append(answer.Results, r)
	}
	answer.Notes = append(remarks(found.call), missedNotes(found.found.Problems)...)
	return coerce.JSON(answer), nil
}

// lettaAnswer has the members of Letta, message and results, and members of ours.
type lettaAnswer struct {
	Message      string        `json:"message"`
	Results      []lettaResult `json:"results"`
	Total        int           `json:"total"`
	TotalIsLeast bool          `json:"total_is_lower_bound,omitempty"`
	NextCursor   string        `json:"next_cursor,omitempty"`
	Notes        []string      `json:"notes,omitempty"`
}

type lettaResult struct {
	Timestamp *string           `json:"timestamp"`
	TimeAgo   *string           `json:"time_ago"`
	Role      string            `json:"role"`
	Relevance map[string]string `json:"relevance"`
	Content   string            `json:"content"`
	Truncated bool              `json:"truncated,omitempty"`
	ID        string            `json:"id"`
	Title     string            `json:"title,omitempty"`
}

// ago returns a duration as a time in the past, in whole numbers of its largest unit: "3h ago".
func ago(d time.Duration) string {
	units := []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second}
	for i, unit := range units {
		if d >= unit {
			return fmt.Sprintf("%d%c ago", d/unit, "dhms"[i])
		}
	}
	return "0s ago"
}
