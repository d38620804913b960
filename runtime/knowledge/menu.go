package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	MCPDescription = 2048        // characters of an MCP tool's summary and description together; Claude Code cuts longer ones
	maxTopicList   = 16_000      // characters of topics in an error
	maxOfferTime   = time.Second // to find the topics to offer, for which a host waits when it starts
)

// Describe returns the tool with the offered topics after its description. It returns false if no topic is offered: then
// the host must not get the tool. The summary and the description of the result have at most limit characters together,
// with three characters between them.
func (b *Base) Describe(ctx context.Context, tool contract.Tool, limit int) (contract.Tool, bool) {
	offered := b.offered(ctx)
	if len(offered) == 0 {
		return tool, false
	}
	used := utf8.RuneCountInString(tool.Summary) + len(".\n\n") + utf8.RuneCountInString(tool.Description)
	tool.Description += menu(offered, limit-used)
	return tool, true
}

// offered returns the topics that the tool learn offers: topics with visible subjects, topics whose directory is a link
// out of the project, since the answer to a call tells the user how to allow it, and topics that were not read within
// maxOfferTime. Other topics whose directory cannot be read are left out.
func (b *Base) offered(ctx context.Context) []*config.Topic {
	var offered []*config.Topic
	inTime, cancel := context.WithTimeout(ctx, maxOfferTime)
	defer cancel()
	scanned := 0
	for t := range b.scans(inTime) {
		scanned++
		isOutside := t.broken != nil && errors.As(t.broken, new(*config.OutsideError))
		if isOutside || t.learnable(b.injected) {
			offered = append(offered, t.Topic)
		}
	}
	return append(offered, b.topics[scanned:]...)
}

// learnable reports whether the topic has a visible subject. Learned ones do not count if the prompt has them.
func (t *topic) learnable(injected bool) bool {
	return slices.ContainsFunc(t.tree.Visible, func(s *subjects.Subject) bool { return !injected || !s.Learned })
}

// menu returns a list of topics with at most room characters, or "" if there is no room for any. To make room it leaves
// out introductions from the last topic backwards; if that is not enough, also titles, and then whole topics, with a
// line for their number.
func menu(topics []*config.Topic, room int) string {
	n := len(topics)
	// without returns the list without some of 3n parts: first the n introductions, then the n titles, then the n topics.
	without := func(parts int) string {
		introductions, titles, shown := n-parts, 2*n-parts, min(n, 3*n-parts) // how many of the first topics have these
		var b strings.Builder
		b.WriteString("\n\nTopics:")
		for i, t := range topics[:shown] {
			b.WriteString("\n" + menuLine(t, i < titles, i < introductions))
		}
		if shown < n {
			fmt.Fprintf(&b, "\n- … and %s more; learn with any other name lists all", text.Number(n-shown))
		}
		return b.String()
	}
	fits := func(parts int) bool { return utf8.RuneCountInString(without(parts)) <= room }
	// The lists get shorter with each part, except from 2n to 2n+1 parts: there the line for the number of topics comes in.
	parts := sort.Search(2*n+1, fits) // the fewest parts to leave out
	if omitsTopics := parts > 2*n; omitsTopics {
		parts += sort.Search(n, func(more int) bool { return fits(parts + more) })
	}
	if parts > 3*n { // not even the line for the number fits
		return ""
	}
	return without(parts)
}

// menuLine returns the line of a topic in a menu: its id and, if wanted and not empty, its title and its introduction.
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

// title returns the title of a topic, or its id if it has no title.
func title(t *config.Topic) string { return cmp.Or(oneLine(t.Title), t.ID) }

// paragraphs returns the description of a topic as an answer shows it: visible text on several lines.
func paragraphs(s string) string { return strings.TrimSpace(text.Visible(s)) }
