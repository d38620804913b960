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
		return nil, noPage()
	}
	s.changes.look(ctx, true)
	result := &mcp.ListToolsResult{Tools: []*mcp.Tool{}, Cacheable: mcp.Cacheable{TTLMs: s.listTTL(), CacheScope: private}}
	for _, t := range s.changes.offered() {
		result.Tools = append(result.Tools, s.tool(t))
	}
	return result, nil
}

// tool returns the definition of a tool. Clients assume the worst of a missing hint: the tool writes, destroys, is
// not idempotent, and reaches the open world. For a tool that reads, only the last hint matters.
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
			tool.Annotations.OpenWorldHint = new(bool)
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

// checkOffered refuses a call of a tool that is not offered.
func (s *Server) checkOffered(ctx context.Context, name string) error {
	if s.changes.offers(name) {
		return nil
	}
	s.changes.look(ctx, true) // it may be new
	if s.changes.offers(name) {
		return nil
	}
	var names []string
	for _, t := range s.changes.offered() {
		names = append(names, t.Name)
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: contract.UnknownTool(name, names).Error()}
}

// runTool runs a tool. An error that the caller can correct is a result, for the model to see; other errors reach
// only the client.
func (s *Server) runTool(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	stop := s.reportProgress(ctx, req)
	answer, err := s.call(ctx, contract.Call{
		Tool:      req.Params.Name,
		Arguments: arguments(req.Params.Arguments),
		Context:   s.callContext(req.Session, req.Params.Meta),
		Notes:     contextNotes(req.Params.Meta),
	})
	stop()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the call was canceled: %w", context.Cause(ctx))
	}
	result, failed := s.result(answer, err)
	if err == nil && failed == nil && !s.cfg.Structured && s.changes.structured(req.Params.Name) {
		result.StructuredContent = json.RawMessage(answer)
	}
	return result, failed
}

// call runs a tool in its turn.
func (s *Server) call(ctx context.Context, call contract.Call) (string, error) {
	leave, err := s.calls.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return s.cfg.Tools.Call(ctx, call)
}

// arguments returns nil for null, which some clients send for a tool without arguments.
func arguments(raw json.RawMessage) []byte {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// callContext returns where a call comes from: from the client's data, otherwise from the configuration. Families
// interpret the rest of the client's data.
func (s *Server) callContext(session *mcp.ServerSession, meta mcp.Meta) contract.Context {
	where := s.cfg.Context
	where.Caller.Meta = meta
	if said := session.InitializeParams(); said != nil && said.ClientInfo != nil {
		where.Caller.Client = said.ClientInfo.Name
	}
	if said, ok := meta[contextKey].(map[string]any); ok {
		if id, ok := said["conversation_id"].(string); ok && id != "" {
			where.ConversationID = id
		}
	}
	return where
}

// contextNotes returns a remark about data of a call that is not understood. The tools check ids.
func contextNotes(meta mcp.Meta) []string {
	said, ok := meta[contextKey]
	if !ok || said == nil {
		return nil
	}
	if object, ok := said.(map[string]any); ok {
		switch object["conversation_id"].(type) {
		case nil, string:
			return nil
		}
	}
	return []string{"What the host says about this call is not understood and was ignored: _meta." + contextKey + ` must be an object such as {"conversation_id": "jp-c17737387251"}.`}
}

func (s *Server) result(answer string, err error) (*mcp.CallToolResult, error) {
	result := &mcp.CallToolResult{IsError: err != nil}
	var failure *contract.Error
	switch {
	case errors.As(err, &failure):
		told := *failure
		told.Message = s.words(failure)
		answer, err = told.Message, &told
	case err != nil:
		answer = err.Error()
	}
	result.Content = []mcp.Content{&mcp.TextContent{Text: answer}}
	if s.cfg.Structured {
		outcome, marshalErr := json.Marshal(contract.OutcomeOf(answer, err))
		if marshalErr != nil {
			return nil, fmt.Errorf("writing the outcome: %w", marshalErr)
		}
		result.StructuredContent = json.RawMessage(outcome)
	}
	return result, nil
}
