package spec

import (
	"slices"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/tomlpos"
)

// Field is a value of a spec and its place. If the value is not set, the place is that of the enclosing table.
type Field[T any] struct {
	Value T
	Set   bool
	At    Place
}

// File is a TOML file of a project.
type File struct {
	Name   string // slash-separated, relative to the project
	Source []byte // nil if the file could not be read
	Unread bool   // the file could not be read or is no TOML
	index  *tomlpos.Index
	doubts []tomlpos.Path // paths that an unreadable key or value may have been meant for
}

// Place is a position in a file: the file, and the path of a key or a value.
type Place struct {
	File *File
	Path tomlpos.Path
}

// Span returns the position of the value in its file, or the zero Span if it is unknown.
func (p Place) Span() diag.Span {
	if p.File == nil || p.File.index == nil {
		return diag.Span{}
	}
	return p.File.index.Lookup(p.Path)
}

// KeySpan returns the position of the key, for a diagnostic that is not about the value. Without a key it returns
// [Place.Span].
func (p Place) KeySpan() diag.Span {
	if p.File != nil && p.File.index != nil {
		if span, ok := p.File.index.Key(p.Path); ok {
			return span
		}
	}
	return p.Span()
}

// FileName returns the name of the file, or "".
func (p Place) FileName() string {
	if p.File == nil {
		return ""
	}
	return p.File.Name
}

// Key returns the place of a member of a table.
func (p Place) Key(name string) Place { return Place{p.File, p.Path.Key(name)} }

// Elem returns the place of an item of an array.
func (p Place) Elem(i int) Place { return Place{p.File, p.Path.Elem(i)} }

// Doubtful reports whether a key or value that could not be read may have been meant for this very place. [Place.Sound]
// also considers the places inside this one.
func (p Place) Doubtful() bool {
	return slices.ContainsFunc(p.File.doubts, func(path tomlpos.Path) bool { return slices.Equal(path, p.Path) })
}

// Sound reports whether neither this place nor anything inside it is doubtful.
func (p Place) Sound() bool {
	return !slices.ContainsFunc(p.File.doubts, func(path tomlpos.Path) bool {
		return len(path) >= len(p.Path) && slices.Equal(path[:len(p.Path)], p.Path)
	})
}

// markDoubtful makes the place doubtful: an unreadable key or value may have been meant for it.
func (p Place) markDoubtful() { p.File.doubts = append(p.File.doubts, p.Path) }
