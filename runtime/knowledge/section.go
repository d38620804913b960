package knowledge

import (
	"context"
	"fmt"
	"strings"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// The sentences of the section. They do not change: prompts depend on them.
const (
	preloadedLead = "The following knowledge has been pre-loaded into your system prompt:"
	menuLead      = "The following knowledge topics are available to learn:"
	menuUse       = "Use the `learn` tool to consume this knowledge."
	hiddenNote    = "(note: some topics may contain hidden subjects that are not listed via `learn`\n" +
		"by default, but can be loaded manually if you are made aware of their names via\n" +
		"other means, such as by reading non-hidden subjects first. This prevents\n" +
		"exposing too much irrelevant knowledge upfront)"
)

// Section returns the <knowledge> section of a system prompt: the contents of learned subjects, and a menu of the topics
// with other visible subjects. The section is empty if there is neither.
//
// The warnings are sentences about topics whose directory cannot be read, entries of learned that match nothing, and
// learned subjects that cannot be shown. The error is that of the context, or that all learned subjects together have
// more bytes than an answer may have: if they were cut, nobody could see that a part is missing.
func (b *Base) Section(ctx context.Context) (section string, warnings []string, err error) {
	var parts, menu []string
	room := maxAnswer
	for t := range b.scans(ctx) {
		if t.broken != nil {
			warnings = append(warnings, t.broken.Error())
		}
		for _, f := range t.deadEntries("learned") {
			warnings = append(warnings, f.Place()+": "+f.Message)
		}
		block, unshown, err := t.learnedBlock(ctx)
		if err != nil {
			return "", nil, err
		}
		warnings = append(warnings, unshown...)
		if room -= len(block); room < 0 {
			return "", nil, fmt.Errorf("topic %q: learned subjects have more than %s together, which no system prompt has room for: learn fewer subjects", t.ID, largest)
		}
		if block != "" {
			parts = append(parts, block)
		}
		if t.learnable(true) {
			menu = append(menu, menuLine(t.Topic, true, true))
		}
	}
	if len(parts) > 0 {
		parts = append([]string{preloadedLead}, parts...)
	}
	if len(menu) > 0 {
		parts = append(parts, menuLead, strings.Join(menu, "\n"), menuUse, hiddenNote)
	}
	if len(parts) > 0 {
		section = "<knowledge>\n" + strings.Join(parts, "\n\n") + "\n</knowledge>"
	}
	return section, warnings, ctx.Err()
}

// learnedBlock returns the element of a topic with its learned subjects, or "" if it shows none. It stops reading above
// the size of an answer. The warnings are about subjects that cannot be shown. The error is that of the context.
func (t *topic) learnedBlock(ctx context.Context) (block string, warnings []string, err error) {
	var blocks []string
	var r remarks
	size := 0
	for _, s := range t.tree.Subjects {
		if !s.Learned || size > maxAnswer {
			continue
		}
		content, err := t.tree.Read(ctx, s)
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		if text, ok := r.textOf(s, content, err); ok {
			blocks = append(blocks, element(s, text))
			size += len(text)
		}
	}
	for _, text := range r.texts {
		warnings = append(warnings, fmt.Sprintf("topic %q: learned %s: %s", t.ID, joinNames(r.names[text]), text))
	}
	if len(blocks) == 0 {
		return "", warnings, nil
	}
	head := "<topic " + quoteName(title(t.Topic)) + ">\n\n"
	if description := paragraphs(t.Description); description != "" {
		head += subjects.CloseTags(description) + "\n\n"
	}
	return head + strings.Join(blocks, "\n\n") + "\n</topic>", warnings, nil
}
