package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/process"
)

// Server is a server as the user has configured it: with a command or a URL.
type Server struct {
	// Name is 1 to 32 letters, digits and hyphens. A name that is offered begins with it, and ends it with two underscores:
	// no two pairs of a server and a tool have one name.
	Name    string
	Command string
	Args    []string
	Env     map[string]string // besides that of [process.DefaultEnv]
	URL     string            // of a server over streamable HTTP
}

// ServerOptions says who asks, and for how long. Zero times have the defaults given here.
type ServerOptions struct {
	Name, Version string        // of this program
	Dir           string        // where servers are started; empty for the working directory
	StartTime     time.Duration // to start and list its tools; 30 s
	CallTime      time.Duration // of one call; 5 min
	RetryTime     time.Duration // until a server is started again that could not be; 1 min
}

// What a server may say.
const (
	maxTools       = 500
	maxDescription = 4096     // characters
	maxSchema      = 64 << 10 // bytes
	maxOutput      = 256 << 10
	maxMessage     = 16 << 20
)

// ServerTool is a tool of a server.
type ServerTool struct {
	Server, Name string
	// Offered is the name that models call it by: see [OfferedName].
	Offered     string
	Description string
	Schema      json.RawMessage // a JSON Schema of type object
}

// UnavailableError is the error for a server that cannot be used.
type UnavailableError struct {
	Server string
	Cause  string // safe to show
	Err    error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("the MCP server %s cannot be used: %s", e.Server, e.Cause)
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// Servers is the MCP servers that the user has configured. One is started, or connected to, when its tools are first asked
// for, and stays until [Servers.Close]. What it says is untrusted: the number of its tools, their descriptions and
// schemas, what they return and how long they take are bounded. No tool is offered under a name that another one has.
//
// Its methods may be called from several goroutines at once.
type Servers struct {
	options ServerOptions
	client  *mcp.Client
	servers []*server // by name
}

// NewServers returns servers none of which is started. The names of servers have to differ.
func NewServers(servers []Server, o ServerOptions) *Servers {
	if o.StartTime <= 0 {
		o.StartTime = 30 * time.Second
	}
	if o.CallTime <= 0 {
		o.CallTime = 5 * time.Minute
	}
	if o.RetryTime <= 0 {
		o.RetryTime = time.Minute
	}
	s := &Servers{
		options: o,
		client:  mcp.NewClient(&mcp.Implementation{Name: o.Name, Version: o.Version}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}),
	}
	for _, configured := range servers {
		s.servers = append(s.servers, &server{Server: configured})
	}
	slices.SortFunc(s.servers, func(a, b *server) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// Names returns the names of all servers, sorted.
func (s *Servers) Names() []string {
	var names []string
	for _, one := range s.servers {
		names = append(names, one.Name)
	}
	return names
}

// Tools returns the tools of a server, sorted by name. The error is an [*UnavailableError], or that of the context.
func (s *Servers) Tools(ctx context.Context, name string) ([]ServerTool, error) {
	_, _, tools, err := s.connected(ctx, name)
	return tools, err
}

// connected returns a server with its session, which is begun where there is none, and its tools.
func (s *Servers) connected(ctx context.Context, name string) (*server, *mcp.ClientSession, []ServerTool, error) {
	i := slices.IndexFunc(s.servers, func(one *server) bool { return one.Name == name })
	if i < 0 {
		return nil, nil, nil, &UnavailableError{Server: name, Cause: "it is not configured"}
	}
	one := s.servers[i]
	one.mu.Lock()
	defer one.mu.Unlock()
	if err := one.start(ctx, s); err != nil {
		return nil, nil, nil, err
	}
	return one, one.session, one.tools, nil
}

// Call calls a tool, and returns its text, shortened where it is too long. Where it cannot be called, the text is why.
// Arguments are a JSON object; no text at all stands for an empty one.
func (s *Servers) Call(ctx context.Context, t ServerTool, arguments []byte) (content string, success bool) {
	if arguments = bytes.TrimSpace(arguments); len(arguments) == 0 {
		arguments = []byte("{}")
	}
	if arguments[0] != '{' || !json.Valid(arguments) {
		return "the arguments are not one JSON object", false
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.CallTime)
	defer cancel()
	one, session, _, err := s.connected(ctx, t.Server)
	if err != nil {
		return err.Error(), false
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: t.Name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		one.forget(session, err)
		return fmt.Sprintf("%s/%s did not answer: %s", t.Server, t.Name, s.cause(ctx, err)), false
	}
	return shortened(textOf(result)), !result.IsError
}

// Close ends all servers. Nothing of them is left when it returns.
func (s *Servers) Close() {
	var stopping sync.WaitGroup
	for _, one := range s.servers {
		stopping.Go(one.stop)
	}
	stopping.Wait()
}

func (s *Servers) cause(ctx context.Context, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "it took too long"
	}
	return text.Line(text.Cut(err.Error(), 300))
}

// server is a server with its connection.
type server struct {
	Server

	mu      sync.Mutex
	session *mcp.ClientSession // nil while there is none
	talk    *process.Talk      // of a session with a command
	tools   []ServerTool       // of the session
	failed  error              // why the server could not be started at the time that follows
	at      time.Time
	closed  bool
}

// start connects to the server and lists its tools. s.mu is held.
func (s *server) start(ctx context.Context, all *Servers) error {
	if s.session != nil {
		return nil
	}
	if s.closed {
		return &UnavailableError{Server: s.Name, Cause: "this program is about to end"}
	}
	if s.failed != nil && time.Since(s.at) < all.options.RetryTime {
		return s.failed
	}
	limited, cancel := context.WithTimeout(ctx, all.options.StartTime)
	defer cancel()
	s.failed, s.at = s.connect(limited, all), time.Now()
	if ctx.Err() != nil {
		s.failed = nil // it was not waited for
		return fmt.Errorf("starting the MCP server %s: %w", s.Name, context.Cause(ctx))
	}
	return s.failed
}

func (s *server) connect(ctx context.Context, all *Servers) error {
	transport, err := s.transport(all.options.Dir)
	if err != nil {
		return &UnavailableError{Server: s.Name, Cause: text.Line(err.Error()), Err: err}
	}
	// The session lasts longer than the call that needs it first.
	session, err := all.client.Connect(ctx, transport, nil)
	if err == nil {
		s.session = session
		err = s.list(ctx)
	}
	if err != nil {
		cause := all.cause(ctx, err)
		if last := s.end(); last != "" {
			cause += "; it said: " + last
		}
		return &UnavailableError{Server: s.Name, Cause: cause, Err: err}
	}
	return nil
}

func (s *server) transport(dir string) (mcp.Transport, error) {
	if s.URL != "" {
		return &mcp.StreamableClientTransport{
			Endpoint: s.URL, DisableStandaloneSSE: true, MaxEventSize: maxMessage,
			HTTPClient: &http.Client{Transport: bounded{}, CheckRedirect: withinOrigin},
		}, nil
	}
	env := process.DefaultEnv()
	for name, value := range s.Env {
		env = append(env, name+"="+value)
	}
	talk, err := process.Exec{}.Start(process.Command{Path: s.Command, Args: s.Args, Dir: dir, Env: env})
	if err != nil {
		return nil, err
	}
	s.talk = talk
	return &mcp.IOTransport{Reader: io.NopCloser(talk.Stdout), Writer: talk.Stdin, MaxLineLength: maxMessage}, nil
}

// list asks for the tools. What no model could be offered is left out.
func (s *server) list(ctx context.Context) error {
	s.tools = nil
	for tool, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		if len(s.tools) == maxTools {
			break
		}
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil || len(schema) > maxSchema || !object(schema) || tool.Name == "" {
			continue
		}
		s.tools = append(s.tools, ServerTool{
			Server: s.Name, Name: tool.Name, Offered: OfferedName(s.Name, tool.Name),
			Description: text.Visible(text.Cut(tool.Description, maxDescription)), Schema: schema,
		})
	}
	slices.SortFunc(s.tools, func(a, b ServerTool) int { return strings.Compare(a.Name, b.Name) })
	names := map[string]bool{}
	s.tools = slices.DeleteFunc(s.tools, func(t ServerTool) bool {
		again := names[t.Offered]
		names[t.Offered] = true
		return again
	})
	return nil
}

