package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
)

const (
	// Bytes of a passage among others, and of one where there is room; an event of
	// no more is whole.
	passageText, passageWide = 300, 600
	// Where none of the rare words occurs: so many passages, and characters in all.
	poorPassages, poorChars = 3, 800
	// recallTitle is how many characters of a title are shown.
	recallTitle = 50
	// Passages have at least leastScore percent of the score of the best one, and
	// are in conversations with leastConversation percent of that of the best one.
	// Of the mostNamed best conversations those with leastNamed percent are named
	// also without a passage. With LoCoMo, 30 and 20 percent in place of 15 and 40
	// cost 0.2 points of all evidence on the page, and save 306 of 4,097
	// characters; 35 percent cost 0.7.
	leastScore, leastConversation, leastNamed = 30, 10, 20
	mostNamed                                 = 5
	// The latest statement is named of the best conversation alone: named of all,
	// it costs 0.2 points of all evidence on the page. latestText characters of it
	// are shown where there is room.
	latestText = 160
	// mostWide is how many of the best passages are shown with more around them
	// where there is room. Five of 600 bytes tell more than three of 1,400: where a
	// statement was cut a reader had to ask again, and twelve first pages have
	// 36,400 characters in place of 43,900.
	mostWide = 5
	// maxRepeated is how many passages a note names the repeats of, and
	// leastRepeated how many bytes these have: thanks are said everywhere.
	maxRepeated, leastRepeated = 3, 120
)

// recalling is one call of conversation_recall.
type recalling struct {
	asking
	params conversation.RecallParams
	poor   bool // none of the rare words occurs
	latest bool // the latest statement of the best conversation is shown, not only named
	page   map[*conversations.Hit]bool
	wide   map[*conversations.Hit]bool
}

// Recall answers conversation_recall.
func (t *Tools) Recall(ctx context.Context, call contract.Call, p conversation.RecallParams) (*conversation.RecallEnvelope, error) {
	var d dates
	since, until := d.between("since", p.Since, "until", p.Until)
	if len(d) > 0 {
		return nil, coerce.Unmet(&call, d)
	}
	a := &recalling{params: p, page: map[*conversations.Hit]bool{}, wide: map[*conversations.Hit]bool{}}
	a.asking = asking{call: call, undone: "it may be among these", whole: p.IncludeCurrent, query: conversations.SearchQuery{
		Filter:   conversations.Filter{IDs: p.IDs, Hidden: p.IncludeHidden, Sources: p.Sources},
		Question: p.Query, Order: conversations.Relevance, Since: since, Until: until,
		Scopes: scopesOf(p.Scopes), Errors: slices.Contains(p.Scopes, "errors"),
		Limit: p.Limit, MaxText: passageText, MaxWide: passageWide,
	}}
	if p.AllProjects {
		a.scope = conversations.Options{AllProjects: true, Sources: p.Sources}
	}
	if err := a.search(ctx, t, nil); err != nil {
		return nil, err
	}
	return a.answer(), nil
}

// dates are problems with the dates of a call.
type dates []contract.Problem

// between returns the times that two parameters bound, nil for one that is not
// given.
func (d *dates) between(first string, since *string, last string, until *string) (from, to *time.Time) {
	if span := d.parse(first, since); span != nil {
		from = &span.First
	}
	if span := d.parse(last, until); span != nil {
		to = &span.Last
	}
	return from, to
}

func (d *dates) parse(name string, value *string) *iso8601.Span {
	date := strings.TrimFunc(given(value), text.IsSpace)
	if date == "" {
		return nil
	}
	span, err := iso8601.Parse(date)
	if err != nil {
		*d = append(*d, contract.Mismatch(name, dateForms, *value, ""))
		return nil
	}
	return &span
}

// dateForms completes "start_date must …".
const dateForms = "be a date in a form of ISO 8601: 2024-01-15, 20240115, 2024-W03-1 or 2024-W03, with a time of day behind it or without, such as 2024-01-15T14:30, 2024-01-15 14:30:59 or 20240115T143059, and an offset from UTC behind that or none, such as Z, +02:00 or -0500"

// answer fills the page: with the best passages, as far as there is room, and
// then with more of the best ones.
func (a *recalling) answer() *conversation.RecallEnvelope {
	isNowhere := func(w conversations.Word) bool { return w.Events == 0 }
	isRare := func(w conversations.Word) bool { return w.Events > 0 && w.Rare }
	a.poor = slices.ContainsFunc(a.found.Words, isNowhere) && !slices.ContainsFunc(a.found.Words, isRare)
	most, limit := conversation.RecallMaxChars, a.params.Limit
	if a.poor {
		most, limit = poorChars, min(limit, poorPassages)
	}
	fill := func(passages map[*conversations.Hit]bool, limit int, isCandidate func(*conversations.Hit) bool) {
		for _, p := range a.passages() {
			if len(passages) < limit && isCandidate(p) {
				passages[p] = true
				if chars(a.envelope()) > most {
					delete(passages, p)
				}
			}
		}
	}
	fill(a.page, limit, func(*conversations.Hit) bool { return true })
	if !a.poor {
		a.latest = true
		a.latest = chars(a.envelope()) <= most
		fill(a.wide, mostWide, func(p *conversations.Hit) bool { return a.page[p] })
	}
	return a.envelope()
}

