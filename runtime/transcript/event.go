package transcript

import "time"

// Event is one recorded event.
type Event struct {
	Index int // position in the conversation, from 0
	Turn  int // from 1; 0 for global kinds
	Kind  Kind
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
	// Strings inside JSON that have more than maxText characters, where that is not
	// 0, are cut in the middle and marked there.
	AppendBody(dst []byte, maxText int) ([]byte, BodyInfo)
	// AppendName and AppendCallID append the name of a called tool and what joins a
	// call with its result, as recorded.
	AppendName(dst []byte) []byte
	AppendCallID(dst []byte) []byte
	// IsError reports whether a tool result is marked as an error.
	IsError() bool
	// CompactedTurns returns how many turns, from the first, a compaction replaces.
	CompactedTurns() int
	// AppendJSON appends the event as a compact JSON object close to what is stored.
	AppendJSON(dst []byte, options JSONOptions) []byte
}

// BodyInfo describes the text of an event.
type BodyInfo struct {
	Encoding Encoding
	JSON     bool // it is JSON, indented by two spaces, and not plain text
	Cut      bool // strings in it were cut
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
