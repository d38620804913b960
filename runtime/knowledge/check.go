package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
		fs := &findings{topic: config}
		checked[config.ID] = fs
		if err := b.checkTopic(ctx, fs, m); err != nil {
			return nil, err
		}
	}
	m.unmentioned(func(n node, slug string) {
		checked[n.topic].file(RuleUnmentioned, SeverityWarning, n.path, 0,
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
	return []Finding{{
		Rule: RuleBudget, Severity: SeverityWarning,
		Message: fmt.Sprintf("the description of %s has no room for %s: hosts cut it at %s characters", tool.Name, strings.Join(lost, ", "), thousands(MCPDescription)),
		Hint:    "shorten introductions and titles; what the last topics have is left out first",
	}}
}

func (b *Base) checkTopic(ctx context.Context, fs *findings, m *mentions) error {
	t, err := b.scan(ctx, fs.topic)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var directory *directoryError
	if errors.As(err, &directory) {
		fs.config(RuleDirectory, SeverityError, fs.topic.SubjectsAt, "create the directory, or correct subjects",
			"topic %q cannot be learned: %s", fs.topic.ID, directory.problem())
		return nil
	}
	if err != nil {
		return err
	}
	defer t.close()
	if err := t.tree.Describe(ctx); err != nil {
		return err
	}
	for _, w := range t.tree.Warnings {
		what := quoteName(w.Path)
		if w.Path == "." {
			what = "the directory"
		}
		fs.file(RuleLeftOut, SeverityWarning, w.Path, 0, "", "%s %s", what, oneLine(w.Reason))
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
			fs.file(RuleUnreadable, SeverityError, s.Path, 0, "", "%s could not be read: %s", quoteName(s.Name), cause(err))
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

// checkPatterns finds entries of the configuration that do nothing.
func (t *topic) checkPatterns(fs *findings) {
	for _, d := range t.set.Dead() {
		entries, places := t.Learned, t.LearnedAt
		if d.Field == "disabled" {
			entries, places = t.Topic.Disabled, t.DisabledAt
		}
		at := t.Defined
		if i := slices.Index(entries, d.Pattern); i >= 0 && i < len(places) {
			at = places[i]
		}
		if d.Reason != "" {
			fs.config(RuleBadPattern, SeverityError, at, "* stands for one level and ** for all levels", "%s in %s of topic %q %s", contract.Quote(d.Pattern), d.Field, t.ID, d.Reason)
			continue
		}
		hint := "remove the entry, or correct it"
		if len(d.Near) > 0 {
			hint = "did you mean " + anyOf(d.Near) + "?"
		}
		fs.config(RuleDeadPattern, SeverityWarning, at, hint, "%s in %s of topic %q matches no subject", contract.Quote(d.Pattern), d.Field, t.ID)
	}
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
				fs.file(RuleExtension, SeverityWarning, s.Path, 0, "add an extension such as .md", "%q is taken for an extension: the slug is %s", s.Ext, quoteName(s.Slug))
			}
		}
		path := all[first].Path
		switch {
		case len(visible) > 1:
			fs.file(RuleCollision, SeverityWarning, path, 0, "rename all but one", "%s files have the slug %s, which loads them together: %s",
				thousands(len(visible)), quoteName(all[first].Slug), listed(visible))
		case len(hidden) > 1 || len(hidden) > 0 && len(visible) > 0:
			fs.file(RuleCollision, SeverityWarning, path, 0, "rename all but one", "hidden files share the slug %s and can be told apart by path only: %s",
				quoteName(all[first].Slug), listed(append(visible, hidden...)))
		}
		first = end
	}
}

// checkContent finds what keeps a subject from being read as it was meant.
func (t *topic) checkContent(fs *findings, i int, c subjects.Content) {
	s := &t.tree.Subjects[i]
	switch {
	case c.Binary:
		severity, hint := SeverityInfo, "disable it if it is none of the assistant's business"
		if t.set.Learned(i) {
			severity, hint = SeverityWarning, "remove it from learned"
		}
		fs.file(RuleBinary, severity, s.Path, 0, hint, "%s is binary and cannot be loaded", quoteName(s.Name))
		return
	case c.TooLarge:
		fs.file(RuleTooLarge, SeverityError, s.Path, 0, "split the file, or disable it", "%s has %s, which is over the limit of 4 MiB: it cannot be loaded", quoteName(s.Name), megabytes(c.Size))
		return
	case c.Tokens >= worthKnowing:
		fs.file(RuleLarge, SeverityInfo, s.Path, 0, "split it by what is needed at a time", "%s takes about %s tokens of every conversation that loads it", quoteName(s.Name), thousands((c.Tokens+500)/1000*1000))
	}
	for _, note := range c.Notes {
		fs.file(RuleEncoding, SeverityWarning, s.Path, 0, "save it as UTF-8", "%s: %s", quoteName(s.Name), strings.TrimSuffix(oneLine(note), "."))
	}
	if s.Skill {
		t.checkSkill(fs, s, c.Text)
	}
}

// checkSkill holds a skill against the Agent Skills specification: it has a
// description, and the name of its folder.
func (t *topic) checkSkill(fs *findings, s *subjects.Subject, text string) {
	if s.Description == "" {
		fs.file(RuleSkill, SeverityWarning, s.Path, 0, "begin the file with front matter that says when to use it: description: …", "skill %s has no description", quoteName(s.Name))
	}
	parts := strings.Split(s.Path, "/")
	folder := parts[len(parts)-2]
	if called, line := skillName(text); called != "" && called != folder {
		fs.file(RuleSkill, SeverityWarning, s.Path, line, "give both the same name", "the skill is named %s, but asked for by the name of its folder, %s", contract.Quote(called), quoteName(folder))
	}
}

// skillName returns the name in the front matter of a skill and its line.
func skillName(text string) (string, int) {
	line := 0
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		line++
		if line == 1 && l != "---" || line > 1 && (l == "---" || l == "...") {
			break
		}
		if value, ok := strings.CutPrefix(l, "name:"); ok {
			value, _, _ = strings.Cut(value, " #")
			return strings.Trim(strings.TrimSpace(value), `"'`), line
		}
	}
	return "", 0
}
