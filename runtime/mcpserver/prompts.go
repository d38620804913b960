package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/toolset"
)

// prompts returns the prompts of all families.
func (s *Server) prompts() []toolset.Prompt {
	var all []toolset.Prompt
	for _, f := range s.cfg.Tools.Families() {
		all = append(all, f.Prompts...)
	}
	return all
}

// prompt describes a prompt.
func prompt(p toolset.Prompt) *mcp.Prompt {
	prompt := &mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
	for _, a := range p.Arguments {
		prompt.Arguments = append(prompt.Arguments, &mcp.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
	}
	return prompt
}

// getPrompt writes a prompt. The arguments come from a person, who sees the prompt
// before it is sent.
func (s *Server) getPrompt(p toolset.Prompt) mcp.PromptHandler {
	return func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		arguments, problem := promptArguments(p, req.Params.Arguments)
		if problem != "" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "The prompt " + p.Name + " cannot be written: " + problem + "."}
		}
		text, err := p.Write(arguments)
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{
			Description: p.Description,
			Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
		}, nil
	}
}

// promptArguments returns the arguments of a prompt, or what is wrong with them.
func promptArguments(p toolset.Prompt, given map[string]string) (arguments map[string]string, problem string) {
	arguments = map[string]string{}
	var names []string
	for _, a := range p.Arguments {
		names = append(names, a.Name)
		value := strings.TrimSpace(given[a.Name])
		switch {
		case value == "" && a.Required:
			problem = a.Name + " is required: " + a.Description
		case value != "" && a.Check != nil && a.Check(value) != "":
			problem = a.Check(value)
		}
		arguments[a.Name] = value
	}
	for name := range given {
		if _, known := arguments[name]; !known {
			problem = "there is no argument " + text.Quote(name) + "; the prompt takes " + strings.Join(names, ", ")
		}
	}
	return arguments, problem
}
