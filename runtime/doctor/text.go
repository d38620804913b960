package doctor

import (
	"fmt"
	"io"
	"strings"

	"github.com/convtools/convtools/runtime/envelope"
)

// Text writes the report for people: a line for each finding, and what to do
// about a problem under it. Paths below home are written with a tilde.
func (r Report) Text(w io.Writer, home string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "convtools %s\n\n", r.Version)
	for _, c := range r.Checks {
		detail := c.Detail
		if c.Path != "" {
			detail = fmt.Sprintf("%s: %s", c.Scope, detail)
		}
		line(&b, string(c.Status), c.Name, tilde(detail, home))
		if c.Path != "" {
			line(&b, "", "", tilde(strings.Join(c.Command, " "), home))
			line(&b, "", "", "in "+tilde(c.Path, home))
		}
		if c.Fix != "" {
			line(&b, "", "", "fix: "+tilde(c.Fix, home))
		}
	}
	switch r.Problems {
	case 0:
		b.WriteString("\nNo problems.\n")
	case 1:
		b.WriteString("\n1 problem.\n")
	default:
		fmt.Fprintf(&b, "\n%d problems.\n", r.Problems)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line writes one line of columns. The text may come from a configuration file
// or from a program that was started.
func line(b *strings.Builder, status, name, text string) {
	if text != "" {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-7s  %-14s  %s", status, name, envelope.SanitizeLine(text)), " ") + "\n")
	}
}

func tilde(text, home string) string {
	if len(home) < 2 {
		return text
	}
	return strings.ReplaceAll(text, home, "~")
}
