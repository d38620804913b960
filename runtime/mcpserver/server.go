package mcpserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

// Config is the configuration of a server.
type Config struct {
	// Name, Title and Version describe this program to clients.
	Name, Title, Version string
	// Tools has the families whose tools, resources and prompts are served.
	Tools *toolset.Registry
	// Context is the origin of a call if the client says nothing of it: the project's directory and the conversation.
	Context contract.Context
	// NoProject is advice for a person, a sentence that is added to the error of a call outside of a project.
	NoProject string
	// Structured adds the outcome to every result as structured content. Some clients then show a model nothing else.
	Structured bool
	// Log gets lines for the person who runs the server. nil discards them.
	Log io.Writer
	// ProgressInterval is the time between notifications of progress; 0 is 5 seconds. Some clients wait only a minute.
	ProgressInterval time.Duration
	// DrainTime is the time for requests without an answer after the client has ended its input or a server over HTTP
	// is told to end; 0 is 5 seconds. A program that pipes its requests in wants the answers; a client that is gone
	// should not keep work alive. Requests that are not done by then are stopped, and answered with an error.
	// Requests that listen end at once, with their answer.
	DrainTime time.Duration
}

// Server serves tools to any number of clients. It is safe for concurrent use.
type Server struct {
	cfg     Config
	sdk     *mcp.Server
	log     *slog.Logger
	calls   *admission // of tools
	reads   *admission // of all else, which must not wait for slow tools
	changes *changes
}

const (
	// listTTL is the time in milliseconds for which a client may keep a list that does not change while a server runs.
	// Other lists it may not keep: a client that is not told of changes would miss them.
	listTTL = 5 * 60 * 1000
	// private is the scope of cached answers: they are about one person's project.
	private = "private"
	// maxLogged is the number of characters of an error in the log.
	maxLogged = 200
	// failedMessage is the text for clients about an internal error.
	failedMessage = "The server failed to answer; its standard error says more."
)

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
		changes: newChanges(cfg.Tools),
	}
	change := cfg.Tools.Changes()
	s.sdk = mcp.NewServer(
		&mcp.Implementation{Name: cfg.Name, Title: cfg.Title, Version: cfg.Version},
		&mcp.ServerOptions{
			// There is no logging, and the prompts stay what they are.
			Capabilities: &mcp.ServerCapabilities{
				Tools:       &mcp.ToolCapabilities{ListChanged: change},
				Prompts:     &mcp.PromptCapabilities{},
				Resources:   &mcp.ResourceCapabilities{ListChanged: change},
				Completions: &mcp.CompletionCapabilities{},
			},
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { // of lists that the SDK makes
				c.CacheScope, c.TTLMs = private, listTTL // these lists do not change
			},
		})
	addTools := func(tools []contract.Tool) {
		for _, t := range tools {
			for _, t.Name = range append([]string{t.Name}, t.Aliases...) { // t.Name becomes each of the names
				s.sdk.AddTool(s.tool(t), s.runTool)
			}
		}
	}
	declared := cfg.Tools.Declared()
	addTools(declared)
	// Adding a tool, even one that is there already, makes the SDK notify the clients that listen. tellTools adds the
	// first declared tool too, so that clients are notified even if no tool is offered any more.
	s.changes.tellTools = func() { addTools(slices.Concat(declared[:min(1, len(declared))], s.changes.offered())) }
	for _, p := range cfg.Tools.Prompts() {
		s.sdk.AddPrompt(&mcp.Prompt{Name: p.Name}, s.getPrompt(p)) // listPrompts has the rest
	}
	for _, r := range cfg.Tools.Resources() {
		addTemplate := func() {
			s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{
				Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType, URITemplate: r.Template,
			}, nil) // readResource reads it
		}
		addTemplate()
		s.changes.tellResources = addTemplate // adding any template again, here the last one, notifies clients
	}
	s.sdk.AddReceivingMiddleware(s.guard)
	return s
}

// guard wraps the handler of every request and notification. A panic and an internal error are logged; the client gets
// an error without their text. The context ends with [withLifetime]. A request may have changed the tools: it wakes watch.
func (s *Server) guard(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("panic", "method", method, "cause", p, "stack", string(debug.Stack()))
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: failedMessage}
			}
		}()
		if !strings.HasPrefix(method, "notifications/") {
			defer s.changes.wakeWatch()
		}
		ctx, done := withLifetime(ctx, req)
		defer done()
		answer, err := s.answer(ctx, method, req, next)
		if err != nil {
			return nil, s.clientError(ctx, method, err)
		}
		return answer, nil
	}
}

