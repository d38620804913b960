package transcript

import (
	"slices"
	"strings"
)

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

// NamedScope is a set of scopes with a name.
type NamedScope struct {
	Name   string
	Scopes Scopes
}

// namedScopes are the single scopes, and then the named sets of them.
var namedScopes = [...]NamedScope{
	{"title", ScopeTitle},
	{"user", ScopeUser},
	{"assistant", ScopeAssistant},
	{"reasoning", ScopeReasoning},
	{"structured", ScopeStructured},
	{"tool-call", ScopeToolCall},
	{"tool-result", ScopeToolResult},
	{"inquiry", ScopeInquiry},
	{"system", ScopeSystem},
	{"chat", ScopeChat},
	{"tool", ScopeTool},
	{"all", ScopeAll},
}

// NamedScopes returns the single scopes, then the named sets of them.
func NamedScopes() []NamedScope { return slices.Clone(namedScopes[:]) }

// String returns the name of a single scope or of a named set. For any other set it
// returns the names of the scopes, with commas.
func (s Scopes) String() string {
	var parts []string
	for _, named := range namedScopes {
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

// ScopesNamed returns the scopes with some names of [NamedScopes]. It ignores other names.
func ScopesNamed(names ...string) (scopes Scopes) {
	for _, named := range namedScopes {
		if slices.Contains(names, named.Name) {
			scopes |= named.Scopes
		}
	}
	return scopes
}
