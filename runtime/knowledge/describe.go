package knowledge

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// The characters that hosts let a tool's summary and description have together.
const (
	// MCPDescription is where Claude Code cuts the description of an MCP tool.
	MCPDescription = 2048
	// FunctionDescription is what OpenAI takes for a function.
	FunctionDescription = 1024
)

// Describe returns the tool with the topics that can be learned behind its
// description, and false when there are none: the tool is not offered then.
// Everything else about the tool, its schema above all, stays as it is.
//
// Summary and description take at most limit characters together, with the three
// that stand between them in a host's hands. What has no room is left out in this
// order: introductions from the last topic backwards, then titles, and last the
// ids, which are counted. The warnings are about topics whose directory cannot be
// read; they count as empty.
func (b *Base) Describe(ctx context.Context, tool contract.Tool, limit int) (contract.Tool, bool, []Warning) {
	offered, warnings := b.offered(ctx)
	if len(offered) == 0 {
		return tool, false, warnings
	}
	tool.Description += fitMenu(offered, limit-used(tool)).text
	return tool, true, warnings
}

// used is how many characters a tool's own description takes.
func used(tool contract.Tool) int {
	return utf8.RuneCountInString(tool.Summary) + len(".\n\n") + utf8.RuneCountInString(tool.Description)
}

// offered returns the topics that have something to learn.
func (b *Base) offered(ctx context.Context) ([]*kbconfig.Topic, []Warning) {
	var offered []*kbconfig.Topic
	var warnings []Warning
	for _, t := range b.enabled() {
		learnable, err := b.learnable(ctx, t)
		if err != nil {
			warnings = append(warnings, Warning{t.ID, err.Error()})
		}
		if learnable {
			offered = append(offered, t)
		}
	}
	return offered, warnings
}

// learnable says whether a topic has something to learn. This is asked whenever a
// host starts, so where the answer depends on single files alone it looks no
// further than the first that will do.
func (b *Base) learnable(ctx context.Context, config *kbconfig.Topic) (bool, error) {
	if len(config.Disabled) == 0 && (!b.injected || len(config.Learned) == 0) {
		found, err := subjects.Any(ctx, b.dir(config), func(s subjects.Subject) bool { return !s.Hidden })
		if err != nil {
			return false, b.scanFailed(ctx, config, err)
		}
		return found, nil
	}
	t, err := b.scan(ctx, config)
	if err != nil {
		return false, err
	}
	defer t.close()
	return t.learnable(b.injected), nil
}

// fitted is a menu of topics and what it had to leave out.
type fitted struct {
	text                       string
	introductions, titles, ids int
}

// fitMenu writes the topics in up to room characters.
func fitMenu(topics []*kbconfig.Topic, room int) fitted {
	const head = "\n\nTopics:"
	details := make([]detail, len(topics))
	size := len(head)
	for i, t := range topics {
		details[i] = withIntroduction
		size += 1 + utf8.RuneCountInString(menuLine(t, withIntroduction))
	}
	var f fitted
	shorten := func(to detail, dropped *int) {
		for i := len(topics) - 1; i >= 0 && size > room; i-- {
			saved := utf8.RuneCountInString(menuLine(topics[i], to+1)) - utf8.RuneCountInString(menuLine(topics[i], to))
			details[i] = to
			if saved > 0 {
				*dropped++
				size -= saved
			}
		}
	}
	shorten(withTitle, &f.introductions)
	shorten(idOnly, &f.titles)
	kept := len(topics)
	ending := ""
	for kept > 0 && size+utf8.RuneCountInString(ending) > room {
		kept--
		size -= 1 + utf8.RuneCountInString(menuLine(topics[kept], idOnly))
		f.ids++
		ending = fmt.Sprintf("\n- … and %s more; learn with any other name lists all", thousands(f.ids))
	}
	if size+utf8.RuneCountInString(ending) > room {
		return f
	}
	f.text = head
	for i, t := range topics[:kept] {
		f.text += "\n" + menuLine(t, details[i])
	}
	f.text += ending
	return f
}
