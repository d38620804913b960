package transcript

import "github.com/convtools/convtools/runtime/base/text"

// Role is who a message is from.
type Role uint8

// The roles.
const (
	NoRole        Role = iota // it is no message
	RoleUser                  // what a user said
	RoleAssistant             // what an assistant said or thought, and structured data it gave
	RoleTool                  // a call of a tool, what it returned, and what it asked
	RoleOther                 // system, or whatever else is recorded
)

// String returns "user", "assistant", "tool" or "system", and "" for NoRole.
func (r Role) String() string {
	return [...]string{"", "user", "assistant", "tool", "system"}[min(r, RoleOther)]
}

// Roles is a set of roles.
type Roles uint8

// RolesOf returns the set of some roles.
func RolesOf(roles ...Role) Roles {
	var set Roles
	for _, r := range roles {
		set |= 1 << r
	}
	return set
}

// Has reports whether a role is in the set.
func (s Roles) Has(r Role) bool { return s&(1<<r) != 0 }

// RoleName returns the role of a message by name: that of its kind, or where it has another
// one, that, as it is recorded.
func (e *Event) RoleName() string {
	if e.Kind == KindSystem {
		if name, _, _ := text.Ends(e.Name, maxRole, 0); name != "" {
			return name
		}
	}
	return e.Kind.Role().String()
}

// maxRole is how many characters of a recorded role are looked at.
const maxRole = 100
