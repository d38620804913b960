package sessionlog

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/convtools/convtools/runtime/session"
)

const (
	format = "convtools-session"
	// version is that of the format. A version is for what an older program would misread.
	version = 1
	// maxRecord bounds a line, so that a damaged log cannot take all memory.
	maxRecord = 512 << 20
)

// header is the first line.
type header struct {
	Format  string  `json:"format"`
	Version int     `json:"version"`
	Origin  *Origin `json:"forked_from,omitempty"`
}

// Origin is the session that another one was forked from.
type Origin struct {
	Session string `json:"session_id"`
	Seq     int64  `json:"seq"` // the last event that both have
}

// A record is beforeSum, the checksum in hexadecimal, beforeEvents, the events, and afterEvents. Nothing else is one: what
// the checksum does not cover is compared byte for byte.
const (
	beforeSum    = `{"crc32c":"`
	sumDigits    = 8
	beforeEvents = `","events":`
	afterEvents  = "}\n"
	payloadStart = len(beforeSum) + sumDigits + len(beforeEvents)
)

// TooLargeError is the error for a record that is longer than any may be. Nothing of it is written.
type TooLargeError struct{ Bytes, Most int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the record has %d bytes, more than %d", e.Bytes, e.Most)
}

// MarshalRecord returns the line of a record in a log, for the events of one step.
func MarshalRecord(events []session.Event) ([]byte, error) { return marshalRecord(events, maxRecord) }

func marshalRecord(events []session.Event, most int) ([]byte, error) {
	forms := make([]event, len(events))
	for i, e := range events {
		forms[i] = formOf(e)
	}
	var b bytes.Buffer
	b.WriteString(beforeSum + "00000000" + beforeEvents)
	if err := encode(&b, forms); err != nil {
		return nil, fmt.Errorf("encoding events from %d: %w", events[0].Seq, err)
	}
	b.Truncate(b.Len() - 1)
	line := b.Bytes()
	sum := checksum(line[payloadStart:])
	copy(line[len(beforeSum):], fmt.Sprintf("%08x", sum))
	line = append(line, afterEvents...)
	if len(line) > most {
		return nil, &TooLargeError{Bytes: len(line), Most: most}
	}
	return line, nil
}

func checksum(payload []byte) uint32 {
	return crc32.Checksum(payload, crc32.MakeTable(crc32.Castagnoli))
}

var (
	errTorn = errors.New("the line is not whole")
	errForm = errors.New("the line is not a record")
	errSum  = errors.New("the checksum is not that of the events")
)

// payload returns the events of a line as they stand there, once the checksum has been compared.
func payload(line []byte) ([]byte, error) {
	if !bytes.HasSuffix(line, []byte("\n")) {
		return nil, errTorn
	}
	if len(line) < payloadStart+len(afterEvents) || !bytes.HasPrefix(line, []byte(beforeSum)) ||
		string(line[payloadStart-len(beforeEvents):payloadStart]) != beforeEvents || !bytes.HasSuffix(line, []byte(afterEvents)) {
		return nil, errForm
	}
	digits := string(line[len(beforeSum) : len(beforeSum)+sumDigits])
	sum, err := strconv.ParseUint(digits, 16, 32)
	events := line[payloadStart : len(line)-len(afterEvents)]
	if err != nil || uint32(sum) != checksum(events) || digits != fmt.Sprintf("%08x", sum) {
		return nil, errSum
	}
	return events, nil
}

// unmarshalRecord returns the events of a line.
func unmarshalRecord(line []byte) ([]session.Event, error) {
	text, err := payload(line)
	if err != nil {
		return nil, err
	}
	return parse(text)
}

// unsynced reports whether a record is written without a sync.
func unsynced(events []session.Event) bool {
	for _, e := range events {
		if _, ok := e.Body.(session.AgentMessageDelta); !ok {
			return false
		}
	}
	return true
}
