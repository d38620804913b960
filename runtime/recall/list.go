package recall

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
)

// maxTitle is how many characters of a title are shown. Titles are short; one
// that is not would crowd out the rest.
const maxTitle = 300

type listRecord struct {
	conversation.ListConversation
	Error string `json:"error"`
}

type listSummary struct {
	Total   *int      `json:"total"`
	Skipped []skipped `json:"skipped"`
}

// List answers conversation_list.
func (t *Tools) List(ctx context.Context, call contract.Call, p conversation.ListParams) (*conversation.ListEnvelope, error) {
	var summary listSummary
	var rows []conversation.ListConversation
	var damaged []skipped
	shortened := 0
	err := t.run(ctx, call, conversation.ListCLI, conversation.ListArgs(p, call.Context), conversation.ListExitOK, &summary, func(raw json.RawMessage) error {
		var r listRecord
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		r.Current = call.Context.ConversationID != "" && sameConversation(r.ID, call.Context.ConversationID)
		if title := clip(r.Title, maxTitle); title != r.Title {
			r.Title = title
			shortened++
		}
		if r.Error != "" {
			damaged = append(damaged, skipped{r.ID, r.Error})
		}
		rows = append(rows, r.ListConversation)
		return nil
	})
	if err != nil {
		return nil, err
	}
	total := p.Offset + len(rows)
	if summary.Total != nil {
		total = *summary.Total
	}
	build := func(n int) *conversation.ListEnvelope {
		e := conversation.NewListEnvelope(p)
		e.Total, e.Count, e.Conversations = total, n, rows[:n]
		e.Notes = append(e.Notes, call.Notes...)
		next := p.Offset + n
		if e.HasMore = next < total && n > 0; e.HasMore {
			e.NextOffset = next
		}
		e.Notes = append(e.Notes, pageNotes(p, n, total)...)
		if n < len(rows) {
			e.Notes = append(e.Notes, fmt.Sprintf("%d more were asked for and did not fit into %d characters.", len(rows)-n, conversation.ListMaxChars))
		}
		if shortened > 0 {
			e.Notes = append(e.Notes, fmt.Sprintf("Titles over %d characters are cut, with … at the end.", maxTitle))
		}
		for _, d := range damaged[:min(len(damaged), maxListed)] {
			e.Notes = append(e.Notes, "The events of "+d.ID+" cannot be read, so its counts are missing: "+clip(d.Reason, 160)+".")
		}
		if len(damaged) > maxListed {
			e.Notes = append(e.Notes, fmt.Sprintf("So it is with %d more.", len(damaged)-maxListed))
		}
		e.Notes = append(e.Notes, skippedNote(summary.Skipped)...)
		return &e
	}
	return fit(len(rows), conversation.ListMaxChars, build), nil
}

func pageNotes(p conversation.ListParams, n, total int) []string {
	what := "conversations"
	if p.Archived {
		what = "archived conversations"
	}
	filter := ""
	if p.TitleContains != nil && *p.TitleContains != "" {
		filter = fmt.Sprintf(" match title_contains=%s", quoted(*p.TitleContains))
	}
	switch {
	case total == 0 && filter != "":
		return []string{"No " + what + filter + "."}
	case total == 0:
		return []string{"There are no " + what + " in this workspace."}
	case n == 0:
		return []string{fmt.Sprintf("offset %d is past the end (total %d): the last valid offset is %d.", p.Offset, total, total-1)}
	case p.Offset+n < total:
		return []string{fmt.Sprintf("Showing %d-%d of %d. Next page: offset=%d.", p.Offset+1, p.Offset+n, total, p.Offset+n)}
	default:
		return nil
	}
}

// appender is any generated envelope.
type appender interface{ Append(w *envelope.Writer) }

func chars(e appender) int {
	var w envelope.Writer
	e.Append(&w)
	return envelope.Chars(w.Bytes())
}

// fit returns the envelope with as many of n items as keep it within the cap.
// Longer prefixes make longer envelopes, but for a note more or less, so a
// search by halves is near the mark and the rest is counted down.
func fit[E appender](n, limit int, build func(int) E) E {
	whole := build(n)
	if chars(whole) <= limit {
		return whole
	}
	low, high := 0, n // low fits or is 0, high does not
	for high-low > 1 {
		middle := (low + high) / 2
		if chars(build(middle)) <= limit {
			low = middle
		} else {
			high = middle
		}
	}
	for low > 0 && chars(build(low)) > limit {
		low--
	}
	return build(low)
}
