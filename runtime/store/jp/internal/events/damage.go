package events

import (
	"errors"
	"fmt"
)

// ErrNoTimestamp is the error of an event without a timestamp, which is one that
// has no such key, or a value of it that is not a string.
var ErrNoTimestamp = errors.New("the event has no timestamp")

// DamageKind classifies what is wrong with a file.
type DamageKind uint8

// The kinds of damage.
const (
	DamageSyntax       DamageKind = iota // not JSON at this place
	DamageCutOff                         // the file ends too early
	DamageNotArray                       // the file is not a JSON array
	DamageNotObject                      // an element of the array is not an object
	DamageTrailingData                   // something follows the array
	DamageTooDeep                        // nested deeper than MaxDepth
)

// DamageError says where a file stops being an array of events.
type DamageError struct {
	Kind   DamageKind
	Offset int64  // byte offset in the file
	Event  int    // index of the damaged element; also the number of whole events before it
	Detail string // what was found, and what was expected where that helps
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("damaged at byte %d (event %d): %s", e.Offset, e.Event, e.Detail)
}

// describe names a byte that does not belong where it is.
func describe(c byte) string {
	if ' ' < c && c < 0x7f {
		return fmt.Sprintf("%q", rune(c))
	}
	return fmt.Sprintf("byte 0x%02x", c)
}
