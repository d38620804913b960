package recall

import (
	"context"
	"fmt"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
)

// maxTitle is how many characters of a title, or of a tool's name, are shown.
// Both are short; one that is not would crowd out the rest.
const maxTitle = 300

// listing is one call of conversation_list in the making.
type listing struct {
	call   contract.Call
	params conversation.ListParams
	conversations.Listing
	known bool // Total is told; otherwise it counts what was seen
}

// List answers conversation_list.
func (t *Tools) List(ctx context.Context, call contract.Call, p conversation.ListParams) (*conversation.ListEnvelope, error) {
	l := &listing{call: located(call, "no conversation could be marked as the current one"), params: p}
	q := conversations.ListQuery{
		Filter: conversations.Filter{Archived: p.Archived, Hidden: p.IncludeHidden},
		Sort:   sortOf(p.Sort), Ascending: !p.Descending, Limit: p.Limit, Offset: p.Offset,
	}
	if p.TitleContains != nil {
		q.TitleContains = *p.TitleContains
	}
	err := t.ask(ctx, call, func(ctx context.Context, source conversations.Source) (err error) {
		l.Listing, err = source.List(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	if l.known = l.Total >= 0; !l.known {
		l.Total = max(p.Offset+len(l.Conversations), l.Seen)
	}
	return fit(len(l.Conversations), conversation.ListMaxChars, l.envelope), nil
}

func sortOf(name string) conversations.Sort {
	switch name {
	case conversation.ListSortCreated:
		return conversations.ByCreation
	case conversation.ListSortUpdated:
		return conversations.ByUpdate
	default:
		return conversations.ByActivity
	}
}

// row is a conversation as the envelope shows it.
func (l *listing) row(c *conversations.Listed) conversation.ListConversation {
	id := string(c.ID)
	return conversation.ListConversation{
		ID: id, EventsCount: c.Events,
		CreatedAt: c.CreatedAt, LastEventAt: c.LastEventAt, ArchivedAt: c.ArchivedAt, ExpiresAt: c.ExpiresAt,
		Current: id == l.call.Context.ConversationID, Hidden: c.Hidden, Pinned: !c.PinnedAt.IsZero(),
		Title: clip(c.Title, maxTitle),
	}
}

// envelope is the answer with the first n rows.
func (l *listing) envelope(n int) *conversation.ListEnvelope {
	e := conversation.NewListEnvelope(l.params)
	e.Total, e.Count = l.Total, n
	next := l.params.Offset + n
	// Where the total is not known, a full page may have another behind it.
	e.HasMore = n > 0 && (next < l.Total || !l.known && n == l.params.Limit)
	if e.HasMore {
		e.NextOffset = next
	}
	var damaged []conversations.Problem
	shortened := false
	for i := range l.Conversations[:n] {
		c := &l.Conversations[i]
		row := l.row(c)
		shortened = shortened || row.Title != c.Title
		if c.Damage != nil {
			damaged = append(damaged, *c.Damage)
		}
		e.Conversations = append(e.Conversations, row)
	}
	e.Notes = append(remarks(l.call), l.pageNotes(&e)...)
	if left := len(l.Conversations) - n; left > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%d more of this page did not fit into %d characters.", left, conversation.ListMaxChars))
	}
	if shortened {
		e.Notes = append(e.Notes, fmt.Sprintf("Titles of more than %d characters are cut and end with ….", maxTitle))
	}
	if len(damaged) > 0 {
		e.Notes = append(e.Notes, "Damaged, so that events_count and last_event_at are not known: "+namely(damaged, "")+". conversation_read shows what can still be read.")
	}
	e.Notes = append(e.Notes, asideNotes(l.Aside.Problems, func(left []conversations.Problem) string {
		return fmt.Sprintf("Not listed, because %s cannot be read: %s.", count(len(left), "conversation", "conversations"), namely(left, ""))
	})...)
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
	if p.TitleContains != nil && *p.TitleContains != "" {
		filter = " match title_contains=" + text.Quote(*p.TitleContains)
	}
	first, last := p.Offset+1, p.Offset+e.Count
	switch {
	case e.Count == 0 && !l.known && p.Offset > 0:
		return []string{fmt.Sprintf("There are no more %s from offset %d on.", what, p.Offset)}
	case e.Total == 0 && filter != "":
		return []string{"No " + what + filter + aside + "." + l.elsewhere()}
	case e.Total == 0:
		return []string{"There are no " + what + " in this workspace" + aside + "." + l.elsewhere()}
	case e.Count == 0:
		return []string{fmt.Sprintf("offset %d is past the end (total %d): the last valid offset is %d.", p.Offset, e.Total, e.Total-1)}
	case e.HasMore && !l.known:
		return []string{fmt.Sprintf("Showing %d-%d; total counts only what has been seen so far. Next page: offset=%d.", first, last, e.NextOffset)}
	case e.HasMore:
		return []string{fmt.Sprintf("Showing %d-%d of %d. Next page: offset=%d.", first, last, e.Total, e.NextOffset)}
	default:
		return nil
	}
}

// elsewhere names the call that looks where this one did not.
func (l *listing) elsewhere() string {
	if l.params.Archived {
		return " Try archived=false for live ones."
	}
	return " Try archived=true for archived ones."
}
