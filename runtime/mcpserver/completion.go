package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/base/text"
)

// maxCompletions is the number of values that MCP allows in one answer.
const maxCompletions = 100

// complete returns the first 100 values of an argument that a person has begun to type, and the number of all. A
// request without "ref", an unknown argument and a failure to find values are errors.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (mcp.Result, error) {
	ref, argument := req.Params.Ref, req.Params.Argument
	if ref == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: `completion/complete: "params" needs a "ref".`}
	}
	var given map[string]string
	if req.Params.Context != nil {
		given = req.Params.Context.Arguments
	}
	found, exists, err := s.completions(ctx, ref, argument, given)
	switch {
	case err != nil:
		return nil, err
	case !exists:
		owner := ref.URI + ref.Name // one of the two is empty
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("There is no argument %s of %s.", text.Quote(argument.Name), text.Quote(owner))}
	}
	shown := append([]string{}, found[:min(len(found), maxCompletions)]...) // in JSON, no values are [], not null
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{
		Values: shown, Total: len(found), HasMore: len(found) > len(shown),
	}}, nil
}

// completions returns the values that an argument can have after what is typed of it. ref names the prompt or the
// template of resources that the argument belongs to; given has the values of the other arguments. exists reports
// whether there is such an argument; it may have no known values.
func (s *Server) completions(ctx context.Context, ref *mcp.CompleteReference, argument mcp.CompleteParamsArgument, given map[string]string) (values []string, exists bool, err error) {
	for _, p := range s.cfg.Tools.Prompts() {
		for _, a := range p.Arguments {
			if ref.Type == "ref/prompt" && p.Name == ref.Name && a.Name == argument.Name {
				if a.Complete == nil {
					return nil, true, nil
				}
				values, err = a.Complete(ctx, argument.Value)
				return values, true, err
			}
		}
	}
	for _, r := range s.cfg.Tools.Resources() {
		if ref.Type == "ref/resource" && r.Template == ref.URI && strings.Contains(r.Template, "{"+argument.Name+"}") {
			if r.Complete == nil {
				return nil, true, nil
			}
			values, err = r.Complete(ctx, argument.Name, argument.Value, given)
			return values, true, err
		}
	}
	return nil, false, nil
}
