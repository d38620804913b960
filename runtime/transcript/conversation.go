package transcript

import "time"

// Conversation is what is known of a conversation without reading its events. A
// zero time is not known.
type Conversation struct {
	ID              ID
	Title           string
	CreatedAt       time.Time
	LastActivatedAt time.Time
	PinnedAt        time.Time
	ArchivedAt      time.Time // zero for a live conversation
	ExpiresAt       time.Time
	Archived        bool
	Hidden          bool
	Labels          map[string]string // a label without a value has ""; nil where there are none
	// Locality is which of a workspace's stores has it, as its owner spells it.
	Locality string
}
