package jp

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// maxMetadataSize bounds metadata.json, which holds a title, a few timestamps
// and labels.
const maxMetadataSize = 1 << 20

// The labels with a meaning. JP drops the keys of metadata.json that it does not
// know whenever it writes the file, and keeps labels.
const (
	labelHidden = "hidden"
	labelParent = "parent_id"
)

// parseMetadata reads a metadata.json into c. Unknown and missing keys are fine. A
// timestamp that cannot be used counts as missing; any other key with a value of
// the wrong type is an error.
func parseMetadata(data []byte, c *store.Conversation) error {
	var file struct {
		Title           string            `json:"title"`
		LastActivatedAt timestamp         `json:"last_activated_at"`
		PinnedAt        timestamp         `json:"pinned_at"`
		ArchivedAt      timestamp         `json:"archived_at"`
		ExpiresAt       timestamp         `json:"expires_at"`
		Labels          map[string]string `json:"labels"`
		Hidden          bool              `json:"hidden"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("metadata.json cannot be read: %w", err)
	}
	c.Title = file.Title
	c.LastActivatedAt = file.LastActivatedAt.Time
	c.PinnedAt = file.PinnedAt.Time
	if c.Archived { // else a stale stamp: the directory decides
		c.ArchivedAt = file.ArchivedAt.Time
	}
	c.ExpiresAt = file.ExpiresAt.Time
	if len(file.Labels) > 0 {
		c.Labels = file.Labels
	}
	_, labelled := file.Labels[labelHidden]
	c.Hidden = file.Hidden || labelled
	if parent, err := ParseID(file.Labels[labelParent]); err == nil && parent != c.ID {
		c.Parent = parent
	}
	for _, field := range []struct {
		name string
		err  error
	}{
		{"last_activated_at", file.LastActivatedAt.err},
		{"pinned_at", file.PinnedAt.err},
		{"archived_at", file.ArchivedAt.err},
		{"expires_at", file.ExpiresAt.err},
	} {
		if field.err != nil {
			c.Problems = append(c.Problems, badField(c.ID, field.name, field.err))
		}
	}
	return nil
}

func badField(id transcript.ID, name string, err error) store.Problem {
	return store.Problem{ID: id, Kind: store.BadField, Field: name, Err: fmt.Errorf("%s counts as missing: %w", name, err)}
}

// timestamp is a time as JP writes it, or RFC 3339; null is the zero time.
type timestamp struct {
	time.Time
	err error // why it cannot be used
}

func (t *timestamp) UnmarshalJSON(data []byte) error {
	var text *string
	if t.err = json.Unmarshal(data, &text); t.err == nil && text != nil {
		t.Time, t.err = transcript.ParseTimestamp(*text)
	}
	return nil
}
