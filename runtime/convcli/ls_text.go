package convcli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/convcli/internal/literal"
	"github.com/convtools/convtools/runtime/convcli/internal/terminal"
)

// minTitleWidth is the narrowest a column of titles gets on a terminal.
const minTitleWidth = 20

// maxTitleWidth is the widest it gets where the width is not known, such as in a
// pipe.
const maxTitleWidth = 200

// titleFilter reports whether a title contains a text, ignoring case. Every
// title contains the empty text, also a missing one.
func titleFilter(text string) func(title string) bool {
	if text == "" {
		return func(string) bool { return true }
	}
	finder := literal.New(text, true)
	return func(title string) bool {
		start, _ := finder.Find([]byte(title))
		return start >= 0
	}
}

// writeTable writes the list for people: aligned columns, and titles cut to the
// width of the terminal unless full is set.
func (c *cli) writeTable(out output, f format, entries []*entry, full bool) error {
	if len(entries) == 0 {
		return nil
	}
	rows := [][]string{{"ID", "EVENTS", "ACTIVITY", "FLAGS"}}
	titles := []string{"TITLE"}
	for _, e := range entries {
		events := strconv.Itoa(e.events)
		if e.err != nil {
			events = "?"
		}
		rows = append(rows, []string{e.ID.String(), events, c.when(activity(e.Conversation, e.last), full), c.flags(e)})
		titles = append(titles, terminal.Line(e.Metadata.Title))
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], terminal.Width(cell))
		}
	}
	titleWidth := maxTitleWidth
	switch {
	case full:
		titleWidth = 0 // unlimited
	case f.pretty && c.env.IsTerminal && c.env.Width > 0:
		titleWidth = c.env.Width
		for _, w := range widths {
			titleWidth -= w + 2
		}
		titleWidth = max(titleWidth, minTitleWidth)
	}
	for i, row := range rows {
		var line strings.Builder
		for col, cell := range row {
			pad := strings.Repeat(" ", widths[col]-terminal.Width(cell))
			if col == 1 { // numbers are aligned to the right
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
			line.WriteString("  ")
		}
		title := titles[i]
		if titleWidth > 0 {
			title = terminal.Truncate(title, titleWidth)
		}
		text := strings.TrimRight(line.String()+title, " ")
		if f.colour && i == 0 {
			text = styleDim + text + styleReset
		}
		if err := out.write([]byte(text + "\n")); err != nil {
			return err
		}
	}
	return out.flush()
}

// flags names what is special about a conversation.
func (c *cli) flags(e *entry) string {
	var flags []string
	add := func(set bool, name string) {
		if set {
			flags = append(flags, name)
		}
	}
	add(!e.Metadata.PinnedAt.IsZero(), "pinned")
	add(e.Archived, "archived")
	add(e.Metadata.Hidden, "hidden")
	add(e.Locality == "Y", "local")
	if at := e.Metadata.ExpiresAt; !at.IsZero() {
		add(at.After(c.env.Now()), "expires")
		add(!at.After(c.env.Now()), "expired")
	}
	add(e.err != nil, "damaged")
	if len(flags) == 0 {
		return "-"
	}
	return strings.Join(flags, ",")
}

// when writes a time for people: its age, or in full and in UTC.
func (c *cli) when(t time.Time, full bool) string {
	if full {
		return t.UTC().Format("2006-01-02 15:04:05Z")
	}
	return age(c.env.Now().Sub(t))
}

// age writes a duration in its largest unit.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	units := []struct {
		name   string
		length time.Duration
	}{
		{"year", 365 * day}, {"month", 30 * day}, {"week", 7 * day}, {"day", day}, {"hour", time.Hour}, {"minute", time.Minute},
	}
	if d < -time.Minute {
		return "in the future"
	}
	for _, u := range units {
		switch n := int(d / u.length); {
		case n == 1:
			return "1 " + u.name + " ago"
		case n > 1:
			return fmt.Sprintf("%d %ss ago", n, u.name)
		}
	}
	return "just now"
}

// explainList says on standard error what a list does not show.
func (c *cli) explainList(entries []*entry, total int, opts lsOptions, found *selection) {
	kind := "live"
	if opts.filter.archived {
		kind = "archived"
	}
	if len(opts.filter.ids) > 0 {
		kind = "named"
	}
	switch left := total - opts.offset - len(entries); {
	case len(entries) == 0 && total > 0:
		c.note("offset %d is past the end: there are %d conversations", opts.offset, total)
	case len(entries) == 0:
		what := fmt.Sprintf("no %s conversations", kind)
		if opts.titleContains != "" {
			what += fmt.Sprintf(" with %q in the title", opts.titleContains)
		}
		if len(opts.filter.labels) > 0 {
			what += " with label " + strings.Join(opts.filter.labels, " and ")
		}
		c.note("%s", what)
		if !opts.filter.archived && len(opts.filter.ids) == 0 {
			c.note("hint: --archived lists archived conversations")
		}
	case left > 0:
		c.note("%d more: use --offset=%d, or --limit=0 for all", left, opts.offset+len(entries))
	}
	if found.hidden > 0 {
		c.note("%d hidden: --hidden lists them too", found.hidden)
	}
}
