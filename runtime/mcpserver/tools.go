package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/contract"
)

// contextKey is the key in _meta for the conversation of a call: {"conversation_id": "…"}.
const contextKey = "computer.jp/context"

// listTools returns the tools that are offered now.
func (s *Server) listTools(ctx context.Context, req *mcp.ListToolsRequest) (mcp.Result, error) {
	if req.Params != nil && req.Params.Cursor != "" {
		return nil, cursorError() // there is one page
	}
	s.changes.update(ctx, true)
	result := &mcp.ListToolsResult{Tools: []*mcp.Tool{}, Cacheable: mcp.Cacheable{TTLMs: s.listTTL(), CacheScope: private}}
	for _, t := range s.changes.offered() {
		result.Tools = append(result.Tools, s.tool(t))
	}
	return result, nil
}

// tool returns the definition of a tool for clients. Clients assume the worst of a missing hint: that the tool writes,
// destroys, is not idempotent and reaches the open world. So only a tool that reads has hints.
func (s *Server) tool(t contract.Tool) *mcp.Tool {
	tool := &mcp.Tool{
		Name:        t.Name,
		Title:       t.Title,
		Description: t.Text(),
		InputSchema: json.RawMessage(t.InputSchema),
	}
	if t.Keywords != "" {
		tool.Meta = mcp.Meta{contract.SearchHint: t.Keywords}
	}
	if t.Effect == "read" {
		tool.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
		if !t.OpenWorld {
			tool.Annotations.OpenWorldHint = new(bool) // false
		}
	}
	switch {
	case s.cfg.Structured:
		tool.OutputSchema = json.RawMessage(outcomeSchema)
	case t.Structured:
		tool.OutputSchema = json.RawMessage(recordsSchema)
	}
	return tool
}

// recordsSchema is the schema of an answer in JSON of a tool with structured content.
const recordsSchema = `{
  "type": "object",
  "properties": {
    "records": {"type": "array", "description": "What was printed, as a list"},
    "value": {"description": "What was printed, where it is no list"},
    "notes": {"type": "array", "items": {"type": "string"}, "description": "What was repaired in the call, and what was left out"}
  }
}`

// outcomeSchema is the schema of [contract.OutcomeOf].
const outcomeSchema = `{
  "type": "object",
  "properties": {
    "type": {"type": "string", "enum": ["success", "error"]},
    "content": {"type": "string", "description": "The answer"},
    "message": {"type": "string", "description": "What went wrong, and what to do about it"},
    "trace": {"type": "array", "items": {"type": "string"}, "description": "Causes, outermost first"},
    "transient": {"type": "boolean", "description": "Whether the same call may work later"}
  },
  "required": ["type"]
}`

// checkOffered returns nil if name is that of an offered tool, or an alias, and else an error with the tools' names.
func (s *Server) checkOffered(ctx context.Context, name string) error {
	if s.changes.offers(name) {
		return nil
	}
	s.changes.update(ctx, true) // the tool may be new
	if s.changes.offers(name) {
		return nil
	}
	var names []string
	for _, t := range s.changes.offered() {
		names = append(names, t.Name)
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: contract.UnknownTool(name, names).Error()}
}

// runTool runs a tool and returns the tool's answer, or the tool's error as a result: the model sees results, but not
// errors of the protocol. If the call was canceled or the result cannot be encoded, runTool returns an error.
func (s *Server) runTool(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	stop := s.reportProgress(ctx, req)
	answer, toolErr := s.call(ctx, contract.Call{
		Tool:      req.Params.Name,
		Arguments: arguments(req.Params.Arguments),
		Context:   s.callContext(req.Session, req.Params.Meta),
		Notes:     contextNotes(req.Params.Meta),
	})
	stop()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the call was canceled: %w", context.Cause(ctx))
	}
	result, err := s.result(answer, toolErr)
	if err != nil {
		return nil, err
	}
	// With cfg.Structured, s.result has set the structured content of each answer.
	if toolErr == nil && !s.cfg.Structured && s.changes.structured(req.Params.Name) {
		result.StructuredContent = json.RawMessage(answer)
	}
	return result, nil
}

// call waits until fewer than maxRunning calls run, and runs a tool. The error is that of waiting or of the tool.
func (s *Server) call(ctx context.Context, call contract.Call) (string, error) {
	leave, err := s.calls.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return s.cfg.Tools.Call(ctx, call)
}

// arguments returns raw, or nil if it is null: some clients send null for a tool without arguments.
func arguments(raw json.RawMessage) []byte {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// callContext returns the context of a call: the configured context, with the name of the client, the conversation id
// in meta if there is one, and all of meta, of which tool families may understand more.
func (s *Server) callContext(session *mcp.ServerSession, meta mcp.Meta) contract.Context {
	result := s.cfg.Context
	result.Caller.Meta = meta
	if params := session.InitializeParams(); params != nil && params.ClientInfo != nil {
		result.Caller.Client = params.ClientInfo.Name
	}
	if object, ok := meta[contextKey].(map[string]any); ok {
		if id, ok := object["conversation_id"].(string); ok && id != "" {
			result.ConversationID = id
		}
	}
	return result
}

// contextNotes returns nil if the value of contextKey in meta has the expected form: it is missing, null, or an object
// whose conversation_id is missing, null or a string. Otherwise it returns one note. The tools check the id itself.
func contextNotes(meta mcp.Meta) []string {
	value, ok := meta[contextKey]
	if !ok || value == nil {
		return nil
	}
	if object, ok := value.(map[string]any); ok {
		switch object["conversation_id"].(type) {
		case nil, string:
			return nil
		}
	}
	return []string{"What the host says about this call is not understood and was ignored: _meta." + contextKey + ` must be an object such as {"conversation_id": "jp-c17737387251"}.`}
}

// result returns the result for a tool's answer or, if toolErr is not nil, for toolErr. If the server is to send
// structured results, the result also has the outcome as JSON; the error is that of encoding the outcome.
func (s *Server) result(answer string, toolErr error) (*mcp.CallToolResult, error) {
	result := &mcp.CallToolResult{IsError: toolErr != nil}
	var failure *contract.Error
	switch {
	case errors.As(toolErr, &failure):
		shown := *failure
		if failure.NoProject && s.cfg.NoProject != "" {
			shown.Message += " " + s.cfg.NoProject
		}
		answer, toolErr = shown.Message, &shown
	case toolErr != nil:
		answer = toolErr.Error()
	}
	result.Content = []mcp.Content{&mcp.TextContent{Text: answer}}
	if s.cfg.Structured {
		outcome, err := json.Marshal(contract.OutcomeOf(answer, toolErr))
		if err != nil {
			return nil, fmt.Errorf("writing the outcome: %w", err)
		}
		result.StructuredContent = json.RawMessage(outcome)
	}
	return result, nil
}
