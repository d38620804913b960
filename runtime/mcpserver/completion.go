package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
)

// maxCompletions is how many values MCP allows in one answer.
const maxCompletions = 100

// completer finds the values of an argument that begin with prefix.
type completer func(ctx context.Context, prefix string) ([]string, error)

// complete answers what a person may mean who has begun to type an argument.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (mcp.Result, error) {
	ref, argument := req.Params.Ref, req.Params.Argument
	if ref == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: `completion/complete: "params" needs a "ref".`}
	}
	var given map[string]string
	if req.Params.Context != nil {
		given = req.Params.Context.Arguments
	}
	find, ok := s.completerOf(ref, argument.Name, given)
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("There is no argument %s of %s.", text.Quote(argument.Name), contract.Quote(ref.URI+ref.Name))}
	}
	var found []string
	if find != nil {
		var err error
		if found, err = find(ctx, argument.Value); err != nil {
			return nil, err
		}
	}
	shown := append([]string{}, found[:min(len(found), maxCompletions)]...) // never null
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{
		Values: shown, Total: len(found), HasMore: len(found) > len(shown),
	}}, nil
}

// completerOf returns what finds the values of an argument, nil where nothing
// does, and reports whether there is such an argument.
func (s *Server) completerOf(ref *mcp.CompleteReference, argument string, given map[string]string) (find completer, ok bool) {
	switch ref.Type {
	case "ref/prompt":
		for _, p := range s.prompts() {
			for _, a := range p.Arguments {
				if p.Name == ref.Name && a.Name == argument {
					return a.Complete, true
				}
			}
		}
	case "ref/resource":
		for _, r := range s.resources() {
			switch {
			case r.Template != ref.URI || !strings.Contains(r.Template, "{"+argument+"}"):
			case r.Complete == nil:
				return nil, true
			default:
				return func(ctx context.Context, prefix string) ([]string, error) {
					return r.Complete(ctx, argument, prefix, given)
				}, true
			}
		}
	}
	return nil, false
}
