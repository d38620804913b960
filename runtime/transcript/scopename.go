package transcript

import "strings"

// scopeNames returns the names of scopes, groups first, in the order in which
// [Scopes.Names] takes them.
func scopeNames() []struct {
	name   string
	scopes Scopes
} {
	return []struct {
		name   string
		scopes Scopes
	}{
		{"all", ScopeAll},
		{"chat", ScopeChat},
		{"tool", ScopeTool},
		{"title", ScopeTitle},
		{"user", ScopeUser},
		{"assistant", ScopeAssistant},
		{"reasoning", ScopeReasoning},
		{"structured", ScopeStructured},
		{"tool-call", ScopeToolCall},
		{"tool-result", ScopeToolResult},
		{"inquiry", ScopeInquiry},
	}
}

// ParseScope returns the scopes that a name such as "tool-call", or the name of a
// group such as "chat", stands for. It reports false for other names.
func ParseScope(name string) (Scopes, bool) {
	for _, known := range scopeNames() {
		if known.name == name {
			return known.scopes, true
		}
	}
	return 0, false
}

// Names returns the fewest names that stand for the scopes together.
func (s Scopes) Names() []string {
	var names []string
	for _, known := range scopeNames() {
		if s&known.scopes == known.scopes {
			names = append(names, known.name)
			s &^= known.scopes
		}
	}
	return names
}

// String returns the names of the scopes, with commas between them.
func (s Scopes) String() string { return strings.Join(s.Names(), ",") }
