package mcpserver

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestToolResultIsWrittenAsTheSDKDoes(t *testing.T) {
	t.Parallel()
	text := func(s string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: s}} }
	for name, result := range map[string]*mcp.CallToolResult{
		"empty":       {Content: text("")},
		"lines":       {Content: text("a\n\tb \\ \"c\" {\"content\":[]}")},
		"HTML":        {Content: text("<a href='&'>\u2028\u2029")},
		"other bytes": {Content: text("\x00\x1f\x7f\xff é 漢 😀")},
		"an error":    {Content: text("no"), IsError: true},
		"structured":  {Content: text("yes"), StructuredContent: json.RawMessage(`{"type": "success", "content": "<"}`)},
		"metadata":    {Content: text("yes"), Meta: mcp.Meta{"a": "<"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, err := newToolResult(result)
			if err != nil {
				t.Fatal(err)
			}
			// The SDK writes <, > and & as escapes, which stand for the same.
			plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
			if diff := cmp.Diff(plain.Replace(written(t, result)), plain.Replace(written(t, ours))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// written is JSON as the SDK has a result written.
func written(t *testing.T, result any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(result); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
