package events

import (
	"errors"
	"fmt"

	"github.com/convtools/convtools/runtime/store/jsontext"
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

// damage returns what stops a file of which data begins at base, and which had some
// events before.
func damage(f *jsontext.Failure, events int) *DamageError {
	d := &DamageError{Kind: DamageCutOff, Offset: int64(f.Offset), Event: events, Detail: f.Detail}
	switch f.Kind {
	case jsontext.Syntax:
		d.Kind = DamageSyntax
	case jsontext.CutOff:
		d.Detail = "the file ends in the middle of the array"
	case jsontext.CutInString:
		d.Detail = "the file ends inside a string"
	case jsontext.TooDeep:
		d.Kind, d.Detail = DamageTooDeep, "nested deeper than any event JP writes"
	}
	return d
}
