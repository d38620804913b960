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
	// Tools returns the tools there are to offer, in the order of their names. It
	// has to be cheap, and to stop when its context is done: with Knowledge it is
	// asked again and again, because what can be learned changes. Without, once.
	Tools func(context.Context) []contract.Tool
	// Call runs a tool. It has to stop when its context is done.
	Call func(context.Context, contract.Call) (string, error)
	// CLI runs the conversation command line, to complete ids.
	CLI contract.CLI
	// Knowledge opens the knowledge base whose subjects are resources. Every
	// request opens it anew. nil stands for a server without one.
	Knowledge func() (Knowledge, error)
	// Conversations reports whether there are conversations to look up at the moment:
	// a client that begins is told so. nil stands for yes.
	Conversations func() bool
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
	// client has ended its input, or a server over HTTP is told to end; 0 means 5
	// seconds. A program that pipes its requests in wants the answers; a client that
	// is gone should not keep work alive. What is not done by then is stopped, and
	// answered with an error. Requests that listen end at once, with their answer.
	DrainTime time.Duration
}

// Server serves tools to any number of clients. It is safe for concurrent use.
type Server struct {
	cfg     Config
	sdk     *mcp.Server
	log     *slog.Logger
	calls   *admission // of tools
	reads   *admission // everything else, which must not wait for tools that take long
	offered *offered
}

// listTTL is how long a client may keep a list that does not change while a
// server runs, in milliseconds. The others it may not keep at all: a look at them
// costs little, and clients that are not told of changes would miss them.
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
		cfg:     cfg,
		log:     slog.New(slog.NewTextHandler(cfg.Log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		calls:   newAdmission(maxRunning, maxWaiting),
		reads:   newAdmission(maxReading, maxWaiting),
		offered: newOffered(),
	}
	changes := s.changes()
	s.sdk = mcp.NewServer(
		&mcp.Implementation{Name: "convtools", Title: "Conversations and knowledge", Version: cfg.Version},
		&mcp.ServerOptions{
			// There is no logging, and the prompts stay what they are.
			Capabilities: &mcp.ServerCapabilities{
				Tools:     &mcp.ToolCapabilities{ListChanged: changes},
				Prompts:   &mcp.PromptCapabilities{},
				Resources: &mcp.ResourceCapabilities{ListChanged: changes},
			},
			CompletionHandler: s.complete,
			SetCacheable: func(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
				c.CacheScope = "private" // it is about one person's workspace
				c.TTLMs = s.ttl(req)
			},
		})
	s.sdk.AddReceivingMiddleware(s.guard)
	s.addResources()
	s.addPrompts()
	s.refresh(context.Background(), 0)
	return s
}

// changes says that the lists of tools and resources can change.
func (s *Server) changes() bool { return s.cfg.Knowledge != nil }

// ttl is how long the answer to a request may be kept, in milliseconds.
func (s *Server) ttl(req mcp.Request) int {
	switch req.(type) {
	case *mcp.ReadResourceRequest:
		return 0
	case *mcp.ListPromptsRequest, *mcp.ListResourceTemplatesRequest:
		return listTTL
	}
	if s.changes() {
		return 0
	}
	return listTTL
}

// ServeStdio serves one client, one JSON-RPC message a line, until in ends, or
// ctx is done. In the first case requests that are not answered yet have
// [Config.DrainTime] left. In the second they are stopped and answered at once:
// it is a person's Ctrl-C, or a client that has asked for the end and waits.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	listening, unlisten := context.WithCancel(work)
	defer unlisten()
	c := newStream(s, in, out)
	c.unlisten = unlisten
	c.connect = func(l *lane) (*mcp.ServerSession, error) {
		until := work
		if l.listens {
			until = listening
		}
		return s.sdk.Connect(bound(ctx, until), l, nil)
	}
	defer c.giveUp()
	defer c.closed()
	var sessions []*mcp.ServerSession
	for _, era := range c.eras {
		session, err := c.connect(era)
		if err != nil {
			return fmt.Errorf("starting the MCP session: %w", err)
		}
		sessions = append(sessions, session)
	}
	go c.receive()
	if s.changes() {
		go s.watch(ctx, c)
	}
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(s.cfg.DrainTime, c.giveUp)
		left := c.stop()
		cancel()
		c.sayStopped(left)
		c.await() // those that listen
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
		if result, err = s.handle(ctx, method, req, next); err != nil {
			return nil, s.clientError(ctx, method, err)
		}
		return result, nil
	}
}

// handle answers what depends on the moment, and leaves everything else to the
// SDK.
func (s *Server) handle(ctx context.Context, method string, req mcp.Request, next mcp.MethodHandler) (mcp.Result, error) {
	switch req := req.(type) {
	case *mcp.SubscriptionsListenRequest:
		go s.lookUntil(ctx) // which is done when the request is
	case *mcp.CallToolRequest:
		if !s.knows(req.Params.Name) {
			s.refresh(ctx, 0) // it may have come into being since
		}
		if !s.knows(req.Params.Name) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: contract.UnknownTool(req.Params.Name, s.names()).Error()}
		}
	case *mcp.ListToolsRequest:
		s.refresh(ctx, 0)
	case *mcp.ListResourcesRequest:
		if s.cfg.Knowledge != nil {
			return s.listSubjects(ctx, req)
		}
	case *mcp.ReadResourceRequest:
		if s.cfg.Knowledge != nil && strings.HasPrefix(req.Params.URI, subjectScheme) {
			return routeSubject(ctx, method, req, next)
		}
	}
	result, err := next(ctx, method, req)
	switch result := result.(type) {
	case *mcp.InitializeResult:
		if err == nil {
			s.introduce(ctx, req, result)
		}
	case *mcp.DiscoverResult:
		if err == nil {
			s.refresh(ctx, 0)
			result.Instructions = s.instructions()
		}
	}
	return result, err
}

// introduce completes the answer to initialize.
func (s *Server) introduce(ctx context.Context, req mcp.Request, result *mcp.InitializeResult) {
	s.refresh(ctx, 0)
	result.Instructions = s.instructions()
	// Over HTTP this era would be told of changes on a stream that is not served.
	if extra := req.GetExtra(); extra != nil && extra.Header != nil && s.changes() {
		result.Capabilities.Tools = &mcp.ToolCapabilities{}
		result.Capabilities.Resources = &mcp.ResourceCapabilities{}
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
