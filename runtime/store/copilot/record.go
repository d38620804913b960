package copilot

import (
	"bytes"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is an event. Its texts can be parts of the line.
type record struct {
	Type  string    `json:"type"`
	At    time.Time `json:"timestamp"`
	Agent string    `json:"agentId"` // the sub-agent that it is of, since version 1.0.60; empty for none
	Data  data      `json:"data"`
}

// data is the members of all types of events.
type data struct {
	// of the session
	Start   time.Time `json:"startTime"`
	Spawner string    `json:"detachedFromSpawningParentSessionId"`
	Context struct {
		Dir string `json:"cwd"`
	} `json:"context"`
	Info    string `json:"infoType"`
	Message string `json:"message"`
	// of a message
	Content     []byte       `json:"content"`
	Reasoning   []byte       `json:"reasoningText"`
	Source      string       `json:"source"` // empty if a person wrote it
	Continues   bool         `json:"isAutopilotContinuation"`
	Attachments jsontext.Raw `json:"attachments"`
	Requests    []struct {
		Call      string       `json:"toolCallId"`
		Name      string       `json:"name"`
		Arguments jsontext.Raw `json:"arguments"`
	} `json:"toolRequests"`
	// of a call
	Call      string       `json:"toolCallId"`
	Tool      string       `json:"toolName"`
	Arguments jsontext.Raw `json:"arguments"` // can be a text
	// of a result, and of a compaction
	Success bool         `json:"success"`
	Result  jsontext.Raw `json:"result"` // a text, or an object with one
	Error   struct {
		Message []byte `json:"message"`
	} `json:"error"`
	Shell struct {
		Exit int64 `json:"exitCode"`
	} `json:"shellExecution"`
}

// origin returns the session that this session was forked from, or "". Only a message for people names it:
// Forked from "TITLE" (ID) as "TITLE" (ID).
func (d *data) origin() string {
	titled, begins := strings.CutPrefix(d.Message, `Forked from "`)
	_, named, _ := strings.Cut(titled, `" (`)
	session, _, ends := strings.Cut(named, `) as "`)
	if d.Info == "fork" && begins && ends && history.IsName(session) {
		return session
	}
	return ""
}

// decoder makes events of records. Calls and reasoning can be recorded twice.
type decoder struct {
	*history.Recorder
	called    map[string]bool // ids of the calls that were added
	reasoning string          // that was added last
}

func newDecoder(to *history.Recorder) *decoder {
	to.Inquiry = "ask_user"
	return &decoder{Recorder: to, called: map[string]bool{}}
}

// record adds the events of a record to the recorder, and returns false if the type of the record is unknown.
func (to *decoder) record(r *record) bool {
	d := &r.Data
	switch r.Type {
	case "user.message":
		hasAttachments := len(d.Attachments) > 0 && !jsontext.IsEmpty(d.Attachments)
		if (len(d.Content) > 0 || hasAttachments) && d.isOfUser() && r.Agent == "" {
			to.AddText(transcript.KindUser, r.At, d.Content)
		}
	case "assistant.reasoning":
		to.addReasoning(r.At, d.Content)
	case "assistant.message":
		to.addReasoning(r.At, d.Reasoning)
		to.AddText(transcript.KindAssistant, r.At, d.Content)
		for _, c := range d.Requests {
			to.call(r.At, c.Name, c.Call, c.Arguments)
		}
	case "tool.execution_start", "tool.user_requested":
		to.call(r.At, d.Tool, d.Call, d.Arguments)
	case "tool.execution_complete":
		to.Add(d.result(r.At))
	case "session.compaction_complete":
		if d.Success && r.Agent == "" {
			to.AddText(transcript.KindCompaction, r.At, nil)
		}
	default:
		return isSilent(r.Type)
	}
	return true
}

// addReasoning adds reasoning, unless it is the same as the reasoning that was added last.
func (to *decoder) addReasoning(at time.Time, text []byte) {
	if string(text) != to.reasoning {
		to.reasoning = string(text)
		to.AddText(transcript.KindReasoning, at, text)
	}
}

// call adds a call, unless a call with the same id was added before. Arguments of a free form are recorded as a text.
func (to *decoder) call(at time.Time, name, id string, arguments jsontext.Raw) {
	if to.called[id] {
		return
	}
	to.called[id] = id != "" // calls without an id are different calls
	to.Add(history.Call(at, name, id, jsontext.Plain(arguments)))
}

// isOfUser reports whether a person wrote the message.
func (d *data) isOfUser() bool { return (d.Source == "" || d.Source == "user") && !d.Continues }

// result returns the event of the result of a call. A command that fails is recorded as a success with an exit code.
func (d *data) result(at time.Time) transcript.Event {
	value := d.Result
	if content := jsontext.Get(value, "content"); content != nil {
		value = content
	}
	text, _ := jsontext.Unquote(value)
	e := transcript.Event{Kind: transcript.KindToolResult, Time: at, CallID: d.Call, Text: jsontext.Unescape(text)}
	e.Failed = !d.Success || d.Shell.Exit != 0 || hasFailed(e.Text)
	if !d.Success && len(e.Text) == 0 {
		e.Text = d.Error.Message
	}
	return e
}

// hasFailed reports whether a result ends with the exit code of a command that failed. Versions before 1.0.100
// record it only there.
func hasFailed(text []byte) bool {
	last := text[bytes.LastIndexByte(text, '\n')+1:]
	_, code, ok := bytes.Cut(last, []byte(" with exit code "))
	return ok && last[0] == '<' && string(code) != "0>"
}

// isSilent reports whether events of a type have no text of the conversation: they are about the
// session, its models and permissions, or repeat a text.
func isSilent(kind string) bool {
	switch kind {
	case "abort", "assistant.turn_start", "assistant.turn_end", "external_tool.requested", "human_response.recorded":
		return true
	}
	family, _, _ := strings.Cut(kind, ".")
	switch family {
	case "session", "system", "subagent", "skill", "hook", "permission", "model", "mcp", "tool_search":
		return true
	}
	return false
}
