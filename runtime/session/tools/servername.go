package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxOffered is how long a name may be for every provider.
const maxOffered = 64

// serverPrefix is how every name begins that is offered.
const serverPrefix = "mcp__"

// OfferedName returns the name that models call a tool by: mcp__SERVER__TOOL. It has the characters that every provider
// takes; a name of a tool with others, or one that is too long, is changed and ends with a checksum of what it was.
func OfferedName(server, tool string) string {
	prefix := serverPrefix + server + "__"
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, tool)
	if plain == tool && len(prefix)+len(plain) <= maxOffered && !checksummed(plain) {
		return prefix + plain
	}
	sum := sha256.Sum256([]byte(tool))
	room := maxOffered - len(prefix) - 1 - checksum
	return prefix + plain[:min(room, len(plain))] + "_" + hex.EncodeToString(sum[:checksum/2])
}

// checksum is how many hexadecimal digits a name may end with.
const checksum = 16

// checksummed reports whether a name looks like one that was changed. It is changed too, so that it has no other one's.
func checksummed(name string) bool {
	if len(name) <= checksum || name[len(name)-checksum-1] != '_' {
		return false
	}
	_, err := hex.DecodeString(name[len(name)-checksum:])
	return err == nil
}
