package recall

import (
	"context"
	"fmt"
	"strings"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
)

// maxOutlines is how many characters an answer with outlines may have: they are read to
// find a place, and the next page is one call away.
const maxOutlines = 9000

// longAnswer is how many characters of an answer are worth a search of it in place of
// reading it.
const longAnswer = wholeAnswer

// maxTitle is how many characters of a title, or of a tool's name, are shown.
// Both are short; one that is not would crowd out the rest.
const maxTitle = 300

// listing is one call of conversation_list in the making.
type listing struct {
	call   contract.Call
	params conversation.ListParams
	conversations.Listing
	outlines []outline // of the first conversations, more than an answer can have
	requests int       // in these
	others   int       // archived conversations that match too, or live ones where there are no archived ones
}

// List answers conversation_list.
func (t *Tools) List(ctx context.Context, call contract.Call, p conversation.ListParams) (*conversation.ListEnvelope, error) {
	l := &listing{params: p}
	q := conversations.ListQuery{
		Filter: conversations.Filter{Archived: p.Archived, Hidden: p.IncludeHidden, Sources: p.Sources},
		Sort:   conversations.SortNamed(p.Sort), Ascending: !p.Descending, Limit: p.Limit, Offset: p.Offset,
		TitleContains: given(p.TitleContains), Sizes: true,
	}
	err := ask(ctx, t.open, call, func(ctx context.Context, source conversations.Source) (err error) {
		l.call, _ = located(ctx, source, call, "no conversation could be marked as the current one")
		if l.Listing, err = source.List(ctx, q); err == nil && p.Outline {
			err = l.readOutlines(ctx, source)
		}
		if err == nil && p.Offset == 0 && (!p.Archived || len(l.Conversations) == 0) {
			err = l.countOthers(ctx, source, q)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.Outline {
		return l.outlined(), nil
	}
	return fit(len(l.Conversations), conversation.ListMaxChars, l.envelope), nil
}

// Where an answer has more than manyRequests, less of each is shown: shortBeginning
// characters.
const (
	manyRequests   = 24
	shortBeginning = 90
)

// countOthers counts the archived conversations that match a query about live ones, or the
// reverse: for advice, so that without an answer there are none.
func (l *listing) countOthers(ctx context.Context, source conversations.Source, q conversations.ListQuery) error {
	q.Archived, q.Limit, q.Sizes, q.NoEvents = !q.Archived, 1, false, true
	if others, err := source.List(ctx, q); err == nil {
		l.others = others.Total
	}
	return ctx.Err()
}

// readOutlines reads outlines until there are more than fit. Of the
// current conversation there is none: it is in front of the model
// already.
func (l *listing) readOutlines(ctx context.Context, source conversations.Source) error {
	used := 0
	for i := range l.Conversations {
		var o outline
		if id := string(l.Conversations[i].ID); id != l.call.Context.ConversationID {
			var err error
			if o, err = readOutline(ctx, source, id); err != nil {
				o = outline{unread: true} // it was there when it was listed
			}
		}
		for _, r := range o.requests {
			used += len(r.Text)
		}
		l.requests += len(o.requests)
		l.outlines = append(l.outlines, o)
		if used > maxOutlines || ctx.Err() != nil {
			break
		}
	}
	return ctx.Err()
}

// outlined is the answer with as many conversations as fit. An outline that does not
// fit by itself is left without its middle.
func (l *listing) outlined() *conversation.ListEnvelope {
	e := fit(len(l.outlines), maxOutlines, l.envelope)
	if e.Count > 0 || len(l.outlines) == 0 {
		return e
	}
	whole := l.outlines[0]
	return fit(len(whole.requests), maxOutlines, func(n int) *conversation.ListEnvelope {
		l.outlines[0] = whole.without(len(whole.requests) - n)
		return l.envelope(1)
	})
}

// row is a conversation as the envelope shows it.
func (l *listing) row(c *conversations.Listed) conversation.ListConversation {
	id := string(c.ID)
	row := conversation.ListConversation{
		ID: id, CreatedAt: c.CreatedAt, LastEventAt: c.LastEventAt, ArchivedAt: c.ArchivedAt, ExpiresAt: c.ExpiresAt,
		Current: id == l.call.Context.ConversationID, Hidden: c.Hidden, Pinned: !c.PinnedAt.IsZero(), Source: c.Source,
		Title: clip(c.Title, maxTitle),
	}
	if c.Events >= 0 {
		row.EventsCount = &c.Events
	}
	if c.Size != nil {
		row.Turns, row.RequestCount, row.Chars = &c.Size.Turns, &c.Size.Requests, &c.Size.Chars
	}
	return row
}

// cutNote names the calls that show the requests that an outline is
// without.
func (o *outline) cutNote(id string) string {
	first, last := 1, ""
	if o.before > 0 {
		first = o.requests[o.before-1].Turn
	}
	if o.before < len(o.requests) {
		last = fmt.Sprintf(" to %d", o.requests[o.before].Turn)
	}
	return fmt.Sprintf(`%s of %s left out of the middle: conversation_read id=%q include=["requests"] turn=N shows them, with N from %d%s.`,
		text.Count(o.left, "request", "requests"), id, id, first, last)
}

// envelope returns the answer with the first n rows.
func (l *listing) envelope(n int) *conversation.ListEnvelope {
	e := conversation.NewListEnvelope(l.params)
	e.Total, e.Count = l.Total, n
	if next := l.params.Offset + n; n > 0 && next < l.Total {
		e.HasMore, e.NextOffset = true, next
	}
	most := maxBeginning
	if l.requests > manyRequests {
		most = shortBeginning
	}
	say := func(is bool, note string) {
		if is {
			e.Notes = append(e.Notes, note)
		}
	}
	e.Notes = remarks(l.call)
	page := strings.TrimSpace(l.pageNote(&e) + " " + l.elsewhere())
	say(page != "", page)
	var damaged, unread []string
	shortened := false
	for i := range l.Conversations[:n] {
		c := &l.Conversations[i]
		row := l.row(c)
		shortened = shortened || row.Title != c.Title
		if c.Damage != nil {
			damaged = append(damaged, row.ID)
		}
		if i < len(l.outlines) {
			o := &l.outlines[i]
			row.Requests, row.Omitted = o.rows(most), o.left
			say(o.left > 0, o.cutNote(row.ID))
			if o.unread {
				unread = append(unread, row.ID)
			}
		}
		e.Conversations = append(e.Conversations, row)
	}
	left := len(l.Conversations) - n
	say(left > 0 && !l.params.Outline, fmt.Sprintf("%d more of this page did not fit into %d characters.", left, conversation.ListMaxChars))
	say(shortened, fmt.Sprintf("Titles of more than %d characters are cut and end with ….", maxTitle))
	say(len(damaged) > 0, "Damaged, so that events_count and last_event_at are not known: "+bounded(damaged, ", ", maxListed)+".")
	say(len(unread) > 0, "Without an outline, because they could not be read: "+bounded(unread, ", ", maxListed)+".")
	e.Notes = append(e.Notes, withoutNotes("Not listed: ", l.Aside.Problems)...)
	return &e
}

// pageNote says what of all is shown, where that is not all, and the
// call for more of it.
func (l *listing) pageNote(e *conversation.ListEnvelope) string {
	p := l.params
	what := either(p.Archived, "archived", "live") + " conversations" + ofSources(p.Sources)
	aside := either(p.IncludeHidden, "", ", hidden ones aside")
	switch {
	case e.Total == 0 && given(p.TitleContains) != "":
		return "No " + what + " match title_contains=" + text.Quote(*p.TitleContains) + aside + ". conversation_grep looks into what was said."
	case e.Total == 0:
		return "There are no " + what + " in this project" + aside + "."
	case e.Count == 0:
		return fmt.Sprintf("offset %d is past the end (total %d): the last valid offset is %d.", p.Offset, e.Total, e.Total-1)
	case e.HasMore:
		return fmt.Sprintf("Showing %d-%d of %d. Next page: offset=%d.", p.Offset+1, p.Offset+e.Count, e.Total, e.NextOffset)
	}
	return ""
}

// ofSources says of which sources conversations are; nothing where they are of any.
func ofSources(sources []string) string {
	if len(sources) == 0 {
		return ""
	}
	return " of " + join(sources, "or")
}

// elsewhere names the call that looks where this one did not.
func (l *listing) elsewhere() string {
	if l.others == 0 {
		return ""
	}
	what := either(l.params.Archived, "live", "archived") + " conversation"
	return fmt.Sprintf("%s: archived=%v.", text.Count(l.others, what, what+"s"), !l.params.Archived)
}
