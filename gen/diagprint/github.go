package diagprint

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
)

// GitHub prints the list as GitHub Actions workflow commands, one a line, which become annotations on the files:
//
//	::error file=specs/list.toml,line=12,col=1,endLine=12,endColumn=8,title=SP003::unknown key "requird"
//
// A span over several lines has no columns, because GitHub refuses an annotation with both. A hint follows the
// message on its own line. GitHub returns the errors of w.
//
// The format is described in GitHub's documentation under "Workflow commands for GitHub Actions".
func GitHub(w io.Writer, list diag.List) error {
	message := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	commands := map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning", diag.Note: "notice"}
	out := bufio.NewWriter(w)
	for _, d := range list.Sorted() {
		var properties []string
		addProperty := func(name, value string) {
			properties = append(properties, name+"="+property.Replace(text.Source(value, "\r\n")))
		}
		if d.File != "" {
			addProperty("file", d.File)
			switch s := d.Span; {
			case s.IsZero(): // the diagnostic is about the whole file
			case s.EndLine > s.Line:
				properties = append(properties, fmt.Sprintf("line=%d,endLine=%d", s.Line, s.EndLine))
			default:
				properties = append(properties, fmt.Sprintf("line=%d,col=%d,endLine=%d,endColumn=%d", s.Line, s.Col, s.Line, max(s.Col, s.EndCol)))
			}
		}
		if d.Rule != "" {
			addProperty("title", d.Rule)
		}
		body := d.Message
		if d.Hint != "" {
			body += "\nhint: " + strings.TrimRight(d.Hint, "\r\n")
		}
		out.WriteString("::" + commands[d.Severity])
		if len(properties) > 0 {
			out.WriteString(" " + strings.Join(properties, ","))
		}
		out.WriteString("::" + message.Replace(text.Source(body, "\r\n")) + "\n")
	}
	return out.Flush()
}
