package qwen

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/genai"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is a line of a log. Its texts can be parts of the line.
type record struct {
	UUID       string    `json:"uuid"`
	Parent     string    `json:"parentUuid"`
	At         time.Time `json:"timestamp"`
	Type       string    `json:"type"`
	Subtype    string    `json:"subtype"`
	Provenance string    `json:"provenance"`
	Dir        string    `json:"cwd"`
	Branch     string    `json:"gitBranch"`
	Message    struct {
		Parts jsontext.Raw `json:"parts"`
	} `json:"message"`
	Result struct {
		CallID string `json:"callId"`
		Status string `json:"status"`
	} `json:"toolCallResult"`
	Forked struct {
		Session string `json:"sessionId"`
	} `json:"forkedFrom"`
	Payload struct {
		Title string `json:"customTitle"`
	} `json:"systemPayload"`
}

// Peek implements [history.Listed]: it sets the metadata of the session, and returns the working directory.
func (e *entry) Peek(ctx context.Context, root *history.Root, f *os.File, size int64) (dir string, err error) {
	m, to := &e.Meta, &history.Recorder{}
	d := e.newDecoder(to)
	_, err = jsonl.Peek(ctx, f, size, to.NeedsRequest, func(line []byte) {
		r, _ := jsontext.Parse[record](line)
		if m.Created.IsZero() {
			m.Created, m.Origin = r.At, r.Forked.Session
		}
		m.Dir = cmp.Or(m.Dir, r.Dir)                                                     // the first directory
		m.Title, m.Branch = cmp.Or(r.Payload.Title, m.Title), cmp.Or(r.Branch, m.Branch) // the last title and branch
		d.record(&r)
		if r.Subtype == "rewind" { // an earlier event is now the last event; its time is not known
			to.Last = time.Time{}
		}
	})
	m.Note(to)
	if e.agent != "" {
		m.Title = root.Description(e.About)
	}
	return m.Dir, err
}

// Decode implements [history.File]. It adds the events of the live branch.
func (e *entry) Decode(ctx context.Context, root *history.Root, to *history.Recorder) error {
	var branch history.Branch[*record]
	err := to.Lines(ctx, root, e.File, func(line []byte, _ int64) bool {
		r, ok := jsontext.Parse[record](bytes.Clone(line)) // r keeps parts of the line, whose bytes change with the next line
		if r.UUID != "" {
			branch.Add(r.UUID, r.Parent, &r)
		}
		return ok
	})
	d := e.newDecoder(to)
	for _, r := range branch.Live() {
		to.Copied = e.IsFork && r.Forked.Session != ""
		d.record(r)
	}
	return err
}

// decoder makes events of records.
type decoder struct{ *genai.Decoder }

func (e *entry) newDecoder(to *history.Recorder) *decoder {
	to.Agent, to.Inquiry = e.agent != "", "ask_user_question"
	return &decoder{genai.NewDecoder(to)}
}

// record adds the events of a record to the recorder.
func (d *decoder) record(r *record) {
	switch r.Type {
	case "user":
		if r.isPrompt() {
			d.User(r.At, r.Message.Parts, "<system-reminder>")
		}
	case "assistant":
		d.Answer(r.At, r.Message.Parts)
	case "tool_result":
		d.Results(r.At, r.Message.Parts, &genai.Call{ID: r.Result.CallID, Status: r.Result.Status})
	case "system":
		if r.Subtype == "chat_compression" {
			d.To.AddText(transcript.KindCompaction, r.At, nil)
		}
	default:
		d.To.Totals.Skipped++
	}
}

// isPrompt reports whether the message is a prompt of a person, or an assistant's request to a sub-agent, which has
// neither a provenance nor a subtype. The program itself wrote the other messages of the type user.
func (r *record) isPrompt() bool {
	const whileAssistantWorks = "mid_turn_user_message"
	return (r.Provenance == "" || r.Provenance == "real_user") && (r.Subtype == "" || r.Subtype == whileAssistantWorks)
}
