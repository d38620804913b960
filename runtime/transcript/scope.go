package transcript

// Scopes is a set of kinds of text that can be searched.
type Scopes uint16

// The scopes.
const (
	ScopeTitle Scopes = 1 << iota
	ScopeUser
	ScopeAssistant
	ScopeReasoning
	ScopeStructured
	ScopeToolCall
	ScopeToolResult
	ScopeInquiry

	ScopeChat = ScopeUser | ScopeAssistant | ScopeReasoning | ScopeStructured
	ScopeTool = ScopeToolCall | ScopeToolResult
	ScopeAll  = ScopeTitle | ScopeChat | ScopeTool | ScopeInquiry
)
