// Package subjects finds and reads the text files of a topic of knowledge.
//
// A file is only ever opened by the path that the scan of its topic's directory
// found, inside an [os.Root], and only read when it is a regular file: what a caller
// asks for is compared with what was found, and never becomes a path. The
// package writes nothing and follows no link out of the directory. Hard links
// and mounts cannot be told from files of the directory and are read like them.
package subjects

import (
	"cmp"
	"slices"
	"strings"
)

// Subject is one file of a topic.
//
// Slugs and Name are fit to be shown on one line, and are what a reader can ask
// for: control characters, line breaks among them, are replaced by their
// pictures, bytes that are not UTF-8 by U+FFFD, and all are in the form NFC of
// Unicode. Quotes and markup stay.
type Subject struct {
	// Path is the file's path relative to the topic's directory, slash-separated,
	// as it is on disk: it may hold any byte but NUL and has to be sanitised where
	// it is shown.
	Path string
	// PathSlug is Path without the leading dots of its components and without its
	// extension. It is what patterns for folders match.
	PathSlug string
	// Slug is the name a subject is asked for by: PathSlug, or the folder's for a
	// SKILL.md in a folder whose slug is no other file's PathSlug. Several subjects
	// may share one.
	Slug string
	// Name is what listings call the subject. It is Slug, unless that means others
	// too: a visible subject that shares its slug with visible ones, and a hidden
	// one that shares it with any, are called by their Path. Files whose paths look
	// the same share that too, and are asked for together.
	Name string
	// Ext is the extension in lower case, without its dot.
	Ext string
	// Hidden reports whether a component of Path or of a target's begins with a dot: the
	// subject is not listed and matches no pattern, but can be asked for by its slug.
	Hidden bool
	// Targets are the files that a link leads to: one, or several where one file has several
	// names. What holds for one of them holds for the link: a file
	// cannot be disabled and be read by another name. They have all names that the
	// files may have: Name is the path, and Slug the folder's for every SKILL.md.
	Targets []Subject
	// Skill reports whether the file is the SKILL.md of a folder that Slug names.
	Skill bool
	// Description is what the front matter of a SKILL.md says it is for, on one
	// line of at most 1,024 characters. [Tree.Describe] fills it in.
	Description string
}

// file is the path of what is read: the file itself, and not a link to it.
func (s *Subject) file() string {
	if n := len(s.Targets); n > 0 {
		return s.Targets[n-1].Path
	}
	return s.Path
}

// nameAll settles the slugs and names of all files of a topic, and sorts them by
// slug and then by path.
func nameAll(all []Subject) {
	slices.SortFunc(all, bySlug)
	nameSkills(all)
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

// nameSkills gives skills the slug of their folder. The files are sorted by slug,
// before and after.
func nameSkills(all []Subject) {
	slugs := make(map[int]string)
	for i := range all {
		slug := folderSlug(all[i].Path)
		if slug == "" {
			continue
		}
		if _, taken := slices.BinarySearchFunc(all, slug, func(s Subject, slug string) int {
			return strings.Compare(s.Slug, slug)
		}); !taken {
			slugs[i] = slug
		}
	}
	if len(slugs) == 0 {
		return
	}
	for i, slug := range slugs {
		all[i].Slug, all[i].Skill = slug, true
	}
	slices.SortFunc(all, bySlug)
}

func bySlug(a, b Subject) int {
	return cmp.Or(strings.Compare(a.Slug, b.Slug), strings.Compare(a.Path, b.Path))
}
