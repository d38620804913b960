package pi

import (
	"bytes"
	"context"
	"os"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is a line of a log. Its texts can be parts of the line.
type record struct {
	Type    string    `json:"type"`
	ID      string    `json:"id"`
	Parent  string    `json:"parentId"`
	At      time.Time `json:"timestamp"`
	Message message   `json:"message"`
	Name    *string   `json:"name"` // of the session, in a record about it
	// Of the first line.
	Dir    string `json:"cwd"`
	Origin string `json:"parentSession"` // a path
}

// message is a message of the user, the assistant or a tool, or a command that the user ran.
type message struct {
	Role    string       `json:"role"`
	Content jsontext.Raw `json:"content"`
	CallID  string       `json:"toolCallId"`
	Failed  bool         `json:"isError"`
	Details struct {
		ExitCode int64 `json:"exitCode"`
	} `json:"details"`
	Provenance struct { // of a message that OpenClaw passed on
		Kind string `json:"kind"`
	} `json:"provenance"`
	Command  string `json:"command"`
	Output   []byte `json:"output"`
	ExitCode int64  `json:"exitCode"`
}

// part is a part of a message's content.
type part struct {
	Type      string       `json:"type"`
	Text      []byte       `json:"text"`
	Thinking  []byte       `json:"thinking"`
	ID        string       `json:"id"`
	Name      string       `json:"name"`
	Arguments jsontext.Raw `json:"arguments"`
}

// Peek implements [history.Listed]: it sets the metadata of the session, and returns the working directory.
func (e *entry) Peek(ctx context.Context, _ *history.Root, f *os.File, size int64) (dir string, err error) {
	m, to := &e.Meta, &history.Recorder{}
	_, err = jsonl.Peek(ctx, f, size, to.NeedsRequest, func(line []byte) {
		r, _ := jsontext.Parse[record](line)
		switch {
		case r.Type == "session" && m.Created.IsZero():
			m.Dir, m.Created, m.Origin = r.Dir, r.At, sessionIn(strings.ReplaceAll(r.Origin, `\`, "/"))
		case r.Type == "session_info" && r.Name != nil:
			m.Title = *r.Name
		}
		r.record(to)
	})
	m.Note(to)
	return m.Dir, err
}

// Decode implements [history.File]. It adds the events of the live branch.
func (e *entry) Decode(ctx context.Context, root *history.Root, to *history.Recorder) error {
	var branch history.Branch[*record]
	err := to.Lines(ctx, root, e.File, func(line []byte, _ int64) bool {
		r, ok := jsontext.Parse[record](bytes.Clone(line)) // r keeps parts of the line, whose bytes change with the next line
		if r.Type != "session" {
			branch.Add(r.ID, r.Parent, &r)
		}
		return ok
	})
	for _, r := range branch.Live() {
		to.Copied = e.IsFork && r.At.Before(e.Meta.Created) // a fork's file begins with copies, which are older
		r.record(to)
	}
	return err
}

// record adds the events of the record to a recorder. Most known types have nothing that was said.
func (r *record) record(to *history.Recorder) {
	switch r.Type {
	case "message":
		r.recordMessage(to)
	case "compaction":
		to.Add(transcript.Event{Kind: transcript.KindCompaction, Time: r.At})
	case "session", "session_info", "model_change", "thinking_level_change", "branch_summary", "label", "custom", "custom_message", "context_edit", "leaf", "reset":
	default:
		to.Totals.Skipped++
	}
}

// recordMessage adds the events of the message in the record to a recorder.
func (r *record) recordMessage(to *history.Recorder) {
	switch m := &r.Message; m.Role {
	case "user":
		byProgram := m.Provenance.Kind == "internal_system" || m.Provenance.Kind == "inter_session"
		if to.Agent || !byProgram { // a task of a sub-agent counts as its prompt
			to.AddText(transcript.KindUser, r.At, withoutContext(m.text()))
		}
	case "assistant":
		r.recordAnswer(to)
	case "toolResult":
		failed := m.Failed || m.Details.ExitCode != 0
		to.Add(transcript.Event{Kind: transcript.KindToolResult, Time: r.At, CallID: m.CallID, Failed: failed, Text: m.text()})
	case "bashExecution": // a command that the user ran
		to.Add(history.Call(r.At, "bash", r.ID, history.Object("command", m.Command)))
		to.Add(transcript.Event{Kind: transcript.KindToolResult, Time: r.At, CallID: r.ID, Failed: m.ExitCode != 0, Text: m.Output})
	case "system", "custom", "hookMessage", "branchSummary", "compactionSummary": // no person has written them
	default:
		to.Totals.Skipped++
	}
}

// recordAnswer adds the texts, the thoughts and the calls of a message of the assistant to a recorder.
func (r *record) recordAnswer(to *history.Recorder) {
	for _, p := range jsontext.Parts(r.Message.Content, func(text []byte) part { return part{Type: "text", Text: text} }) {
		switch p.Type {
		case "text":
			to.AddText(transcript.KindAssistant, r.At, p.Text)
		case "thinking":
			to.AddText(transcript.KindReasoning, r.At, p.Thinking)
		case "toolCall":
			to.Add(history.Call(r.At, p.Name, p.ID, p.Arguments))
		default:
			to.Totals.Skipped++
		}
	}
}

// text returns the texts of the message.
func (m *message) text() []byte { return history.Join(history.Texts(m.Content)) }
