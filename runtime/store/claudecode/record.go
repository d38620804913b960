package claudecode

import (
	"bytes"
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
	UUID         string       `json:"uuid"`
	Parent       string       `json:"parentUuid"`
	Logical      string       `json:"logicalParentUuid"` // of what follows a compaction
	At           time.Time    `json:"timestamp"`
	Cwd          string       `json:"cwd"`
	Version      string       `json:"version"`
	Session      string       `json:"sessionId"`
	Leaf         string       `json:"leafUuid"`
	CustomTitle  string       `json:"customTitle"`
	AITitle      string       `json:"aiTitle"`
	Summary      string       `json:"summary"`
	PromptSource string       `json:"promptSource"`
	Message      jsontext.Raw `json:"message"`
	ToolUse      jsontext.Raw `json:"toolUseResult"`
	Forked       jsontext.Raw `json:"forkedFrom"`
	Origin       struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	Sidechain bool `json:"isSidechain"`
	Meta      bool `json:"isMeta"`
	Compact   bool `json:"isCompactSummary"`
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

func keyOf(uuid string) (k key) {
	if uuid == "" {
		return 0
	}
	const offset, prime = 14695981039346656037, 1099511628211 // of FNV-1a
	k = offset
	for i := range len(uuid) {
		k = (k ^ key(uuid[i])) * prime
	}
	return k
}

func (r *record) key() key { return keyOf(r.UUID) }

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

// newTalk returns what makes events of the records of a session, or of a sub-agent.
func newTalk(agent bool) history.Talk { return history.Talk{Agent: agent, Inquiry: "AskUserQuestion"} }

// synthetic is the model of what the program itself says in the name of the assistant.
const synthetic = "<synthetic>"

// tell adds the events of a record.
func tell(t *history.Talk, r *record) {
	switch {
	case r.isBoundary():
		t.Compact(r.At)
	case r.Type == "assistant":
		if m, parts := r.message(); m.Model != synthetic {
			for i := range parts {
				answer(t, r, &parts[i])
			}
		}
	case r.Type == "user":
		_, parts := r.message()
		if said, ok := r.prompt(parts); ok {
			t.Prompt(r.At, history.Join(said))
			return
		}
		for i := range parts {
			if parts[i].Type == "tool_result" {
				result(t, r, &parts[i])
			}
		}
	}
}

// answer adds the event of a part of a message of the assistant.
func answer(t *history.Talk, r *record, b *block) {
	switch b.Type {
	case "text":
		t.Say(transcript.KindAssistant, r.At, b.Text)
	case "thinking":
		t.Say(transcript.KindReasoning, r.At, b.Thinking)
	case "redacted_thinking": // there is nothing to read
	case "tool_use", "server_tool_use", "mcp_tool_use":
		t.Call(r.At, b.Name, b.ID, b.Input, nil)
	default:
		if strings.HasSuffix(b.Type, "_tool_result") {
			result(t, &record{At: r.At}, b)
		} else {
			t.Skipped++
		}
	}
}

// result adds what a tool returned.
func result(t *history.Talk, r *record, b *block) {
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
	t.Result(r.At, b.ToolUseID, b.IsError, history.Join(texts))
}

// withoutReminders returns a text without what the program adds for the assistant alone.
func withoutReminders(said []byte) []byte {
	const begin, end = "<system-reminder>", "</system-reminder>"
	var kept []byte
	for {
		i := bytes.Index(said, []byte(begin))
		if i < 0 {
			break
		}
		n := bytes.Index(said[i:], []byte(end))
		if n < 0 {
			break
		}
		kept = append(kept, said[:i]...)
		said = said[i+n+len(end):]
	}
	if kept == nil {
		return said
	}
	return append(kept, said...)
}
