// Package subjects finds and reads the text files of a topic of knowledge.
//
// It opens a file only by the path that the scan found, inside an [os.Root], and reads only regular files: names from
// a caller are compared with that list and never become paths. The package writes nothing and opens no file through a
// link: a link to another file of the topic is that file under another name, as hidden and as disabled. Hard links
// and mounts look like files of the directory and are read like them.
package subjects

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/convtools/convtools/runtime/base/text"
)

// Subject is one file of a topic. Its JSON is for people.
//
// Slug, PathSlug and Name are visible text on one line, made by [displayable]. A reader can ask for a subject by each
// of them. Quotes and markup stay in them.
type Subject struct {
	// Name is the name in lists: Slug, or Path if other subjects have the same slug. For a visible subject, only other
	// visible subjects count. Subjects whose paths look the same have the same Name, and are loaded together.
	Name string `json:"name"`
	// Slug is PathSlug. For a SKILL.md it is the slug of the folder, unless that is the PathSlug of another file.
	// Several subjects may have the same slug.
	Slug string `json:"slug"`
	// Path is the path relative to the topic's directory, with slashes, as on disk. It may have any byte except NUL,
	// and must be made visible before it is shown.
	Path string `json:"path"`
	// PathSlug is Path without the leading dots of its components and without its extension. Patterns for folders
	// match it.
	PathSlug string `json:"-"`
	Target   string `json:"-"` // the path of the file that Path links to; empty if Path is no link
	Ext      string `json:"-"` // in lower case, without the dot
	// Hidden is set if a component of Path or of Target begins with a dot. A hidden subject is not listed and matches no
	// glob, but can be loaded by its names.
	Hidden bool `json:"hidden,omitempty"`
	Skill  bool `json:"skill,omitempty"` // the file is the SKILL.md of a folder that Slug names

	// [Tree.Configure] sets Disabled and Learned. A disabled subject does not exist for readers. A learned subject is in
	// the system prompt from the start, or recommended.
	Disabled bool `json:"disabled,omitempty"`
	Learned  bool `json:"learned,omitempty"`

	// [Tree.Look] sets the following fields from the beginning of the file.
	//
	// Description is the description in the front matter of a SKILL.md, on one line of at most 1,024 characters.
	Description string `json:"description,omitempty"`
	Size        int64  `json:"size"`   // in bytes
	Tokens      int    `json:"tokens"` // an estimate: a quarter of the bytes; 0 if the file cannot be loaded
	Kind
	Problem string `json:"problem,omitempty"` // why the file could not be read; it may have been removed since the scan
}

// Kind is the reason why a file is not shown; the zero value is for a file that can be shown.
type Kind struct {
	Binary   bool `json:"binary,omitempty"`    // the beginning of the file has a NUL byte, as a text in UTF-16 has too
	TooLarge bool `json:"too_large,omitempty"` // the file has more than [MaxSize] bytes
}

// skillFile is the name of the file that makes its folder a skill, in this case only.
const skillFile = "SKILL.md"

// newSubject returns the subject of the file at a path. It sets Slug and Name to PathSlug; [nameAll] then changes the
// Slug of a skill, and the Name of a subject that shares its Slug.
func newSubject(path string) *Subject {
	stem, ext := cutExt(path)
	slug := displayable(stripDots(stem))
	return &Subject{Path: path, PathSlug: slug, Slug: slug, Name: slug, Ext: strings.ToLower(ext), Hidden: isHidden(path)}
}

// isHidden reports whether a component of a path begins with a dot.
func isHidden(path string) bool {
	return strings.HasPrefix(path, ".") || strings.Contains(path, "/.")
}

// cutExt splits a path at the last dot of its last component. Dots at the beginning of that component do not begin an
// extension.
func cutExt(file string) (stem, ext string) {
	ext = path.Ext(strings.TrimLeft(path.Base(file), "."))
	return strings.TrimSuffix(file, ext), strings.TrimPrefix(ext, ".")
}

// stripDots removes the dots that components begin with. A component of nothing but dots stays, because a slug has no
// empty components.
func stripDots(path string) string {
	components := strings.Split(path, "/")
	for i, c := range components {
		components[i] = cmp.Or(strings.TrimLeft(c, "."), c)
	}
	return strings.Join(components, "/")
}

// displayable returns a name as visible text on one line, in the Unicode form NFC, so that a reader can ask for a
// subject by the name that a list shows. Control characters become their pictures, bytes that are not UTF-8 become
// U+FFFD, and characters that reorder text become escapes.
func displayable(name string) string {
	if strings.ContainsAny(name, "\t\n\r") {
		name = strings.NewReplacer("\t", "␉", "\n", "␊", "\r", "␍").Replace(name)
	}
	return NFC(text.Visible(name))
}

// NFC returns a name in the Unicode form NFC. Names are compared in this form, because file systems and keyboards use
// different forms that look the same.
func NFC(name string) string { return norm.NFC.String(name) }

// nameAll sets Slug and Skill of skills and Name of all subjects of a topic, and sorts the subjects by Slug and Path.
// The name is the slug or, if other subjects have the same slug, the path. For the name of a visible subject, only
// other visible subjects count.
func nameAll(subjects []*Subject) {
	nameSkills(subjects)
	slices.SortFunc(subjects, func(a, b *Subject) int {
		return cmp.Or(strings.Compare(a.Slug, b.Slug), strings.Compare(a.Path, b.Path))
	})
	count, visibleCount := map[string]int{}, map[string]int{} // by slug
	for _, s := range subjects {
		count[s.Slug]++
		if !s.Hidden {
			visibleCount[s.Slug]++
		}
	}
	for _, s := range subjects {
		namesakes := visibleCount[s.Slug]
		if s.Hidden {
			namesakes = count[s.Slug]
		}
		s.Name = s.Slug
		if namesakes > 1 {
			s.Name = displayable(s.Path)
		}
	}
}

// nameSkills sets Skill and Slug of each SKILL.md: the slug is that of the folder around it. It leaves out a SKILL.md in
// the topic's directory, and a SKILL.md whose folder has the slug of another file.
func nameSkills(subjects []*Subject) {
	isFile := map[string]bool{}
	for _, s := range subjects {
		isFile[s.PathSlug] = true
	}
	for _, s := range subjects {
		folder, inFolder := strings.CutSuffix(s.Path, "/"+skillFile)
		if slug := displayable(stripDots(folder)); inFolder && !isFile[slug] {
			s.Slug, s.Skill = slug, true
		}
	}
}
