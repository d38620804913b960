package mcpserver

import (
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/contract"
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

func (s *Server) findPrompt(name string) (toolset.Prompt, bool) {
	for _, p := range s.prompts() {
		if p.Name == name {
			return p, true
		}
	}
	return toolset.Prompt{}, false
}

func (s *Server) listPrompts(req *mcp.ListPromptsRequest) (*mcp.ListPromptsResult, error) {
	if req.Params != nil {
		if err := checkCursor(req.Params.Cursor); err != nil {
			return nil, err
		}
	}
	result := &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{}, Cacheable: mcp.Cacheable{TTLMs: listTTL, CacheScope: private}}
	for _, p := range s.prompts() {
		prompt := &mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			prompt.Arguments = append(prompt.Arguments, &mcp.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
		}
		result.Prompts = append(result.Prompts, prompt)
	}
	return result, nil
}

// getPrompt writes a prompt. The arguments come from a person, who sees the prompt
// before it is sent.
func (s *Server) getPrompt(req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	p, ok := s.findPrompt(req.Params.Name)
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown prompt " + contract.Quote(req.Params.Name)}
	}
	arguments, problem := promptArguments(p, req.Params.Arguments)
	if problem == "" {
		text, err := p.Write(arguments)
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{
			Description: p.Description,
			Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
		}, nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "The prompt " + p.Name + " cannot be written: " + problem + "."}
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
			problem = "there is no argument " + contract.Quote(name) + "; the prompt takes " + strings.Join(names, ", ")
		}
	}
	return arguments, problem
}
