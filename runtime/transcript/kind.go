package transcript

// Kind is what an event is. It is finer than the recorded "type": the type
// chat_response covers an assistant's message, its reasoning and structured
// data.
type Kind uint8

// The kinds of events. Everything JP itself would not recognise is
// KindUnknown.
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
	// KindSystem (system_message) is what neither the user nor the assistant nor a tool
	// said: instructions, or a message of another role, which its name then is.
	KindSystem
)

// String returns a lower-case name such as "tool_call".
func (k Kind) String() string {
	return k.is().name
}

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

func (k Kind) is() *kind {
	if int(k) < len(kinds) {
		return &kinds[k]
	}
	return &kinds[KindUnknown]
}

// Role returns the role of events of a kind, which are messages where it is not NoRole.
func (k Kind) Role() Role { return k.is().role }

// Scope returns the scope of the text of events of a kind; 0 where they have none.
func (k Kind) Scope() Scopes { return k.is().scope }

// Typed reports whether events of this kind belong to a turn.
func (k Kind) Typed() bool { return !k.Global() }

// Global reports whether events of this kind stand outside all turns:
// config_delta, compaction and unknown types. Their turn number is 0.
func (k Kind) Global() bool {
	return k == KindUnknown || k == KindConfigDelta || k == KindCompaction
}

// Numbered reports whether events of this kind count in the numbers that events
// have in a conversation, from 1: those with something that can be read.
func (k Kind) Numbered() bool { return k.Typed() && k != KindTurnStart }

// Numbering numbers the events of a conversation, from its beginning.
type Numbering struct {
	Events   int // that have a number, up to here
	Requests int // of the user, up to here
}

// Next returns the number of the next event, which is of a kind; 0 where it has
// none.
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
