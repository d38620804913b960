package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Record is a conversation in files of a store. It implements [store.Record].
type Record struct {
	Store  *Store
	ID     transcript.ID
	Stamps []filecache.Stamp // of the files that have events of it
	Decode Decode
}

// Decode adds the events of a conversation to a recorder. The error is a [*store.DamageError] if they end
// early, and [fs.ErrNotExist] if the conversation is gone.
type Decode func(ctx context.Context, root *Root, to *Recorder) error

// Version implements [store.Record]. It is the version at the time of the listing.
func (r *Record) Version(context.Context) (string, error) {
	return filecache.Version(r.Stamps...), nil
}

// Read implements [store.Record]. A conversation whose files are gone is not found.
func (r *Record) Read(ctx context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	to := Recorder{Yield: yield}
	root, err := r.Store.Open()
	if err == nil {
		defer root.Close()
		err = r.Decode(ctx, root, &to)
	}
	if errors.Is(err, fs.ErrNotExist) && root != nil { // the store is there, a file is not
		err = &store.NotFoundError{IDs: []transcript.ID{r.ID}, Place: r.Store.Dir}
	}
	return to.End(r.ID, err)
}

// Recorder passes on the events of a conversation in their order. It numbers them and their turns,
// pairs the assistant's questions with their answers, and notes the metadata that a list shows.
type Recorder struct {
	Yield   func(*transcript.Event) bool // nil if events are only counted
	Agent   bool                         // the conversation is that of a sub-agent: an assistant wrote its requests
	Inquiry string                       // the tool with which the assistant asks the user

	Totals  store.Totals // of the events so far; the caller counts skipped records
	Copied  bool         // the events to be added are in another conversation too
	Stopped bool         // no more events are wanted

	Request  string    // the beginning of the first request, as in [store.Conversation]
	Last     time.Time // the last time of an event
	Readable bool      // an event with a text was added

	asked map[string]bool // ids of questions without an answer
	event transcript.Event
}

// Lines calls do for the lines of a file, each with its offset, until no more events are wanted. It counts
// lines that are too long, and those for which do returns false, as skipped.
func (r *Recorder) Lines(ctx context.Context, root *Root, name string, do func(line []byte, offset int64) bool) error {
	f, size, err := root.File(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return r.LinesOf(ctx, f, size, do)
}

// LinesOf calls do for the lines in the first size bytes of a file, each with its offset, until no more events are wanted.
// It counts a line as skipped if it is too long, or if do returns false because the line cannot be used.
func (r *Recorder) LinesOf(ctx context.Context, f io.ReaderAt, size int64, do func(line []byte, offset int64) bool) error {
	return jsonl.Each(ctx, f, size, func(line []byte, offset int64) bool {
		switch {
		case line == nil: // it is too long
			r.Totals.TooLarge++
			r.Totals.Skipped++
		case len(line) > 0 && !do(line, offset):
			r.Totals.Skipped++
		}
		return !r.Stopped
	})
}

// Add numbers an event of a program's record and passes it on. A prompt begins a turn. A call of the inquiry
// tool becomes an inquiry, and its result the answer. Texts of the assistant that are empty are left out; a
// prompt can be empty, since it can be a picture alone.
func (r *Recorder) Add(e transcript.Event) {
	switch e.Kind {
	case transcript.KindUser:
		r.Totals.Turns++
		if r.Request == "" {
			r.Request = store.Request(string(e.Text))
		}
		if r.Agent { // another assistant wrote the request
			e.Kind = transcript.KindAssistant
		}
	case transcript.KindAssistant, transcript.KindReasoning:
		if len(e.Text) == 0 {
			return
		}
	case transcript.KindToolCall:
		r.makeInquiry(&e)
	case transcript.KindToolResult:
		if r.asked[e.CallID] {
			delete(r.asked, e.CallID)
			e.Kind = transcript.KindInquiryResponse
		}
	}
	if !e.Kind.Global() {
		r.Totals.Turns = max(r.Totals.Turns, 1)
		e.Turn = r.Totals.Turns
	}
	r.Readable = r.Readable || e.Kind.Numbered()
	if !e.Time.IsZero() {
		r.Last = e.Time
	}
	e.Copied = r.Copied
	r.AddNumbered(e)
}

// NeedsRequest reports whether no request has been added yet.
func (r *Recorder) NeedsRequest() bool { return r.Request == "" }

// AddText adds an event with a text.
func (r *Recorder) AddText(kind transcript.Kind, at time.Time, text []byte) {
	r.Add(transcript.Event{Kind: kind, Time: at, Text: text})
}

// AddPrompt adds one prompt with all texts; none without texts. An empty text stands for a picture or a file.
func (r *Recorder) AddPrompt(at time.Time, texts [][]byte) {
	if len(texts) > 0 {
		r.AddText(transcript.KindUser, at, Join(texts))
	}
}

// makeInquiry turns the event of a call into an inquiry, if it is a call of the inquiry tool with questions.
func (r *Recorder) makeInquiry(e *transcript.Event) {
	const most = 1000 // questions that wait for an answer
	if e.Name == "" || e.Name != r.Inquiry {
		return
	}
	asked := questions(e.Arguments)
	if asked == "" {
		return
	}
	if r.asked == nil || len(r.asked) > most {
		r.asked = map[string]bool{} // so many are never answered
	}
	r.asked[e.CallID] = true
	*e = transcript.Event{Kind: transcript.KindInquiry, Time: e.Time, CallID: e.CallID, Text: []byte(asked)}
}

// AddNumbered passes on an event, whose turn is set, with the next index. It does nothing if no more events are wanted.
func (r *Recorder) AddNumbered(e transcript.Event) {
	if r.Stopped {
		return
	}
	e.Index = r.Totals.Events
	r.Totals.Events++
	r.Totals.LastAt = e.Time
	r.event = e
	r.Stopped = r.Yield != nil && !r.Yield(&r.event)
}

// End returns the totals and the error for the caller of [store.Record.Read]. err is the error with which reading the
// conversation ended. End adds the number of events before the damage to a [*store.DamageError], and the id to any other
// error. After an error, the totals count no events: their field Uncounted has the reason.
func (r *Recorder) End(id transcript.ID, err error) (store.Totals, error) {
	if err == nil || r.Stopped { // the reader had enough events: an error of the rest does not matter
		return r.Totals, nil
	}
	if damage, ok := errors.AsType[*store.DamageError](err); ok {
		err = &store.DamageError{Event: r.Totals.Events, Err: damage.Err}
	} else {
		err = fmt.Errorf("reading the events of %s: %w", id, err)
	}
	r.Totals.Events, r.Totals.LastAt, r.Totals.Uncounted = 0, time.Time{}, err
	return r.Totals, err
}

// Call returns the event of a call. Its arguments are a JSON object, or else a text.
func Call(at time.Time, name, id string, arguments []byte) transcript.Event {
	e := transcript.Event{Kind: transcript.KindToolCall, Time: at, Name: name, CallID: id}
	if jsontext.Decode(arguments, new(struct{})) {
		e.Arguments = arguments
	} else {
		e.Text = bytes.ToValidUTF8(arguments, []byte("\ufffd"))
	}
	return e
}

// Object returns a JSON object with pairs of keys and texts, as arguments of a call that is recorded in another form.
func Object(pairs ...string) []byte {
	members := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		members[pair[0]] = pair[1]
	}
	data, _ := json.Marshal(members) // texts have no errors
	return data
}

