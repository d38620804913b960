package transcript

import (
	"cmp"
	"strings"
	"time"
)

// ID is the id of a conversation in its canonical spelling, such as "jp-c17800836875". It is unique over all stores,
// and holds only letters, digits, '.', '_' and '-'.
type ID string

// Compare orders ids: numbers of one form by their value.
func (id ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(len(id), len(other)), strings.Compare(string(id), string(other)))
}

// Split returns the three parts of an id: the program; the program's own id of the session; and for a part of a session,
// such as the work of a sub-agent, the rest of the id from its first dot.
func (id ID) Split() (program, session, part string) {
	program, own, _ := strings.Cut(string(id), "-")
	if program == "jp" {
		own = strings.TrimPrefix(own, "c")
	}
	session, _, _ = strings.Cut(own, ".")
	return program, session, own[len(session):]
}

// Conversation describes a conversation without its events. A zero time means that the time is not known.
type Conversation struct {
	ID ID
	// NativeID is the id given by the program that recorded the conversation, if it comes
	// from an export or an archive; otherwise empty.
	NativeID        string
	Title           string
	CreatedAt       time.Time
	LastActivatedAt time.Time
	PinnedAt        time.Time
	ArchivedAt      time.Time // zero for a live conversation
	ExpiresAt       time.Time
	Archived        bool
	Hidden          bool
	Labels          map[string]string // a label without a value has ""; nil if there are no labels
	// Parent is the conversation that this one was forked from, or that started it as the
	// task of a sub-agent. It may no longer exist. Empty if there is none.
	Parent   ID
	Locality string // names the store of the workspace that has the conversation
	Source   string // the kind of store, such as "claude-code"; empty for JP
	Dir      string // the recorded working directory; empty if it is not known
	Branch   string // the branch of version control that was recorded last; empty if it is not known
	UserOnly bool   // whether the conversation is in no project's own store
}
