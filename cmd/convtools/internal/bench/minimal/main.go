// Command minimal is an MCP server with one tool, which does nothing but answer
// a fixed text. It has only what the SDK gives it, and shows what that costs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	tool := flag.String("tool", "answer", "the name of the tool")
	text := flag.String("text", "", "what the tool answers")
	address := flag.String("http", "", "serve over HTTP on `ADDR`")
	flag.Parse()

	server := mcp.NewServer(&mcp.Implementation{Name: "minimal", Version: "1"}, nil)
	server.AddTool(
		&mcp.Tool{Name: *tool, InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: *text}}}, nil
		})
	if *address == "" {
		return server.Run(ctx, &mcp.StdioTransport{})
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *address)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	fmt.Fprintf(os.Stderr, "minimal: MCP at http://%s/mcp\n", listener.Addr())
	web := &http.Server{
		Handler: mcp.NewStreamableHTTPHandler(
			func(*http.Request) *mcp.Server { return server },
			&mcp.StreamableHTTPOptions{Stateless: true}),
		ReadHeaderTimeout: 10 * time.Second,
	}
	context.AfterFunc(ctx, func() { _ = web.Close() })
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving HTTP: %w", err)
	}
	return nil
}
