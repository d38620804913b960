package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
)

// maxCompletions is how many values MCP allows in one answer.
const maxCompletions = 100

// complete answers what a person may mean who has begun to type an argument.
// Conversations are found by what their id begins with, and by their title.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	ref, argument := req.Params.Ref, req.Params.Argument
	find := s.completerOf(ref, argument.Name)
	if find == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("There is no argument %s of %s.", contract.Quote(argument.Name), contract.Quote(ref.URI+ref.Name))}
	}
	found, err := find(ctx, req.Params)
	if err != nil {
		return nil, err
	}
	shown := append([]string{}, found[:min(len(found), maxCompletions)]...) // never null
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{
		Values: shown, Total: len(found), HasMore: len(found) > len(shown),
	}}, nil
}

// completerOf returns what finds the values of an argument, or nil for an argument
// that is not there.
func (s *Server) completerOf(ref *mcp.CompleteReference, argument string) func(context.Context, *mcp.CompleteParams) ([]string, error) {
	switch {
	case ref.Type == "ref/prompt":
		p, ok := findPrompt(ref.Name)
		switch {
		case !ok || p.argument != argument:
			return nil
		case argument != "id":
			return func(context.Context, *mcp.CompleteParams) ([]string, error) { return nil, nil }
		}
		return s.completeID
	case ref.Type != "ref/resource":
		return nil
	case ref.URI == uriTemplate && argument == "id":
		return s.completeID
	case s.cfg.Knowledge != nil && ref.URI == subjectTemplate && (argument == "topic" || argument == "slug"):
		return s.completeSubject
	default:
		return nil
	}
}

// completeID finds conversations.
func (s *Server) completeID(ctx context.Context, params *mcp.CompleteParams) ([]string, error) {
	rows, err := s.conversations(ctx)
	if err != nil {
		return nil, err
	}
	return matching(rows, params.Argument.Value), nil
}

// listed is a row of the conversation command line.
type listed struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// conversations lists the conversations that are neither archived nor hidden,
// most recently active first.
func (s *Server) conversations(ctx context.Context) ([]listed, error) {
	leave, err := s.reads.enter(ctx)
	if err != nil {
		return nil, internal(err)
	}
	defer leave()
	const name = "completion"
	stdout, stderr, exit, err := s.cfg.CLI.RunCLI(ctx, conversation.ListCLI, s.cfg.Context, []string{"conversation", "ls", "--format=json"})
	if err == nil && exit != 0 {
		err = contract.CommandFailed(name, conversation.ListCLI, exit, text.Visible(text.CutMiddle(string(stderr), maxErrorMessage)))
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
