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
	// MCPDescription is the most characters of the summary and the description of an MCP tool together. Claude Code cuts
	// longer ones.
	MCPDescription = 2048
	// maxTopicList is the most characters of topics in an error.
	maxTopicList = 16_000
	// maxOfferTime is the most time for finding the topics to offer, which a host waits for when it starts.
	maxOfferTime = time.Second
)

// Describe returns the tool with the offered topics after its description. It returns false if there are none: then the
// host must not get the tool. The schema stays as it is.
//
// Summary and description of the result have at most limit characters together, with three characters between them.
func (b *Base) Describe(ctx context.Context, tool contract.Tool, limit int) (contract.Tool, bool) {
	offered := b.offered(ctx)
	if len(offered) == 0 {
		return tool, false
	}
	used := utf8.RuneCountInString(tool.Summary) + len(".\n\n") + utf8.RuneCountInString(tool.Description)
	tool.Description += menu(offered, limit-used)
	return tool, true
}

// offered returns the topics that the tool learn offers: those with visible subjects, those whose directory is a link
// out of the project, and those that were not read in maxOfferTime. The answer to a call says what is wrong with the
// latter. Other topics whose directory cannot be read are left out.
func (b *Base) offered(ctx context.Context) []*config.Topic {
	var offered []*config.Topic
	inTime, cancel := context.WithTimeout(ctx, maxOfferTime)
	defer cancel()
	scanned := 0
	for t := range b.scans(inTime) {
		scanned++
		var outside *config.OutsideError
		if t.learnable(b.injected) || t.broken != nil && errors.As(t.broken, &outside) {
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
	// without returns the list without some of the n introductions, n titles and n topics, which are left out in this
	// order.
	without := func(omitted int) string {
		var b strings.Builder
		b.WriteString("\n\nTopics:")
		more := max(0, omitted-2*n) // topics
		for i, t := range topics[:n-more] {
			b.WriteString("\n" + menuLine(t, i < 2*n-omitted, i < n-omitted))
		}
		if more > 0 {
			fmt.Fprintf(&b, "\n- … and %s more; learn with any other name lists all", text.Number(more))
		}
		return b.String()
	}
	fits := func(omitted int) bool { return utf8.RuneCountInString(without(omitted)) <= room }
	// The line with the number of topics may take more room than the topic that it replaces.
	omitted := sort.Search(3*n+1, func(omitted int) bool { return fits(min(omitted, 2*n)) || fits(omitted) })
	if omitted > 3*n {
		return ""
	}
	return without(omitted)
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
