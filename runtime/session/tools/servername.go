package tools

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/convtools/convtools/runtime/model"
)

// serverPrefix is how every name begins that a tool of an MCP server is offered under.
const serverPrefix = "mcp__"

// OfferedName returns the name that models call a tool by: mcp__SERVER__TOOL. It has the characters that every provider
// takes; a name of a tool with others, or one that is too long, is changed and ends with a checksum of what it was.
func OfferedName(server, tool string) string {
	name := serverPrefix + server + "__" + tool
	flat := model.Flat(name)
	if flat == name {
		return name
	}
	const room, digits = 64, 16 // of every provider
	sum := sha256.Sum256([]byte(tool))
	return flat[:min(len(flat), room-1-digits)] + "_" + hex.EncodeToString(sum[:digits/2])
}