// object reports whether a schema is one of type object, as every provider demands.
func object(schema []byte) bool {
	var head struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &head) == nil && head.Type == "object"
}

// forget ends a session that has failed, for the next call to begin another one. An answer of the server's that a call
// failed is no reason to.
func (s *server) forget(session *mcp.ClientSession, err error) {
	if !errors.Is(err, mcp.ErrConnectionClosed) && !errors.Is(err, io.EOF) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == session {
		s.end()
	}
}

// end ends the session, and returns what the server said last on its standard error. s.mu is held.
func (s *server) end() (last string) {
	if s.talk != nil {
		s.talk.Stop()
		last = s.talk.LastLine()
	}
	if s.session != nil {
		_ = s.session.Close() // a server that is gone has no answer to that
	}
	s.session, s.talk = nil, nil
	return last
}

func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.end()
}

// textOf returns the text of a result, and in the place of other content what it is.
func textOf(result *mcp.CallToolResult) string {
	var parts []string
	for _, content := range result.Content {
		switch content := content.(type) {
		case *mcp.TextContent:
			parts = append(parts, content.Text)
		case *mcp.ImageContent:
			parts = append(parts, fmt.Sprintf("[an image of %d bytes, %s]", len(content.Data), text.Line(content.MIMEType)))
		case *mcp.AudioContent:
			parts = append(parts, fmt.Sprintf("[audio of %d bytes, %s]", len(content.Data), text.Line(content.MIMEType)))
		case *mcp.ResourceLink:
			parts = append(parts, "[a resource: "+text.Line(content.URI)+"]")
		case *mcp.EmbeddedResource:
			if content.Resource != nil && content.Resource.Text != "" {
				parts = append(parts, content.Resource.Text)
			} else if content.Resource != nil {
				parts = append(parts, "[a resource: "+text.Line(content.Resource.URI)+"]")
			}
		}
	}
	if len(parts) == 0 && result.StructuredContent != nil {
		if structured, err := json.Marshal(result.StructuredContent); err == nil {
			parts = append(parts, string(structured))
		}
	}
	return strings.Join(parts, "\n")
}

func shortened(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	return fmt.Sprintf("%s\n[%d bytes of the answer are left out: ask for less]", strings.ToValidUTF8(s[:maxOutput], ""), len(s)-maxOutput)
}

// withinOrigin refuses a redirect to another origin than that of the configured address: what a server is asked, and
// told, is for nobody else.
func withinOrigin(r *http.Request, via []*http.Request) error {
	switch {
	case origin(r.URL) != origin(via[0].URL):
		return fmt.Errorf("it redirects to another origin, %s, which is not followed; if that is right, make it the url", origin(r.URL))
	case len(via) >= 10:
		return errors.New("it redirects too often")
	}
	return nil
}

func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// bounded sends requests, and takes no more of an answer than a message may have.
type bounded struct{}

func (bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, 2*maxMessage), response.Body}
	}
	return response, err
}
