package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
)

// output is what a program printed with an exit code that comes with records.
type output struct {
	stdout  []byte
	exit    int
	failure conversations.UnavailableError // if it is not records
}

// each hands the records to record, in order, and the summary, which is the last
// element where there is one, to summary. After an error, what was handed over
// must not be used.
func (o *output) each(summary any, record func(json.RawMessage) error) error {
	err := records(o.stdout, summary, record)
	if err == nil {
		return nil
	}
	failure := o.failure
	if failure.Exit = o.exit; o.exit == 0 {
		failure.Err = &conversations.OutputError{Reason: mismatch(err, o.stdout), Err: err}
	}
	return &failure
}

// wrong is the error for output that is JSON, and not what was asked for.
func (o *output) wrong(reason string) error {
	failure := o.failure
	failure.Err = &conversations.OutputError{Reason: reason}
	return &failure
}

// records reads one JSON array, or an object that holds it as "data", and nothing
// behind it.
func records(stdout []byte, summary any, record func(json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(stdout))
	if bytes.HasPrefix(bytes.TrimSpace(stdout), []byte("{")) {
		var document struct {
			Data json.RawMessage `json:"data"`
		}
		if err := dec.Decode(&document); err != nil {
			return err
		}
		if err := atEnd(dec); err != nil {
			return err
		}
		switch {
		case len(document.Data) == 0:
			return errors.New("it is an object without data")
		case document.Data[0] != '[':
			return errors.New("its data is not an array")
		}
		dec = json.NewDecoder(bytes.NewReader(document.Data))
	}
	token, err := dec.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('[') {
		return errors.New("it begins with neither an array nor an object")
	}
	var raw json.RawMessage
	for n := 1; dec.More(); n++ {
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		if isSummary(raw) {
			err = json.Unmarshal(raw, &struct {
				Summary any `json:"summary"`
			}{summary})
		} else {
			err = record(raw)
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
	}
	if _, err := dec.Token(); err != nil { // ]
		return err
	}
	return atEnd(dec)
}

func atEnd(dec *json.Decoder) error {
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more text behind the JSON value")
	}
	return nil
}

// isSummary reports whether an element is {"summary": …}. Records have no such
// member.
func isSummary(raw json.RawMessage) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(raw), []byte("{"))
	if !ok {
		return false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimSpace(rest), []byte(`"summary"`))
	return ok && bytes.HasPrefix(bytes.TrimSpace(rest), []byte(":"))
}

// mismatch returns what is wrong with JSON that is not as agreed.
func mismatch(err error, stdout []byte) string {
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var wrongTime *time.ParseError
	switch {
	case errors.Is(err, io.EOF) && len(bytes.TrimSpace(stdout)) == 0:
		return "it printed nothing"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("it ends in the middle of a JSON value, after %d bytes", len(stdout))
	case errors.As(err, &wrongType) && wrongType.Field == "":
		return "a record is a JSON " + wrongType.Value
	case errors.As(err, &wrongType):
		member := wrongType.Field[strings.LastIndexByte(wrongType.Field, '.')+1:]
		return fmt.Sprintf("in a record, %s is a JSON %s", text.Quote(member), wrongType.Value)
	case errors.As(err, &wrongTime):
		return "in a record, " + text.Quote(wrongTime.Value) + " is not a time in the form of RFC 3339"
	case errors.As(err, &syntax):
		return "it is not JSON: " + syntax.Error()
	default:
		return err.Error()
	}
}
