package claudecode

import (
	"context"
	"slices"
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

// read reads the metadata of a transcript.
func (s *session) read(ctx context.Context, e *entry) error {
	f, info, err := s.File(e.File)
	if err != nil {
		return err
	}
	defer f.Close()
	m := &e.Meta
	talk, chains := newTalk(e.agent != ""), newTalk(true)
	m.Whole, err = history.PeekLines(ctx, f, info.Size(), &talk, func(line []byte) {
		r, _ := parse(line)
		m.add(&r)
		switch {
		case r.Sidechain && e.agent == "":
			m.HasSide = m.HasSide || r.isMessage()
			tell(&chains, &r)
			chains.Take()
		case r.isMessage():
			m.HasMain = true
			tell(&talk, &r)
			if talk.Request == "" {
				talk.Request = store.Request(r.command())
			}
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
	if e.agent != "" {
		m.Description = s.description(e.About)
	}
	return err
}

// description returns what a sub-agent was started for, or "".
func (s *session) description(file string) string {
	const most = 64 << 10
	var meta struct {
		Description string `json:"description"`
	}
	if data, err := s.ReadFile(file, most); err == nil {
		jsontext.Decode(data, &meta)
	}
	return meta.Description
}

// add adds what a record has beside what is said.
func (m *metadata) add(r *record) {
	set := func(to *string, text string) {
		if *to == "" {
			*to = text
		}
	}
	set(&m.Dir, r.Cwd)
	set(&m.Version, r.Version)
	set(&m.Session, strings.ToLower(r.Session))
	if r.isMessage() {
		m.Messages++
	}
	if r.Type == "assistant" {
		m.Answers++
	}
	switch {
	case r.UUID != "":
		m.Said = append(m.Said, r.key())
		m.see(r)
	case m.Main.Created.IsZero() && m.Preamble.IsZero():
		m.Preamble = r.At
	}
	switch {
	case r.Type == "custom-title" && r.CustomTitle != "":
		m.Custom = r.CustomTitle
	case r.Type == "ai-title" && r.AITitle != "":
		m.AI = r.AITitle
	case r.Type == "summary" && r.Leaf != "":
		m.Summaries = append(m.Summaries, summary{keyOf(r.Leaf), r.Summary})
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
	switch {
	case m.Custom != "":
		return m.Custom
	case m.AI != "":
		return m.AI
	}
	best := ""
	for k, summary := range summaries {
		if slices.Contains(m.Said, k) && !failedSummary(summary) && (best == "" || summary < best) {
			best = summary
		}
	}
	return best
}

// failedSummary reports whether a summary is the error that making it ended with.
func failedSummary(s string) bool {
	return s == "" || strings.HasPrefix(s, "API Error") || strings.HasPrefix(s, "Invalid API key")
}

// isWarmUp reports whether it is of a sub-agent with one answer to no question, which the program
// starts only to warm up.
func (m *metadata) isWarmUp() bool { return m.Whole && m.Messages == 1 && m.Answers == 1 }
