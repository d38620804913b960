package recall

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
)

// maxTitle is how many characters of a title, or of a tool's name, are shown.
// Both are short; one that is not would crowd out the rest.
const maxTitle = 300

type listRecord struct {
	conversation.ListConversation
	PinnedAt time.Time `json:"pinned_at"`
	Error    string    `json:"error"`
}

type listSummary struct {
	Total   *int      `json:"total"`
	Skipped []skipped `json:"skipped"`
}

// listing is one call of conversation_list in the making.
type listing struct {
	call    contract.Call
	params  conversation.ListParams
	summary listSummary
	rows    []listRecord
	total   int  // conversations on all pages
	known   bool // total was told; otherwise it counts what was seen
}

// List answers conversation_list.
func (t *Tools) List(ctx context.Context, call contract.Call, p conversation.ListParams) (*conversation.ListEnvelope, error) {
	l := &listing{call: located(call, "no conversation could be marked as the current one"), params: p}
	args := conversation.ListArgs(p, l.call.Context)
	if err := t.run(ctx, l.call, conversation.ListCLI, args, conversation.ListExitOK, &l.summary, l.add); err != nil {
		return nil, err
	}
	l.total, l.known = p.Offset+len(l.rows), l.summary.Total != nil
	if l.known {
		l.total = *l.summary.Total
	}
	l.rows = l.rows[:min(len(l.rows), p.Limit)]
	return fit(len(l.rows), conversation.ListMaxChars, l.envelope), nil
}

func (l *listing) add(raw json.RawMessage) error {
	var r listRecord
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	if !isIdentifier(r.ID) {
		return errNoID
	}
	r.Current = isCurrent(l.call, r.ID)
	r.Pinned = !r.PinnedAt.IsZero()
	l.rows = append(l.rows, r)
	return nil
}

// envelope is the answer with the first n rows.
func (l *listing) envelope(n int) *conversation.ListEnvelope {
	e := conversation.NewListEnvelope(l.params)
	e.Total, e.Count = l.total, n
	next := l.params.Offset + n
	// Where the total is not known, a full page may have another behind it.
	e.HasMore = n > 0 && (next < l.total || !l.known && n == l.params.Limit)
	if e.HasMore {
		e.NextOffset = next
	}
	var damaged []skipped
	shortened := false
	for _, row := range l.rows[:n] {
		title := clip(row.Title, maxTitle)
		shortened = shortened || title != row.Title
		if row.Error != "" {
			damaged = append(damaged, skipped{row.ID, row.Error})
		}
		row.Title = title
		e.Conversations = append(e.Conversations, row.ListConversation)
	}
	e.Notes = append(remarks(l.call), l.pageNotes(&e)...)
	if left := len(l.rows) - n; left > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%d more of this page did not fit into %d characters.", left, conversation.ListMaxChars))
	}
	if shortened {
		e.Notes = append(e.Notes, fmt.Sprintf("Titles of more than %d characters are cut and end with ….", maxTitle))
	}
	if len(damaged) > 0 {
		e.Notes = append(e.Notes, "Damaged, so that events_count and last_event_at are not known: "+namely(damaged)+". conversation_read shows what can still be read.")
	}
	same, list := duplicates(l.summary.Skipped)
	if same != "" {
		e.Notes = append(e.Notes, same)
	}
	if len(list) > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("Not listed, because %s cannot be read: %s.", count(len(list), "conversation", "conversations"), namely(list)))
	}
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
		filter = " match title_contains=" + quoted(*p.TitleContains)
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
