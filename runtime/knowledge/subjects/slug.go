package subjects

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/convtools/convtools/runtime/base/text"
)

// skillFile is the file that makes its folder a skill, in this case only.
const skillFile = "SKILL.md"

// newSubject derives what a path says about a file, and if it is that of a link,
// the paths that it leads to. Slug and Name are those of a file that shares them
// with no other and is no skill; [nameAll] settles them.
func newSubject(path string, targets []string) Subject {
	s := Subject{Path: path, Hidden: isHidden(path)}
	stem, ext := cutExt(path)
	s.PathSlug = displayable(stripDots(stem))
	s.Ext = strings.ToLower(ext)
	s.Slug = s.PathSlug
	s.Name = s.PathSlug
	for _, path := range targets {
		target := newSubject(path, nil)
		target.Name = displayable(path)
		if folder := folderSlug(path); folder != "" {
			target.Slug = folder
		}
		s.Targets = append(s.Targets, target)
		s.Hidden = s.Hidden || target.Hidden
	}
	return s
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
		if stripped := strings.TrimLeft(c, "."); stripped != "" {
			components[i] = stripped
		}
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

// folderSlug is the slug that a skill has from its folder, or nothing for a path
// that is no skill. The topic's directory is no folder of the topic.
func folderSlug(path string) string {
	folder, ok := strings.CutSuffix(path, "/"+skillFile)
	if !ok {
		return ""
	}
	return displayable(stripDots(folder))
}

// hasFrontMatter reports whether front matter is looked for in a file.
func hasFrontMatter(path string) bool {
	return path == skillFile || strings.HasSuffix(path, "/"+skillFile)
}
