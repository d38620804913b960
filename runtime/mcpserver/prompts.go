package mcpserver

import (
	"cmp"
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/toolset"
)

// splitsWords reports whether a client splits the text after a prompt's name at spaces, gives each argument one word,
// and drops the other words. Such a client is told of an argument for each word.
func splitsWords(client string) bool { return client == "claude-code" }

// mostWords is the number of arguments for the words of one argument.
const mostWords = 24

// wordNames returns the names under which a client gives an argument: NAME, and also NAME_2 to NAME_24 if the client
// gives each word by itself.
func wordNames(name string, areSplit bool) []string {
	names := []string{name}
	for word := 2; areSplit && word <= mostWords; word++ {
		names = append(names, name+"_"+strconv.Itoa(word))
	}
	return names
}

// listPrompts returns all prompts. A client that splits words gets mostWords arguments in place of each argument that
// may have several words: one for each word, of which only the first can be required.
func (s *Server) listPrompts(req *mcp.ListPromptsRequest) (mcp.Result, error) {
	if req.Params != nil && req.Params.Cursor != "" {
		return nil, cursorError() // there is one page
	}
	client := s.callContext(req.Session, nil).Caller.Client
	result := &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{}, Cacheable: mcp.Cacheable{TTLMs: listTTL, CacheScope: private}}
	for _, p := range s.cfg.Tools.Prompts() {
		prompt := &mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			for _, name := range wordNames(a.Name, a.Words && splitsWords(client)) {
				prompt.Arguments = append(prompt.Arguments, &mcp.PromptArgument{
					Name: name, Description: a.Description, Required: a.Required && name == a.Name,
				})
			}
		}
		result.Prompts = append(result.Prompts, prompt)
	}
	return result, nil
}

// getPrompt returns the handler that writes a prompt with a request's arguments, or refuses wrong arguments.
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

// promptArguments returns a value for each argument of a prompt; an argument that is not given has the value "". The
// words of an argument of several words are joined. problem is empty, or the text of one problem: an unknown argument
// in given, or else the last argument that is missing or has a wrong value.
func promptArguments(p toolset.Prompt, given map[string]string) (arguments map[string]string, problem string) {
	arguments = map[string]string{}
	var names []string
	unknown := maps.Clone(given)
	for _, a := range p.Arguments {
		names = append(names, a.Name)
		var words []string
		for _, name := range wordNames(a.Name, a.Words) {
			words = append(words, given[name])
			delete(unknown, name)
		}
		value := strings.TrimSpace(strings.Join(words, " "))
		arguments[a.Name] = value
		switch {
		case value == "" && a.Required:
			problem = a.Name + " is required: " + a.Description
		case value != "" && a.Check != nil:
			problem = cmp.Or(a.Check(value), problem) // Check returns "" for a right value
		}
	}
	for name := range unknown {
		return arguments, "there is no argument " + text.Quote(name) + "; the prompt takes " + strings.Join(names, ", ")
	}
	return arguments, problem
}
