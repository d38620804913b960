package conversationcli

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// How wide a column of titles is: at least on a terminal, and at most where the width
// is not known, such as in a pipe.
const (
	minTitleWidth = 20
	maxTitleWidth = 200
)

// writeTable writes the list for people: aligned columns, and titles cut to the
// width of the terminal unless full is set. Where hidden ones may be among them a
// column says which are.
func (c *commands) writeTable(out *results, list []conversations.Listed, links links, full, hidden bool) error {
	if len(list) == 0 {
		return nil
	}
	rows := [][]string{{"ID", "EVENTS", "ACTIVITY", "FLAGS"}}
	if hidden {
		rows[0] = append(rows[0], "HIDDEN")
	}
	if c.allProjects {
		rows[0] = append(rows[0], "PROJECT")
	}
	titles := []string{"TITLE"}
	for i := range list {
		l := &list[i]
		row := []string{string(l.ID), eventsCell(l), c.when(l.ActiveAt(), full), c.flags(l)}
		if hidden {
			row = append(row, map[bool]string{true: "Y", false: "N"}[l.Hidden])
		}
		if c.allProjects {
			row = append(row, c.projectCell(l.Dir))
		}
		rows = append(rows, row)
		titles = append(titles, text.Cell(l.Title))
	}
	lines := align(rows, 1)
	width := c.room(out, full, text.Width(lines[0]))
	for i, line := range lines {
		line = strings.TrimRight(line+text.Truncate(titles[i], width), " ")
		if i == 0 {
			line = out.format.style(styleDim, line)
		} else { // the id is the first cell
			id := list[i-1].ID
			line = links.id(id) + strings.TrimPrefix(line, string(id))
		}
		out.write([]byte(line + "\n"))
	}
	return out.close()
}

// room is how many columns a title may have on a line on which so many are taken.
func (c *commands) room(out *results, full bool, taken int) int {
	switch {
	case full:
		return math.MaxInt
	case out.format.pretty && c.host.Terminal && c.host.Width > 0:
		return max(c.host.Width-taken, minTitleWidth)
	}
	return maxTitleWidth
}

// maxProjectWidth is how many columns of a directory are shown.
const maxProjectWidth = 40

// projectCell writes the directory that a conversation was held in: its end, which
// differs most.
func (c *commands) projectCell(dir string) string {
	if dir == "" {
		return "?"
	}
	cell := []rune(c.shortPath(dir))
	if len(cell) > maxProjectWidth {
		cell = append([]rune("…"), cell[len(cell)-maxProjectWidth+1:]...)
	}
	return string(cell)
}

// printTable writes a head, rows as a table, and remarks below it.
func (c *commands) printTable(head string, rows [][]string, remarks []string, right ...int) error {
	var b strings.Builder
	b.WriteString(head)
	for _, line := range align(rows, right...) {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if len(remarks) > 0 {
		b.WriteString("\n" + strings.Join(remarks, "\n") + "\n")
	}
	_, err := io.WriteString(c.host.Stdout, b.String())
	return err
}

// align makes lines of rows, with columns below one another and two spaces behind each.
// The columns right are aligned to the right.
func align(rows [][]string, right ...int) []string {
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], text.Width(cell))
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		var line strings.Builder
		for column, cell := range row {
			pad := strings.Repeat(" ", widths[column]-text.Width(cell))
			if slices.Contains(right, column) {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
			line.WriteString("  ")
		}
		lines[i] = line.String()
	}
	return lines
}

func eventsCell(l *conversations.Listed) string {
	if l.Damage != nil {
		return "?"
	}
	return strconv.Itoa(l.Events)
}

