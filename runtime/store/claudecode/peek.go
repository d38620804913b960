package claudecode

import (
	"cmp"
	"context"
	"os"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// metadata is the metadata of a transcript, from its beginning and its end.
type metadata struct {
	history.Session
	UUID        string // of the session
	Custom, AI  string // titles
	Description string // of the task of a sub-agent
	Summaries   []summary
	Keys        keys // of the records
	Messages    int
	Answers     int       // messages of the assistant
	Whole       bool      // all lines were read
	Preamble    time.Time // of a line before the first record
	Copied      bool      // it begins with records of another session
}

// summary is a title that was made after a record, of the same file or another one.
type summary struct {
	After key
	Text  string
}

// Peek implements [history.Listed]: it reads the metadata of the transcript, and returns the working directory.
func (e *entry) Peek(ctx context.Context, root *history.Root, f *os.File, size int64) (dir string, err error) {
	m := &e.Meta
	to := history.Recorder{Agent: e.agent != "", Inquiry: inquiry}
	isIncomplete := func() bool { return m.Dir == "" || m.Messages == 0 || to.Request == "" } // read on from the beginning
	m.Whole, err = jsonl.Peek(ctx, f, size, isIncomplete, func(line []byte) {
		r, _ := jsontext.Parse[record](line)
		m.addRecord(&r)
		if to.Request == "" { // a slash command is a request too
			to.Request = store.Request(r.command())
		}
		events, _ := e.events(&r)
		for _, x := range events {
			to.Add(x)
		}
	})
	m.Note(&to)
	if e.About != "" {
		m.Description = root.Description(e.About)
	}
	return m.Dir, err
}

// addRecord adds what a record says of its transcript to the metadata. The first directory and the first id count, and
// the last branch and the last titles. A line without a key is no record of the conversation.
func (m *metadata) addRecord(r *record) {
	const slack = time.Second // a line about a prompt can have a time so much later than the prompt
	m.Dir = cmp.Or(m.Dir, jsontext.String(r.Cwd))
	m.Branch = cmp.Or(jsontext.String(r.Branch), m.Branch)
	m.UUID = cmp.Or(m.UUID, strings.ToLower(jsontext.String(r.Session)))
	if r.isMessage() {
		m.Messages++
	}
	switch r.Type {
	case "assistant":
		m.Answers++
	case "custom-title":
		m.Custom = cmp.Or(jsontext.String(r.CustomTitle), m.Custom)
	case "ai-title":
		m.AI = cmp.Or(jsontext.String(r.AITitle), m.AI)
	case "summary":
		m.Summaries = append(m.Summaries, summary{r.Leaf, jsontext.String(r.Summary)})
	}
	if r.Key != 0 {
		m.Keys.add(r.Key)
		// A new transcript begins with a line of its own time, the Preamble. A first record that is older is a copy.
		isOlder := m.Created.IsZero() && !r.At.IsZero() && m.Preamble.After(r.At.Add(slack))
		isForked := r.Forked != nil && string(r.Forked) != "null"
		m.Copied = m.Copied || isOlder || isForked
		if m.Created.IsZero() || !r.At.IsZero() && r.At.Before(m.Created) {
			m.Created = r.At
		}
	} else if m.Created.IsZero() && m.Preamble.IsZero() {
		m.Preamble = r.At // the time of the first line that has a time, before all records
	}
}

// summaries returns the summaries in all transcripts, by the record after which they were made.
func summaries(all []*entry) map[key]string {
	found := map[key]string{}
	for _, e := range all {
		for _, s := range e.Meta.Summaries {
			found[s.After] = s.Text
		}
	}
	return found
}

// title returns the title of a session: that of the user, or else that of the model, or else the last summary of the
// session, or "". A summary that only repeats an error does not count.
func (m *metadata) title(summaries map[key]string) string {
	last := ""
	for _, k := range m.Keys.all() {
		if s := summaries[k]; s != "" && !strings.HasPrefix(s, "API Error") && !strings.HasPrefix(s, "Invalid API key") {
			last = s
		}
	}
	return cmp.Or(m.Custom, m.AI, last)
}
