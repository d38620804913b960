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

// complete returns values for an argument that a person has begun to type: the first 100, and how many there are. The
// error is for a request without "ref", for an argument that does not exist, or that of finding values.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (mcp.Result, error) {
	ref, argument := req.Params.Ref, req.Params.Argument
	if ref == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: `completion/complete: "params" needs a "ref".`}
	}
	var given map[string]string
	if req.Params.Context != nil {
		given = req.Params.Context.Arguments
	}
	found, ok, err := s.completions(ctx, ref, argument, given)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("There is no argument %s of %s.", text.Quote(argument.Name), text.Quote(ref.URI+ref.Name))}
	}
	shown := append([]string{}, found[:min(len(found), maxCompletions)]...) // not null
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{
		Values: shown, Total: len(found), HasMore: len(found) > len(shown),
	}}, nil
}

// completions returns the values of an argument of a prompt, or of a variable in the template of resources. It reports
// whether that argument or variable exists. given has the other arguments.
func (s *Server) completions(ctx context.Context, ref *mcp.CompleteReference, argument mcp.CompleteParamsArgument, given map[string]string) (found []string, ok bool, err error) {
	for _, p := range s.prompts() {
		for _, a := range p.Arguments {
			if ref.Type == "ref/prompt" && p.Name == ref.Name && a.Name == argument.Name {
				if a.Complete != nil {
					found, err = a.Complete(ctx, argument.Value)
				}
				return found, true, err
			}
		}
	}
	for _, r := range s.resources() {
		if ref.Type == "ref/resource" && r.Template == ref.URI && strings.Contains(r.Template, "{"+argument.Name+"}") {
			if r.Complete != nil {
				found, err = r.Complete(ctx, argument.Name, argument.Value, given)
			}
			return found, true, err
		}
	}
	return nil, false, nil
}
