package conversations

import "time"

// Turns selects turns of a conversation. The zero value selects all.
type Turns struct {
	First, Last Bound
}

// Bound is one end of a selection of turns.
type Bound struct {
	Kind BoundKind
	N    int           // of turns
	Age  time.Duration // how long ago
}

// BoundKind is what a [Bound] counts.
type BoundKind uint8

// The kinds of bounds.
const (
	Unbounded  BoundKind = iota
	Turn                 // turn N; one that does not exist is a [*TurnRangeError]
	FromEnd              // the Nth turn from the end: 1 is the last
	Age                  // the first, or last, turn that began this long ago
	Compaction           // the first turn behind the last compaction
	Count                // N turns from the beginning, as far as there are
	CountBack            // N turns up to the end, as far as there are
)
