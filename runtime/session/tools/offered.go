package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

func declared() []contract.Tool {
	return []contract.Tool{conv.CreateTool(), conv.SendTool(), conv.ListTool(), conv.HistoryTool(), conv.DestroyTool(), conv.WaitTool()}
}

// Offered returns the tools of a conversation: conv tools, tools of other families and tools of MCP servers.
func (p *Project) Offered(ctx context.Context, c *session.Conversation) []model.Tool {
	var tools []model.Tool
	add := func(t contract.Tool) {
		tools = append(tools, model.Tool{Name: t.Name, Description: t.Text(), Parameters: json.RawMessage(t.InputSchema)})
	}
	for _, tool := range declared() {
		if mayUse := c.Internal[session.ConvTools]; mayUse && session.IsOwnTool(tool.Name) { // not conv.wait
			tool.InputSchema = withoutWaitParameter(tool.InputSchema) // calls in a session always wait for the answer
			add(tool)
		}
	}
	for _, tool := range p.registry.Offered(ctx) {
		add(tool)
	}
	for _, tool := range p.serverTools(ctx, c) {
		tools = append(tools, tool.Tool)
	}
	return tools
}

// withoutWaitParameter returns the schema of a conv tool without wait_ms, which is not its first property and has no
// inner object. Conversations of a session wait for answers; only programs outside can go on without one.
func withoutWaitParameter(schema string) string {
	before, wait, _ := strings.Cut(schema, `,"wait_ms":{`)
	_, after, _ := strings.Cut(wait, "}")
	return before + after
}

// serverTools returns the tools of MCP servers that a conversation may use.
func (p *Project) serverTools(ctx context.Context, c *session.Conversation) []serverTool {
	return slices.DeleteFunc(p.servers.tools(ctx, c.AllowsSome), func(t serverTool) bool {
		return !c.Allows(t.server.Name, t.name)
	})
}

// serverTool returns the tool of an MCP server that a conversation may use under a name, and whether there is one.
func (p *Project) serverTool(ctx context.Context, c *session.Conversation, name string) (serverTool, bool) {
	if strings.HasPrefix(name, serverPrefix) {
		for _, tool := range p.serverTools(ctx, c) {
			if tool.Name == name {
				return tool, true
			}
		}
	}
	return serverTool{}, false
}

// catalogue returns the names of the tools of all MCP servers that can be used, by server. It starts the servers.
func (p *Project) catalogue(ctx context.Context) map[string][]string {
	catalogue := map[string][]string{}
	for _, tool := range p.servers.tools(ctx, func(string) bool { return true }) {
		catalogue[tool.server.Name] = append(catalogue[tool.server.Name], tool.name)
	}
	return catalogue
}

// Prepare returns the request of a call: the decoded arguments of a conv tool with the files that they name, an empty
// request for another tool of the conversation, or a refusal if the call is wrong or the conversation has no such tool.
func (p *Project) Prepare(ctx context.Context, c *session.Conversation, call model.Item) session.Request {
	if session.IsOwnTool(call.Name) {
		return p.decodeCall(SettingsOf(c.Context), call.Name, []byte(call.Arguments)).request
	}
	_, isOfServer := p.serverTool(ctx, c, call.Name)
	_, _, notOfFamily := p.registry.Lookup(call.Name) // an error if no family has the tool
	if isOfServer || notOfFamily == nil {
		return session.Request{}
	}
	return session.Request{Refused: &session.Refusal{Code: session.CodeUnavailable, Reason: "this conversation has no tool " + text.Quote(call.Name)}}
}

// Run runs the tool of a call that sessions do not answer themselves. If the tool panics, the call fails.
func (s *Session) Run(ctx context.Context, c *session.Conversation, call session.Item) (content string, success bool) {
	if tool, ok := s.serverTool(ctx, c, call.Name); ok {
		return tool.call(ctx, []byte(call.Arguments))
	}
	defer func() {
		if p := recover(); p != nil {
			content, success = fmt.Sprintf("%s failed: it is a fault of this program", call.Name), false
		}
	}()
	where := contract.Context{ConversationID: s.recordedAs(c.ID), Kin: true, Dir: SettingsOf(c.Context).Dir}
	answer, err := s.registry.Call(ctx, contract.Call{Tool: call.Name, Arguments: []byte(call.Arguments), Context: where})
	if err != nil {
		return err.Error(), false
	}
	return answer, true
}
