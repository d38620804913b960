package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Flat returns the flat name of a tool, such as conv_create for conv.create. OpenAI allows ^[a-zA-Z0-9_-]{1,64}$ for the
// name of a function, which is less than MCP. Other characters become underscores, and a long name ends in a checksum.
func Flat(name string) string {
	const maxLength = 64
	flat := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if len(flat) > maxLength {
		sum := sha256.Sum256([]byte(name))
		flat = flat[:maxLength-9] + "_" + hex.EncodeToString(sum[:4]) // 9 characters
	}
	return cmp.Or(flat, "_") // for an empty name
}
