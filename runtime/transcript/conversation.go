package transcript

import (
	"cmp"
	"strings"
	"time"
)

// ID is the id of a conversation in its canonical spelling, such as
// "jp-c17800836875". It is unique over all stores, and holds only letters,
// digits, '.', '_' and '-'.
type ID string

// Compare orders ids: numbers of one form by their value.
func (id ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(len(id), len(other)), strings.Compare(string(id), string(other)))
}

// Conversation is what is known of a conversation without reading its events. A
// zero time is not known.
type Conversation struct {
	ID ID
	// NativeID is the id that whoever recorded it gave it, where it is of an export or an
	// archive; else empty.
	NativeID        string
	Title           string
	CreatedAt       time.Time
	LastActivatedAt time.Time
	PinnedAt        time.Time
	ArchivedAt      time.Time // zero for a live conversation
	ExpiresAt       time.Time
	Archived        bool
	Hidden          bool
	Labels          map[string]string // a label without a value has ""; nil where there are none
	// Parent is the conversation that this one was forked from, or was begun from as
	// the task of a sub-agent, as recorded: it may be gone. Empty where there is none.
	Parent ID
	// Locality is which of a workspace's stores has it, as its owner spells it.
	Locality string
	// Source is the kind of store that has it, such as "claude-code"; empty for JP.
	Source string
	// Dir is the directory that it was held in, as recorded; empty where that is not known.
	Dir string
	// UserOnly reports whether no project's own store has it.
	UserOnly bool
}
