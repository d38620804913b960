package subjects

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Find finds subjects by their slugs. It looks only into the folders on the way
// to them, which costs next to nothing where a scan of the whole topic costs
// milliseconds. The tree has the subjects that [Scan] would give these slugs, the
// same in everything, and no others; it has no warnings.
//
// The answer is false where one of the slugs is no subject's, where only a scan
// can tell whose it is, and where something cannot be read: a scan says then what
// there is. What a scan leaves out for there being too many files before it is
// found here all the same.
// The directory is the tree's from then on, if there is one.
func Find(ctx context.Context, root *os.Root, slugs []string) (*Tree, bool) {
	f := finder{
		walker:  walker{root: root, maxEntries: maxEntries},
		folders: map[string][]fs.DirEntry{},
		links:   map[string][]string{},
	}
	var all []Subject
	for i, slug := range slugs {
		if slices.Contains(slugs[:i], slug) {
			continue
		}
		paths := f.find(slug)
		if len(paths) == 0 || f.failed || ctx.Err() != nil {
			return nil, false
		}
		for _, path := range paths {
			all = append(all, newSubject(path, f.links[path]))
		}
	}
	nameAll(all)
	return &Tree{Subjects: all, root: root}, true
}

// finder looks for slugs, and remembers the folders that it looked into.
type finder struct {
	walker  walker
	folders map[string][]fs.DirEntry
	links   map[string][]string // targets of those that are found, by path
	// failed says that a folder could not be read, or that there is more in the
	// folders than may be looked at.
	failed bool
}

// find returns the paths of all files that have a slug, or none where a scan has
// to tell.
func (f *finder) find(slug string) []string {
	if strings.Count(slug, "/") >= maxDepth {
		return nil
	}
	components := strings.Split(slug, "/")
	last := len(components) - 1
	if components[last]+".md" == skillFile {
		// A SKILL.md has this slug only where its folder's belongs to another file.
		return nil
	}
	folders := []string{""}
	for _, component := range components[:last] {
		folders = f.below(folders, component)
	}
	var paths []string
	for _, folder := range folders {
		paths = append(paths, f.files(folder, func(name string) bool {
			stem, _ := cutExt(name)
			return displayable(stripDots(stem)) == components[last]
		})...)
	}
	if len(paths) > 0 || len(components) == maxDepth {
		return paths
	}
	// A skill has the slug of its folder when no file has it.
	for _, folder := range f.below(folders, components[last]) {
		paths = append(paths, f.files(folder, func(name string) bool { return name == skillFile })...)
	}
	return paths
}

// below returns the directories in folders that a component of a slug may stand
// for: it has lost its leading dots.
func (f *finder) below(folders []string, component string) []string {
	var found []string
	for _, folder := range folders {
		for _, e := range f.entries(folder) {
			if e.IsDir() && displayable(stripDots(e.Name())) == component {
				found = append(found, folder+e.Name()+"/")
			}
		}
	}
	return found
}

// files returns the paths of the files in a folder that are wanted.
func (f *finder) files(folder string, wanted func(name string) bool) []string {
	var paths []string
	for _, e := range f.entries(folder) {
		if e.IsDir() || !wanted(e.Name()) {
			continue
		}
		path := folder + e.Name()
		if e.Type()&fs.ModeSymlink != 0 {
			targets, refused := follow(f.walker.root, path)
			if refused != "" {
				continue
			}
			f.links[path] = targets
		} else if !e.Type().IsRegular() {
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

// entries returns what is in a folder, whose path ends in a slash unless it is
// the topic's directory.
func (f *finder) entries(folder string) []fs.DirEntry {
	entries, known := f.folders[folder]
	if known || f.failed {
		return entries
	}
	dir := "."
	if folder != "" {
		dir = strings.TrimSuffix(folder, "/")
	}
	entries, err := f.walker.list(dir)
	if err != nil || f.walker.entries > f.walker.maxEntries {
		f.failed = true
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" })
	f.folders[folder] = entries
	return entries
}
