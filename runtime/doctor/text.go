package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/toolset"
)

// Text writes the report for people: each finding with its fix, and the numbers of problems and warnings. The names of
// hosts without a registration are together on the last lines. Paths below home begin with a tilde.
func (r Report) Text(w io.Writer, home string) error {
	var b strings.Builder
	var unused []string
	for _, c := range r.Checks {
		if c.Status == toolset.Off && c.Detail == notRegistered {
			unused = append(unused, c.Name)
			continue
		}
		if isRegistration := c.Scope != ""; isRegistration {
			line(&b, string(c.Status), c.Name, tilde(fmt.Sprintf("%s: %s", c.Scope, c.Detail), home))
			command := process.JoinCommand(c.Command...)
			line(&b, "", "", tilde(strings.TrimSpace(command+" (in "+c.Path+")"), home))
		} else {
			line(&b, string(c.Status), c.Name, tilde(c.Detail, home))
		}
		if c.Fix != "" {
			line(&b, "", "", "fix: "+tilde(c.Fix, home))
		} else if c.Hint != "" {
			line(&b, "", "", "hint: "+c.Hint)
		}
	}
	status, name := string(toolset.Off), notRegistered
	for names := range slices.Chunk(unused, unusedPerLine) {
		line(&b, status, name, strings.Join(names, ", "))
		status, name = "", ""
	}
	fmt.Fprintf(&b, "\n%s", counted(r.Problems, "problem"))
	if r.Warnings > 0 {
		fmt.Fprintf(&b, ", %s", counted(r.Warnings, "warning"))
	}
	b.WriteString(".\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// unusedPerLine is how many names of hosts fit a line of 80 columns.
const unusedPerLine = 5

// counted returns a number with a noun, which it puts into the plural if necessary.
func counted(n int, noun string) string {
	if n == 0 {
		return "No " + noun + "s"
	}
	return text.Count(n, noun, noun+"s")
}

// line writes one line of columns, or nothing if content, which may come from another program, is empty.
func line(b *strings.Builder, status, name, content string) {
	if content != "" {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-7s  %-14s  %s", status, name, text.Line(content)), " ") + "\n")
	}
}

// tilde returns a text with a tilde in place of home. It changes nothing if home is empty or "/".
func tilde(text, home string) string {
	if len(home) < 2 {
		return text
	}
	return strings.ReplaceAll(text, home, "~")
}
