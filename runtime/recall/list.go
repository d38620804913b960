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
	"github.com/convtools/convtools/runtime/transcript"
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
		Sizes: true,
	}
	if p.TitleContains != nil {
		q.TitleContains = *p.TitleContains
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

// readOutlines reads outlines until there are more than fit. Of the current
// conversation there is none: it is in front of the model already.
func (l *listing) readOutlines(ctx context.Context, source conversations.Source) error {
	for used := 0; used <= maxOutlines && len(l.outlines) < len(l.Conversations); {
		id := string(l.Conversations[len(l.outlines)].ID)
		var o outline
		if id != l.call.Context.ConversationID {
			var err error
			switch o, err = readOutline(ctx, source, id); {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				// It was there when it was listed.
				o = outline{unread: true}
			}
		}
		for i := range o.requests {
			used += len(o.requests[i].Text)
		}
		l.requests += len(o.requests)
		l.outlines = append(l.outlines, o)
	}
	return nil
}

// outlined is the answer with as many conversations as fit. An outline that does not
// fit by itself is left without its middle.
func (l *listing) outlined() *conversation.ListEnvelope {
	e := fit(len(l.outlines), maxOutlines, l.envelope)
	if e.Count > 0 || len(l.outlines) == 0 {
		return e
	}
	whole := l.outlines[0]
	return longest(len(whole.requests)+1, maxOutlines, func(k int) *conversation.ListEnvelope {
		l.outlines[0] = whole.without(k)
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

// cutNote names the calls that show the requests that an outline is without.
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

// envelope is the answer with the first n rows.
func (l *listing) envelope(n int) *conversation.ListEnvelope {
	e := conversation.NewListEnvelope(l.params)
	e.Total, e.Count = l.Total, n
	next := l.params.Offset + n
	e.HasMore = n > 0 && next < l.Total
	if e.HasMore {
		e.NextOffset = next
	}
	var damaged, unread []transcript.ID
	var cut []string
	shortened, most := false, maxBeginning
	if l.requests > manyRequests {
		most = shortBeginning
	}
	for i := range l.Conversations[:n] {
		c := &l.Conversations[i]
		row := l.row(c)
		shortened = shortened || row.Title != c.Title
		if c.Damage != nil {
			damaged = append(damaged, c.ID)
		}
		if i < len(l.outlines) {
			o := &l.outlines[i]
			row.Requests, row.Omitted = o.rows(most), o.left
			if o.left > 0 {
				cut = append(cut, o.cutNote(row.ID))
			}
			if o.unread {
				unread = append(unread, c.ID)
			}
		}
		e.Conversations = append(e.Conversations, row)
	}
	e.Notes = remarks(l.call)
	if page := slices.Concat(l.pageNotes(&e), l.elsewhere()); len(page) > 0 {
		e.Notes = append(e.Notes, strings.Join(page, " "))
	}
	e.Notes = append(e.Notes, cut...)
	if left := len(l.Conversations) - n; left > 0 && !l.params.Outline {
		e.Notes = append(e.Notes, fmt.Sprintf("%d more of this page did not fit into %d characters.", left, conversation.ListMaxChars))
	}
	if shortened {
		e.Notes = append(e.Notes, fmt.Sprintf("Titles of more than %d characters are cut and end with ….", maxTitle))
	}
	if len(damaged) > 0 {
		e.Notes = append(e.Notes, "Damaged, so that events_count and last_event_at are not known: "+bounded(names(damaged), ", ", maxListed)+".")
	}
	if len(unread) > 0 {
		e.Notes = append(e.Notes, "Without an outline, because they could not be read: "+bounded(names(unread), ", ", maxListed)+".")
	}
	e.Notes = append(e.Notes, asideNotes(l.Aside.Problems)...)
	return &e
}

func (l *listing) pageNotes(e *conversation.ListEnvelope) []string {
	p := l.params
	what, filter, aside := "live conversations", "", ", hidden ones aside"
	if p.Archived {
		what = "archived conversations"
	}
	if p.IncludeHidden {
		aside = ""
	}
	what += ofSources(p.Sources)
	if p.TitleContains != nil && *p.TitleContains != "" {
		filter = " match title_contains=" + text.Quote(*p.TitleContains)
	}
	first, last := p.Offset+1, p.Offset+e.Count
	switch {
	case e.Total == 0 && filter != "":
		return []string{"No " + what + filter + aside + ". conversation_grep looks into what was said."}
	case e.Total == 0:
		return []string{"There are no " + what + " in this project" + aside + "."}
	case e.Count == 0:
		return []string{fmt.Sprintf("offset %d is past the end (total %d): the last valid offset is %d.", p.Offset, e.Total, e.Total-1)}
	case e.HasMore:
		return []string{fmt.Sprintf("Showing %d-%d of %d. Next page: offset=%d.", first, last, e.Total, e.NextOffset)}
	default:
		return nil
	}
}

// ofSources says of which sources conversations are; nothing where they are of any.
func ofSources(sources []string) string {
	if len(sources) == 0 {
		return ""
	}
	return " of " + join(sources, "or")
}

// elsewhere names the call that looks where this one did not.
func (l *listing) elsewhere() []string {
	one, many := "archived conversation", "archived conversations"
	if l.params.Archived {
		one, many = "live conversation", "live conversations"
	}
	if l.others == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: archived=%v.", text.Count(l.others, one, many), !l.params.Archived)}
}
