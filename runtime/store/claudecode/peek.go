package claudecode

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// metadata is what is known of a transcript from its beginning and its end.
type metadata struct {
	Cwd, Version, Session string
	Created, Last         time.Time
	Custom, AI            string // titles
	Summaries             []summary
	First                 string // prompt
	Said                  []key
	Messages, Answers     int // that were seen, and those of the assistant of these
	Whole                 bool
	HasSide, HasTop       bool
	Preamble              time.Time // of a line before the first record
	Copied                bool      // it begins with records of another session
}

// summary is a title that was made behind a record, of the same file or another one.
type summary struct {
	Behind key
	Text   string
}

// read reads the metadata of a file. Where what a person said first is not at the beginning, it is
// looked for: what the program puts before it may be long.
func (s *session) read(ctx context.Context, file string) (*metadata, error) {
	f, info, err := safefile.OpenIn(s.Root.Root, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &metadata{}
	add := func(line []byte) {
		r, _ := parse(line)
		m.add(&r)
		m.setLast(&r)
	}
	m.Whole, err = jsonl.Peek(ctx, f, info.Size(), func(line []byte) int64 {
		const enough = 1 << 20
		add(line)
		switch {
		case m.Cwd == "" || m.Messages == 0:
			return math.MaxInt64
		case m.First == "":
			return enough
		}
		return 0
	}, func(line []byte) {
		first := m.First // and not what the end has
		add(line)
		m.First = first
	})
	return m, err
}

// setLast takes the time of a record for that of the last event, if it has one.
func (m *metadata) setLast(r *record) {
	if !r.isMessage() || len(r.uuid) == 0 {
		return
	}
	at, err := transcript.ParseTimestamp(r.stamp)
	if d := (decoder{}); err == nil && len(d.events(nil, r)) > 0 {
		m.Last = at
	}
}

func (m *metadata) add(r *record) {
	set := func(to *string, raw []byte) {
		if *to == "" && len(raw) > 0 {
			*to = recorded.Unescape(raw)
		}
	}
	set(&m.Cwd, r.cwd)
	set(&m.Version, r.version)
	set(&m.Session, r.session)
	if len(r.uuid) > 0 {
		m.Said = append(m.Said, keyOf(r.uuid))
	}
	at, err := transcript.ParseTimestamp(r.stamp)
	switch {
	case err != nil:
	case len(r.uuid) == 0:
		if m.Created.IsZero() && m.Preamble.IsZero() {
			m.Preamble = at
		}
	default:
		// What the program notes before it copies has a later time than what it copies.
		const slack = time.Second // between a note and the prompt that it is about
		m.Copied = m.Copied || r.forked || m.Created.IsZero() && m.Preamble.After(at.Add(slack))
		if m.Created.IsZero() || at.Before(m.Created) {
			m.Created = at
		}
	}
	switch {
	case r.isMessage():
		m.Messages++
		m.HasSide = m.HasSide || r.sidechain
		m.HasTop = m.HasTop || !r.sidechain
		if r.is("assistant") {
			m.Answers++
		} else if m.First == "" && r.isPrompt() {
			m.First = firstPrompt(r)
		} else if m.First == "" {
			m.First = commandOf(r)
		}
	case r.is("custom-title") && len(r.customTitle) > 0:
		m.Custom = recorded.Unescape(r.customTitle)
	case r.is("ai-title") && len(r.aiTitle) > 0:
		m.AI = recorded.Unescape(r.aiTitle)
	case r.is("summary") && len(r.leaf) > 0:
		m.Summaries = append(m.Summaries, summary{keyOf(r.leaf), recorded.Unescape(r.summary)})
	}
}

// firstPrompt returns how a prompt begins, as [store.Conversation.Request] has it.
func firstPrompt(r *record) string {
	var first string
	content, _ := r.content()
	blocks(content, func(b *block) bool {
		if b.is("text") && b.said() {
			first = recorded.Request(b.text)
		}
		return first == ""
	})
	return first
}

// commandOf returns the command that a person gave with arguments, as firstPrompt returns a prompt, or "".
func commandOf(r *record) string {
	content, _ := r.content()
	raw, ok := jsontext.Unquote(content)
	if !ok || r.meta || !recorded.Begins(raw, "<command-") {
		return ""
	}
	begin := recorded.Beginning(raw)
	tagged := func(tag string) string {
		_, text, _ := strings.Cut(begin, "<"+tag+">")
		text, _, _ = strings.Cut(text, "</"+tag+">")
		return strings.TrimSpace(text)
	}
	arguments := tagged("command-args")
	if arguments == "" {
		return ""
	}
	return store.Request(tagged("command-name") + " " + arguments)
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

// isConversation reports whether there is something to read. The program starts
// sub-agents of one answer to no question, only to warm up.
func (m *metadata) isConversation(agent bool) bool {
	return m.Messages > 0 && !(agent && m.Whole && m.Messages == 1 && m.Answers == 1)
}

// maxDescription bounds the file that describes a sub-agent.
const maxDescription = 64 << 10

// description returns what a sub-agent was started for, or "".
func (s *session) description(file string) (text string) {
	file = strings.TrimSuffix(file, extension) + ".meta.json"
	stamp, err := s.Stamp(file)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	sheet := s.Sheet(file, stamp)
	if sheet.Get(&text) {
		return text
	}
	data, err := safefile.ReadIn(s.Root.Root, file, maxDescription)
	if err != nil {
		return ""
	}
	var meta struct {
		Description string `json:"description"`
	}
	_ = json.Unmarshal(data, &meta) // else it describes nothing
	sheet.Put(meta.Description)
	return meta.Description
}
