// Package subjects finds and reads the text files of a topic of knowledge.
//
// A file is only ever opened by the path that the scan of its topic's directory
// found, inside an [os.Root], and only when it is a regular file: what a caller
// asks for is compared with what was found, and never becomes a path. The
// package writes nothing and follows no link out of the directory.
package subjects

// Subject is one file of a topic.
type Subject struct {
	// Path is the file's path relative to the topic's directory, as it is on disk,
	// slash-separated.
	Path string
	// PathSlug is Path without the leading dots of its components and without its
	// extension. It is what patterns for folders match.
	PathSlug string
	// Slug is the name a subject is asked for by: PathSlug, or the folder's for a
	// SKILL.md in a folder whose slug no other file has. Several subjects may share one.
	Slug string
	// Name is what listings call the subject. It is Slug, unless other subjects
	// have the same: then it is the slug with the extension, or the Path of a
	// hidden subject.
	Name string
	// Ext is the extension in lower case, without its dot.
	Ext string
	// Hidden says that a component of Path begins with a dot: the subject is not
	// listed and matches no pattern, but can be asked for by its slug.
	Hidden bool
	// Skill says that the file is the SKILL.md of a folder that Slug names.
	Skill bool
	// Description is what the front matter of a skill says it is for, on one line.
	Description string
}
