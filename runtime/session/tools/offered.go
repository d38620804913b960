package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

func declared() []contract.Tool {
	return []contract.Tool{conv.CreateTool(), conv.DestroyTool(), conv.HistoryTool(), conv.ListTool(), conv.SendTool(), conv.WaitTool()}
}

// within returns the five tools as conversations are offered them: without wait_ms, the last parameter of those that have
// it, since only a caller outside of a session can go on without an answer.
func within() []model.Tool {
	var tools []model.Tool
	for _, tool := range []contract.Tool{conv.CreateTool(), conv.SendTool(), conv.ListTool(), conv.HistoryTool(), conv.DestroyTool()} {
		if before, rest, found := strings.Cut(tool.InputSchema, `,"wait_ms":{`); found {
			_, after, _ := strings.Cut(rest, "}")
			tool.InputSchema = before + after
		}
		tools = append(tools, offer(tool))
	}
	return tools
}

func offer(t contract.Tool) model.Tool {
	return model.Tool{Name: t.Name, Description: t.Text(), Parameters: json.RawMessage(t.InputSchema)}
}

// Offered returns the tools of a conversation: those of sessions, those of other families, those of MCP servers.
func (s *Sessions) Offered(ctx context.Context, c *session.Conversation) []model.Tool {
	var tools []model.Tool
	if c.Internal[session.ConvTools] {
		tools = within()
	}
	for _, tool := range s.options.Registry.Offered(ctx) {
		tools = append(tools, offer(tool))
	}
	for _, tool := range s.ofServers(ctx, c) {
		tools = append(tools, tool.Tool)
	}
	return tools
}

// catalogue returns the tools of all MCP servers that can be used, by server. Starting them may take as long as the
// slowest needs.
func (s *Sessions) catalogue(ctx context.Context) map[string][]string {
	catalogue := map[string][]string{}
	for server, tools := range s.servers.Tools(ctx, func(string) bool { return true }, s.options.Warn) {
		catalogue[server] = []string{}
		for _, tool := range tools {
			catalogue[server] = append(catalogue[server], tool.Name)
		}
	}
	return catalogue
}

// ofServers returns the tools of MCP servers that a conversation may use. Those of a server that cannot be used
// are missing.
func (s *Sessions) ofServers(ctx context.Context, c *session.Conversation) []ServerTool {
	var allowed []ServerTool
	for server, tools := range s.servers.Tools(ctx, c.AllowsSome, s.options.Warn) {
		for _, tool := range tools {
			if c.Allows(server, tool.Name) {
				allowed = append(allowed, tool)
			}
		}
	}
	return allowed
}

// ofServer returns the tool of an MCP server that a conversation may use under a name.
func (s *Sessions) ofServer(ctx context.Context, c *session.Conversation, name string) (ServerTool, bool) {
	if strings.HasPrefix(name, serverPrefix) {
		for _, tool := range s.ofServers(ctx, c) {
			if tool.Tool.Name == name {
				return tool, true
			}
		}
	}
	return ServerTool{}, false
}

// Prepare decodes and validates a call of a conversation, and reads the files that it names.
func (s *Sessions) Prepare(ctx context.Context, c *session.Conversation, call model.Item) session.Request {
	if session.Own(call.Name) {
		asked, refusal := s.decode(SettingsOf(c.Context), call.Name, []byte(call.Arguments))
		if refusal != nil {
			return session.Request{Refused: refusal}
		}
		return asked.request
	}
	_, _, err := s.options.Registry.Lookup(call.Name)
	if _, ok := s.ofServer(ctx, c, call.Name); err == nil || ok {
		return session.Request{}
	}
	return session.Request{Refused: &session.Refusal{Code: session.CodeUnavailable, Reason: "this conversation has no tool " + text.Quote(call.Name)}}
}

// Run runs the tool of an ordinary call. A defect of one is no reason to end a session.
func (o *Session) Run(ctx context.Context, c *session.Conversation, call session.Item) (content string, success bool) {
	if tool, ok := o.ofServer(ctx, c, call.Name); ok {
		return o.servers.Call(ctx, tool, []byte(call.Arguments))
	}
	defer func() {
		if p := recover(); p != nil {
			content, success = fmt.Sprintf("%s failed: it is a fault of this program", call.Name), false
		}
	}()
	answer, err := o.options.Registry.Call(ctx, contract.Call{
		Tool: call.Name, Arguments: []byte(call.Arguments),
		Context: contract.Context{ConversationID: o.recordedAs(c.ID), Kin: true, Dir: SettingsOf(c.Context).Dir},
	})
	if err != nil {
		return err.Error(), false
	}
	return answer, true
}
