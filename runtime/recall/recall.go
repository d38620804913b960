// Package recall implements conversation_recall, conversation_list, conversation_grep, conversation_read and
// conversation_search. It makes answers of what a [conversations.Source] finds: each keeps to a size, and a note says
// what is left out and which call returns it. It is the family of these tools.
//
// It only reads. Recorded text is data: it goes into the bodies of elements, and never into attributes or notes.
//
// What the rules of shortening are worth, by the 59 questions of make recall: without an order of matches by scope
// conversation_grep answers three less, with lines of 240 characters in place of 400 one less; conversation_read
// answers one less where the end of a shortened text gets 60 percent of it in place of 40. It takes 0.8 percent more
// characters with answers of 3,000 characters beside their requests in place of 4,500, 1 percent with neighbours nobody
// asked for, and 1.5 percent with texts whole up to 16,000. Lines of context in hits of their own make 21 percent of an
// answer tags in place of 16. Headings beside passages change nothing there; readers asked for them. Nor would more
// lengths of events.
package recall

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// callLimit is how long a source may take to answer one call.
const callLimit = 60 * time.Second

// Tools implements the handlers of the conversation tools.
type Tools struct {
	// open opens the conversations of a directory, or of all projects, and of some kinds of stores, as the options say.
	open func(dir string, scope conversations.Options) (conversations.Source, error)
	// sources returns the kinds of stores that a search asks that names none.
	sources func(dir string) ([]string, error)
	now     func() time.Time
}

var _ conversation.Handler = (*Tools)(nil)

// question asks a source for what a call wants.
type question func(context.Context, conversations.Source) error

// ask opens the source for a call, calls use with it, and closes it. The error is a [*contract.Error].
func (t *Tools) ask(ctx context.Context, call contract.Call, scope conversations.Options, use question) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	source, err := t.open(call.Context.Dir, scope)
	if err == nil {
		if c, ok := source.(io.Closer); ok {
			defer c.Close()
		}
		err = use(ctx, source)
	}
	if err != nil {
		return failure(ctx, err)
	}
	return nil
}

// asking is one call of a tool that searches.
type asking struct {
	call             contract.Call
	scope            conversations.Options
	query            conversations.SearchQuery
	found            *conversations.Results
	whole            bool   // the current conversation is searched too
	ifCurrentUnknown string // what a note says if the current conversation is not known; "" for no note
}

// search sets a.found to the results of a.query, and adds the id of the current conversation to a.call. If a.whole is
// false, it leaves out that conversation. If use is not nil, search calls use afterwards, while the source is open.
func (a *asking) search(ctx context.Context, t *Tools, use question) error {
	return t.ask(ctx, a.call, a.scope, func(ctx context.Context, source conversations.Source) (err error) {
		call, current := locate(ctx, source, a.call, a.ifCurrentUnknown)
		if a.call = call; !a.whole {
			a.query.Exclude, a.query.Kin = current.ids, current.kin
		}
		a.query.Own = isRecallTool() // recorded calls of the conversation tools are left out
		if a.found, err = source.Search(ctx, a.query); err == nil && use != nil {
			err = use(ctx, source)
		}
		return err
	})
}

// current is the conversation that a call is made from.
type current struct {
	ids []string // its id, and after it those of others that it is a part of; empty where it is not known
	kin bool     // searches leave out its relatives too
}

// is reports whether id, in any spelling, is that of the current conversation.
func (c current) is(id string) bool {
	parsed, err := conversations.ParseID(id)
	return err == nil && len(c.ids) > 0 && string(parsed) == c.ids[0]
}

