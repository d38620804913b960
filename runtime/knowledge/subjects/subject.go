// Package subjects finds and reads the text files of a topic of knowledge.
//
// A file is only ever opened by the path that the scan of its topic's directory
// found, inside an [os.Root], and only read when it is a regular file: what a caller
// asks for is compared with what was found, and never becomes a path. The
// package writes nothing and opens no file through a link: a link to another file of the
// topic is that file under another name, as hidden and as disabled. Hard links
// and mounts cannot be told from files of the directory and are read like them.
package subjects

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/convtools/convtools/runtime/base/text"
)

// Subject is one file of a topic, also as people see it in JSON.
//
// Slugs and Name are fit to be shown on one line, and are what a reader can ask
// for: control characters, line breaks among them, are replaced by their
// pictures, bytes that are not UTF-8 by U+FFFD, and all are in the form NFC of
// Unicode. Quotes and markup stay.
type Subject struct {
	// Name is what listings call the subject. It is Slug, unless that means others
	// too: a visible subject that shares its slug with visible ones, and a hidden
	// one that shares it with any, are called by their Path. Files whose paths look
	// the same share that too, and are asked for together.
	Name string `json:"name"`
	// Slug is the name a subject is asked for by: PathSlug, or the folder's for a
	// SKILL.md in a folder whose slug is no other file's PathSlug. Several subjects
	// may share one.
	Slug string `json:"slug"`
	// Path is the file's path relative to the topic's directory, slash-separated,
	// as it is on disk: it may hold any byte but NUL and has to be sanitised where
	// it is shown.
	Path string `json:"path"`
	// PathSlug is Path without the leading dots of its components and without its
	// extension. It is what patterns for folders match.
	PathSlug string `json:"-"`
	// Target is the path of the file that is read where Path is a link; empty otherwise.
	Target string `json:"-"`
	Ext    string `json:"-"` // in lower case, without its dot
	// Hidden reports whether a component of Path, or of Target, begins with a dot: the subject is
	// not listed and matches no pattern, but can be asked for by its slug.
	Hidden bool `json:"hidden,omitempty"`
	// Skill reports whether the file is the SKILL.md of a folder that Slug names.
	Skill bool `json:"skill,omitempty"`

	// What the configuration says of the subject: whether it counts as not there, and
	// whether the assistant knows it from the start. Package match fills them in.
	Disabled bool `json:"disabled,omitempty"`
	Learned  bool `json:"learned,omitempty"`

	// What the beginning of the file says. [Tree.Look] fills it in.
	//
	// Description is what the front matter of a SKILL.md says it is for, on one
	// line of at most 1,024 characters.
	Description string `json:"description,omitempty"`
	Size        int64  `json:"size"`   // in bytes
	Tokens      int    `json:"tokens"` // an estimate: a quarter of the bytes; 0 for what cannot be loaded
	Kind
	// Problem says why nothing is known of the file: it may have been removed or
	// replaced since the scan.
	Problem string `json:"problem,omitempty"`
}

// Kind says why a file is not shown.
type Kind struct {
	// Binary reports whether the beginning of the file has a NUL byte, as UTF-16 text
	// does too.
	Binary bool `json:"binary,omitempty"`
	// TooLarge reports whether the file has more than [MaxSize] bytes and is not read.
	TooLarge bool `json:"too_large,omitempty"`
}

// skillFile is the file that makes its folder a skill, in this case only.
const skillFile = "SKILL.md"

// newSubject derives what a path says about a file. Slug and Name are those of a file
// that shares them with no other and is no skill; [nameAll] settles them.
func newSubject(path string) Subject {
	stem, ext := cutExt(path)
	slug := displayable(stripDots(stem))
	return Subject{Path: path, PathSlug: slug, Slug: slug, Name: slug, Ext: strings.ToLower(ext), Hidden: isHidden(path)}
}

// isHidden reports whether a component of the path begins with a dot. The slug cannot
// tell: it has lost its dots.
func isHidden(path string) bool {
	return strings.HasPrefix(path, ".") || strings.Contains(path, "/.")
}

// cutExt cuts a path before the last dot of its last component and returns what
// is on both sides. The dots that a name begins with begin no extension.
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

// displayable makes a name fit for one line of an answer. A reader asks for what
// the listing shows, so slugs are made of this and not of the name on disk:
// control characters, line breaks among them, become their pictures, what is not
// UTF-8 becomes U+FFFD and what reorders text its escape, all in the form NFC.
func displayable(name string) string {
	if strings.ContainsAny(name, "\t\n\r") {
		name = strings.NewReplacer("\t", "␉", "\n", "␊", "\r", "␍").Replace(name)
	}
	return NFC(text.Visible(name))
}

// NFC returns a name in the form of Unicode that names are compared in: file
// systems and keyboards choose between forms that look the same. What changes
// nothing else.
func NFC(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return norm.NFC.String(name)
		}
	}
	return name
}

// nameAll settles the slugs and names of all files of a topic, and sorts them by
// slug and then by path.
func nameAll(all []Subject) {
	nameSkills(all)
	slices.SortFunc(all, func(a, b Subject) int {
		return cmp.Or(strings.Compare(a.Slug, b.Slug), strings.Compare(a.Path, b.Path))
	})
	for first := 0; first < len(all); {
		visible, end := 0, first
		for ; end < len(all) && all[end].Slug == all[first].Slug; end++ {
			if !all[end].Hidden {
				visible++
			}
		}
		for i := first; i < end; i++ {
			s := &all[i]
			s.Name = s.Slug
			if s.Hidden && end-first > 1 || !s.Hidden && visible > 1 {
				s.Name = displayable(s.Path)
			}
		}
		first = end
	}
}

// nameSkills gives skills the slug of their folder, unless a file has it. The topic's
// directory is no folder of the topic.
func nameSkills(all []Subject) {
	taken := map[string]bool{}
	var skills []int
	for i := range all {
		taken[all[i].Slug] = true
		if strings.HasSuffix(all[i].Path, "/"+skillFile) {
			skills = append(skills, i)
		}
	}
	for _, i := range skills {
		s := &all[i]
		if slug := displayable(stripDots(strings.TrimSuffix(s.Path, "/"+skillFile))); !taken[slug] {
			s.Slug, s.Skill = slug, true
		}
	}
}
