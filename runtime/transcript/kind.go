package transcript

import "strings"

// Kind is the kind of an event. It is finer than the recorded "type": the type chat_response covers an assistant's
// message, its reasoning and structured data.
type Kind uint8

// The kinds of events. Everything JP itself would not recognise is KindUnknown.
const (
	KindUnknown         Kind = iota
	KindTurnStart            // turn_start
	KindUser                 // chat_request
	KindAssistant            // chat_response with message, or with none of the three
	KindReasoning            // chat_response with reasoning
	KindStructured           // chat_response with data
	KindToolCall             // tool_call_request
	KindToolResult           // tool_call_response
	KindInquiry              // inquiry_request
	KindInquiryResponse      // inquiry_response
	KindConfigDelta          // config_delta
	KindCompaction           // compaction
	// KindSystem (system_message) is a message of neither the user, the assistant nor a
	// tool: instructions, or a message of another role, with the role in Event.Name.
	KindSystem
)

// String returns a lower-case name such as "tool_call".
func (k Kind) String() string { return k.properties().name }

// kinds are the kinds of events, each with the scope and the role of its text.
var kinds = [...]kind{
	KindUnknown:         {"unknown", 0, NoRole},
	KindTurnStart:       {"turn_start", 0, NoRole},
	KindUser:            {"user", ScopeUser, RoleUser},
	KindAssistant:       {"assistant", ScopeAssistant, RoleAssistant},
	KindReasoning:       {"reasoning", ScopeReasoning, RoleAssistant},
	KindStructured:      {"structured", ScopeStructured, RoleAssistant},
	KindToolCall:        {"tool_call", ScopeToolCall, RoleTool},
	KindToolResult:      {"tool_result", ScopeToolResult, RoleTool},
	KindInquiry:         {"inquiry", ScopeInquiry, RoleTool},
	KindInquiryResponse: {"inquiry_response", 0, NoRole},
	KindConfigDelta:     {"config_delta", 0, NoRole},
	KindCompaction:      {"compaction", 0, NoRole},
	KindSystem:          {"system", ScopeSystem, RoleOther},
}

type kind struct {
	name  string
	scope Scopes
	role  Role
}

// properties returns the name, the scope and the role of a kind; those of KindUnknown for an undefined kind.
func (k Kind) properties() *kind {
	if int(k) < len(kinds) {
		return &kinds[k]
	}
	return &kinds[KindUnknown]
}

// Role returns the role of events of the kind; NoRole if they are no messages.
func (k Kind) Role() Role { return k.properties().role }

// Scope returns the scope of the text of events of the kind; 0 if they have no text.
func (k Kind) Scope() Scopes { return k.properties().scope }

// Global reports whether events of the kind belong to no turn: config_delta,
// compaction and unknown types. Their turn number is 0.
func (k Kind) Global() bool {
	return k == KindUnknown || k == KindConfigDelta || k == KindCompaction
}

// Numbered reports whether events of the kind have a number in their conversation,
// from 1. Events without readable content have none.
func (k Kind) Numbered() bool { return !k.Global() && k != KindTurnStart }

// Numbering numbers the events of a conversation in order. Its zero value is ready before the first event.
type Numbering struct {
	Events   int // numbered events so far
	Requests int // requests of the user so far
}

// Next counts the next event, which is of kind k. It returns the number of the event; 0 if events of the kind are not
// numbered.
func (n *Numbering) Next(k Kind) int {
	if k == KindUser {
		n.Requests++
	}
	if !k.Numbered() {
		return 0
	}
	n.Events++
	return n.Events
}

// IsTool reports whether recorded, the name of a called tool, is one of names. In recorded, the name of a server and a
// separator may be before the name of the tool: mcp__convtools__conversation_grep, convtools.conversation_grep.
func IsTool(recorded string, names ...string) bool {
	for _, name := range names {
		before, ok := strings.CutSuffix(recorded, name)
		if ok && (before == "" || strings.ContainsRune("_./:-", rune(before[len(before)-1]))) {
			return true
		}
	}
	return false
}
