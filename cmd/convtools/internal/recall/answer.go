package main

import (
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asking is an MCP server of convtools over one project.
type asking struct{ *mcp.ClientSession }

// open starts a server over a project, in which nobody's own conversations are found.
func open(ctx context.Context, convtools, project, home string) (*asking, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("making a directory: %w", err)
	}
	server := exec.Command(convtools, "mcp", "--workspace", project) //nolint:forbidigo,gosec // the program that it built itself
	server.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"),
		"XDG_DATA_HOME="+filepath.Join(home, "data"), "XDG_CONFIG_HOME="+filepath.Join(home, "config"),
		"CLAUDE_CONFIG_DIR=", "CODEX_HOME=", "JP_USER_DATA_DIR="+filepath.Join(home, "jp"))
	client := mcp.NewClient(&mcp.Implementation{Name: "recall", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		return nil, fmt.Errorf("connecting to convtools: %w", err)
	}
	return &asking{session}, nil
}

// text calls a tool and returns the text of its answer, or of its refusal.
func (a *asking) text(ctx context.Context, tool string, arguments map[string]any) (answer string, err error) {
	result, err := a.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return "", fmt.Errorf("calling %s: %w", tool, err)
	}
	for _, content := range result.Content {
		part, ok := content.(*mcp.TextContent)
		if !ok {
			return "", fmt.Errorf("calling %s: the answer is no text", tool)
		}
		answer += part.Text
	}
	return answer, nil
}

// piece is a text of an answer, with single spaces for all white space.
type piece struct {
	element string            // that it is in
	attrs   map[string]string // of that, and of those around it
	text    string
}

// pieces returns the texts of an answer in XML; of another one, its lines, each with what it
// names as in turn=3 for attributes.
func pieces(answer string) (all []piece) {
	around := []piece{{}}
	for d := xml.NewDecoder(strings.NewReader(answer)); ; {
		token, err := d.Token()
		if err != nil {
			if len(all) == 0 {
				return lines(answer)
			}
			return all
		}
		last := len(around) - 1
		switch t := token.(type) {
		case xml.StartElement:
			inner := piece{element: t.Name.Local, attrs: map[string]string{}}
			maps.Copy(inner.attrs, around[last].attrs)
			for _, a := range t.Attr {
				inner.attrs[a.Name.Local] = a.Value
			}
			around = append(around, inner)
		case xml.EndElement:
			if around[last].text = spaced(around[last].text); around[last].text != "" {
				all = append(all, around[last])
			}
			around = around[:last]
		case xml.CharData:
			around[last].text += string(t)
		}
	}
}

func lines(text string) (all []piece) {
	named := regexp.MustCompile(`(\w+)=([\w-]+)`)
	id := regexp.MustCompile(`\bjp-c\d+`).FindString(text)
	for line := range strings.Lines(text) {
		p := piece{attrs: map[string]string{"id": id}, text: spaced(line)}
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			p.attrs[m[1]] = m[2]
		}
		all = append(all, p)
	}
	return all
}

// spaced joins the words of a text by single spaces.
func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }
