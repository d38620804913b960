package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// maxFlat is the length of the longest flat name.
const maxFlat = 64

// Flat returns the flat name of a tool, such as conv_create for conv.create. OpenAI allows ^[a-zA-Z0-9_-]{1,64}$ for the
// name of a function, which is less than MCP. Other characters become underscores, and a long name ends in a checksum.
func Flat(name string) string {
	flat := strings.Map(func(r rune) rune {
		if isFlat(r) {
			return r
		}
		return '_'
	}, name)
	if len(flat) > maxFlat {
		sum := sha256.Sum256([]byte(name))
		flat = flat[:maxFlat-9] + "_" + hex.EncodeToString(sum[:4])
	}
	return cmp.Or(flat, "_")
}

func isFlat(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-'
}

// Names maps the canonical and the flat names of tools to the canonical ones. Models may use either.
type Names map[string]string

// NamesOf returns the names of tools. It returns an error if MCP does not allow a name (SEP-986), or if two tools have
// the same name.
func NamesOf(tools []Tool) (Names, error) {
	n := Names{}
	for _, t := range tools {
		if t.Name == "" || len(t.Name) > 128 || strings.ContainsFunc(t.Name, func(r rune) bool { return !isFlat(r) && r != '.' }) {
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

// Canonical returns the canonical name for a name from a model, or the name itself for an unknown tool.
func (n Names) Canonical(name string) string { return cmp.Or(n[name], name) }
