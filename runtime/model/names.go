package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Providers allow fewer names than MCP does, so that a tool has two: the canonical one, conv.create, and the flat one,
// conv_create, for providers that allow ^[a-zA-Z0-9_-]{1,64}$ (OpenAI's functions; Anthropic's allow 128 characters). A
// model may call a tool by either.

// maxFlat is the length of the longest flat name.
const maxFlat = 64

// Flat returns the flat name for a canonical one. It is the same for the same name at all times. A character that is
// not allowed becomes an underscore; a name that is too long ends in a checksum.
func Flat(name string) string {
	flat := strings.Map(func(r rune) rune {
		if flatRune(r) {
			return r
		}
		return '_'
	}, name)
	if flat == "" {
		return "_"
	}
	if len(flat) > maxFlat {
		sum := sha256.Sum256([]byte(name))
		flat = flat[:maxFlat-9] + "_" + hex.EncodeToString(sum[:4])
	}
	return flat
}

func flatRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-'
}

// Names is the canonical names of the tools of a request, by all that they have.
type Names map[string]string

// NamesOf returns the names of tools. An error names a tool that cannot be offered: MCP does not allow its name (SEP-986), or
// another one has it.
func NamesOf(tools []Tool) (Names, error) {
	n := Names{}
	for _, t := range tools {
		if t.Name == "" || len(t.Name) > 128 || strings.ContainsFunc(t.Name, func(r rune) bool { return !flatRune(r) && r != '.' }) {
			return nil, fmt.Errorf("%.80q cannot be the name of a tool: it has to be 1 to 128 of A-Z a-z 0-9 _ . -", t.Name)
		}
		flat := Flat(t.Name)
		if other := cmp.Or(n[t.Name], n[flat]); other != "" {
			return nil, fmt.Errorf("the tools %q and %q would both be called %q: rename one of them, or leave it out", other, t.Name, flat)
		}
		n[t.Name], n[flat] = t.Name, t.Name
	}
	return n, nil
}

// Canonical returns the canonical name for what a model wrote. What is no tool's name stays as it is.
func (n Names) Canonical(name string) string { return cmp.Or(n[name], name) }