// questions returns the text of an inquiry with one question or an array of them in its arguments: each
// question with the answers that it offers.
func questions(arguments jsontext.Raw) string {
	type question struct {
		Question string       `json:"question"`
		Options  jsontext.Raw `json:"options"`
		Choices  jsontext.Raw `json:"choices"`
	}
	type label struct {
		Label string `json:"label"`
	}
	var asked struct {
		Questions []question `json:"questions"`
	}
	var only question
	jsontext.Decode(arguments, &asked)
	jsontext.Decode(arguments, &only)
	var lines strings.Builder
	for _, q := range append(asked.Questions, only) {
		if q.Question != "" {
			lines.WriteString(q.Question + "\n")
		}
		for _, list := range []jsontext.Raw{q.Options, q.Choices} {
			for _, o := range jsontext.Parts(list, func(text []byte) label { return label{string(text)} }) {
				if o.Label != "" {
					lines.WriteString("- " + o.Label + "\n")
				}
			}
		}
	}
	return strings.TrimSuffix(lines.String(), "\n")
}

// Texts returns the texts of a content: a text, or an array of texts and of objects that have one.
func Texts(content jsontext.Raw) (all [][]byte) {
	type part struct {
		Text []byte `json:"text"`
	}
	for _, p := range jsontext.Parts(content, func(text []byte) part { return part{text} }) {
		if p.Text != nil {
			all = append(all, p.Text)
		}
	}
	return all
}

// First returns the first text that is not empty; nil if all are.
func First(texts ...[]byte) []byte {
	for _, text := range texts {
		if len(text) > 0 {
			return text
		}
	}
	return nil
}

// Join returns the texts that are not empty, each on lines of its own.
func Join(texts [][]byte) []byte {
	texts = slices.DeleteFunc(slices.Clone(texts), func(text []byte) bool { return len(text) == 0 })
	return bytes.Join(texts, []byte("\n"))
}

// Begins reports whether a text begins with one of some prefixes, after white space.
func Begins(said []byte, prefixes ...string) bool {
	said = bytes.TrimLeft(said, " \t\r\n")
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return bytes.HasPrefix(said, []byte(prefix)) })
}
