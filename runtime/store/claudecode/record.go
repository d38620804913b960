package claudecode

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/anthropic"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is a line of a transcript. Its texts can be parts of the line.
type record struct {
	Type         string       `json:"type"`
	Subtype      string       `json:"subtype"`
	Key          key          `json:"uuid"`
	Parent       key          `json:"parentUuid"`
	Logical      key          `json:"logicalParentUuid"` // the parent of a compaction
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
	// The metadata for lists, as JSON.
	Cwd         jsontext.Raw `json:"cwd"`
	Branch      jsontext.Raw `json:"gitBranch"`
	Session     jsontext.Raw `json:"sessionId"`
	CustomTitle jsontext.Raw `json:"customTitle"`
	AITitle     jsontext.Raw `json:"aiTitle"`
	Summary     jsontext.Raw `json:"summary"`
	Forked      jsontext.Raw `json:"forkedFrom"`
}

// isKnown reports whether the record is of a type that versions up to 2.1 write.
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

// isMessage reports whether the record is a message of the user, the assistant or a tool.
func (r *record) isMessage() bool { return r.Type == "user" || r.Type == "assistant" }

// isBoundary reports whether the records before this one were compacted.
func (r *record) isBoundary() bool { return r.Type == "system" && r.Subtype == "compact_boundary" }

// key is a hash of the uuid of a record; 0 if it has none.
type key uint64

// UnmarshalJSON implements [json.Unmarshaler]: the key of a uuid is its hash, and a number is a key from the cache.
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

// keys are the keys of records, 8 bytes each. In the cache they are one text, which is decoded much faster than numbers.
type keys []byte

func (k *keys) add(added key) { *k = binary.LittleEndian.AppendUint64(*k, uint64(added)) }

// all returns the keys in the order in which they were added.
func (k keys) all() (list []key) {
	for ; len(k) >= 8; k = k[8:] {
		list = append(list, key(binary.LittleEndian.Uint64(k)))
	}
	return list
}

// message is the message in a record.
type message struct {
	Model   string       `json:"model"`
	Content jsontext.Raw `json:"content"`
}

// prompt returns the texts that a person wrote, from the blocks of the message. It returns false if no person wrote
// the message. A prompt that is a picture alone has no texts.
func (r *record) prompt(parts []anthropic.Block) (texts [][]byte, ok bool) {
	for _, b := range parts {
		switch b.Type {
		case "tool_result":
			return nil, false
		case "image", "document":
			ok = true
		case "text":
			if !isInjected(b.Text) {
				texts, ok = append(texts, b.Text), true
			}
		}
	}
	return texts, ok && r.mayBePrompt()
}

// mayBePrompt reports whether a person can have written the message.
func (r *record) mayBePrompt() bool {
	byPerson := r.Origin.Kind == "" || r.Origin.Kind == "human"
	return r.Type == "user" && !r.Meta && !r.Compact && r.PromptSource != "system" && byPerson && r.ToolUse == nil
}

// StartElement is the name of the element that the start hook of this program prints for the assistant. Its text is
// never part of a conversation.
const StartElement = "past-conversations"

// isInjected reports whether the program wrote a text in the name of the user, or it is the output of the start hook.
func isInjected(text []byte) bool {
	return history.Begins(text,
		"<command-", "<local-command-", "Caveat: The messages below", "<bash-input>", "<bash-stdout>", "<bash-stderr>",
		"<task-notification>", "<system-reminder>", "[Request interrupted by user", "<"+StartElement+">", "<session-start-hook>")
}

// command returns the slash command that a person gave, with its arguments. It returns "" if the record is no
// command, or one without arguments.
func (r *record) command() string {
	if r.Type != "user" || r.Meta {
		return ""
	}
	m, _ := jsontext.Parse[message](r.Message)
	text := jsontext.String(m.Content)
	if !strings.HasPrefix(strings.TrimSpace(text), "<command-") {
		return ""
	}
	tagged := func(tag string) string {
		_, rest, _ := strings.Cut(text, "<"+tag+">")
		content, _, _ := strings.Cut(rest, "</"+tag+">")
		return strings.TrimSpace(content)
	}
	arguments := tagged("command-args")
	if arguments == "" {
		return ""
	}
	return tagged("command-name") + " " + arguments
}

// inquiry is the tool with which the assistant asks the user, and synthetic the model of messages that the
// program itself writes in the name of the assistant.
const inquiry, synthetic = "AskUserQuestion", "<synthetic>"

// events returns the events of a record, and the number of its blocks of unknown types.
func (r *record) events() (all []transcript.Event, unknown int) {
	add := func(e transcript.Event) {
		e.Time = r.At
		all = append(all, e)
	}
	if r.isBoundary() {
		add(transcript.Event{Kind: transcript.KindCompaction})
	}
	if !r.isMessage() {
		return all, 0
	}
	m, _ := jsontext.Parse[message](r.Message)
	parts := anthropic.Blocks(m.Content)
	if texts, isPrompt := r.prompt(parts); isPrompt {
		add(transcript.Event{Kind: transcript.KindUser, Text: history.Join(texts)})
		return all, 0
	}
	for i := range parts {
		switch b := &parts[i]; {
		case m.Model == synthetic: // the program wrote it
		case strings.HasSuffix(b.Type, "tool_result"):
			add(r.result(b))
		case r.Type == "user" || b.Type == "redacted_thinking": // the program wrote it, or nobody can read it
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
	return all, unknown
}

// result returns the event for a block with the result of a tool, with its texts but without pictures.
func (r *record) result(b *anthropic.Block) transcript.Event {
	var texts [][]byte
	for _, part := range anthropic.Blocks(b.Content) {
		if part.Type == "text" {
			texts = append(texts, withoutReminders(part.Text))
		}
	}
	if len(texts) == 1 && bytes.HasPrefix(texts[0], []byte("<persisted-output>")) {
		// The program keeps the whole output in another file. Beside the message, the record has more of it.
		if stdout := jsontext.String(jsontext.Get(r.ToolUse, "stdout")); stdout != "" {
			texts[0] = []byte(stdout)
		}
	}
	return transcript.Event{Kind: transcript.KindToolResult, CallID: b.ToolUseID, Failed: b.IsError, Text: history.Join(texts)}
}

// withoutReminders returns a text without the reminders that the program adds for the assistant.
func withoutReminders(text []byte) (kept []byte) {
	for {
		before, rest, begins := bytes.Cut(text, []byte("<system-reminder>"))
		_, after, ends := bytes.Cut(rest, []byte("</system-reminder>"))
		if !begins || !ends {
			return append(kept, text...)
		}
		kept = append(kept, before...)
		text = after
	}
}
