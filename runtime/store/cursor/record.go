package cursor

import (
	"bytes"
	"cmp"
	"strconv"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// bubble is a message in the editor.
type bubble struct {
	Type     int64        `json:"type"` // 1 for the user, 2 for the assistant
	Text     []byte       `json:"text"`
	Created  time.Time    `json:"createdAt"`
	Images   jsontext.Raw `json:"images"`
	Thinking struct {
		Text []byte `json:"text"`
	} `json:"thinking"`
	Timing struct {
		Start jsontext.Raw `json:"clientStartTime"` // in milliseconds
	} `json:"timingInfo"`
	Tool struct {
		ID      string       `json:"toolCallId"`
		Name    string       `json:"name"`
		Status  string       `json:"status"`
		RawArgs []byte       `json:"rawArgs"` // JSON
		Params  []byte       `json:"params"`  // JSON
		Result  []byte       `json:"result"`  // JSON
		Error   jsontext.Raw `json:"error"`
	} `json:"toolFormerData"`
}

// at returns the time at which a message was created or, in versions 1 and 2 of Cursor, begun; zero if it is unknown.
func (b *bubble) at() time.Time {
	const most = 1 << 52 // milliseconds; far more would not fit into an int64
	ms, _ := strconv.ParseFloat(string(b.Timing.Start), 64)
	return cmp.Or(b.Created, history.Moment(max(0, int64(min(ms, most)))))
}

// recordBubble adds the events of a message of the editor to a recorder; of damaged JSON, what is before the damage.
func recordBubble(to *history.Recorder, m *messagedb.Message) {
	const user, assistant = 1, 2
	var b bubble
	isWhole := jsontext.Decode(m.Data, &b)
	if isKnown := b.Type == user || b.Type == assistant; !isWhole || !isKnown {
		to.Totals.Skipped++
	}
	switch at := b.at(); b.Type {
	case user:
		hasImages := len(b.Images) > 0 && !jsontext.IsEmpty(b.Images)
		if len(b.Text) > 0 || hasImages { // a prompt without a text stands for its images
			to.AddText(transcript.KindUser, at, b.Text)
		}
	case assistant:
		to.AddText(transcript.KindReasoning, at, b.Thinking.Text)
		to.AddText(transcript.KindAssistant, at, b.Text)
		if b.Tool.Name != "" {
			b.recordCall(to, at)
		}
	}
}

// recordCall adds the call of the message to a recorder, and its result if it has one.
func (b *bubble) recordCall(to *history.Recorder, at time.Time) {
	t := &b.Tool
	to.Add(history.Call(at, t.Name, t.ID, history.First(t.RawArgs, t.Params)))
	failed := t.Status == "error" || t.Status == "cancelled"
	if len(t.Result) == 0 && !failed {
		return
	}
	text, exit := output(t.Result)
	if len(text) == 0 {
		text = bytes.ToValidUTF8(t.Error, []byte("\ufffd"))
	}
	to.Add(transcript.Event{Kind: transcript.KindToolResult, Time: at, CallID: t.ID, Failed: failed || exit != 0, Text: text})
}

// output returns the text in the JSON of a result, or the JSON if there is none, and the exit code of a command.
func output(result []byte) (text []byte, exit int64) {
	var known struct {
		Output   []byte `json:"output"`
		Contents []byte `json:"contents"`
		Exit     int64  `json:"exitCode"`
		ExitV2   int64  `json:"exitCodeV2"`
	}
	jsontext.Decode(result, &known)
	return history.First(known.Output, known.Contents, result), cmp.Or(known.Exit, known.ExitV2)
}

// part is a part of the content of a message of cursor-agent.
type part struct {
	Type   string       `json:"type"`
	Text   []byte       `json:"text"`
	Call   string       `json:"toolCallId"`
	Tool   string       `json:"toolName"`
	Args   jsontext.Raw `json:"args"`
	Result jsontext.Raw `json:"result"` // a text, or another value
	Failed bool         `json:"isError"`
}

// recordMessage adds the events of a message of cursor-agent to a recorder.
func recordMessage(to *history.Recorder, m *messagedb.Message) {
	var message struct {
		Role    string       `json:"role"`
		Content jsontext.Raw `json:"content"`
	}
	if !jsontext.Decode(m.Data, &message) {
		to.Totals.Skipped++
	}
	for _, p := range jsontext.Parts(message.Content, func(text []byte) part { return part{Type: "text", Text: text} }) {
		switch {
		case message.Role == "system": // the program wrote it
		case p.Type == "text" && message.Role == "user":
			if prompt, ok := typed(p.Text); ok {
				to.AddText(transcript.KindUser, m.At, prompt)
			}
		case p.Type == "text":
			to.AddText(transcript.KindAssistant, m.At, p.Text)
		case p.Type == "reasoning":
			to.AddText(transcript.KindReasoning, m.At, p.Text)
		case p.Type == "tool-call":
			to.Add(history.Call(m.At, p.Tool, p.Call, p.Args))
		case p.Type == "tool-result":
			text := bytes.ToValidUTF8(jsontext.Plain(p.Result), []byte("\ufffd"))
			to.Add(transcript.Event{Kind: transcript.KindToolResult, Time: m.At, CallID: p.Call, Failed: p.Failed, Text: text})
		case p.Type == "redacted-reasoning" || p.Type == "image" || p.Type == "file": // no text to read
		default:
			to.Totals.Skipped++
		}
	}
}

// typed returns the part of a text that a person typed: between the tags that most versions put around it, or else the
// whole text. It returns false for a text that begins with another tag: cursor-agent wrote it.
func typed(text []byte) ([]byte, bool) {
	const begin, end = "<user_query>", "</user_query>"
	if _, after, ok := bytes.Cut(text, []byte(begin)); ok {
		query, _, _ := bytes.Cut(after, []byte(end))
		return bytes.TrimSpace(query), true
	}
	return text, !history.Begins(text, "<user_info>", "<project_layout>", "<rules>", "<git_status>", "<system_reminder>", "<open_and_recently_viewed_files>", "<additional_data>", "<attached_files>", "<agent_transcripts>", "<timestamp>")
}
