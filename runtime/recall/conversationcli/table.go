package conversationcli

import (
	"context"
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
	"github.com/convtools/convtools/runtime/trust"
)

// printTable writes a head, rows as a table, and remarks below it.
func (c *commands) printTable(head string, rows [][]string, remarks []string, right ...int) {
	for _, line := range align(rows, right...) {
		head += strings.TrimRight(line, " ") + "\n"
	}
	if len(remarks) > 0 {
		head += "\n" + strings.Join(remarks, "\n") + "\n"
	}
	c.out.write(head)
}

// align makes lines of rows, with columns below one another and two spaces after each.
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
		for column, cell := range row {
			pad := strings.Repeat(" ", widths[column]-text.Width(cell))
			if slices.Contains(right, column) {
				cell, pad = pad+cell, ""
			}
			lines[i] += cell + pad + "  "
		}
	}
	return lines
}

// How wide a column of titles is: at least on a terminal, and at most where the width
// is not known, such as in a pipe.
const (
	minTitleWidth = 20
	maxTitleWidth = 200
)

// room is how many columns a title may have on a line on which so many are taken.
func (c *commands) room(full bool, taken int) int {
	switch {
	case full:
		return math.MaxInt
	case c.out.format.pretty && c.host.Terminal && c.host.Width > 0:
		return max(c.host.Width-taken, minTitleWidth)
	}
	return maxTitleWidth
}

func eventsCell(l *conversations.Listed) string {
	if l.Damage != nil {
		return "?"
	}
	return strconv.Itoa(l.Events)
}

// fullTime is the form of a time in full, in UTC.
const fullTime = "2006-01-02 15:04:05Z"

// when writes a time for people: its age, or in full.
func (c *commands) when(t time.Time, full bool) string {
	switch {
	case t.IsZero():
		return "?"
	case full:
		return t.UTC().Format(fullTime)
	}
	return age(t.UTC(), c.host.Now().UTC())
}

// age writes how long ago t was in its largest unit: years and months by the calendar,
// and smaller units by their length.
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

// shortPath writes a path for people, with "~" for the home directory.
func (c *commands) shortPath(path string) string {
	return text.Cell(trust.Short(path, c.host.Getenv))
}

// linked is the id of a conversation. On a terminal that shows colour it opens the
// directory, where the workspace has one: as OSC 8, which terminals that do not know it
// leave out.
func (c *commands) linked(ctx context.Context, id transcript.ID) string {
	if !c.linking() {
		return string(id)
	}
	if c.linkTo == nil {
		c.linkTo = func(transcript.ID) string { return "" }
		if w, err := c.workspace(); err == nil {
			if path, closeAll, err := w.Paths(ctx); err == nil {
				c.linkTo, c.closeLinks = path, closeAll
			}
		}
	}
	path := c.linkTo(id)
	if path == "" {
		return string(id)
	}
	return link(path, string(id))
}

// linking reports whether there are links at all. The console of Linux has colour, and
// nothing to open a file with.
func (c *commands) linking() bool {
	return c.out.format.colour && c.host.Getenv("TERM") != "linux"
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
