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

// Config is what a server serves.
type Config struct {
	// Name, Title and Version are those of this program.
	Name, Title, Version string
	// Tools has the families whose tools, resources and prompts are served.
	Tools *toolset.Registry
	// Context is what is known about a call of which the client says nothing: the
	// directory the project is looked for from, and the current conversation.
	Context contract.Context
	// NoProject is what a person can do about a call that was made outside of a
	// project: a sentence behind the error of such a call.
	NoProject string
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
	changes *changes
}

const (
	// listTTL is how long a client may keep a list that does not change while a
	// server runs, in milliseconds. The others it may not keep at all: a look at them
	// costs little, and clients that are not told of changes would miss them.
	listTTL = 5 * 60 * 1000
	// private is the scope of what may be kept: it is about one person's project.
	private = "private"
	// maxLogged is how many characters of what is wrong with a request are logged.
	maxLogged = 200
	// failedMessage is all that a client is told about what is wrong in here.
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
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { // of lists that stay what they are
				c.CacheScope, c.TTLMs = private, listTTL
			},
		})
	add := func(tools []contract.Tool) {
		for _, t := range tools {
			for _, t.Name = range append([]string{t.Name}, t.Aliases...) {
				s.sdk.AddTool(s.tool(t), s.runTool)
			}
		}
	}
	declared := cfg.Tools.Declared()
	add(declared)
	// What is added is a change to the SDK, which tells clients that listen. Some are new, and
	// where all are gone, one that was there does.
	s.changes.tellTools = func() { add(slices.Concat(declared[:min(1, len(declared))], s.changes.offered())) }
	for _, p := range s.prompts() {
		s.sdk.AddPrompt(&mcp.Prompt{Name: p.Name}, s.getPrompt(p)) // listPrompts lists it
	}
	for _, r := range s.resources() {
		add := func() {
			s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{
				Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType, URITemplate: r.Template,
			}, nil) // readResource reads
		}
		add()
		s.changes.tellResources = add
	}
	s.sdk.AddReceivingMiddleware(s.guard)
	return s
}

// guard stands before every request: it keeps a panic from ending the session, and
// errors that are not for clients in here.
func (s *Server) guard(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("panic", "method", method, "cause", p, "stack", string(debug.Stack()))
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: failedMessage}
			}
		}()
		if !strings.HasPrefix(method, "notifications/") {
			defer s.changes.asked()
		}
		ctx, done := bound(ctx, req)
		defer done()
		if result, err = s.answer(ctx, method, req, next); err != nil {
			return nil, s.clientError(ctx, method, err)
		}
		return result, nil
	}
}

// answer answers what depends on the moment, and leaves the rest to the SDK.
func (s *Server) answer(ctx context.Context, method string, req mcp.Request, next mcp.MethodHandler) (mcp.Result, error) {
	switch method {
	case "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		// The SDK has these whether or not they are announced.
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
		return s.reading(ctx, func() (mcp.Result, error) { return s.listResources(ctx, req) })
	case *mcp.ReadResourceRequest:
		return s.reading(ctx, func() (mcp.Result, error) { return s.readResource(ctx, req) })
	case *mcp.CompleteRequest:
		return s.reading(ctx, func() (mcp.Result, error) { return s.complete(ctx, req) })
	case *mcp.SubscriptionsListenRequest:
		s.changes.look(ctx, false)
	}
	result, err := next(ctx, method, req)
	if err != nil {
		return nil, err
	}
	switch result := result.(type) {
	case *mcp.InitializeResult:
		s.introduce(ctx, req, &result.Instructions)
		// Over HTTP this era would be told of changes on a stream that is not served.
		if req.GetExtra() != nil {
			result.Capabilities.Tools, result.Capabilities.Resources = &mcp.ToolCapabilities{}, &mcp.ResourceCapabilities{}
		}
	case *mcp.DiscoverResult:
		s.introduce(ctx, req, &result.Instructions)
		result.CacheScope, result.TTLMs = private, s.listTTL()
	}
	return result, nil
}

// introduce completes what a client is told first.
func (s *Server) introduce(ctx context.Context, req mcp.Request, instructions *string) {
	s.changes.look(ctx, true)
	where := s.cfg.Context
	if session, ok := req.GetSession().(*mcp.ServerSession); ok {
		where = s.callContext(session, nil)
	}
	*instructions = s.cfg.Tools.Instructions(ctx, where)
}

// listTTL is how long a list that may change can be kept, in milliseconds.
func (s *Server) listTTL() int {
	if s.cfg.Tools.Changes() {
		return 0
	}
	return listTTL
}

// reading answers a request that reads when its turn has come.
func (s *Server) reading(ctx context.Context, answer func() (mcp.Result, error)) (mcp.Result, error) {
	leave, err := s.reads.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return answer()
}

// clientError is what a client is told about an error of a method. An error that
// is meant for clients has a code, or is one of the tools'; all others go to the
// log.
func (s *Server) clientError(ctx context.Context, method string, err error) error {
	var failure *contract.Error
	var coded *jsonrpc.Error
	switch {
	case errors.As(err, &coded) && coded.Code != 0:
		return err
	case method == "initialize":
		return err // the SDK's, about the order of requests
	case errors.As(err, &failure):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: failure.Message}
	case errors.Is(context.Cause(ctx), errStopping):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The server is shutting down; the call was stopped."}
	case ctx.Err() != nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The request was canceled."}
	default:
		s.log.Error("failed", "method", method, "cause", text.Cut(err.Error(), maxLogged))
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: failedMessage}
	}
}

// words are those of a failure, and of what a person can do about it here.
func (s *Server) words(failure *contract.Error) string {
	if failure.NoProject && s.cfg.NoProject != "" {
		return failure.Message + " " + s.cfg.NoProject
	}
	return failure.Message
}

func noPage() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "There is no page with this cursor. List from the beginning."}
}
