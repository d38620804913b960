package claudecode

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// metadata is what is known of a transcript from its beginning and its end.
type metadata struct {
	Main, Side        history.Session // what is said in it, and in its side chains
	HasMain, HasSide  bool
	Dir, Version      string
	Session           string // uuid
	Custom, AI        string // titles
	Description       string // of what a sub-agent was started for
	Summaries         []summary
	Said              []key
	Messages, Answers int       // that were seen, and those of the assistant of these
	Whole             bool      // all lines were
	Preamble          time.Time // of a line before the first record
	Copied            bool      // it begins with records of another session
}

// summary is a title that was made behind a record, of the same file or another one.
type summary struct {
	Behind key
	Text   string
}

// Where implements [history.Listed].
func (e *entry) Where() string { return e.Meta.Dir }

// Peek implements [history.Listed].
func (e *entry) Peek(ctx context.Context, root *history.Root) error {
	f, info, err := root.File(e.File)
	if err != nil {
		return err
	}
	defer f.Close()
	m := &e.Meta
	talk, chains := history.Talk{Agent: e.agent != "", Inquiry: inquiry}, history.Talk{Agent: true, Inquiry: inquiry}
	m.Whole, err = history.PeekLines(ctx, f, info.Size(), &talk, func(line []byte) {
		r, _ := parse(line)
		m.add(&r)
		told, _ := r.events()
		to := &talk
		if r.Sidechain && e.agent == "" {
			to = &chains
			m.HasSide = m.HasSide || r.isMessage()
		} else if m.HasMain = m.HasMain || r.isMessage(); talk.Request == "" {
			talk.Request = store.Request(r.command())
		}
		for _, x := range told {
			to.Add(x)
		}
	}, func() bool {
		// In versions before 2.0, side chains may stand anywhere.
		return m.Dir == "" || m.Messages == 0 || e.agent == "" && !m.HasSide && strings.HasPrefix(m.Version, "1.")
	})
	m.Main.See(&talk)
	m.Side.See(&chains)
	m.Main.Dir, m.Side.Dir, m.Side.Created = m.Dir, m.Dir, m.Main.Created
	if !m.Whole {
		m.Side.Last = time.Time{}
	}
	if e.About != "" {
		const most = 64 << 10
		var meta struct {
			Description string `json:"description"`
		}
		if data, err := root.ReadFile(e.About, most); err == nil && jsontext.Decode(data, &meta) {
			m.Description = meta.Description
		}
	}
	return err
}

// add adds what a record has beside what is said.
func (m *metadata) add(r *record) {
	m.Dir = cmp.Or(m.Dir, jsontext.String(r.Cwd))
	m.Version = cmp.Or(m.Version, jsontext.String(r.Version))
	m.Session = cmp.Or(m.Session, strings.ToLower(jsontext.String(r.Session)))
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
		m.Said = append(m.Said, r.Key)
		m.see(r)
	} else if m.Main.Created.IsZero() && m.Preamble.IsZero() {
		m.Preamble = r.At
	}
}

// see notes when a record was made. What the program notes before it copies has a later time than
// what it copies.
func (m *metadata) see(r *record) {
	const slack = time.Second // between a note and the prompt that it is about
	created := &m.Main.Created
	if r.At.IsZero() {
		return
	}
	m.Copied = m.Copied || r.Forked != nil && string(r.Forked) != "null" || created.IsZero() && m.Preamble.After(r.At.Add(slack))
	if created.IsZero() || r.At.Before(*created) {
		*created = r.At
	}
}

// title returns the title of a session, or "". summaries are those that all files of its
// folder have, by the record behind which they were made.
func (m *metadata) title(summaries map[key]string) string {
	last := ""
	for _, k := range m.Said {
		if summary := summaries[k]; !failedSummary(summary) {
			last = summary
		}
	}
	return cmp.Or(m.Custom, m.AI, last)
}

// failedSummary reports whether a summary is the error that making it ended with.
func failedSummary(s string) bool {
	return s == "" || strings.HasPrefix(s, "API Error") || strings.HasPrefix(s, "Invalid API key")
}

// isWarmUp reports whether it is of a sub-agent with one answer to no question, which the program
// starts only to warm up.
func (m *metadata) isWarmUp() bool { return m.Whole && m.Messages == 1 && m.Answers == 1 }
