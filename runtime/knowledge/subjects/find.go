package subjects

import (
	"context"
	"os"
	"slices"
	"strings"
)

// Find finds subjects by their slugs. It looks only into the folders on the way
// to them, which costs next to nothing where a scan of the whole topic costs
// milliseconds. The tree has the subjects that [Scan] would give these slugs, the
// same in everything, and no others; it has no warnings.
//
// The answer is false where one of the slugs is no subject's, and where something
// cannot be read: a scan says then what there is. What a scan leaves out for there
// being too many files before it is found here all the same.
// The directory is the tree's from then on, if there is one.
func Find(ctx context.Context, root *os.Root, slugs []string) (*Tree, bool) {
	// A skill has the slug of its folder, so the slugs themselves are on the way.
	onTheWay := map[string]bool{}
	for _, slug := range slugs {
		if strings.Count(slug, "/") >= maxDepth {
			return nil, false
		}
		for i, c := range slug + "/" {
			if c == '/' {
				onTheWay[slug[:i]] = true
			}
		}
	}
	w := newWalker(root)
	w.enter = func(dir string) bool { return onTheWay[displayable(stripDots(dir))] }
	t, err := w.tree(ctx)
	if err != nil || w.incomplete {
		return nil, false
	}
	found := map[string]bool{}
	t.Subjects = slices.DeleteFunc(t.Subjects, func(s Subject) bool {
		found[s.Slug] = true
		return !slices.Contains(slugs, s.Slug)
	})
	t.Warnings = nil
	return t, !slices.ContainsFunc(slugs, func(slug string) bool { return !found[slug] })
}
