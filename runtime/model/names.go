package model

import (
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

// Names is the tools of a request by all their names.
type Names struct {
	canonical map[string]string
}

// NamesOf returns the names of tools. The error is a [*NameError].
func NamesOf(tools []Tool) (Names, error) {
	n := Names{canonical: make(map[string]string, 2*len(tools))}
	for _, t := range tools {
		if !validName(t.Name) {
			return Names{}, &NameError{Name: t.Name}
		}
		for _, name := range []string{t.Name, Flat(t.Name)} {
			if other, taken := n.canonical[name]; taken {
				return Names{}, &NameError{Name: t.Name, Other: other, Wire: name}
			}
		}
		n.canonical[t.Name], n.canonical[Flat(t.Name)] = t.Name, t.Name
	}
	return n, nil
}

// Canonical returns the canonical name for what a model wrote. What is no tool's name stays as it is.
func (n Names) Canonical(name string) string {
	if canonical, ok := n.canonical[name]; ok {
		return canonical
	}
	return name
}

// NameError is the error for tools that cannot be offered together.
type NameError struct {
	Name  string // of the tool
	Other string // of the tool that has the name already, or empty where Name itself is not allowed
	Wire  string // what both would be called
}

func (e *NameError) Error() string {
	if e.Other == "" {
		return fmt.Sprintf("%.80q cannot be the name of a tool: it has to be 1 to 128 of A-Z a-z 0-9 _ - .", e.Name)
	}
	if e.Other == e.Name {
		return fmt.Sprintf("two tools are called %q", e.Name)
	}
	return fmt.Sprintf("the tools %q and %q would both be called %q: rename one of them, or leave it out", e.Other, e.Name, e.Wire)
}

// validName reports whether MCP allows a name (SEP-986).
func validName(name string) bool {
	if name == "" || len(name) > 128 {
		return false
	}
	for _, r := range name {
		if !flatRune(r) && r != '.' {
			return false
		}
	}
	return true
}
