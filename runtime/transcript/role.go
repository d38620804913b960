package transcript

import "github.com/convtools/convtools/runtime/base/text"

// Role is the sender of a message.
type Role uint8

// The roles.
const (
	NoRole        Role = iota // not a message
	RoleUser                  // the user
	RoleAssistant             // messages, reasoning and structured data of an assistant
	RoleTool                  // calls, results and questions of a tool
	RoleOther                 // system, and any other recorded role
)

// String returns "user", "assistant", "tool" or "system", and "" for NoRole.
func (r Role) String() string {
	return [...]string{"", "user", "assistant", "tool", "system"}[min(r, RoleOther)]
}

// Scopes returns the scopes of the messages of the role.
func (r Role) Scopes() (scopes Scopes) {
	for _, k := range kinds {
		if k.role == r {
			scopes |= k.scope
		}
	}
	return scopes
}

// RoleName returns the name of the role of a message: of a system message the recorded
// name, if there is one, and otherwise the name of the kind's role.
func (e *Event) RoleName() string {
	if e.Kind == KindSystem {
		if name, _, _ := text.Ends(e.Name, maxRole, 0); name != "" {
			return name
		}
	}
	return e.Kind.Role().String()
}

// maxRole is the number of characters kept of a recorded role.
const maxRole = 100