// answer returns the answer to a request. A method that is not announced and a tool that is not offered are errors.
// answer makes lists, reads resources and completes arguments itself; next, the SDK's handler, answers the other
// requests. In the SDK's answers to initialize and server/discover, it sets the instructions for models, and corrects
// what the answers say about notifications and caching.
func (s *Server) answer(ctx context.Context, method string, req mcp.Request, next mcp.MethodHandler) (mcp.Result, error) {
	switch method {
	case "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		// The SDK would answer these even though they are not announced.
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + text.Quote(method)}
	}
	switch req := req.(type) {
	case *mcp.CallToolRequest:
		if err := s.checkOffered(ctx, req.Params.Name); err != nil {
			return nil, err
		}
	case *mcp.ListToolsRequest:
		return s.listTools(ctx, req)
	case *mcp.ListPromptsRequest:
		return s.listPrompts(req)
	case *mcp.ListResourcesRequest:
		return s.answerInTurn(ctx, func() (mcp.Result, error) { return s.listResources(ctx, req) })
	case *mcp.ReadResourceRequest:
		return s.answerInTurn(ctx, func() (mcp.Result, error) { return s.readResource(ctx, req) })
	case *mcp.CompleteRequest:
		return s.answerInTurn(ctx, func() (mcp.Result, error) { return s.complete(ctx, req) })
	case *mcp.SubscriptionsListenRequest:
		s.changes.update(ctx, false) // later changes are notified
	}
	result, err := next(ctx, method, req)
	if err != nil {
		return nil, err
	}
	switch result := result.(type) {
	case *mcp.InitializeResult:
		s.introduce(ctx, req, &result.Instructions)
		// Over HTTP, this client would be notified on a stream, which is not served: no notifications are announced.
		if isHTTP := req.GetExtra() != nil; isHTTP {
			result.Capabilities.Tools, result.Capabilities.Resources = &mcp.ToolCapabilities{}, &mcp.ResourceCapabilities{}
		}
	case *mcp.DiscoverResult:
		s.introduce(ctx, req, &result.Instructions)
		result.CacheScope, result.TTLMs = private, s.listTTL()
	}
	return result, nil
}

// introduce sets the instructions in the answer to the first request of a client.
func (s *Server) introduce(ctx context.Context, req mcp.Request, instructions *string) {
	s.changes.update(ctx, true)
	callContext := s.cfg.Context
	if session, ok := req.GetSession().(*mcp.ServerSession); ok {
		callContext = s.callContext(session, nil)
	}
	*instructions = s.cfg.Tools.Instructions(ctx, callContext)
}

// listTTL returns the milliseconds for which a client may keep a list: 0 if lists may change while the server runs.
func (s *Server) listTTL() int {
	if s.cfg.Tools.Changes() {
		return 0
	}
	return listTTL
}

// answerInTurn calls answer once fewer than maxReading requests run. The error is that of waiting or of answer.
func (s *Server) answerInTurn(ctx context.Context, answer func() (mcp.Result, error)) (mcp.Result, error) {
	leave, err := s.reads.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return answer()
}

// clientError returns the error that a client gets for err. An error of the protocol stays, and an error of a tool
// keeps its text. Of other errors the client learns only that the request was stopped or has failed; the text of an
// error that is not due to stopping is logged.
func (s *Server) clientError(ctx context.Context, method string, err error) error {
	var failure *contract.Error
	var coded *jsonrpc.Error
	if errors.As(err, &coded) && coded.Code != 0 {
		return err
	}
	if method == "initialize" {
		return err // the SDK's error about the order of requests has no code
	}
	message := failedMessage
	switch {
	case errors.As(err, &failure):
		message = failure.Message
	case errors.Is(context.Cause(ctx), errStopping):
		message = "The server is shutting down; the call was stopped."
	case ctx.Err() != nil:
		message = "The request was canceled."
	default:
		s.log.Error("failed", "method", method, "cause", text.Cut(err.Error(), maxLogged))
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: message}
}

// cursorError returns the error for a cursor that no page was given.
func cursorError() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "There is no page with this cursor. List from the beginning."}
}
