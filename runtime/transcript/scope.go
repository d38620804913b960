package transcript

import "strings"

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
	ScopeSystem

	ScopeChat = ScopeUser | ScopeAssistant | ScopeReasoning | ScopeStructured
	ScopeTool = ScopeToolCall | ScopeToolResult
	ScopeAll  = ScopeTitle | ScopeChat | ScopeTool | ScopeInquiry | ScopeSystem
)

// String returns the name of a single scope or of a named set. For any other set it
// returns the names of the scopes, with commas.
func (s Scopes) String() string {
	for i, name := range singleScopes {
		if s == 1<<i {
			return name
		}
	}
	var parts []string
	for _, named := range NamedScopes() {
		if s == named.Scopes {
			return named.Name
		}
		isSingle := named.Scopes&(named.Scopes-1) == 0 // one bit is set
		if isSingle && s&named.Scopes != 0 {
			parts = append(parts, named.Name)
		}
	}
	return strings.Join(parts, ", ")
}

// singleScopes are the names of the scopes, by their bits.
var singleScopes = [...]string{"title", "user", "assistant", "reasoning", "structured", "tool-call", "tool-result", "inquiry", "system"}

// NamedScope is a set of scopes with a name.
type NamedScope struct {
	Name   string
	Scopes Scopes
}

// NamedScopes returns the single scopes, then the named sets of them.
func NamedScopes() []NamedScope {
	var scopes []NamedScope
	for i, name := range singleScopes {
		scopes = append(scopes, NamedScope{name, 1 << i})
	}
	return append(scopes, NamedScope{"chat", ScopeChat}, NamedScope{"tool", ScopeTool}, NamedScope{"all", ScopeAll})
}
