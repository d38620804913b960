package workspace

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// maxMetadataSize bounds metadata.json, which holds a title, a few timestamps
// and labels.
const maxMetadataSize = 1 << 20

// Metadata is what metadata.json says. A zero time means that the key is
// missing.
type Metadata struct {
	Title           string
	LastActivatedAt time.Time
	PinnedAt        time.Time
	ArchivedAt      time.Time // may be stale: Conversation.Archived is the truth
	ExpiresAt       time.Time
	Labels          map[string]string // nil when there are none; a bare label has the value ""
	Hidden          bool              // "hidden": true, or a label named hidden
}

// parseMetadata reads a metadata.json. Unknown and missing keys are fine; a key
// with a value of the wrong type is an error.
func parseMetadata(data []byte) (Metadata, error) {
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
		return Metadata{}, fmt.Errorf("metadata.json cannot be read: %w", err)
	}
	m := Metadata{
		Title:           file.Title,
		LastActivatedAt: time.Time(file.LastActivatedAt),
		PinnedAt:        time.Time(file.PinnedAt),
		ArchivedAt:      time.Time(file.ArchivedAt),
		ExpiresAt:       time.Time(file.ExpiresAt),
		Hidden:          file.Hidden,
	}
	if len(file.Labels) > 0 {
		m.Labels = file.Labels
	}
	if _, ok := file.Labels["hidden"]; ok {
		m.Hidden = true
	}
	return m, nil
}

// timestamp is a time as JP writes it, or RFC 3339; null is the zero time.
type timestamp time.Time

func (t *timestamp) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if text == nil {
		return nil
	}
	parsed, err := transcript.ParseTimestamp(*text)
	*t = timestamp(parsed)
	return err
}
