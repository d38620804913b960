package diagprint

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
)

// record is the JSON form of a diagnostic. It always has every key, because programs read it.
type record struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Severity  string `json:"severity"`
	Rule      string `json:"rule"`
	Message   string `json:"message"`
	Hint      string `json:"hint"`
}

// JSON prints the list for programs: one array, one diagnostic a line, with the same keys in the same order. Lines
// and columns count as in [diag.Span]; all four are 0 if the diagnostic is about the whole file. Invisible characters
// are escaped, so the text is kept and the output is safe to show. JSON returns the errors of w.
func JSON(w io.Writer, list diag.List) error {
	out := bufio.NewWriter(w)
	out.WriteByte('[')
	for i, d := range list.Sorted() {
		if i > 0 {
			out.WriteByte(',')
		}
		line, err := json.Marshal(record{
			File: d.File,
			Line: d.Span.Line, Column: d.Span.Col, EndLine: d.Span.EndLine, EndColumn: d.Span.EndCol,
			Severity: d.Severity.String(), Rule: d.Rule, Message: d.Message, Hint: d.Hint,
		})
		if err != nil {
			return fmt.Errorf("encoding diagnostic %d as JSON: %w", i, err)
		}
		out.WriteString("\n  ")
		out.Write(text.JSON(line))
	}
	if len(list) > 0 {
		out.WriteByte('\n')
	}
	out.WriteString("]\n")
	return out.Flush()
}
