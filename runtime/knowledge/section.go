package knowledge

import (
	"context"
	"fmt"
	"strings"

	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// The sentences of the section. Models and tests know them: they do not change.
const (
	preloadedLead = "The following knowledge has been pre-loaded into your system prompt:"
	menuLead      = "The following knowledge topics are available to learn:"
	menuUse       = "Use the `learn` tool to consume this knowledge."
	hiddenNote    = "(note: some topics may contain hidden subjects that are not listed via `learn`\n" +
		"by default, but can be loaded manually if you are made aware of their names via\n" +
		"other means, such as by reading non-hidden subjects first. This prevents\n" +
		"exposing too much irrelevant knowledge upfront)"
)

// Section returns the <knowledge> section of a system prompt: the content of
// learned subjects, and a menu of the topics that have more to offer. It is empty
// when there is neither.
//
// The warnings are about topics whose directory cannot be read, which count as
// empty, entries of learned that match nothing, and learned subjects that cannot
// be shown. More learned content than an
// answer of the learn tool may carry is an error: a part of it would look like
// all of it.
func (b *Base) Section(ctx context.Context) (string, []Warning, error) {
	var warnings []Warning
	var preloaded []string
	var offered []*kbconfig.Topic
	size := 0
	for _, config := range b.enabled() {
		t, err := b.scan(ctx, config)
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		if err != nil {
			warnings = append(warnings, Warning{config.ID, err.Error()})
			continue
		}
		block, more, err := t.preload(ctx, maxAnswer-size)
		learnable := t.learnable(true)
		for _, e := range t.deadEntries() {
			if e.Field == "learned" {
				warnings = append(warnings, e.warning(t.ID))
			}
		}
		t.close()
		if err != nil {
			return "", nil, err
		}
		if block != "" {
			preloaded = append(preloaded, block)
			size += len(block)
		}
		warnings = append(warnings, more...)
		if learnable {
			offered = append(offered, config)
		}
	}
	return section(preloaded, offered), warnings, nil
}

func section(preloaded []string, offered []*kbconfig.Topic) string {
	var parts []string
	if len(preloaded) > 0 {
		parts = append(parts, preloadedLead)
		parts = append(parts, preloaded...)
	}
	if len(offered) > 0 {
		lines := make([]string, len(offered))
		for i, t := range offered {
			lines[i] = menuLine(t, withIntroduction)
		}
		parts = append(parts, menuLead, strings.Join(lines, "\n"), menuUse, hiddenNote)
	}
	if len(parts) == 0 {
		return ""
	}
	return "<knowledge>\n" + strings.Join(parts, "\n\n") + "\n</knowledge>"
}

// preload returns the element of a topic with its learned subjects, in up to room
// bytes, or nothing when it has none.
func (t *topic) preload(ctx context.Context, room int) (string, []Warning, error) {
	var blocks []string
	var warnings []Warning
	for i := range t.tree.Subjects {
		if !t.set.Learned(i) {
			continue
		}
		s := &t.tree.Subjects[i]
		content, err := t.tree.Read(ctx, s)
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		if err != nil {
			warnings = append(warnings, Warning{t.ID, fmt.Sprintf("learned subject %s could not be read: %s", quoteName(s.Name), cause(err))})
			continue
		}
		var r remarks
		text, ok := show(s, content, &r)
		if !r.empty() {
			warnings = append(warnings, Warning{t.ID, "learned " + strings.Trim(r.String(), "()")})
		}
		if !ok {
			continue
		}
		block := element(s, text)
		if room -= len(block); room < 0 {
			return "", nil, fmt.Errorf("topic %q: learned subjects have more than %s together, which no system prompt has room for: learn fewer subjects", t.ID, largest())
		}
		blocks = append(blocks, block)
	}
	if len(blocks) == 0 {
		return "", warnings, nil
	}
	head := "<topic " + quoteName(name(t.Topic)) + ">\n\n"
	if description := paragraphs(t.Description); description != "" {
		head += subjects.CloseTags(description) + "\n\n"
	}
	return head + strings.Join(blocks, "\n\n") + "\n</topic>", warnings, nil
}

// learnable reports whether the topic has a subject that menus offer: one that is
// listed and, where learned subjects are in the prompt already, is none of them.
func (t *topic) learnable(injected bool) bool {
	for _, i := range t.set.Visible() {
		if !injected || !t.set.Learned(i) {
			return true
		}
	}
	return false
}
