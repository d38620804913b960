package mcpserver_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/mcpserver"
)

// minimal is the same tool on the SDK alone, to compare with.
func minimal() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "minimal", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "echo", InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "<echo>" + string(req.Params.Arguments) + "</echo>"}}}, nil
	})
	return server
}

// BenchmarkCall measures one call after the other, and many at once, against a
// server that has only what the SDK gives it.
func BenchmarkCall(b *testing.B) {
	ours := mcpserver.New(newTools().config())
	theirs := minimal()
	streams := func(serve func(context.Context, io.ReadCloser, io.WriteCloser)) mcp.Transport {
		inRead, inWrite := io.Pipe()
		outRead, outWrite := io.Pipe()
		go serve(b.Context(), inRead, outWrite)
		return &mcp.IOTransport{Reader: outRead, Writer: inWrite}
	}
	web := func(handler http.Handler) mcp.Transport {
		server := httptest.NewServer(handler)
		b.Cleanup(server.Close)
		return &mcp.StreamableClientTransport{Endpoint: server.URL}
	}
	for _, bc := range []struct {
		name      string
		transport func() mcp.Transport
	}{
		{"streams/ours", func() mcp.Transport {
			return streams(func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) {
				_ = ours.ServeStdio(ctx, in, out)
			})
		}},
		{"streams/minimal", func() mcp.Transport {
			return streams(func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) {
				_ = theirs.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
			})
		}},
		{"http/ours", func() mcp.Transport { return web(ours.Handler(mcpserver.HTTPOptions{})) }},
		{"http/minimal", func() mcp.Transport {
			return web(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return theirs }, &mcp.StreamableHTTPOptions{Stateless: true}))
		}},
	} {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), bc.transport(), nil)
		if err != nil {
			b.Fatal(err)
		}
		call := func(b *testing.B) {
			result, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"a": 1}})
			if err != nil || result.IsError {
				b.Errorf("%v, %v", result, err)
			}
		}
		b.Run(bc.name+"/one", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call(b)
			}
		})
		b.Run(bc.name+"/many", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					call(b)
				}
			})
		})
		_ = session.Close()
	}
}
