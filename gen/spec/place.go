package spec

import (
	"slices"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/tomlpos"
)

// Field is a value of a spec with the place it was written at, or, where it is not set,
// that of the table it would be in.
type Field[T any] struct {
	Value T
	Set   bool
	At    Place
}

// File is one TOML file as read.
type File struct {
	Name   string // slash-separated, relative to the project
	Source []byte
	// Unread marks a file that cannot be read at all.
	Unread bool
	index  *tomlpos.Index
	doubts []tomlpos.Path // of what a key or value that cannot be read may have been meant for
}

// Place is a position in a file: the file, and the path of a key or a value.
type Place struct {
	File *File
	Path tomlpos.Path
}

// Span is where a place stands in its file.
func (p Place) Span() diag.Span {
	if p.File == nil || p.File.index == nil {
		return diag.Span{}
	}
	return p.File.index.Lookup(p.Path)
}

// KeySpan is where the name of a place's key stands, for when the value is not
// the trouble.
func (p Place) KeySpan() diag.Span {
	if p.File != nil && p.File.index != nil {
		if span, ok := p.File.index.Key(p.Path); ok {
			return span
		}
	}
	return p.Span()
}

// FileName is the name of the place's file, for a diagnostic.
func (p Place) FileName() string {
	if p.File == nil {
		return ""
	}
	return p.File.Name
}

// Key is the place of a member of a table.
func (p Place) Key(name string) Place { return Place{p.File, p.Path.Key(name)} }

// Elem is the place of an item of an array.
func (p Place) Elem(i int) Place { return Place{p.File, p.Path.Elem(i)} }

// Doubtful reports whether more may have been meant to stand here than could be read.
// What is inside of a value that was read is no matter.
func (p Place) Doubtful() bool {
	return slices.ContainsFunc(p.File.doubts, func(path tomlpos.Path) bool { return slices.Equal(path, p.Path) })
}

// Sound reports whether nothing here, or inside of it, is doubtful.
func (p Place) Sound() bool {
	return !slices.ContainsFunc(p.File.doubts, func(path tomlpos.Path) bool {
		return len(path) >= len(p.Path) && slices.Equal(path[:len(p.Path)], p.Path)
	})
}

func (p Place) doubt() { p.File.doubts = append(p.File.doubts, p.Path) }
