package knowledge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
)

// MCPDescription is how many characters the summary and the description of an MCP
// tool may have together: Claude Code cuts them there.
const MCPDescription = 2048

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
	tool.Description += fitMenu(offered, limit-used(tool))
	return tool, true, warnings
}

// used is how many characters a tool's own description takes.
func used(tool contract.Tool) int {
	return utf8.RuneCountInString(tool.Summary) + len(".\n\n") + utf8.RuneCountInString(tool.Description)
}

// deciding is how long it may take to find out which topics have something to
// learn. A host waits for this when it starts.
const deciding = time.Second

// offered returns the topics that have something to learn. One for which that is not
// found out in time, or whose directory is refused because it is outside of the
// project, is taken for one: the answer to a call says what the matter is, and nobody
// would hear of it otherwise.
func (b *Base) offered(ctx context.Context) ([]*kbconfig.Topic, []Warning) {
	var offered []*kbconfig.Topic
	var warnings []Warning
	inTime, cancel := context.WithTimeout(ctx, deciding)
	defer cancel()
	for _, t := range b.enabled() {
		learnable, err := b.learnable(inTime, t)
		if err != nil && inTime.Err() != nil && ctx.Err() == nil {
			learnable, err = true, nil
		}
		if err != nil {
			warnings = append(warnings, Warning{t.ID, err.Error()})
			var outside *config.OutsideError
			learnable = errors.As(err, &outside)
		}
		if learnable {
			offered = append(offered, t)
		}
	}
	return offered, warnings
}

// learnable reports whether a topic has something to learn.
func (b *Base) learnable(ctx context.Context, config *kbconfig.Topic) (bool, error) {
	t, err := b.scan(ctx, config)
	if err != nil {
		return false, err
	}
	defer t.close()
	return t.learnable(b.injected), nil
}

// fitMenu writes the topics in up to room characters.
func fitMenu(topics []*kbconfig.Topic, room int) string {
	const head = "\n\nTopics:"
	lines := make([]string, len(topics))
	size := len(head)
	for i, t := range topics {
		lines[i] = "\n" + menuLine(t, withIntroduction)
		size += utf8.RuneCountInString(lines[i])
	}
	for _, d := range []detail{withTitle, idOnly} {
		for i := len(topics) - 1; i >= 0 && size > room; i-- {
			size -= utf8.RuneCountInString(lines[i])
			lines[i] = "\n" + menuLine(topics[i], d)
			size += utf8.RuneCountInString(lines[i])
		}
	}
	kept, ending := len(lines), ""
	for kept > 0 && size+utf8.RuneCountInString(ending) > room {
		kept--
		size -= utf8.RuneCountInString(lines[kept])
		ending = fmt.Sprintf("\n- … and %s more; learn with any other name lists all", text.Number(len(lines)-kept))
	}
	if size+utf8.RuneCountInString(ending) > room {
		return ""
	}
	return head + strings.Join(lines[:kept], "") + ending
}
