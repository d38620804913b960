// Package subjects finds and reads the text files of a topic of knowledge.
//
// It opens a file only by the path that the scan found, inside an [os.Root], and reads only regular files: names from
// a caller are compared with that list and never become paths. The package writes nothing and opens no file through a
// link: a link to another file of the topic is that file under another name, as hidden and as disabled. Hard links
// and mounts look like files of the directory and are read like them.
package subjects

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/convtools/convtools/runtime/base/text"
)

// Subject is one file of a topic. Its JSON is for people.
//
// Slugs and Name are visible text on one line, and a reader can ask for them: control characters are replaced by
// their pictures and bytes that are not UTF-8 by U+FFFD, in the form NFC of Unicode. Quotes and markup stay.
type Subject struct {
	// Name is the name in lists. It is Slug, unless others have the same slug: then a visible subject that shares it
	// with visible ones, and a hidden one that shares it with any, has its Path as name. Files whose paths look the
	// same share that too, and are loaded together.
	Name string `json:"name"`
	// Slug is PathSlug, or the folder's slug for a SKILL.md if no other file has that as its PathSlug. Several
	// subjects may share one.
	Slug string `json:"slug"`
	// Path is the path relative to the topic's directory, with slashes, as on disk. It may have any byte except NUL,
	// and must be made visible before it is shown.
	Path string `json:"path"`
	// PathSlug is Path without the leading dots of its components and without its extension. Patterns for folders
	// match it.
	PathSlug string `json:"-"`
	// Target is the path of the file that Path links to; empty if Path is no link.
	Target string `json:"-"`
	Ext    string `json:"-"` // in lower case, without the dot
	// Hidden reports whether a component of Path or of Target begins with a dot. A hidden subject is not listed and
	// matches no pattern, but can be loaded by its slug.
	Hidden bool `json:"hidden,omitempty"`
	// Skill reports whether the file is the SKILL.md of a folder that Slug names.
	Skill bool `json:"skill,omitempty"`

	// Disabled subjects do not exist for readers, and Learned ones are in the prompt from the start. [Tree.Configure] fills
	// them in.
	Disabled bool `json:"disabled,omitempty"`
	Learned  bool `json:"learned,omitempty"`

	// [Tree.Look] fills in the following fields from the beginning of the file.
	//
	// Description is the description in the front matter of a SKILL.md, on one line of at most 1,024 characters.
	Description string `json:"description,omitempty"`
	Size        int64  `json:"size"`   // in bytes
	Tokens      int    `json:"tokens"` // an estimate: a quarter of the bytes; 0 if it cannot be loaded
	Kind
	// Problem is the reason if the file could not be read: it may have been removed or replaced since the scan.
	Problem string `json:"problem,omitempty"`
}

// Kind is the reason if a file is not shown.
type Kind struct {
	// Binary reports whether the beginning of the file has a NUL byte, as UTF-16 has too.
	Binary bool `json:"binary,omitempty"`
	// TooLarge reports whether the file has more than [MaxSize] bytes.
	TooLarge bool `json:"too_large,omitempty"`
}

// skillFile is the name of the file that makes its folder a skill, in this case only.
const skillFile = "SKILL.md"

// newSubject returns the subject of a path. [nameAll] corrects Slug and Name for files that share them and for
// skills.
func newSubject(path string) *Subject {
	stem, ext := cutExt(path)
	slug := displayable(stripDots(stem))
	return &Subject{Path: path, PathSlug: slug, Slug: slug, Name: slug, Ext: strings.ToLower(ext), Hidden: isHidden(path)}
}

// isHidden reports whether a component of the path begins with a dot. The slug has lost its dots.
func isHidden(path string) bool {
	return strings.HasPrefix(path, ".") || strings.Contains(path, "/.")
}

// cutExt splits a path at the last dot of its last component. Dots at the beginning of the component begin no
// extension.
func cutExt(path string) (stem, ext string) {
	start := strings.LastIndexByte(path, '/') + 1
	name := path[start:]
	leading := len(name) - len(strings.TrimLeft(name, "."))
	dot := strings.LastIndexByte(name, '.')
	if dot < leading {
		return path, ""
	}
	return path[:start+dot], name[dot+1:]
}

// stripDots removes the dots that components begin with. A component of nothing
// but dots stays, because a slug has no empty components.
func stripDots(path string) string {
	if !isHidden(path) {
		return path
	}
	components := strings.Split(path, "/")
	for i, c := range components {
		components[i] = cmp.Or(strings.TrimLeft(c, "."), c)
	}
	return strings.Join(components, "/")
}

// displayable returns a name as visible text on one line, in the form NFC. Slugs are made of it, because a reader
// asks for the name in the list: control characters become their pictures, bytes that are not UTF-8 become U+FFFD,
// and characters that reorder text become escapes.
func displayable(name string) string {
	if strings.ContainsAny(name, "\t\n\r") {
		name = strings.NewReplacer("\t", "␉", "\n", "␊", "\r", "␍").Replace(name)
	}
	return NFC(text.Visible(name))
}

// NFC returns a name in the Unicode form NFC, in which names are compared: file systems and keyboards choose between
// forms that look the same.
func NFC(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return norm.NFC.String(name)
		}
	}
	return name
}

// nameAll sets the slugs and names of all files of a topic, and sorts the files by slug and path.
func nameAll(all []*Subject) {
	nameSkills(all)
	slices.SortFunc(all, func(a, b *Subject) int {
		return cmp.Or(strings.Compare(a.Slug, b.Slug), strings.Compare(a.Path, b.Path))
	})
	files, visible := map[string]int{}, map[string]int{} // by slug
	for _, s := range all {
		files[s.Slug]++
		if !s.Hidden {
			visible[s.Slug]++
		}
	}
	for _, s := range all {
		s.Name = s.Slug
		if s.Hidden && files[s.Slug] > 1 || !s.Hidden && visible[s.Slug] > 1 {
			s.Name = displayable(s.Path)
		}
	}
}

// nameSkills sets the slug of a skill to that of its folder, unless a file has it. The topic's directory is not such
// a folder.
func nameSkills(all []*Subject) {
	taken := map[string]bool{}
	for _, s := range all {
		taken[s.PathSlug] = true
	}
	for _, s := range all {
		if folder, ok := strings.CutSuffix(s.Path, "/"+skillFile); ok && !taken[displayable(stripDots(folder))] {
			s.Slug, s.Skill = displayable(stripDots(folder)), true
		}
	}
}
