package mcpserver

import (
	"context"
	"maps"
	"strconv"
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

// splitsWords reports whether a client splits the text after a prompt's name at spaces, gives each argument one word,
// and drops the other words. Such a client is told of an argument for each word.
func splitsWords(client string) bool { return client == "claude-code" }

// mostWords is the number of arguments for the words of one argument.
const mostWords = 24

// wordName returns the name of the argument for a word, counted from 0: NAME, NAME_2, NAME_3 and so on.
func wordName(argument string, word int) string {
	if word == 0 {
		return argument
	}
	return argument + "_" + strconv.Itoa(word+1)
}

// listPrompts returns all prompts. For a client that splits words, an argument of several words becomes several.
func (s *Server) listPrompts(req *mcp.ListPromptsRequest) (mcp.Result, error) {
	if req.Params != nil && req.Params.Cursor != "" {
		return nil, cursorError() // there is one page
	}
	client := s.callContext(req.Session, nil).Caller.Client
	result := &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{}, Cacheable: mcp.Cacheable{TTLMs: listTTL, CacheScope: private}}
	for _, p := range s.prompts() {
		prompt := &mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			words := 1
			if a.Words && splitsWords(client) {
				words = mostWords
			}
			for word := range words {
				prompt.Arguments = append(prompt.Arguments, &mcp.PromptArgument{
					Name: wordName(a.Name, word), Description: a.Description, Required: a.Required && word == 0,
				})
			}
		}
		result.Prompts = append(result.Prompts, prompt)
	}
	return result, nil
}

// getPrompt returns the handler that writes a prompt. A person gives the arguments, and sees the prompt first.
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

// promptArguments returns a value for each argument of a prompt, empty for one that is not given; the words of an
// argument are joined. problem is empty or says what is wrong: that an argument is not known, or else what the last
// wrong one needs.
func promptArguments(p toolset.Prompt, given map[string]string) (arguments map[string]string, problem string) {
	arguments = map[string]string{}
	var names []string
	unknown := maps.Clone(given)
	for _, a := range p.Arguments {
		names = append(names, a.Name)
		words := []string{given[a.Name]}
		delete(unknown, a.Name)
		for word := 1; a.Words && word < mostWords; word++ {
			words = append(words, given[wordName(a.Name, word)])
			delete(unknown, wordName(a.Name, word))
		}
		value := strings.TrimSpace(strings.Join(words, " "))
		switch {
		case value == "" && a.Required:
			problem = a.Name + " is required: " + a.Description
		case value != "" && a.Check != nil && a.Check(value) != "":
			problem = a.Check(value)
		}
		arguments[a.Name] = value
	}
	for name := range unknown {
		problem = "there is no argument " + text.Quote(name) + "; the prompt takes " + strings.Join(names, ", ")
	}
	return arguments, problem
}
