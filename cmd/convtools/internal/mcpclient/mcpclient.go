// Package mcpclient calls tools of an MCP server, for the commands that measure convtools. It does little more than the
// transport: the time of a client is part of every time that is measured.
package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Session is a session with a server on standard streams.
type Session struct {
	connection mcp.Connection
	requests   int
}

// Start starts a server and begins a session with it.
func Start(ctx context.Context, server *exec.Cmd) (*Session, error) {
	connection, err := (&mcp.CommandTransport{Command: server}).Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", server.Path, err)
	}
	s := &Session{connection: connection}
	_, err = s.request(ctx, "initialize", &mcp.InitializeParams{
		ProtocolVersion: "2025-11-25", Capabilities: &mcp.ClientCapabilities{}, ClientInfo: &mcp.Implementation{Name: "measure", Version: "1"},
	})
	if err == nil {
		err = connection.Write(ctx, &jsonrpc.Request{Method: "notifications/initialized"})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to %s: %w", server.Path, err), s.Close())
	}
	return s, nil
}

// request sends a request and returns the result, or the error of the response.
// It skips messages of the server that are not responses.
func (s *Session) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	s.requests++
	id, err1 := jsonrpc.MakeID(float64(s.requests))
	encoded, err2 := json.Marshal(params)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if err := s.connection.Write(ctx, &jsonrpc.Request{ID: id, Method: method, Params: encoded}); err != nil {
		return nil, err
	}
	for {
		message, err := s.connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		if response, ok := message.(*jsonrpc.Response); ok {
			return response.Result, response.Error
		}
	}
}

// Call calls a tool and returns the result, which may say that the tool failed.
func (s *Session) Call(ctx context.Context, tool string, arguments map[string]any) (json.RawMessage, error) {
	result, err := s.request(ctx, "tools/call", &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return nil, fmt.Errorf("calling %s: %w", tool, err)
	}
	return result, nil
}

// CallText calls a tool and returns the text of the result, which may say that the tool failed.
func (s *Session) CallText(ctx context.Context, tool string, arguments map[string]any) (text string, err error) {
	encoded, err := s.Call(ctx, tool, arguments)
	if err != nil {
		return "", err
	}
	var result struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(encoded, &result); err != nil {
		return "", fmt.Errorf("calling %s: %w", tool, err)
	}
	for _, block := range result.Content {
		text += block.Text
	}
	return text, nil
}

// Close ends the session and waits until the server has ended.
func (s *Session) Close() error { return s.connection.Close() }