// locate returns the conversation that the call comes from, and the call with the id of that conversation. The host
// gives the id. If it gives none that can be parsed, the source may recognize the conversation. Otherwise the id is "",
// and the call may get a note with ifCurrentUnknown, which says what that means for the result; "" is for no note.
func locate(ctx context.Context, source conversations.Source, call contract.Call, ifCurrentUnknown string) (contract.Call, current) {
	named, note := call.Context.ConversationID, ""
	var c current
	call.Context.ConversationID = ""
	if id, err := conversations.ParseID(named); err == nil {
		c.ids, c.kin = []string{string(id)}, call.Context.Kin
	} else if library, ok := source.(*conversations.Library); ok {
		from := call.Context.Caller
		from.Tool, from.Arguments = call.Tool, call.Arguments
		known := library.Caller(ctx, from)
		for _, id := range known.IDs {
			c.ids, c.kin = append(c.ids, string(id)), true
		}
		if known.Recorded { // the current conversation is an unknown one of the source
			note = "Which conversation this is cannot be told, so " + ifCurrentUnknown + "."
		}
	}
	if named != "" { // this note counts only if no id is found, and takes the place of the other
		note = fmt.Sprintf("The host's conversation id is not understood, so %s: %s.", ifCurrentUnknown, text.Quote(named))
	}
	if len(c.ids) > 0 {
		call.Context.ConversationID = c.ids[0]
	} else if note != "" && ifCurrentUnknown != "" {
		call.Notes = append(slices.Clone(call.Notes), note)
	}
	return call, c
}

// isRecallTool returns a function that reports whether the recorded name of a tool is one of the conversation tools.
func isRecallTool() func(recorded string) bool {
	names := contract.Names(declared())
	return func(recorded string) bool { return transcript.IsTool(recorded, names...) }
}

// declared returns the conversation tools.
func declared() []contract.Tool {
	return []contract.Tool{
		conversation.RecallTool(), conversation.GrepTool(), conversation.ListTool(),
		conversation.ReadTool(), conversation.SearchTool(),
	}
}

const (
	// Bytes of a passage among others, and of one where there is room; an event of no more is whole.
	passageText, passageWide = 300, 1000
	// Where none of the rare words occurs: so many passages, and characters in all.
	poorPassages, poorChars = 3, 800
	// recallTitle is how many characters of a title are shown.
	recallTitle = 50
	// Passages have at least leastScore percent of the score of the best one, and are in conversations with
	// leastConversation percent of that of the best one. Of the mostNamed best conversations those with leastNamed
	// percent are named also without a passage. With LoCoMo, 30 and 20 percent in place of 15 and 40 cost 0.2 points of
	// all evidence on the page, and save 306 of 4,097 characters; 35 percent cost 0.7.
	leastScore, leastConversation, leastNamed = 30, 10, 20
	mostNamed                                 = 5
	// If the second conversation has less than nearScore percent of the score of the best one, mostFar are named. This,
	// and widePage and passageWide in place of 2,000 and 600, put 46 and 34 percent of the words of the answers on the
	// pages of 59 questions about JP conversations and coding sessions, in place of 39 and 29, for 9 percent more
	// characters.
	nearScore, mostFar = 75, 3
	// Beyond shortPage characters a page gets only requests and answers of at most shortText bytes. Fifteen
	// pages of coding sessions have 33,300 characters by that instead of 46,700, and what was asked for as often.
	// LoCoMo has no others. Passages get more around them while the page has at most widePage characters.
	shortPage, shortText, widePage = 2000, 600, 2600
	// maxRepeated is how many passages a note names the repeats of, and
	// leastRepeated how many bytes these have: thanks are said everywhere.
	maxRepeated, leastRepeated = 3, 120
)

// recalling is one call of conversation_recall.
type recalling struct {
	asking
	params conversation.RecallParams
	poor   bool                        // a word occurs nowhere, and no rare one occurs
	page   map[*conversations.Hit]bool // passages that are shown
	wide   map[*conversations.Hit]bool // those of them that are shown with more around them
}

// Recall answers conversation_recall.
func (t *Tools) Recall(ctx context.Context, call contract.Call, p conversation.RecallParams) (*conversation.RecallEnvelope, error) {
	var d dates
	since, until := d.between("since", p.Since, "until", p.Until)
	if len(d) > 0 {
		return nil, coerce.Unmet(&call, d)
	}
	a := &recalling{params: p, page: map[*conversations.Hit]bool{}, wide: map[*conversations.Hit]bool{}}
	a.asking = asking{call: call, whole: given(p.IncludeCurrent), query: conversations.SearchQuery{
		Filter:   conversations.Filter{IDs: p.IDs, Hidden: given(p.IncludeHidden), Sources: p.Sources, File: given(p.File)},
		Question: p.Query, Order: conversations.Relevance, Since: since, Until: until,
		Scopes: transcript.ScopesNamed(p.Scopes...), Errors: slices.Contains(p.Scopes, "errors"), Commands: slices.Contains(p.Scopes, "commands"),
		Limit: p.Limit, MaxText: passageText, MaxWide: passageWide,
	}}
	a.ifCurrentUnknown = either(a.whole, "", "it may be among these") // "it" is the current conversation
	if given(p.AllProjects) {
		a.scope = conversations.Options{AllProjects: true, Sources: p.Sources}
	}
	if err := a.search(ctx, t, nil); err != nil {
		return nil, err
	}
	return a.answer(), nil
}

