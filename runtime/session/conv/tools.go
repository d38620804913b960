// Package conv is what the conversations of a session may call, as an engine takes it: conv.create, conv.send, conv.list,
// conv.history and conv.destroy, the tools of this program's other families, and those of MCP servers.
//
// The package must never decide what happens in a session, word what the core of sessions answers, or read a file
// outside of the workspace for a model.
package conv

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/mcptools"
	"github.com/convtools/convtools/runtime/toolset"
)

// Options is what [Tools] depend on.
type Options struct {
	// Registry has the tools of this program besides those of sessions.
	Registry *toolset.Registry
	// Servers are MCP servers; nil for none.
	Servers *mcptools.Servers
	// Now is the clock, [time.Now] where it is nil.
	Now func() time.Time
	// RecordedAs returns the id under which a conversation of a session is recorded where the tools of the registry look
	// conversations up, for them to leave it out with its kin. Empty, and nil, stand for not known.
	RecordedAs func(conversation string) string
	// WebSearch reports whether the model of conversations with some settings can search the web at the moment; nil stands
	// for none that can.
	WebSearch func(Settings) bool
	// Warn gets what a person should know, a sentence. It may be nil.
	Warn func(string)
}

// Tools is what the conversations of a session may call. It is an engine's Tools.
type Tools struct {
	options Options
	family  []model.Tool // those of sessions

	mu       sync.Mutex
	prepared map[string]session.Request // of programs outside, by the id of the call
}

// NewTools returns the tools that conversations have here.
func NewTools(o Options) *Tools {
	if o.Now == nil {
		o.Now = time.Now
	}
	t := &Tools{options: o}
	for _, tool := range []contract.Tool{conv.CreateTool(), conv.SendTool(), conv.ListTool(), conv.HistoryTool(), conv.DestroyTool()} {
		tool.InputSchema = withoutWaiting(tool.InputSchema)
		t.family = append(t.family, offer(tool))
	}
	return t
}

// withoutWaiting returns a schema without wait_ms, the last parameter of those that have it: only a caller outside of a
// session can go on without an answer.
func withoutWaiting(schema string) string {
	before, rest, found := strings.Cut(schema, `,"wait_ms":{`)
	if !found {
		return schema
	}
	_, after, _ := strings.Cut(rest, "}")
	return before + after
}

func offer(t contract.Tool) model.Tool {
	return model.Tool{Name: t.Name, Description: t.Text(), Parameters: json.RawMessage(t.InputSchema)}
}

// Offered returns the tools of a conversation: those of sessions, those of other families, those of MCP servers.
func (t *Tools) Offered(ctx context.Context, c *session.Conversation) []model.Tool {
	var tools []model.Tool
	if c.Internal.Conv {
		tools = append(tools, t.family...)
	}
	for _, tool := range t.options.Registry.Offered(ctx) {
		tools = append(tools, offer(tool))
	}
	for _, tool := range t.ofServers(ctx, c) {
		tools = append(tools, model.Tool{Name: tool.Offered, Description: tool.Description, Parameters: tool.Schema})
	}
	return tools
}

// Catalogue returns the tools of all MCP servers that can be used, by server. Starting them may take as long as the
// slowest needs.
func (t *Tools) Catalogue(ctx context.Context) map[string][]string {
	catalogue := map[string][]string{}
	if t.options.Servers == nil {
		return catalogue
	}
	for _, server := range t.options.Servers.Names() {
		tools, err := t.options.Servers.Tools(ctx, server)
		if err != nil {
			t.warn(err)
			continue
		}
		catalogue[server] = []string{}
		for _, tool := range tools {
			catalogue[server] = append(catalogue[server], tool.Name)
		}
	}
	return catalogue
}

// ofServers returns the tools of MCP servers that a conversation may use. Those of a server that cannot be used
// are missing.
func (t *Tools) ofServers(ctx context.Context, c *session.Conversation) []mcptools.Tool {
	if t.options.Servers == nil || len(c.MCP) == 0 {
		return nil
	}
	var allowed []mcptools.Tool
	for _, server := range t.options.Servers.Names() {
		if !c.AllowsSome(server) {
			continue
		}
		tools, err := t.options.Servers.Tools(ctx, server)
		if err != nil {
			t.warn(err)
			continue
		}
		for _, tool := range tools {
			if c.Allows(server, tool.Name) {
				allowed = append(allowed, tool)
			}
		}
	}
	return allowed
}

func (t *Tools) warn(err error) {
	if t.options.Warn != nil {
		t.options.Warn(err.Error())
	}
}

// ofServer returns the tool of an MCP server that a conversation may use under a name.
func (t *Tools) ofServer(ctx context.Context, c *session.Conversation, name string) (mcptools.Tool, bool) {
	if !strings.HasPrefix(name, mcptools.Prefix) {
		return mcptools.Tool{}, false
	}
	for _, tool := range t.ofServers(ctx, c) {
		if tool.Offered == name {
			return tool, true
		}
	}
	return mcptools.Tool{}, false
}

// mayUse returns why a conversation may not use an ordinary tool, and nil where it may.
func (t *Tools) mayUse(ctx context.Context, c *session.Conversation, name string) *session.Refusal {
	if _, _, err := t.options.Registry.Lookup(name); err == nil {
		return nil
	}
	if _, ok := t.ofServer(ctx, c, name); ok {
		return nil
	}
	return &session.Refusal{Code: session.CodeUnavailable, Reason: "this conversation has no tool " + text.Quote(name)}
}

// Run runs the tool of an ordinary call.
func (t *Tools) Run(ctx context.Context, c *session.Conversation, call session.Call) (content string, success bool) {
	name := string(call.Request.(session.Ordinary).Tool)
	if tool, ok := t.ofServer(ctx, c, name); ok {
		return t.options.Servers.Call(ctx, tool, []byte(call.Arguments))
	}
	where := contract.Context{}
	if settings, err := ParseSettings(c.Settings); err == nil {
		where.Dir = settings.Dir
	}
	if t.options.RecordedAs != nil {
		where.ConversationID, where.Kin = t.options.RecordedAs(c.ID), true
	}
	answer, err := t.call(ctx, contract.Call{Tool: name, Arguments: []byte(call.Arguments), Context: where})
	if err != nil {
		return err.Error(), false
	}
	return answer, true
}

// call runs a tool of another family, whose defects are no reason to end a session.
func (t *Tools) call(ctx context.Context, call contract.Call) (answer string, err error) {
	defer func() {
		if p := recover(); p != nil {
			answer, err = "", fmt.Errorf("%s failed: it is a fault of this program", call.Tool)
		}
	}()
	return t.options.Registry.Call(ctx, call)
}
