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
		tools = append(tools, model.Tool{Name: tool.Offered, Description: tool.Description, Parameters: tool.Schema})
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
			if tool.Offered == name {
				return tool, true
			}
		}
	}
	return ServerTool{}, false
}

// Prepare decodes and validates a call of a conversation, and reads the files that it names.
func (s *Sessions) Prepare(ctx context.Context, c *session.Conversation, call model.Item) session.Request {
	if !session.Own(call.Name) {
		return session.Request{Refused: s.mayUse(ctx, c, call.Name)}
	}
	p, refusal := s.decode(ctx, c.Settings, call.Name, []byte(call.Arguments))
	if refusal != nil {
		return session.Request{Refused: refusal}
	}
	return p.request
}

// mayUse returns why a conversation may not use an ordinary tool, and nil where it may.
func (s *Sessions) mayUse(ctx context.Context, c *session.Conversation, name string) *session.Refusal {
	if _, _, err := s.options.Registry.Lookup(name); err == nil {
		return nil
	}
	if _, ok := s.ofServer(ctx, c, name); ok {
		return nil
	}
	return &session.Refusal{Code: session.CodeUnavailable, Reason: "this conversation has no tool " + text.Quote(name)}
}

// Run runs the tool of an ordinary call.
func (s *Session) Run(ctx context.Context, c *session.Conversation, call session.Item) (content string, success bool) {
	if tool, ok := s.ofServer(ctx, c, call.Name); ok {
		return s.servers.Call(ctx, tool, []byte(call.Arguments))
	}
	where := contract.Context{ConversationID: s.recordedAs(c.ID), Kin: true}
	if settings, err := ParseSettings(c.Settings); err == nil {
		where.Dir = settings.Dir
	}
	answer, err := s.call(ctx, contract.Call{Tool: call.Name, Arguments: []byte(call.Arguments), Context: where})
	if err != nil {
		return err.Error(), false
	}
	return answer, true
}

// call runs a tool of another family, whose defects are no reason to end a session.
func (s *Sessions) call(ctx context.Context, call contract.Call) (answer string, err error) {
	defer func() {
		if p := recover(); p != nil {
			answer, err = "", fmt.Errorf("%s failed: it is a fault of this program", call.Tool)
		}
	}()
	return s.options.Registry.Call(ctx, call)
}
