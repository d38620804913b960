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
	"github.com/convtools/convtools/runtime/conversations/excerpt"
)

// How long passages are that answer a question, in bytes, and what is
// shown where it has no answer.
const (
	passageText  = 300 // of one among others
	passageWide  = 600 // where there is room; an event of no more is whole then
	poorPassages = 3
	poorChars    = 800
	recallTitle  = 50 // characters of a title
	// Passages have at least leastScore percent of the score of the best
	// one, and are in conversations with leastConversation percent of that
	// of the best one. Of the mostNamed best conversations those with
	// leastNamed percent are named also without a passage. With LoCoMo, 30
	// and 20 percent in place of 15 and 40 cost 0.2 points of all evidence
	// on the page, and save 306 of 4,097 characters; 35 percent cost 0.7.
	leastScore, leastConversation, leastNamed = 30, 10, 20
	mostNamed                                 = 5
	// The latest statement is named of the best conversation alone: named
	// of all, it costs 0.2 points of all evidence on the page. latestText
	// characters of it are shown where there is room.
	latestText = 160
	// mostWide is how many of the best passages are shown with more around
	// them where there is room. Five of 600 bytes tell more than three of
	// 1,400: where a statement was cut a reader had to ask again, and
	// twelve first pages have 36,400 characters in place of 43,900.
	mostWide = 5
	// maxRepeated is how many passages a note names the repeats of, and
	// leastRepeated how long these are in bytes: thanks are said
	// everywhere.
	maxRepeated, leastRepeated = 3, 120
)

// recalling is one call of conversation_recall in the making.
type recalling struct {
	asking
	params conversation.RecallParams
	poor   bool // none of the rare words occurs
	named  int  // so many conversations are named also without a passage
	latest bool // the latest statement of the best one is shown, not only named
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
	open := t.open
	if p.AllProjects {
		open = func(dir string) (conversations.Source, error) { return t.everywhere(dir, p.Sources) }
	}
	err := a.search(ctx, open, func(context.Context, conversations.Source) error { return nil })
	if err != nil {
		return nil, err
	}
	return a.answer(), nil
}

// dates are problems with the dates of a call.
type dates []contract.Problem

// between returns the times that two parameters bound, nil where one is
// not given.
func (d *dates) between(first string, since *string, last string, until *string) (from, to *time.Time) {
	if span, ok := d.parse(first, since); ok {
		from = &span.First
	}
	if span, ok := d.parse(last, until); ok {
		to = &span.Last
	}
	return from, to
}

func (d *dates) parse(name string, value *string) (iso8601.Span, bool) {
	date := strings.TrimFunc(given(value), text.IsSpace)
	if date == "" {
		return iso8601.Span{}, false
	}
	span, err := iso8601.Parse(date)
	if err != nil {
		*d = append(*d, contract.Mismatch(name, dateForms, *value, ""))
	}
	return span, err == nil
}

// dateForms completes "start_date must …".
const dateForms = "be a date in a form of ISO 8601: 2024-01-15, 20240115, 2024-W03-1 or 2024-W03, with a time of day behind it or without, such as 2024-01-15T14:30, 2024-01-15 14:30:59 or 20240115T143059, and an offset from UTC behind that or none, such as Z, +02:00 or -0500"

// answer fills the page: the best passages first, as far as there is
// room, and then more of the best ones.
func (a *recalling) answer() *conversation.RecallEnvelope {
	isNowhere := func(w conversations.Word) bool { return w.Events == 0 }
	isRare := func(w conversations.Word) bool { return w.Events > 0 && w.Rare }
	a.poor = slices.ContainsFunc(a.found.Words, isNowhere) && !slices.ContainsFunc(a.found.Words, isRare)
	most, limit := conversation.RecallMaxChars, a.params.Limit
	if a.poor {
		most, limit = poorChars, min(limit, poorPassages)
	} else {
		a.named = mostNamed
	}
	add := func(passages map[*conversations.Hit]bool, p *conversations.Hit) {
		passages[p] = true
		if chars(a.envelope()) > most {
			delete(passages, p)
		}
	}
	ranked := a.passages()
	for _, p := range ranked {
		if len(a.page) < limit {
			add(a.page, p)
		}
	}
	if a.poor {
		return a.envelope()
	}
	a.latest = true
	a.latest = chars(a.envelope()) <= most
	for _, p := range ranked {
		if a.page[p] && len(a.wide) < mostWide {
			add(a.wide, p)
		}
	}
	return a.envelope()
}

// passages returns the passages that are worth showing, the best one
// first.
func (a *recalling) passages() (all []*conversations.Hit) {
	for i := range a.found.Hits {
		h := &a.found.Hits[i]
		isGood := h.Score*100 >= a.found.Hits[0].Score*leastScore
		if isGood && a.hasShare(h.Conversation, leastConversation) {
			all = append(all, h)
		}
	}
	return all
}

// hasShare reports whether a conversation has so many percent of the
// score of the best one.
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
		if len(shown.Passages) > 0 || i < a.named && a.hasShare(c, leastNamed) {
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
	if !isBest || last == nil || c.Latest == nil || c.Latest.Number <= last.Number {
		return shown
	}
	if !a.latest {
		shown.Latest = c.Latest.Number
		return shown
	}
	p := a.passage(c.Latest)
	p.Latest, p.Text = true, clip(p.Text, latestText)
	shown.Passages = append(shown.Passages, p)
	return shown
}

func (a *recalling) passage(h *conversations.Hit) conversation.RecallPassage {
	shown := conversation.RecallPassage{Event: h.Number, Turn: h.Turn, Scope: h.Kind.Scope().String(), Failed: h.Failed}
	if h.Answer != h.Number+1 {
		shown.Answer = h.Answer
	}
	shown.Text = shownExcerpt(h.Excerpt)
	if a.wide[h] {
		shown.Text = shownExcerpt(h.Wide)
	}
	return shown
}

// shownExcerpt returns an excerpt with marks where it is cut.
func shownExcerpt(e excerpt.Excerpt) string {
	shown := strings.Trim(text.Visible(e.Text), "\n")
	if e.Before {
		shown = omission + " " + shown
	}
	if e.After {
		shown += " " + omission
	}
	return shown
}

// notes say which words occur nowhere, what was left out, and what to do
// about it.
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
			repeated = append(repeated, fmt.Sprintf("event=%d of %s in %s", p.Number, p.Conversation.ID, bounded(names(p.Also), ", ", maxListed)))
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
