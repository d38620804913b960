package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
)

// maxCompletions is how many values MCP allows in one answer.
const maxCompletions = 100

// complete answers what a person may mean who has begun to type an argument.
// Ids are found by what they begin with, and by the title of their conversation.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	ref, argument := req.Params.Ref, req.Params.Argument
	known := false
	switch ref.Type {
	case "ref/resource":
		known = ref.URI == uriTemplate && argument.Name == "id"
	case "ref/prompt":
		if p, ok := findPrompt(ref.Name); ok {
			known = p.argument == argument.Name
		}
	}
	if !known {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("There is no argument %s of %s.", contract.Quote(argument.Name), contract.Quote(ref.URI+ref.Name))}
	}
	ids := []string{}
	if argument.Name == "id" {
		rows, err := s.conversations(ctx)
		if err != nil {
			return nil, err
		}
		ids = matching(rows, argument.Value)
	}
	shown := ids[:min(len(ids), maxCompletions)]
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{
		Values: shown, Total: len(ids), HasMore: len(ids) > len(shown),
	}}, nil
}

// listed is a row of the conversation command line.
type listed struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// conversations lists the conversations that are neither archived nor hidden,
// most recently active first.
func (s *Server) conversations(ctx context.Context) ([]listed, error) {
	leave, err := s.calls.enter(ctx)
	if err != nil {
		return nil, internal(err)
	}
	defer leave()
	const name = "completion"
	stdout, stderr, exit, err := s.cfg.CLI.RunCLI(ctx, conversation.ListCLI, s.cfg.Context, []string{"conversation", "ls", "--format=json"})
	if err == nil && exit != 0 {
		err = contract.CommandFailed(name, conversation.ListCLI, exit, contract.WithoutPaths(process.Printable(stderr, maxErrorMessage)))
	}
	var rows []listed
	if err == nil {
		err = contract.DecodeRecords(name, conversation.ListCLI, stdout, &rows)
	}
	if err != nil {
		return nil, internal(err)
	}
	return rows, nil
}

// matching returns the ids that begin with value, or whose conversation has it in
// its title: those whose title begins with it before the others.
func matching(rows []listed, value string) []string {
	value = strings.ToLower(strings.TrimSpace(value))
	first, later := []string{}, []string{}
	for _, row := range rows {
		if !isID(row.ID) {
			continue
		}
		title, id := strings.ToLower(row.Title), strings.ToLower(row.ID)
		switch {
		case strings.HasPrefix(id, value), strings.HasPrefix(strings.TrimPrefix(id, "jp-c"), value), strings.HasPrefix(title, value):
			first = append(first, row.ID)
		case strings.Contains(title, value):
			later = append(later, row.ID)
		}
	}
	return append(first, later...)
}
