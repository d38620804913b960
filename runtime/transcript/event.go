package transcript

import (
	"math"
	"time"
)

// Event is one recorded event.
type Event struct {
	Index int // position in the conversation, from 0
	Turn  int // from 1; 0 for global kinds
	Kind  Kind
	// Copied reports whether another conversation has the event too, from which this one
	// was forked. A search over both finds it in the other one alone.
	Copied bool
	Record
}

// Record is what is recorded of an event, decoded where it is asked for. Methods
// that append return valid UTF-8.
type Record interface {
	// Time is when the event happened, in UTC; zero where that is not recorded, or
	// not usable.
	Time() time.Time
	// Stored returns the text that AppendText decodes as it is stored, for a test on
	// the bytes before they are decoded.
	Stored() ([]byte, StoredForm)
	// AppendText appends the text that is searched: what was said, thought, asked or
	// returned; of a tool call its name and, on the next line, the arguments. There
	// may be none.
	AppendText(dst []byte) ([]byte, Encoding)
	// AppendBody appends the text that is read. It is that of AppendText, except that
	// it has only the arguments of a tool call, and also answers and structured data.
	// What is over a limit is not held in memory as a whole.
	AppendBody(dst []byte, limits Limits) ([]byte, BodyInfo)
	// AppendName and AppendCallID append the name of a called tool and what joins a
	// call with its result, as recorded: the first most characters, or all where most
	// is 0.
	AppendName(dst []byte, most int) []byte
	AppendCallID(dst []byte, most int) []byte
	// IsError reports whether a tool result is marked as an error.
	IsError() bool
	// CompactedTurns returns how many turns, from the first, a compaction replaces.
	CompactedTurns() int
	// AppendJSON appends the event as a compact JSON object close to what is stored.
	AppendJSON(dst []byte, options JSONOptions) []byte
}

// Limits are how many characters a text may have; 0 stands for any number. Of a
// longer one the first [HeadChars] and the last are kept.
type Limits struct {
	// Text is for a text, and for each string inside JSON, which is marked where it
	// is cut.
	Text int
	// JSON is for JSON as a whole. It is no JSON any more where it is cut.
	JSON int
	// Part, from 1, is the part of Text characters that is kept in place of the first
	// and the last ones: the third has those behind twice Text. Of JSON it is a part of
	// all of it, and JSON and the strings inside have no limits of their own. Behind
	// the last part there is nothing.
	Part int
}

// PartRange returns how many characters there are before the part, and how many it
// has at the most.
func (l Limits) PartRange() (before, most int) {
	most = l.Text
	if most <= 0 {
		most = math.MaxInt
	}
	if l.Part-1 > math.MaxInt/most {
		return math.MaxInt, most
	}
	return (l.Part - 1) * most, most
}

// BodyInfo describes the text of an event.
type BodyInfo struct {
	Encoding Encoding
	JSON     bool // it is JSON, indented by two spaces, or what a limit left of that; not plain text
	Cut      bool // strings in it were cut
	// Chars is how many characters the text has where only the first Head and the
	// last of them are there; else 0. With a part, Chars is always how many it has.
	Chars, Head int
}

// StoredForm is how a text is stored.
type StoredForm uint8

// The forms of stored text.
const (
	StoredOtherwise StoredForm = iota // nothing follows from the bytes
	StoredString                      // the inside of a JSON string
	StoredBase64                      // the same, which may be base64 of the text
	StoredCall                        // JSON with all of a tool call, strings as StoredBase64
)

// JSONOptions controls [Record.AppendJSON].
type JSONOptions struct {
	// Turn adds the key "turn" with the 1-based number (0 for global kinds).
	Turn bool
	// OmitMetadata leaves the key "metadata" out.
	OmitMetadata bool
	// MaxText is the number of characters (code points) a text may have; a
	// longer one keeps its first 60 % and last 40 % of MaxText. 0 means no limit.
	//
	// In content, message and reasoning the two parts are joined, and the event
	// gets "chars", the real length, and "head_chars", where the cut is. In the
	// strings inside arguments and data " … N characters omitted … " stands at
	// the cut, and the event gets "cut":true.
	MaxText int
}
