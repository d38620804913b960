package transcript

import (
	"math"
	"time"
)

// Event is one recorded event, decoded. Its texts are valid UTF-8. Nobody changes the bytes
// that it has.
type Event struct {
	Index int // position in the conversation, from 0
	Turn  int // from 1; 0 for global kinds
	Kind  Kind
	// Copied reports whether another conversation has the event too, from which this one
	// was forked. A search over both finds it in the other one alone.
	Copied bool
	Time   time.Time // in UTC; zero where that is not recorded, or not usable
	// Name is the name of a called tool, or of a recorded role; empty where there is none.
	Name   string
	CallID string // joins a call with its result; empty where there is none
	Failed bool   // a result of a call that is marked as an error
	// Text is what was said, thought, asked or returned, and arguments of a call that are
	// no JSON.
	Text []byte
	// Arguments is the JSON of a call's arguments. Any other event has here the JSON that is
	// recorded in place of a text, such as structured data.
	Arguments []byte
	// Encoding is Base64 where the text, or a string of the arguments, is left as stored.
	Encoding       Encoding
	CompactedTurns int // how many turns, from the first, a compaction replaces
	// Object is the JSON object that is recorded, where its store has one that programs read;
	// else nil. Only the metadata in it is decoded.
	Object []byte
}

// Limits are how many characters a text may have; 0 stands for any number. Of a
// longer one the first [HeadChars] and the last are kept.
type Limits struct {
	// Text is for a text, and where JSON is 0 for each string inside JSON, which is marked
	// where it is cut.
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
	// Chars is how many characters the text has where only the first Head and the
	// last of them are there; else 0. With a part, Chars is always how many it has.
	Chars, Head int
}

// JSONOptions controls the JSON object of an event.
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