// dates are problems with the dates of a call.
type dates []contract.Problem

// between returns the first moment of the date *since and the last moment of the date *until; the zero time for nil. If
// a date cannot be parsed, it adds a problem to d with the name of the parameter, and the time has no meaning.
func (d *dates) between(sinceName string, since *string, untilName string, until *string) (from, to time.Time) {
	from, to = d.parse(sinceName, since).First, d.parse(untilName, until).Last
	if given(since) != "" && from.IsZero() { // zero is no bound, and 0001-01-01 is one: it leaves out events without a time
		from = from.Add(1)
	}
	return from, to
}

// parse returns the span of the date in a parameter; zero if the parameter is missing or blank. If the date cannot be
// parsed, it adds a problem with the parameter to d.
func (d *dates) parse(name string, value *string) (span iso8601.Span) {
	date := strings.TrimFunc(given(value), text.IsSpace)
	if date == "" {
		return span
	}
	span, err := iso8601.Parse(date)
	if err != nil {
		*d = append(*d, contract.Mismatch(name, dateForms, *value, ""))
	}
	return span
}

// dateForms completes "start_date must …".
const dateForms = "be a date in a form of ISO 8601: 2024-01-15, 20240115, 2024-W03-1 or 2024-W03, with or without a time of day after it, such as 2024-01-15T14:30, 2024-01-15 14:30:59 or 20240115T143059, and with or without an offset from UTC, such as Z, +02:00 or -0500"

// answer returns the answer to the question. It adds the best passages, then the latest statement of the best
// conversation, then more text around the passages. It leaves out a part that makes the answer too long. If a word of
// the question occurs nowhere and no rare word occurs, the answer is poor: shorter, and with passages only.
func (a *recalling) answer() *conversation.RecallEnvelope {
	isNowhere := func(w conversations.Word) bool { return w.Events == 0 }
	isRare := func(w conversations.Word) bool { return w.Events > 0 && w.Rare }
	a.poor = slices.ContainsFunc(a.found.Words, isNowhere) && !slices.ContainsFunc(a.found.Words, isRare)
	most, limit := conversation.RecallMaxChars, a.params.Limit
	if a.poor {
		most, limit = poorChars, min(limit, poorPassages)
	}
	addIfFits := func(to map[*conversations.Hit]bool, p *conversations.Hit, most int) {
		to[p] = true
		if chars(a.envelope()) > most {
			delete(to, p)
		}
	}
	show := func(p *conversations.Hit) {
		isShort := !p.Wide.Before && !p.Wide.After && len(p.Wide.Text) <= shortText    // the whole message
		addIfFits(a.page, p, either(p.Outcome && isShort, most, min(most, shortPage))) // Outcome: a request, or what came of work
	}
	for _, p := range a.passages() {
		if len(a.page) < limit {
			show(p)
		}
	}
	if !a.poor && len(a.page) > 0 {
		if latest := a.found.Conversations[0].Latest; latest != nil {
			show(latest)
		}
		for _, p := range a.passages() {
			if a.page[p] {
				addIfFits(a.wide, p, widePage) // shows more around the passage
			}
		}
	}
	return a.envelope()
}

// passages returns the passages whose score, and whose conversation's score, is a sufficient share of the best one. The
// passage with the best score is first.
func (a *recalling) passages() (passages []*conversations.Hit) {
	for i := range a.found.Hits {
		h := &a.found.Hits[i]
		if h.Score*100 >= a.found.Hits[0].Score*leastScore && a.hasShare(h.Conversation, leastConversation) {
			passages = append(passages, h)
		}
	}
	return passages
}

// hasShare reports whether a conversation has so many percent of the score of the best one.
func (a *recalling) hasShare(c *conversations.Matched, percent float64) bool {
	return c.Score*100 >= a.found.Conversations[0].Score*percent
}

