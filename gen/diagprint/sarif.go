package diagprint

import (
	"encoding/json"
	"io"
	"net/url"

	"github.com/convtools/convtools/runtime/base/diag"
)

// SARIF prints the list as a SARIF 2.1.0 log, the format of code scanning services, in one JSON document. tool is the
// name of the program that made the list. SARIF returns the errors of w.
func SARIF(w io.Writer, tool string, list diag.List) error {
	type object map[string]any
	results := []object{}
	for _, d := range list.Sorted() {
		message := d.Message
		if d.Hint != "" {
			message += "\nhint: " + d.Hint
		}
		result := object{"level": d.Severity.String(), "message": object{"text": message}}
		if d.Rule != "" {
			result["ruleId"] = d.Rule
		}
		if d.File != "" {
			location := object{"artifactLocation": object{"uri": (&url.URL{Path: d.File}).EscapedPath()}}
			if s := d.Span; !s.IsZero() {
				location["region"] = object{"startLine": s.Line, "startColumn": s.Col, "endLine": s.EndLine, "endColumn": s.EndCol}
			}
			result["locations"] = []object{{"physicalLocation": location}}
		}
		results = append(results, result)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": object{"name": tool}}, "columnKind": "unicodeCodePoints", "results": results}},
	})
}