// flags names what is special about a conversation.
func (c *commands) flags(l *conversations.Listed) string {
	var flags []string
	add := func(set bool, name string) {
		if set {
			flags = append(flags, name)
		}
	}
	add(!l.PinnedAt.IsZero(), "pinned")
	add(l.Archived, "archived")
	add(l.Hidden, "hidden")
	add(l.UserOnly, "local")
	if at := l.ExpiresAt; !at.IsZero() {
		add(at.After(c.host.Now()), "expires")
		add(!at.After(c.host.Now()), "expired")
	}
	add(l.Damage != nil, "damaged")
	if len(flags) == 0 {
		return "-"
	}
	return strings.Join(flags, ",")
}

// when writes a time for people: its age, or in full and in UTC.
func (c *commands) when(t time.Time, full bool) string {
	switch {
	case t.IsZero():
		return "?"
	case full:
		return t.UTC().Format("2006-01-02 15:04:05Z")
	}
	return age(t.UTC(), c.host.Now().UTC())
}

// age writes how long ago t was in its largest unit: years and months by the
// calendar, and smaller units by their length.
func age(t, now time.Time) string {
	d := now.Sub(t)
	if d < -time.Minute {
		return "in the future"
	}
	months := 12*(now.Year()-t.Year()) + int(now.Month()-t.Month())
	if t.AddDate(0, months, 0).After(now) {
		months--
	}
	const day = 24 * time.Hour
	for _, u := range []struct {
		name string
		n    int
	}{
		{"year", months / 12},
		{"month", months},
		{"week", int(d / (7 * day))},
		{"day", int(d / day)},
		{"hour", int(d / time.Hour)},
		{"minute", int(d / time.Minute)},
	} {
		if u.n > 0 {
			return plural(u.n, u.name) + " ago"
		}
	}
	return "just now"
}

// explainList writes to standard error what a list does not show. shown is how
// many of its total it does.
func (c *commands) explainList(listing *conversations.Listing, shown int, opts lsOptions) {
	kind := opts.filter.kind()
	total := listing.Total
	switch left := total - opts.offset - shown; {
	case shown == 0 && total > 0:
		c.note("offset %d is past the end: there are %d conversations", opts.offset, total)
	case shown == 0:
		what := fmt.Sprintf("no %s conversations", kind)
		if opts.titleContains != "" {
			what += fmt.Sprintf(" with %q in the title", opts.titleContains)
		}
		if len(opts.filter.labels) > 0 {
			what += " with label " + strings.Join(opts.filter.labels, " and ")
		}
		c.note("%s", what)
		if kind == "live" {
			c.note("hint: --archived lists archived conversations")
		}
	case left > 0:
		c.note("%d more: use --offset=%d, or --limit=0 for all", left, opts.offset+shown)
	}
	if hidden := listing.Aside.Hidden; hidden > 0 {
		c.note("%d hidden: --hidden lists them too", hidden)
	}
}

// links make ids of conversations open their directories, on a terminal that shows
// colour: as OSC 8, which terminals that do not know it leave out.
type links struct {
	path  func(transcript.ID) string
	close func()
}

// links returns the links of the conversations of the workspace. A conversation that
// cannot be found has none.
func (c *commands) links(ctx context.Context, f format) links {
	none := links{path: func(transcript.ID) string { return "" }, close: func() {}}
	if !c.linking(f) {
		return none
	}
	w, err := c.workspace()
	if err != nil {
		return none
	}
	path, closeAll, err := w.Paths(ctx)
	if err != nil {
		return none
	}
	return links{path: path, close: closeAll}
}

// linking reports whether there are links at all. The console of Linux has colour,
// and nothing to open a file with.
func (c *commands) linking(f format) bool { return f.colour && c.host.Getenv("TERM") != "linux" }

// id is an id, and a link where there is something to open.
func (l links) id(id transcript.ID) string {
	path := l.path(id)
	if path == "" {
		return string(id)
	}
	return link(path, string(id))
}

// link is a text that opens a file.
func link(path, text string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // of a drive
	}
	to := url.URL{Scheme: "file", Path: path}
	return "\x1b]8;;" + to.String() + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}
