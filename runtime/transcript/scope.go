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

// String returns the name of a single scope or of one of the named sets, and of
// any other set the names of its scopes.
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
		if one := named.Scopes; one&(one-1) == 0 && s&one != 0 {
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
	var all []NamedScope
	for i, name := range singleScopes {
		all = append(all, NamedScope{name, 1 << i})
	}
	return append(all, NamedScope{"chat", ScopeChat}, NamedScope{"tool", ScopeTool}, NamedScope{"all", ScopeAll})
}
