package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// Check reads everything there is and returns what its authors should know: first
// about the configuration, then topic by topic. tool is the one whose description
// carries the menu of topics. The error is that of the context.
func (b *Base) Check(ctx context.Context, tool contract.Tool) ([]Finding, error) {
	found := fromConfig(b.config.Warnings)
	offered, _ := b.offered(ctx) // Directories that cannot be read are found below.
	found = append(found, checkBudget(offered, tool)...)

	m, err := b.mentions(ctx)
	if err != nil {
		return nil, err
	}
	checked := map[string]*findings{}
	for _, config := range b.enabled() {
		fs := &findings{topic: config, count: map[string]int{}}
		checked[config.ID] = fs
		if err := b.checkTopic(ctx, fs, m); err != nil {
			return nil, err
		}
	}
	m.unmentioned(func(n node, slug string) {
		checked[n.topic].file(RuleUnmentioned, diag.Warning, n.path, 0,
			"name it in a listed subject, disable it, or remove the dot from its path, which lists it",
			"nobody can find hidden subject %s: no listed subject names it", quoteName(slug))
	})
	for _, config := range b.enabled() {
		found = append(found, checked[config.ID].sorted()...)
	}
	return found, nil
}

// mentions expects the hidden subjects of all topics that somebody has to find
// out about, and reads what is said to everybody.
func (b *Base) mentions(ctx context.Context) (*mentions, error) {
	m := newMentions()
	for _, config := range b.enabled() {
		t, err := b.scan(ctx, config)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // This is reported when the topic is checked.
		}
		for i := range t.tree.Subjects {
			if s := &t.tree.Subjects[i]; s.Hidden && !t.set.Disabled(i) && !t.set.Learned(i) {
				m.expect(t.ID, s)
			}
		}
		t.close()
	}
	for _, config := range b.enabled() {
		m.text(config.ID, anyListed, config.Introduction+"\n"+config.Description)
	}
	return m, nil
}

func checkBudget(offered []*kbconfig.Topic, tool contract.Tool) []Finding {
	menu := fitMenu(offered, MCPDescription-used(tool))
	var lost []string
	for _, part := range []struct {
		n    int
		what string
	}{{menu.introductions, "introductions"}, {menu.titles, "titles"}, {menu.ids, "topics"}} {
		if part.n > 0 {
			lost = append(lost, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return []Finding{{Diagnostic: diag.Diagnostic{
		Rule: RuleBudget, Severity: diag.Warning,
		Message: fmt.Sprintf("the description of %s has no room for %s: hosts cut it at %s characters", tool.Name, strings.Join(lost, ", "), text.Number(MCPDescription)),
		Hint:    "shorten introductions and titles; what the last topics have is left out first",
	}}}
}

func (b *Base) checkTopic(ctx context.Context, fs *findings, m *mentions) error {
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
	if fs.topic.Outside == "" && b.isOutside(fs.topic) {
		fs.config(RuleOutside, diag.Warning, fs.topic.SubjectsAt, "put the files into the workspace, or make sure that everybody who uses it has them there",
			"the directory of topic %q, %s, is a link out of the workspace", fs.topic.ID, oneLine(fs.topic.Subjects))
	}
	for _, w := range t.tree.Warnings {
		what := quoteName(w.Path)
		if w.Path == "." {
			what = "the directory"
		}
		fs.file(RuleLeftOut, diag.Warning, w.Path, 0, "", "%s %s", what, oneLine(w.Reason))
	}
	t.checkPatterns(ctx, fs)
	t.checkSlugs(fs)
	t.checkLinked(fs)
	t.checkSkills(fs)
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
		source := m.source(t.ID, s.Path)
		m.text(t.ID, source, content.Text)
		if isMarkdown(s.Ext) {
			t.checkLinks(fs, known, i, content.Text, func(path string) { m.link(t.ID, source, path) })
		}
	}
	return nil
}

// checkSlugs finds files that cannot be told apart by their slug, and slugs that
// are not what somebody expects.
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
			if s.Ext != "" && strings.Trim(s.Ext, "0123456789") == "" {
				fs.file(RuleExtension, diag.Warning, s.Path, 0, "add an extension such as .md", "%q is taken for an extension: the slug is %s", s.Ext, quoteName(s.Slug))
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

// checkLinked finds links that lead to what is not offered, and so are not
// offered either.
func (t *topic) checkLinked(fs *findings) {
	byPath := map[string]int{}
	for i := range t.tree.Subjects {
		byPath[t.tree.Subjects[i].Path] = i
	}
	for i := range t.tree.Subjects {
		s := &t.tree.Subjects[i]
		for _, target := range s.Targets {
			to, ok := byPath[target.Path]
			switch {
			case !ok:
				continue
			case t.set.Disabled(i) && t.set.Disabled(to):
				fs.file(RuleHiddenTarget, diag.Note, s.Path, 0, "remove the link, or enable what it leads to", "%s is a link to a disabled subject, %s, and so disabled", quoteName(s.Path), quoteName(target.Path))
			case !t.set.Disabled(i) && t.tree.Subjects[to].Hidden && !strings.Contains("/"+s.Path, "/."):
				fs.file(RuleHiddenTarget, diag.Warning, s.Path, 0, "put the file where the link is", "%s is a link to a hidden subject, %s, and so hidden", quoteName(s.Path), quoteName(target.Path))
			default:
				continue
			}
			break
		}
	}
}

// isOutside reports whether a topic's directory is not in the workspace, but behind a
// link. What cannot be found out is not said.
func (b *Base) isOutside(t *kbconfig.Topic) bool {
	root, err := filepath.EvalSymlinks(b.config.Root)
	if err != nil {
		return false
	}
	dir, err := filepath.EvalSymlinks(b.dir(t))
	if err != nil {
		return false
	}
	below, err := filepath.Rel(root, dir)
	return err != nil || !filepath.IsLocal(below)
}

// checkContent finds what keeps a subject from being read as it was meant.
func (t *topic) checkContent(fs *findings, i int, c subjects.Content) {
	s := &t.tree.Subjects[i]
	switch {
	case c.TooLarge:
		fs.file(RuleTooLarge, diag.Error, s.Path, 0, "split the file, or disable it", "%s has %s, which is over the limit of %s: it cannot be loaded", quoteName(s.Name), megabytes(c.Size), largest())
		return
	case c.Binary:
		severity, hint := diag.Note, "disable it if it is none of the assistant's business"
		if t.set.Learned(i) {
			severity, hint = diag.Warning, "remove it from learned"
		}
		fs.file(RuleBinary, severity, s.Path, 0, hint, "%s is binary and cannot be loaded", quoteName(s.Name))
		return
	case c.Tokens >= worthKnowing:
		fs.file(RuleLarge, diag.Note, s.Path, 0, "split it by what is needed at a time", "%s takes about %s tokens of every conversation that loads it", quoteName(s.Name), text.Number((c.Tokens+500)/1000*1000))
	}
	for _, note := range c.Notes {
		fs.file(RuleEncoding, diag.Warning, s.Path, 0, "save it as UTF-8", "%s: %s", quoteName(s.Name), strings.TrimSuffix(oneLine(note), "."))
	}
	if s.Skill {
		t.checkSkill(fs, s, c.Text)
	}
}
