package claudecode

import (
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is a line of a transcript. Strings are as they stand between their quotes,
// and all of it aliases the line.
type record struct {
	kind, subtype            []byte
	uuid, parent, logical    []byte
	stamp, cwd, version      []byte
	session, leaf            []byte
	customTitle, aiTitle     []byte
	summary, promptSource    []byte
	message, origin, toolUse []byte // JSON values
	sidechain, meta, compact bool
	forked                   bool // from another session
}

// parse reads a line. It returns false where that is no JSON object, with the members
// up to there.
func parse(line []byte) (r record, ok bool) {
	ok = jsontext.Walk(line, r.set)
	return r, ok
}

func (r *record) set(key, value []byte) {
	text, _ := jsontext.Unquote(value)
	if jsontext.HasEscape(key) {
		key = transcript.AppendUnescaped(nil, key)
	}
	switch string(key) {
	case "type":
		r.kind = text
	case "subtype":
		r.subtype = text
	case "uuid":
		r.uuid = text
	case "parentUuid":
		r.parent = text
	case "logicalParentUuid":
		r.logical = text
	case "timestamp":
		r.stamp = text
	case "cwd":
		r.cwd = text
	case "version":
		r.version = text
	case "sessionId":
		r.session = text
	case "leafUuid":
		r.leaf = text
	case "customTitle":
		r.customTitle = text
	case "aiTitle":
		r.aiTitle = text
	case "summary":
		r.summary = text
	case "promptSource":
		r.promptSource = text
	case "message":
		r.message = value
	case "origin":
		r.origin = value
	case "toolUseResult":
		r.toolUse = value
	case "forkedFrom":
		r.forked = string(value) != "null"
	case "isSidechain":
		r.sidechain = string(value) == "true"
	case "isMeta":
		r.meta = string(value) == "true"
	case "isCompactSummary":
		r.compact = string(value) == "true"
	}
}

func (r *record) is(kind string) bool { return string(r.kind) == kind }

// isKnown reports whether it is of a type that versions up to 2.1 write.
func (r *record) isKnown() bool {
	switch string(r.kind) {
	case "user", "assistant", "system", "attachment", "progress",
		"custom-title", "ai-title", "agent-name", "agent-color", "agent-setting", "summary", "tag", "pr-link", "worktree-state",
		"last-prompt", "queue-operation", "mode", "permission-mode", "file-history-snapshot",
		"cost-state", "tools-used", "atis-latch", "api-request", "api-request-shape", "api-request-blob":
		return true
	}
	return false
}

// isMessage reports whether it is what somebody said, or a tool returned.
func (r *record) isMessage() bool { return r.is("user") || r.is("assistant") }

// isBoundary reports whether what stands before it was compacted.
func (r *record) isBoundary() bool {
	return r.is("system") && string(r.subtype) == "compact_boundary"
}

// content returns the content of the message, and the model that wrote it.
func (r *record) content() (content, model []byte) {
	jsontext.Read(r.message, jsontext.Value("content", &content), jsontext.Text("model", &model))
	return content, model
}

// block is a block of a message's content.
type block struct {
	kind, text, thinking, id, name, callID []byte // as they stand between their quotes
	input, content                         []byte // JSON values
	failed                                 bool
}

func parseBlock(raw []byte) (b block) {
	jsontext.Read(raw,
		jsontext.Text("type", &b.kind), jsontext.Text("text", &b.text), jsontext.Text("thinking", &b.thinking),
		jsontext.Text("id", &b.id), jsontext.Text("name", &b.name), jsontext.Text("tool_use_id", &b.callID),
		jsontext.Value("input", &b.input), jsontext.Value("content", &b.content), jsontext.Is("is_error", &b.failed),
	)
	return b
}

// blocks calls each for every block of a content, until that returns false; a string
// is a block of text.
func blocks(content []byte, each func(b *block) bool) {
	if text, ok := jsontext.Unquote(content); ok {
		each(&block{kind: []byte("text"), text: text})
		return
	}
	for raw := range jsontext.Elements(content) {
		if b := parseBlock(raw); !each(&b) {
			return
		}
	}
}

func (b *block) is(kind string) bool { return string(b.kind) == kind }

// isPrompt reports whether a record of type user is what a person said.
func (r *record) isPrompt() bool {
	if !r.is("user") || r.meta || r.compact || string(r.promptSource) == "system" || !r.byPerson() {
		return false
	}
	if r.toolUse != nil {
		return false // what a tool returned: it need not be looked into
	}
	said := false
	content, _ := r.content()
	blocks(content, func(b *block) bool {
		if b.is("tool_result") {
			said = false
			return false
		}
		said = said || b.said()
		return true
	})
	return said
}

func (r *record) byPerson() bool {
	kind := jsontext.GetText(r.origin, "kind")
	return kind == nil || string(kind) == "human"
}

// said reports whether a block of a prompt is what a person said or showed, and not
// something that the program puts in.
func (b *block) said() bool {
	switch {
	case b.is("image"), b.is("document"):
		return true
	case !b.is("text"):
		return false
	}
	return !isInjected(b.text)
}

// isInjected reports whether a text, as it stands between its quotes, is one that the
// program writes in the name of the user.
func isInjected(raw []byte) bool {
	return recorded.Begins(raw,
		"<command-", "<local-command-", "Caveat: The messages below", "<bash-input>", "<bash-stdout>", "<bash-stderr>",
		"<task-notification>", "<system-reminder>", "[Request interrupted by user")
}