// passages returns the passages that are worth showing, the best one first.
func (a *recalling) passages() (all []*conversations.Hit) {
	for i := range a.found.Hits {
		h := &a.found.Hits[i]
		if h.Score*100 >= a.found.Hits[0].Score*leastScore && a.hasShare(h.Conversation, leastConversation) {
			all = append(all, h)
		}
	}
	return all
}

// hasShare reports whether a conversation has so many percent of the score of
// the best one.
func (a *recalling) hasShare(c *conversations.Matched, percent float64) bool {
	return c.Score*100 >= a.found.Conversations[0].Score*percent
}

func (a *recalling) envelope() *conversation.RecallEnvelope {
	e := &conversation.RecallEnvelope{Notes: a.notes()}
	if a.poor {
		e.DistinctiveWords = "not_found"
	}
	for i, c := range a.found.Conversations {
		shown := a.conversation(c, i == 0)
		if len(shown.Passages) > 0 || !a.poor && i < mostNamed && a.hasShare(c, leastNamed) {
			e.Conversations = append(e.Conversations, shown)
		}
	}
	return e
}

func (a *recalling) conversation(c *conversations.Matched, isBest bool) conversation.RecallConversation {
	shown := conversation.RecallConversation{
		ID: string(c.ID), Source: c.Source, Archived: c.Archived, Title: clip(text.Line(c.Title), recallTitle),
	}
	var last *conversations.Hit
	for _, p := range a.found.Of(c) {
		if a.page[p] {
			shown.Passages = append(shown.Passages, a.passage(p))
			last = p
		}
	}
	if last != nil && !last.Time.IsZero() {
		shown.Day = last.Time.UTC().Format(time.DateOnly)
	}
	hasLatest := isBest && last != nil && c.Latest != nil && c.Latest.Number > last.Number
	switch {
	case hasLatest && a.latest:
		p := a.passage(c.Latest)
		p.Latest, p.Text = true, clip(p.Text, latestText)
		shown.Passages = append(shown.Passages, p)
	case hasLatest:
		shown.Latest = c.Latest.Number
	}
	return shown
}

func (a *recalling) passage(h *conversations.Hit) conversation.RecallPassage {
	excerpt := h.Excerpt
	if a.wide[h] {
		excerpt = h.Wide
	}
	shown := conversation.RecallPassage{Event: h.Number, Turn: h.Turn, Scope: h.Kind.Scope().String(), Failed: h.Failed}
	if h.Answer != h.Number+1 {
		shown.Answer = h.Answer
	}
	shown.Text = either(excerpt.Before, omission+" ", "") + strings.Trim(text.Visible(excerpt.Text), "\n") + either(excerpt.After, " "+omission, "")
	return shown
}

// notes say which words occur nowhere, what was left out, and what to do about it.
func (a *recalling) notes() []string {
	notes := remarks(a.call)
	missing := nowhere(a.found.Words)
	switch {
	case len(a.found.Words) == 0:
		notes = append(notes, "The question has no word to look for.")
	case len(a.found.Conversations) == 0:
		notes = append(notes, "Nothing was found. "+a.elsewhere())
	case a.poor:
		missing += " These passages only have the common words of the question. " + a.elsewhere()
	}
	if missing != "" {
		notes = append(notes, missing)
	}
	var repeated []string
	for _, p := range a.passages() {
		if a.page[p] && len(p.Also) > 0 && len(p.Text) >= leastRepeated {
			repeated = append(repeated, fmt.Sprintf("event=%d of %s in %s", p.Number, p.Conversation.ID, bounded(p.Also, ", ", maxListed)))
		}
	}
	if len(repeated) > 0 {
		notes = append(notes, "The same elsewhere: "+bounded(repeated, "; ", maxRepeated)+".")
	}
	return append(notes, missedNotes(a.found.Aside.Problems)...)
}

// elsewhere says what may find more.
func (a *recalling) elsewhere() string {
	p := a.params
	switch {
	case p.Since != nil, p.Until != nil, len(p.IDs)+len(p.Scopes)+len(p.Sources) > 0:
		return "Ask without the arguments beside query, or in other words."
	case !p.AllProjects:
		return "Ask in other words, or with all_projects=true; conversation_list outline=true shows what was asked for."
	}
	return "Ask in other words."
}
