package knowledge

import (
	"cmp"
	"context"
	"errors"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// Check reads everything there is and returns what keeps subjects from being learned:
// first about the configuration, then topic by topic. The error is that of the context.
func (b *Base) Check(ctx context.Context) ([]Finding, error) {
	found := fromConfig(b.config.Warnings)
	for _, config := range b.enabled() {
		fs := &findings{topic: config, count: map[string]int{}}
		if err := b.checkTopic(ctx, fs); err != nil {
			return nil, err
		}
		found = append(found, fs.sorted()...)
	}
	return found, nil
}

func (b *Base) checkTopic(ctx context.Context, fs *findings) error {
	t, err := b.scan(ctx, fs.topic)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var directory *DirectoryError
	if errors.As(err, &directory) {
		fs.config(RuleDirectory, diag.Error, fs.topic.SubjectsAt, cmp.Or(directory.Hint, "create the directory, or correct subjects"),
			"topic %q cannot be learned: %s", fs.topic.ID, directory.problem())
		return nil
	}
	if err != nil {
		return err
	}
	defer t.close()
	for _, w := range t.tree.Warnings {
		what := quoteName(w.Path)
		if w.Path == "." {
			what = "the directory"
		}
		fs.file(RuleLeftOut, diag.Warning, w.Path, 0, "", "%s %s", what, oneLine(w.Reason))
	}
	t.checkPatterns(fs)
	t.checkSlugs(fs)
	known := t.targets()
	for i := range t.tree.Subjects {
		if t.set.Disabled(i) {
			continue
		}
		s := &t.tree.Subjects[i]
		content, err := t.tree.Read(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fs.file(RuleUnreadable, diag.Error, s.Path, 0, "", "%s could not be read: %s", quoteName(s.Name), cause(err))
			continue
		}
		t.checkContent(fs, i, content)
		if isMarkdown(s.Ext) {
			t.checkLinks(fs, known, i, content.Text)
		}
	}
	return nil
}

// checkSlugs finds files that cannot be told apart by their slug.
func (t *topic) checkSlugs(fs *findings) {
	all := t.tree.Subjects
	for first := 0; first < len(all); {
		var visible, hidden []string
		end := first
		for ; end < len(all) && all[end].Slug == all[first].Slug; end++ {
			s := &all[end]
			if t.set.Disabled(end) {
				continue
			}
			if s.Hidden {
				hidden = append(hidden, quoteName(s.Path))
			} else {
				visible = append(visible, quoteName(s.Path))
			}
		}
		path := all[first].Path
		switch {
		case len(visible) > 1:
			fs.file(RuleCollision, diag.Warning, path, 0, "rename all but one", "%s files have the slug %s, which loads them together: %s",
				text.Number(len(visible)), quoteName(all[first].Slug), listed(visible))
		case len(hidden) > 1 || len(hidden) > 0 && len(visible) > 0:
			fs.file(RuleCollision, diag.Warning, path, 0, "rename all but one", "hidden files share the slug %s and can be told apart by path only: %s",
				quoteName(all[first].Slug), listed(append(visible, hidden...)))
		}
		first = end
	}
}

// checkContent finds what keeps a subject from being loaded.
func (t *topic) checkContent(fs *findings, i int, c subjects.Content) {
	s := &t.tree.Subjects[i]
	switch {
	case c.TooLarge:
		fs.file(RuleTooLarge, diag.Error, s.Path, 0, "split the file, or disable it", "%s has %s, which is over the limit of %s: it cannot be loaded", quoteName(s.Name), megabytes(c.Size), largest())
	case c.Binary && t.set.Learned(i):
		fs.file(RuleUnreadable, diag.Error, s.Path, 0, "remove it from learned", "%s is binary and cannot be loaded", quoteName(s.Name))
	case s.Skill:
		description, err := subjects.DescriptionOf([]byte(c.Text))
		hint, why := "begin the file with front matter that says when to use it: description: …", ""
		if err != nil {
			hint, why = "quote the values in it: description: \"…\"", ": "+err.Error()
		}
		if description == "" {
			fs.file(RuleSkill, diag.Warning, s.Path, 0, hint, "skill %s has no description%s", quoteName(s.Name), why)
		}
	}
}
