package conversations

// Turns selects turns of a conversation. The zero value selects all.
type Turns struct {
	First, Last Bound
}

// Bound is one end of a selection of turns.
type Bound struct {
	Kind BoundKind
	N    int // of turns
}

// BoundKind is what a [Bound] counts.
type BoundKind uint8

// The kinds of bounds.
const (
	Unbounded BoundKind = iota
	Turn                // turn N; one that does not exist is a [*TurnRangeError]
	Count               // N turns from the beginning, as far as there are
	CountBack           // N turns up to the end, as far as there are
)
