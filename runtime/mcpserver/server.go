package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/contract"
)

// Config is what a server serves.
type Config struct {
	Version string // of this program
	Tools   []contract.Tool
	// Call runs a tool. It has to stop when its context is done.
	Call func(context.Context, contract.Call) (string, error)
	// CLI runs the conversation command line, to complete ids.
	CLI contract.CLI
	// Context is what is known about a call of which the client says nothing: the
	// directory the workspace is looked for from, and the current conversation.
	Context contract.Context
	// Structured adds to every result its outcome as structured content. Clients
	// that show a model structured content show it nothing else.
	Structured bool
	// Log gets a line about what a person running the server should know. nil
	// discards them.
	Log io.Writer
	// ProgressInterval is the time between two notifications of progress; 0 means
	// 5 seconds. Clients that give up on a silent call do so after a minute or more.
	ProgressInterval time.Duration
	// DrainTime is how long requests go on that were not answered yet when the
	// client has ended its input, or the server is told to end; 0 means 5 seconds.
	// A program that pipes its requests in wants the answers; a client that is gone
	// should not keep work alive. What is not done by then is stopped, and answered
	// with an error.
	DrainTime time.Duration
}

// Server serves tools to any number of clients. It is safe for concurrent use.
type Server struct {
	cfg   Config
	sdk   *mcp.Server
	log   *slog.Logger
	calls *admission
}

// listTTL is how long a client may keep a list, in milliseconds. The lists do
// not change while a server runs.
const listTTL = 5 * 60 * 1000

// New returns a server of the tools in cfg.
func New(cfg Config) *Server {
	if cfg.Log == nil {
		cfg.Log = io.Discard
	}
	if cfg.ProgressInterval == 0 {
		cfg.ProgressInterval = 5 * time.Second
	}
	if cfg.DrainTime == 0 {
		cfg.DrainTime = 5 * time.Second
	}
	s := &Server{
		cfg:   cfg,
		log:   slog.New(slog.NewTextHandler(cfg.Log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		calls: newAdmission(maxRunning, maxWaiting),
	}
	s.sdk = mcp.NewServer(
		&mcp.Implementation{Name: "convtools", Title: "Conversations", Version: cfg.Version},
		&mcp.ServerOptions{
			Instructions: instructions(cfg.Context),
			// Lists do not change while a server runs, and there is no logging.
			Capabilities: &mcp.ServerCapabilities{
				Tools:     &mcp.ToolCapabilities{},
				Prompts:   &mcp.PromptCapabilities{},
				Resources: &mcp.ResourceCapabilities{},
			},
			CompletionHandler: s.complete,
			SetCacheable: func(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
				c.CacheScope = "private" // it is about one person's workspace
				if _, reading := req.(*mcp.ReadResourceRequest); !reading {
					c.TTLMs = listTTL
				}
			},
		})
	s.sdk.AddReceivingMiddleware(s.guard)
	for _, tool := range cfg.Tools {
		s.addTool(tool)
	}
	s.addResources()
	s.addPrompts()
	return s
}

// ServeStdio serves one client, one JSON-RPC message a line, until in ends or
// ctx is done. Calls that are not answered by then are stopped.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	c := newStream(s, in, out)
	defer c.giveUp()
	defer c.closed()
	var sessions []*mcp.ServerSession
	for _, era := range c.eras {
		session, err := s.sdk.Connect(bound(ctx, work), era, nil)
		if err != nil {
			return fmt.Errorf("starting the MCP session: %w", err)
		}
		sessions = append(sessions, session)
	}
	go c.receive()
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(s.cfg.DrainTime, c.giveUp)
		left := c.stop()
		cancel()
		c.sayStopped(left)
		for _, session := range sessions {
			_ = session.Close()
		}
	})
	defer stop()
	var ended error
	for _, session := range sessions {
		if err := session.Wait(); err != nil && !errors.Is(err, io.EOF) && ended == nil {
			ended = err
		}
		c.closed() // one session does not go on without the other
	}
	if ended != nil && ctx.Err() == nil {
		return fmt.Errorf("the MCP session ended: %w", ended)
	}
	return nil
}

type boundKey struct{}

// bound returns ctx with a mark: requests have to end with work. The SDK hands
// requests a context that has the values of ctx, but is not done when it is.
func bound(ctx, work context.Context) context.Context {
	return context.WithValue(ctx, boundKey{}, work)
}

// withBound returns a context that is done when ctx is, or the one it was bound
// to.
func withBound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := func() { cancel(nil) }
	outer, ok := ctx.Value(boundKey{}).(context.Context)
	if !ok {
		return ctx, done
	}
	stop := context.AfterFunc(outer, func() { cancel(context.Cause(outer)) })
	return ctx, func() { stop(); done() }
}

// guard stands before every request: it binds the context, keeps a panic from
// ending the session, and errors that are not for clients in here.
func (s *Server) guard(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		ctx, cancel := withBound(ctx)
		defer cancel()
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("panic", "method", method, "cause", p, "stack", string(debug.Stack()))
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: failedMessage}
			}
		}()
		if begin, ok := req.(*mcp.ServerRequest[*mcp.InitializeParams]); ok {
			// The SDK would go by the version that was asked for, not by the one that
			// was agreed on.
			begin.Params.ProtocolVersion = min(begin.Params.ProtocolVersion, lastWithSessions)
		}
		if call, ok := req.(*mcp.CallToolRequest); ok && !s.knows(call.Params.Name) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: contract.UnknownTool(call.Params.Name, s.names()).Error()}
		}
		if result, err = next(ctx, method, req); err != nil {
			return nil, s.clientError(ctx, method, err)
		}
		return result, nil
	}
}

// clip shortens s to about limit bytes.
func clip(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= limit {
		return s
	}
	for !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
