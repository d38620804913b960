package recall

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	// maxOutlines is how many characters an answer with outlines may have: they
	// are read to find a place, and the next page is one call away.
	maxOutlines = 9000
	// maxTitle is how many characters of a title, or of a tool's name, are shown: a long one would crowd out the rest.
	maxTitle = 300
)

// listing is one call of conversation_list.
type listing struct {
	call   contract.Call
	params conversation.ListParams
	conversations.Listing
	archived int       // conversations that are archived, where the call asks for live ones
	outlines []outline // of the first conversations, more than fit
	omitted  outline   // requests left out before the first outline
	unread   []string  // conversations that have no outline because of an error
}

// List answers conversation_list. A conversation whose outline cannot be read is named in a note, and is no error.
func (t *Tools) List(ctx context.Context, call contract.Call, p conversation.ListParams) (*conversation.ListEnvelope, error) {
	l := &listing{params: p}
	q := conversations.ListQuery{
		Filter: conversations.Filter{Archived: p.Archived, Hidden: given(p.IncludeHidden), Sources: p.Sources, File: given(p.File)},
		Sort:   conversations.SortNamed(p.Sort), Ascending: !p.Descending, Limit: p.Limit, Offset: p.Offset,
		TitleContains: given(p.TitleContains), Sizes: true,
	}
	err := t.ask(ctx, call, conversations.Options{}, func(ctx context.Context, source conversations.Source) (err error) {
		l.call, _ = locate(ctx, source, call, "no conversation could be marked as the current one")
		if l.Listing, err = source.List(ctx, q); err != nil {
			return err
		}
		if !p.Archived {
			count := q // of the archived conversations: only Total is used
			count.Filter.Archived, count.Limit, count.Offset, count.Sizes = true, 1, 0, false
			if archived, err := source.List(ctx, count); err == nil { // a hint is not worth an error
				l.archived = archived.Total
			}
		}
		if given(p.Outline) {
			err = l.readOutlines(ctx, source)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case given(p.Outline):
		return l.outlined(), nil
	}
	return fit(len(l.Conversations), conversation.ListMaxChars, l.envelope), nil
}

// readOutlines sets l.outlines to the outlines of the first conversations, until they are longer than an answer. If one
// cannot be read, it adds the id to l.unread. That of the current conversation stays empty: the model sees it whole.
func (l *listing) readOutlines(ctx context.Context, source conversations.Source) error {
	used := 0 // bytes
	for i := range l.Conversations {
		var o outline
		id := string(l.Conversations[i].ID)
		if isCurrent := id == l.call.Context.ConversationID; !isCurrent {
			var err error
			if o, err = readOutline(ctx, source, id); err != nil {
				l.unread = append(l.unread, id)
			}
		}
		for _, r := range o {
			used += len(r.Text)
		}
		l.outlines = append(l.outlines, o)
		if used > maxOutlines || ctx.Err() != nil {
			break
		}
	}
	return ctx.Err()
}

// outlined returns the answer with as many conversations and their outlines as fit. If not even the first outline fits,
// the answer has the first conversation with as many of its latest requests as fit.
func (l *listing) outlined() *conversation.ListEnvelope {
	e := fit(len(l.outlines), maxOutlines, l.envelope)
	if e.Count > 0 || len(l.outlines) == 0 {
		return e
	}
	whole := l.outlines[0]
	return fit(len(whole), maxOutlines, func(latest int) *conversation.ListEnvelope {
		omitted := len(whole) - latest
		l.omitted, l.outlines[0] = whole[:omitted], whole[omitted:]
		return l.envelope(1)
	})
}

// envelope returns the answer with the first n conversations.
func (l *listing) envelope(n int) *conversation.ListEnvelope {
	e := conversation.NewListEnvelope(l.params)
	e.Total, e.Count = l.Total, n
	if next := l.params.Offset + n; n > 0 && next < l.Total {
		e.HasMore, e.NextOffset = true, next
	}
	noteIf := func(isTrue bool, note string) {
		if isTrue {
			e.Notes = append(e.Notes, note)
		}
	}
	e.Notes = remarks(l.call)
	page := l.pageNote(&e)
	noteIf(page != "", page)
	var damaged []string // ids
	for i := range l.Conversations[:n] {
		c := &l.Conversations[i]
		row := l.row(c)
		if c.Damage != nil {
			damaged = append(damaged, row.ID)
		}
		if i < len(l.outlines) {
			row.Requests = l.outlines[i].rows()
		}
		e.Conversations = append(e.Conversations, row)
	}
	if omitted := len(l.omitted); omitted > 0 {
		first := &e.Conversations[0]
		first.Omitted = omitted
		noteIf(true, fmt.Sprintf(`%s of %s left out before these: conversation_read id=%q include=["requests"] turn=N shows them, with N from 1 to %d.`,
			text.Count(omitted, "request", "requests"), first.ID, first.ID, l.omitted[omitted-1].Turn))
	}
	noteIf(len(damaged) > 0, "Damaged, so that events_count and last_event_at are not known: "+bounded(damaged, ", ", maxListed)+".")
	noteIf(len(l.unread) > 0, "Without an outline, because they could not be read: "+bounded(l.unread, ", ", maxListed)+".")
	e.Notes = append(e.Notes, problemNotes("Not listed: ", l.Problems)...)
	return &e
}

// row returns a conversation as a row of the answer, without an outline.
func (l *listing) row(c *conversations.Listed) conversation.ListConversation {
	id := string(c.ID)
	row := conversation.ListConversation{
		ID: id, CreatedAt: c.CreatedAt, LastEventAt: c.LastEventAt, ArchivedAt: c.ArchivedAt, ExpiresAt: c.ExpiresAt,
		Current: id == l.call.Context.ConversationID, Hidden: c.Hidden, Pinned: !c.PinnedAt.IsZero(), Source: c.Source,
		Title: clip(c.Title, maxTitle),
	}
	if isKnown := c.Events >= 0; isKnown {
		row.EventsCount = &c.Events
	}
	if c.Size != nil {
		row.Turns, row.RequestCount, row.Chars = &c.Size.Turns, &c.Size.Requests, &c.Size.Chars
	}
	return row
}

// pageNote returns a note on which conversations are shown, or why none is, and which calls show more. It is empty if all
// are shown and there are no archived ones.
func (l *listing) pageNote(e *conversation.ListEnvelope) (note string) {
	p := l.params
	what := either(p.Archived, "archived", "live") + " conversations" + either(len(p.Sources) > 0, " of these sources", "")
	if p.File != nil {
		what += " that changed " + text.Quote(*p.File)
	}
	hidden := either(given(p.IncludeHidden), "", ", hidden ones aside")
	switch {
	case e.Total == 0 && given(p.TitleContains) != "":
		note = "No " + what + " match title_contains=" + text.Quote(*p.TitleContains) + hidden + ". conversation_grep looks into what was said."
	case e.Total == 0:
		note = "There are no " + what + " in this project" + hidden + "."
	case e.Count == 0:
		note = fmt.Sprintf("offset %d is past the end (total %d): the last valid offset is %d.", p.Offset, e.Total, e.Total-1)
	case e.HasMore:
		note = fmt.Sprintf("Showing %d-%d of %d. Next page: offset=%d.", p.Offset+1, p.Offset+e.Count, e.Total, e.NextOffset)
	}
	switch {
	case p.Archived && e.Total == 0:
		note += " archived=false lists the live ones."
	case l.archived > 0 && !e.HasMore:
		note = strings.TrimSpace(note + " archived=true lists " + text.Count(l.archived, "archived one", "archived ones") + ".")
	}
	return note
}

// Bounds on outlines, in characters.
const (
	maxBeginning = 90   // of a request
	outlineChars = 6000 // of an outline in a refusal
	// A longer answer is worth a search in it in place of reading it.
	longAnswer = answerChars
)

// outline is the requests of one conversation, in order.
type outline []conversation.ListRequest

// readOutline reads the outline of a conversation.
func readOutline(ctx context.Context, source conversations.Source, id string) (outline, error) {
	isChat := func(kind transcript.Kind) bool {
		return kind == transcript.KindUser || isSaid(kind)
	}
	events, _, err := readEvents(ctx, source, conversations.ReadQuery{ID: id, Kinds: isChat})
	return outlineOf(events), err
}

// outlineOf returns the outline of events, which are in order and have all requests and answers. The answer to a request
// is the next answer after it in the same turn.
func outlineOf(events []event) (o outline) {
	var answer event // the first answer after e, or e itself
	for _, e := range slices.Backward(events) {
		if e.isAnswer {
			answer = e
		}
		if e.kind != transcript.KindUser {
			continue
		}
		r := conversation.ListRequest{Turn: e.turn, Event: e.shown.Event, Chars: e.chars, Text: beginning(e.text)}
		if !e.at.IsZero() {
			r.Day = e.at.UTC().Format(time.DateOnly)
		}
		if answer.turn == e.turn {
			r.Answer, r.AnswerChars = answer.shown.Event, answer.chars
		}
		o = append(o, r)
	}
	slices.Reverse(o)
	return o
}

// rows returns the requests as the envelope shows them, without what a reader can infer: the day if it is that of the
// request before, the size of an answer that is not long, and the event of such an answer if it is the next event.
func (o outline) rows() outline {
	rows := slices.Clone(o)
	for i := range rows {
		row := &rows[i]
		if row.AnswerChars <= longAnswer {
			row.AnswerChars = 0
			if row.Answer == row.Event+1 {
				row.Answer = 0
			}
		}
		if i > 0 && row.Day == o[i-1].Day {
			row.Day = ""
		}
	}
	return rows
}

// lines returns the latest requests, one on a line, as many as fit into outlineChars bytes. sizes maps a turn to about
// how many characters a read of the turn returns; the first line of a turn shows this number.
func (o outline) lines(sizes map[int]int) string {
	form := func(omitted int) string {
		var lines []string
		if omitted > 0 {
			lines = append(lines, fmt.Sprintf("[... %s ...]", text.Count(omitted, "request", "requests")))
		}
		shown := o[omitted:]
		for i, r := range shown {
			size, n := "", sizes[r.Turn]
			if isFirst := i == 0 || shown[i-1].Turn != r.Turn; isFirst && n > 0 { // r is the first of its turn
				size = " (" + short(min(n, conversation.ReadMaxChars)) + ")"
			}
			lines = append(lines, fmt.Sprintf("turn=%d event=%d%s: %s", r.Turn, r.Event, size, r.Text))
		}
		return strings.Join(lines, "\n")
	}
	return form(sort.Search(len(o), func(omitted int) bool { return len(form(omitted)) <= outlineChars })) // omits the fewest
}

// beginning returns how a request begins, on one line.
func beginning(said string) string {
	line := strings.ReplaceAll(store.Request(said), "\n", " ")
	return text.Cut(text.Line(line), maxBeginning)
}

// short returns a number of characters in thousands, rounded up.
func short(n int) string { return fmt.Sprintf("%dk", (n+999)/1000) }
