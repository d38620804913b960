package transcript

import "time"

// Event is one decoded event. Its texts are valid UTF-8. Its bytes must not be changed.
type Event struct {
	Index int `json:"-"`          // position in the conversation, from 0
	Turn  int `json:",omitempty"` // from 1; 0 for global kinds
	Kind  Kind
	// Copied reports whether the event was copied from the conversation that this one was
	// forked from. A search over both finds it only there.
	Copied bool      `json:",omitempty"`
	Time   time.Time `json:",omitzero"` // in UTC; zero if it is not recorded or not valid
	// Name is the name of the called tool, or of a recorded role; empty if there is none.
	Name   string `json:",omitempty"`
	CallID string `json:",omitempty"` // joins a call with its result; empty if there is none
	Failed bool   `json:",omitempty"` // a result of a call that is marked as an error
	// Text is the message, reasoning, question or result. A call whose arguments are not JSON has them here.
	Text []byte `json:",omitempty"`
	// Arguments is the arguments of a call, as JSON. In other events it is JSON recorded
	// in place of a text, such as structured data.
	Arguments []byte `json:",omitempty"`
	// Encoding is Base64 if the text, or a string in the arguments, is left as stored.
	Encoding Encoding `json:",omitempty"`
	// Object is the recorded JSON object, with only its metadata decoded. It is nil if the
	// store has no object that programs read.
	Object []byte `json:"-"`
}
