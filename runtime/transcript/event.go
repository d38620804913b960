package transcript

import (
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
	Encoding Encoding
	// Object is the JSON object that is recorded, where its store has one that programs read;
	// else nil. Only the metadata in it is decoded.
	Object []byte
}

// BodyInfo describes the text of an event.
type BodyInfo struct {
	Encoding Encoding
	JSON     bool // it is JSON, indented by two spaces, not plain text
}

// JSONOptions controls the JSON object of an event.
type JSONOptions struct {
	// Turn adds the key "turn" with the 1-based number (0 for global kinds).
	Turn bool
	// OmitMetadata leaves the key "metadata" out.
	OmitMetadata bool
}
