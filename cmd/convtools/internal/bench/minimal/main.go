// Command minimal is an MCP server with one tool, which does nothing but answer
// a fixed text. It has only what the SDK gives it, and shows what that costs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	tool := flag.String("tool", "answer", "the name of the tool")
	text := flag.String("text", "", "what the tool answers")
	flag.Parse()
	server := mcp.NewServer(&mcp.Implementation{Name: "minimal", Version: "1"}, nil)
	server.AddTool(
		&mcp.Tool{Name: *tool, InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: *text}}}, nil
		})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}
