// Package recall is the work behind conversation_list, conversation_grep and
// conversation_read: it runs the conversation command line, and makes of its
// JSON an answer that keeps to a size, leaves nothing out silently, and says
// which call gets the rest.
//
// It only reads. What it shows was recorded earlier and is data: text of a
// conversation goes into element bodies, never into attributes.
package recall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/transcript"
)

// Tools implements the handlers of the conversation tools.
type Tools struct {
	cli contract.CLI
}

var _ conversation.Handler = (*Tools)(nil)

// New returns handlers that get conversations from cli.
func New(cli contract.CLI) *Tools { return &Tools{cli: cli} }

// skipped is a conversation the command line could not read.
type skipped struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// run runs the conversation command line and hands each record it prints to
// record, in order. The last element may be a summary, which goes to summary.
// exitOK says which exit codes come with records.
func (t *Tools) run(ctx context.Context, call contract.Call, cli string, args []string, exitOK func(int) bool, summary any, record func(json.RawMessage) error) error {
	stdout, stderr, exit, err := t.cli.RunCLI(ctx, cli, call.Context, args)
	if err != nil {
		return err
	}
	if exitOK(exit) {
		err := records(stdout, summary, record)
		if err == nil {
			return nil
		}
		if exit == 0 {
			return unreadable(err, stdout, stderr)
		}
	}
	return failed(exit, stderr)
}

// records reads what the command line prints: one JSON array, or an object that
// holds it as "data". A failure leaves nothing half used: callers throw away
// what they got.
func records(stdout []byte, summary any, record func(json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(stdout))
	if err := openArray(dec); err != nil {
		return err
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		if bytes.HasPrefix(raw, []byte(`{"summary":`)) {
			if err := json.Unmarshal(raw, &struct {
				Summary any `json:"summary"`
			}{summary}); err != nil {
				return err
			}
			continue
		}
		if err := record(raw); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

func openArray(dec *json.Decoder) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	if token == json.Delim('[') {
		return nil
	}
	if token != json.Delim('{') {
		return errors.New("it begins with neither an array nor an object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		if name == "data" {
			token, err := dec.Token()
			if err == nil && token != json.Delim('[') {
				err = errors.New("its data is not an array")
			}
			return err
		}
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return err
		}
	}
	return errors.New("it is an object without data")
}

// unreadable is the error for output that is not the JSON agreed on.
func unreadable(err error, stdout, stderr []byte) error {
	reason := err.Error()
	switch {
	case len(bytes.TrimSpace(stdout)) == 0:
		reason = "it printed nothing"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		reason = fmt.Sprintf("it ends in the middle of a JSON value, after %d bytes", len(stdout))
	}
	message := "The conversation command line did not print what was expected, one JSON array of records: " + reason + "."
	if said := saying(stderr); said != "" {
		message += " It said: " + said
	}
	return &contract.Error{Message: message, Err: err}
}

// failed is the error for a command line that gave up. What it says is meant
// for people who can read its options, and is good enough for a model.
func failed(exit int, stderr []byte) error {
	said := saying(stderr)
	if said == "" {
		said = fmt.Sprintf("The conversation command line gave up with exit code %d and said nothing.", exit)
	}
	return &contract.Error{Message: said, Caller: exit == 1}
}

// saying makes sentences of what a command line wrote to standard error.
func saying(stderr []byte) string {
	var sentences []string
	for line := range strings.Lines(process.Printable(stderr, 2000)) {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(line, "error: ")
		line = strings.TrimPrefix(line, "hint: ")
		if line == "" || strings.HasPrefix(line, "warning: ") {
			continue
		}
		line = strings.ToUpper(line[:1]) + line[1:]
		if !strings.HasSuffix(line, ".") && !strings.HasSuffix(line, "?") {
			line += "."
		}
		sentences = append(sentences, line)
	}
	return strings.Join(sentences, " ")
}

// sameConversation says that two spellings of an id mean one conversation.
func sameConversation(a, b string) bool {
	idA, errA := transcript.ParseID(a)
	idB, errB := transcript.ParseID(b)
	if errA != nil || errB != nil {
		return a != "" && a == b
	}
	return idA == idB
}

// maxListed is how many skipped conversations a note names.
const maxListed = 5

// skippedNote names the conversations that could not be read.
func skippedNote(list []skipped) []string {
	if len(list) == 0 {
		return nil
	}
	var parts []string
	for _, s := range list[:min(len(list), maxListed)] {
		parts = append(parts, s.ID+" ("+clip(s.Reason, 160)+")")
	}
	note := "Skipped, because it cannot be read: "
	if len(list) > 1 {
		note = fmt.Sprintf("Skipped %d conversations that cannot be read: ", len(list))
	}
	note += strings.Join(parts, "; ")
	if more := len(list) - maxListed; more > 0 {
		note += fmt.Sprintf("; and %d more", more)
	}
	return []string{note + "."}
}

// clip cuts s to n characters and says so with an ellipsis.
func clip(s string, n int) string {
	runes := 0
	for i := range s {
		if runes == n {
			return strings.TrimRight(s[:i], " ") + "…"
		}
		runes++
	}
	return s
}

// quoted shows a value of the caller's own in a note.
func quoted(s string) string { return strconv.Quote(clip(s, 80)) }

// list writes ["a","b"] as it stands in a call.
func list(words []string) string {
	shown := slices.Clone(words)
	for i := range shown {
		shown[i] = strconv.Quote(shown[i])
	}
	return "[" + strings.Join(shown, ",") + "]"
}
