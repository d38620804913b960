package claudecode

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is a line of a transcript. What it holds may be parts of the line.
type record struct {
	Type         string       `json:"type"`
	Subtype      string       `json:"subtype"`
	Key          key          `json:"uuid"`
	Parent       key          `json:"parentUuid"`
	Logical      key          `json:"logicalParentUuid"` // of what follows a compaction
	Leaf         key          `json:"leafUuid"`
	At           time.Time    `json:"timestamp"`
	PromptSource string       `json:"promptSource"`
	Message      jsontext.Raw `json:"message"`
	ToolUse      jsontext.Raw `json:"toolUseResult"`
	Origin       struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	Sidechain bool `json:"isSidechain"`
	Meta      bool `json:"isMeta"`
	Compact   bool `json:"isCompactSummary"`

	// What lists need beside what is said, as JSON.
	Cwd         jsontext.Raw `json:"cwd"`
	Version     jsontext.Raw `json:"version"`
	Session     jsontext.Raw `json:"sessionId"`
	CustomTitle jsontext.Raw `json:"customTitle"`
	AITitle     jsontext.Raw `json:"aiTitle"`
	Summary     jsontext.Raw `json:"summary"`
	Forked      jsontext.Raw `json:"forkedFrom"`
}

// parse reads a line. It returns false where that is no JSON object, with the members
// up to there.
func parse(line []byte) (r record, ok bool) {
	ok = jsontext.Decode(line, &r)
	return r, ok
}

// isKnown reports whether it is of a type that versions up to 2.1 write.
func (r *record) isKnown() bool {
	switch r.Type {
	case "user", "assistant", "system", "attachment", "progress",
		"custom-title", "ai-title", "agent-name", "agent-color", "agent-setting", "summary", "tag", "pr-link", "worktree-state",
		"last-prompt", "queue-operation", "mode", "permission-mode", "file-history-snapshot",
		"cost-state", "tools-used", "atis-latch", "api-request", "api-request-shape", "api-request-blob":
		return true
	}
	return false
}

// isMessage reports whether it is what somebody said, or a tool returned.
func (r *record) isMessage() bool { return r.Type == "user" || r.Type == "assistant" }

// isBoundary reports whether what stands before it was compacted.
func (r *record) isBoundary() bool { return r.Type == "system" && r.Subtype == "compact_boundary" }

// key stands for the uuid of a record; 0 for none.
type key uint64

// UnmarshalJSON implements [json.Unmarshaler], also of a key itself.
func (k *key) UnmarshalJSON(raw []byte) error {
	uuid, isText := jsontext.Unquote(raw)
	if !isText {
		n, _ := strconv.ParseUint(string(raw), 10, 64)
		*k = key(n)
		return nil
	}
	const offset, prime = 14695981039346656037, 1099511628211 // of FNV-1a
	*k = offset
	for _, c := range uuid {
		*k = (*k ^ key(c)) * prime
	}
	return nil
}

// message is what somebody said.
type message struct {
	Model   string       `json:"model"`
	Content jsontext.Raw `json:"content"`
}

// block is a part of a message.
type block struct {
	Type      string       `json:"type"`
	Text      []byte       `json:"text"`
	Thinking  []byte       `json:"thinking"`
	ID        string       `json:"id"`
	Name      string       `json:"name"`
	ToolUseID string       `json:"tool_use_id"`
	Input     jsontext.Raw `json:"input"`
	Content   jsontext.Raw `json:"content"`
	IsError   bool         `json:"is_error"`
}

// blocks returns the parts of a content; a text is one of them.
func blocks(content jsontext.Raw) []block {
	return jsontext.Parts(content, func(said []byte) block { return block{Type: "text", Text: said} })
}

// message returns the message and its parts.
func (r *record) message() (m message, parts []block) {
	jsontext.Decode(r.Message, &m)
	return m, blocks(m.Content)
}

// prompt returns the texts of what a person said, and false for anything else. parts are those of
// the message.
func (r *record) prompt(parts []block) (said [][]byte, ok bool) {
	for _, b := range parts {
		switch b.Type {
		case "tool_result":
			return nil, false
		case "image", "document":
			ok = true
		case "text":
			if !isInjected(b.Text) {
				said, ok = append(said, b.Text), true
			}
		}
	}
	return said, ok && r.mayBePrompt()
}

