package diagprint

import (
	"encoding/json"
	"io"
	"net/url"

	"github.com/convtools/convtools/runtime/base/diag"
)

// SARIF prints the list as a log of SARIF 2.1.0, the format of code scanning services, as
// one JSON document. tool is the name of the program that found it. The error is the
// writer's.
func SARIF(w io.Writer, tool string, list diag.List) error {
	type text struct {
		Text string `json:"text"`
	}
	type region struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
	type artifact struct {
		URI string `json:"uri"`
	}
	type physical struct {
		Artifact artifact `json:"artifactLocation"`
		Region   *region  `json:"region,omitempty"`
	}
	type location struct {
		Physical physical `json:"physicalLocation"`
	}
	type result struct {
		Rule      string     `json:"ruleId,omitempty"`
		Level     string     `json:"level"`
		Message   text       `json:"message"`
		Locations []location `json:"locations,omitempty"`
	}
	results := []result{}
	for _, d := range list.Sorted() {
		r := result{Rule: d.Rule, Level: "error", Message: text{d.Message}}
		switch d.Severity {
		case diag.Warning:
			r.Level = "warning"
		case diag.Note:
			r.Level = "note"
		}
		if d.Hint != "" {
			r.Message.Text += "\nhint: " + d.Hint
		}
		if d.File != "" {
			at := physical{Artifact: artifact{URI: (&url.URL{Path: d.File}).EscapedPath()}}
			if s := d.Span; !s.IsZero() {
				at.Region = &region{StartLine: s.Line, StartColumn: s.Col, EndLine: s.EndLine, EndColumn: s.EndCol}
			}
			r.Locations = []location{{at}}
		}
		results = append(results, r)
	}
	type driver struct {
		Name string `json:"name"`
	}
	type run struct {
		Tool struct {
			Driver driver `json:"driver"`
		} `json:"tool"`
		Columns string   `json:"columnKind"`
		Results []result `json:"results"`
	}
	log := struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []run  `json:"runs"`
	}{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []run{{Columns: "unicodeCodePoints", Results: results}}}
	log.Runs[0].Tool.Driver.Name = tool
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(log)
}
