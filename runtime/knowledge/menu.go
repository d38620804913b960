package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

const (
	// MCPDescription is the most characters of the summary and the description of an MCP tool together: Claude Code
	// cuts them there.
	MCPDescription = 2048
	// maxTopicList is the number of characters of topics in an error.
	maxTopicList = 16_000
	// deciding is the time for finding the topics that have something to learn. A host waits for this when it starts.
	deciding = time.Second
)

// Describe returns the tool with the topics after its description. It reports false if there are none: the tool is
// not offered then. The schema stays as it is.
//
// Summary and description have at most limit characters together, with three characters between them. A directory
// that cannot be read counts as empty.
func (b *Base) Describe(ctx context.Context, tool contract.Tool, limit int) (contract.Tool, bool) {
	offered := b.offered(ctx)
	if len(offered) == 0 {
		return tool, false
	}
	used := utf8.RuneCountInString(tool.Summary) + len(".\n\n") + utf8.RuneCountInString(tool.Description)
	tool.Description += menu(offered, limit-used)
	return tool, true
}

// offered returns the topics that have something to learn. It includes topics that were not read in time, and topics
// whose directory is outside of the project: the answer to a call says what is wrong.
func (b *Base) offered(ctx context.Context) []*config.Topic {
	var offered []*config.Topic
	inTime, cancel := context.WithTimeout(ctx, deciding)
	defer cancel()
	looked := 0
	for t := range b.scans(inTime) {
		looked++
		var outside *config.OutsideError
		if t.learnable(b.injected) || t.broken != nil && errors.As(t.broken, &outside) {
			offered = append(offered, t.Topic)
		}
	}
	return append(offered, b.topics[looked:]...)
}

// learnable reports whether the topic has a listed subject. Learned subjects do not count if they are in the prompt.
func (t *topic) learnable(injected bool) bool {
	for _, s := range t.tree.Visible {
		if !injected || !s.Learned {
			return true
		}
	}
	return false
}

// menu lists topics in at most room characters. It leaves out introductions, from the last topic backwards, then
// titles, then ids, which it counts.
func menu(topics []*config.Topic, room int) string {
	n := len(topics)
	without := func(omitted int) string { // so many introductions, titles and ids
		var b strings.Builder
		b.WriteString("\n\nTopics:")
		more := max(0, omitted-2*n)
		for i, t := range topics[:n-more] {
			b.WriteString("\n" + menuLine(t, i < 2*n-omitted, i < n-omitted))
		}
		if more > 0 {
			fmt.Fprintf(&b, "\n- … and %s more; learn with any other name lists all", text.Number(more))
		}
		return b.String()
	}
	fits := func(omitted int) bool { return utf8.RuneCountInString(without(omitted)) <= room }
	// The line that counts ids may take more room than the first of them.
	omitted := sort.Search(3*n+1, func(omitted int) bool { return fits(min(omitted, 2*n)) || fits(omitted) })
	if omitted > 3*n {
		return ""
	}
	return without(omitted)
}

// menuLine returns the entry of a topic in a menu.
func menuLine(t *config.Topic, withTitle, withIntroduction bool) string {
	line := "- " + t.ID
	if title := oneLine(t.Title); title != "" && withTitle {
		line += " (**" + subjects.CloseTags(title) + "**)"
	}
	if introduction := oneLine(t.Introduction); introduction != "" && withIntroduction {
		line += ": " + subjects.CloseTags(introduction)
	}
	return line
}

// title returns the name of a topic for headings.
func title(t *config.Topic) string { return cmp.Or(oneLine(t.Title), t.ID) }

// paragraphs returns a description as it is shown in an answer.
func paragraphs(s string) string { return strings.TrimSpace(text.Visible(s)) }