// envelope returns the answer with the conversations that have a passage in a.page. Unless only common words were found
// (a.poor), it also names those of the mostNamed best conversations that have leastNamed percent of the best score.
func (a *recalling) envelope() *conversation.RecallEnvelope {
	e := &conversation.RecallEnvelope{Notes: a.notes()}
	if a.poor {
		e.DistinctiveWords = "not_found"
	}
	named := mostNamed
	if len(a.found.Conversations) > 1 && !a.hasShare(a.found.Conversations[1], nearScore) {
		named = mostFar // the best conversation is far ahead of the second, so that fewer others are of use
	}
	for i, c := range a.found.Conversations {
		shown := a.conversation(c, i == 0)
		isNamed := !a.poor && i < named && a.hasShare(c, leastNamed)
		if isNamed || len(shown.Passages) > 0 {
			e.Conversations = append(e.Conversations, shown)
		}
	}
	return e
}

// conversation returns the element of a conversation: c with the passages that are in a.page. If there are none, the
// element only names the conversation and the event of c.Latest, the latest statement that answers the question. The
// best conversation has this statement after all passages, or only the number of its event if a.page has no room for it.
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
	if last != nil {
		shown.Day = day(last.Time)
		if c.Size != nil && c.Size.Turns > 1 {
			shown.Turns = c.Size.Turns
		}
	}
	latest := c.Latest
	isAfter := latest != nil && last != nil && latest.Number > last.Number // the shown passages
	switch {
	case last == nil && latest != nil: // no passage is shown: the element is short, without the program
		shown.Source, shown.Latest, shown.Day = "", latest.Number, day(latest.Time)
	case isBest && isAfter && a.page[latest]:
		p := a.passage(latest)
		p.Latest = true
		shown.Passages = append(shown.Passages, p)
	case isBest && isAfter:
		shown.Latest = latest.Number
	}
	return shown
}

// day returns the day of a time; empty for the zero time.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// passage returns a passage as it is shown, with more of the text around it if it is in a.wide.
func (a *recalling) passage(h *conversations.Hit) conversation.RecallPassage {
	excerpt := either(a.wide[h], h.Wide, h.Excerpt)
	shown := conversation.RecallPassage{
		Event: h.Number, Turn: h.Turn, Scope: h.Kind.Scope().String(), Failed: h.Failed, Runs: h.Runs, Failures: h.Failures,
	}
	if h.Answer != h.Number+1 { // the next event is where a reader looks first
		shown.Answer = h.Answer
	}
	shown.Text = either(excerpt.Before, omission+" ", "") + strings.Trim(text.Visible(excerpt.Text), "\n") + either(excerpt.After, " "+omission, "")
	return shown
}

// notes returns the notes of the answer: which words occur nowhere, where else a passage is, what was not searched, and
// what to try.
func (a *recalling) notes() []string {
	notes := remarks(a.call)
	missing := nowhere(a.found.Words)
	if filters := a.filters(); missing != "" && len(filters) > 0 {
		missing += " Only what " + join(filters, "and") + either(len(filters) == 1, " selects", " select") + " was searched."
	}
	switch {
	case len(a.found.Words) == 0:
		notes = append(notes, "The question has no word to look for.")
	case len(a.found.Conversations) == 0:
		quoted := either(strings.Count(a.query.Question, `"`) > 1, "No event has the text in quotes. ", "")
		notes = append(notes, "Nothing was found. "+quoted+a.elsewhere())
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
	return append(notes, missedNotes(a.found.Problems)...)
}

// filters returns the parameters that narrow the search.
func (a *recalling) filters() []string {
	p := a.params
	names := []string{
		either(len(p.IDs) > 0, "ids", ""), either(p.File != nil, "file", ""), either(len(p.Scopes) > 0, "scopes", ""), either(len(p.Sources) > 0, "sources", ""),
		either(p.Since != nil, "since", ""), either(p.Until != nil, "until", ""),
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// elsewhere says what may find more.
func (a *recalling) elsewhere() string {
	if given(a.params.AllProjects) {
		return "Ask in other words."
	}
	return "Ask in other words, or with all_projects=true; conversation_list outline=true shows what was asked for."
}
