package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// listRecord is a conversation as "ls" prints it.
type listRecord struct {
	ID              string            `json:"id"`
	Title           string            `json:"title"`
	Events          int               `json:"events_count"`
	CreatedAt       time.Time         `json:"created_at"`
	LastEventAt     time.Time         `json:"last_event_at"`
	ArchivedAt      time.Time         `json:"archived_at"`
	ExpiresAt       time.Time         `json:"expires_at"`
	LastActivatedAt time.Time         `json:"last_activated_at"`
	PinnedAt        time.Time         `json:"pinned_at"`
	Hidden          bool              `json:"hidden"`
	Locality        string            `json:"local"`
	Source          string            `json:"source"`
	Parent          transcript.ID     `json:"parent_id"`
	Labels          map[string]string `json:"labels"`
	Error           string            `json:"error"`
	// Sizes, where the program gives them.
	Turns    *int `json:"turns"`
	Requests *int `json:"requests"`
	Numbered *int `json:"numbered_events"`
	Chars    *int `json:"chars"`
}

var errHeadings = errors.New("its keys are the headings of a table")

// List implements [conversations.Source].
func (s source) List(ctx context.Context, q conversations.ListQuery) (conversations.Listing, error) {
	c, err := call(s.config.List, q, slices.Concat(q.IDs, q.Exclude)...)
	if err != nil {
		return conversations.Listing{}, err
	}
	out, err := s.run(ctx, c, "ls")
	if err != nil {
		return conversations.Listing{}, err
	}
	var summary struct {
		Total    *int      `json:"total"`
		Excluded []string  `json:"excluded"`
		Skipped  []problem `json:"skipped"`
	}
	listing := conversations.Listing{Total: -1}
	err = out.each(&summary, func(raw json.RawMessage) error {
		var r listRecord
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		if out.failure.Lacks.Command != "" && !bytes.Contains(raw, []byte(`"events_count"`)) {
			return errHeadings // "ID" would pass for "id"
		}
		id, err := recordID(r.ID)
		if err != nil {
			return err
		}
		listing.Seen++
		if q.Limit == 0 || listing.Seen <= q.Limit {
			listed := r.typed(id, q.Archived)
			if q.Sizes {
				listed.Size = r.size()
			}
			listing.Conversations = append(listing.Conversations, listed)
		}
		return nil
	})
	if err != nil {
		return conversations.Listing{}, err
	}
	listing.Seen += q.Offset
	if summary.Total != nil {
		listing.Total, listing.Seen = *summary.Total, 0
	}
	listing.Aside = aside(summary.Excluded, summary.Skipped)
	return listing, nil
}

func (r *listRecord) typed(id transcript.ID, archived bool) conversations.Listed {
	listed := conversations.Listed{
		Conversation: transcript.Conversation{
			ID: id, Title: r.Title,
			CreatedAt: r.CreatedAt, LastActivatedAt: r.LastActivatedAt, PinnedAt: r.PinnedAt,
			ArchivedAt: r.ArchivedAt, ExpiresAt: r.ExpiresAt,
			Archived: archived || !r.ArchivedAt.IsZero(), Hidden: r.Hidden,
			Locality: r.Locality, Source: r.Source,
		},
		Events: r.Events, LastEventAt: r.LastEventAt,
	}
	if parent, err := conversations.ParseID(string(r.Parent)); err == nil {
		listed.Parent = parent
	}
	if len(r.Labels) > 0 {
		listed.Labels = r.Labels
	}
	if r.Error != "" {
		listed.Damage = reported(id, r.Error)
	}
	return listed
}

// size is nil where the program does not give all of it.
func (r *listRecord) size() *conversations.Size {
	if r.Turns == nil || r.Requests == nil || r.Numbered == nil || r.Chars == nil {
		return nil
	}
	return &conversations.Size{Turns: *r.Turns, Requests: *r.Requests, Numbered: *r.Numbered, Chars: *r.Chars}
}