// mayBePrompt reports whether a person may have said what is in the message.
func (r *record) mayBePrompt() bool {
	byPerson := r.Origin.Kind == "" || r.Origin.Kind == "human"
	return r.Type == "user" && !r.Meta && !r.Compact && r.PromptSource != "system" && byPerson && r.ToolUse == nil
}

// isInjected reports whether a text is one that the program writes in the name of the user.
func isInjected(said []byte) bool {
	return history.Begins(said,
		"<command-", "<local-command-", "Caveat: The messages below", "<bash-input>", "<bash-stdout>", "<bash-stderr>",
		"<task-notification>", "<system-reminder>", "[Request interrupted by user")
}

// command returns the command to the program that a person gave with arguments, or "".
func (r *record) command() string {
	if r.Type != "user" || r.Meta {
		return ""
	}
	var m message
	jsontext.Decode(r.Message, &m)
	said := history.Beginning([]byte(jsontext.String(m.Content)))
	if !strings.HasPrefix(strings.TrimSpace(said), "<command-") {
		return ""
	}
	tagged := func(tag string) string {
		_, text, _ := strings.Cut(said, "<"+tag+">")
		text, _, _ = strings.Cut(text, "</"+tag+">")
		return strings.TrimSpace(text)
	}
	arguments := tagged("command-args")
	if arguments == "" {
		return ""
	}
	return tagged("command-name") + " " + arguments
}

// inquiry is the tool with which the assistant asks the user, and synthetic the model of what the
// program itself says in the name of the assistant.
const inquiry, synthetic = "AskUserQuestion", "<synthetic>"

// events returns the events of a record, and how many blocks of it are of no known type.
func (r *record) events() (told []transcript.Event, unknown int) {
	add := func(e transcript.Event) {
		e.Time = r.At
		told = append(told, e)
	}
	if r.isBoundary() {
		add(transcript.Event{Kind: transcript.KindCompaction})
	}
	if !r.isMessage() {
		return told, 0
	}
	m, parts := r.message()
	if said, isPrompt := r.prompt(parts); isPrompt {
		add(transcript.Event{Kind: transcript.KindUser, Text: history.Join(said)})
		return told, 0
	}
	for i := 0; i < len(parts) && m.Model != synthetic; i++ {
		switch b := &parts[i]; {
		case strings.HasSuffix(b.Type, "tool_result"):
			add(r.result(b))
		case r.Type == "user", b.Type == "redacted_thinking": // there is nothing to read
		case b.Type == "text":
			add(transcript.Event{Kind: transcript.KindAssistant, Text: b.Text})
		case b.Type == "thinking":
			add(transcript.Event{Kind: transcript.KindReasoning, Text: b.Thinking})
		case strings.HasSuffix(b.Type, "tool_use"):
			add(transcript.Event{Kind: transcript.KindToolCall, Name: b.Name, CallID: b.ID, Arguments: b.Input})
		default:
			unknown++
		}
	}
	return told, unknown
}

// result returns what a tool returned.
func (r *record) result(b *block) transcript.Event {
	var texts [][]byte
	for _, part := range blocks(b.Content) {
		if part.Type == "text" {
			texts = append(texts, withoutReminders(part.Text))
		}
	}
	if len(texts) == 1 && bytes.HasPrefix(texts[0], []byte("<persisted-output>")) {
		// The record repeats more of it than its message has, where the program keeps the
		// rest in a file of its own.
		var whole struct {
			Stdout []byte `json:"stdout"`
		}
		if jsontext.Decode(r.ToolUse, &whole); len(whole.Stdout) > 0 {
			texts[0] = whole.Stdout
		}
	}
	return transcript.Event{Kind: transcript.KindToolResult, CallID: b.ToolUseID, Failed: b.IsError, Text: history.Join(texts)}
}

// withoutReminders returns a text without what the program adds for the assistant alone.
func withoutReminders(said []byte) (kept []byte) {
	for {
		before, rest, begins := bytes.Cut(said, []byte("<system-reminder>"))
		_, after, ends := bytes.Cut(rest, []byte("</system-reminder>"))
		switch {
		case !(begins && ends) && kept == nil:
			return said
		case !(begins && ends):
			return append(kept, said...)
		}
		kept = append(kept, before...)
		said = after
	}
}
