package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/process"
)

// Limits of what a server says.
const (
	maxTools       = 500
	maxDescription = 4096     // characters
	maxSchema      = 64 << 10 // bytes
	maxMessage     = 16 << 20 // bytes
)

// retryTime is the time between two attempts to start a server.
const retryTime = time.Minute

// servers are the configured MCP servers. A server is started, or connected to, when its tools are first needed. Servers
// are not trusted: their answers are bounded in size and time. The methods are safe for concurrent use.
type servers struct {
	startTime time.Duration // to start a server and list its tools
	callTime  time.Duration // of one call
	dir       string        // the working directory of servers
	warn      func(string)  // gets the reasons why servers cannot be used
	client    *mcp.Client
	all       []*server
}

// serverTool is a tool of a server.
type serverTool struct {
	server     *server
	name       string
	model.Tool // its Name is mcp__SERVER__TOOL in characters that every provider takes
}

const serverPrefix = "mcp__"

func newServers(tables []config.Table[config.Server], program mcp.Implementation, dir string, warn func(string)) *servers {
	o := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	s := &servers{
		startTime: 30 * time.Second, callTime: 5 * time.Minute,
		dir: dir, warn: warn, client: mcp.NewClient(&program, o),
	}
	for _, t := range tables {
		s.all = append(s.all, &server{Table: t, servers: s})
	}
	return s
}

// tools returns the tools of the servers that wanted accepts by name. It warns of servers that cannot be used.
func (s *servers) tools(ctx context.Context, wanted func(server string) bool) (all []serverTool) {
	for _, one := range s.all {
		if !wanted(one.Name) {
			continue
		}
		_, tools, err := one.connected(ctx)
		if err != nil {
			s.warn(err.Error())
		}
		all = append(all, tools...)
	}
	return all
}

// call calls the tool. If it fails, content is the reason. Empty arguments are an empty object.
func (t serverTool) call(ctx context.Context, arguments []byte) (content string, ok bool) {
	if arguments = bytes.TrimSpace(arguments); len(arguments) == 0 {
		arguments = []byte("{}")
	}
	if arguments[0] != '{' || !json.Valid(arguments) {
		return "the arguments are not one JSON object", false
	}
	ctx, cancel := context.WithTimeout(ctx, t.server.servers.callTime)
	defer cancel()
	session, _, err := t.server.connected(ctx)
	if err != nil {
		return err.Error(), false
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: t.name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		if errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) {
			t.server.stop(session)
		}
		return fmt.Sprintf("%s/%s did not answer: %s", t.server.Name, t.name, reason(ctx, err)), false
	}
	return textOf(result), !result.IsError
}

// Close stops all servers and waits for their end.
func (s *servers) Close() {
	var stopping sync.WaitGroup
	for _, one := range s.all {
		stopping.Go(func() { one.stop(nil) })
	}
	stopping.Wait()
}

func reason(ctx context.Context, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "it took too long"
	}
	return text.Line(text.Cut(err.Error(), 300))
}

// server is a server and its connection.
type server struct {
	config.Table[config.Server]
	servers *servers

	mu      sync.Mutex
	session *mcp.ClientSession // nil if there is none
	program *process.Running   // of the session; nil over HTTP
	tools   []serverTool       // of the session
	failed  error              // why the last start failed
	at      time.Time          // of failed
}

// connected returns the session and its tools. It connects to the server if there is no session.
func (s *server) connected(ctx context.Context) (*mcp.ClientSession, []serverTool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.session != nil:
		return s.session, s.tools, nil
	case s.failed != nil && time.Since(s.at) < retryTime:
		return nil, nil, s.failed
	}
	limited, cancel := context.WithTimeout(ctx, s.servers.startTime)
	defer cancel()
	err := s.connect(limited)
	if err == nil {
		return s.session, s.tools, nil
	}
	why := reason(limited, err)
	if line := s.end(); line != "" {
		why += "; it said: " + line
	}
	err = fmt.Errorf("the MCP server %s cannot be used: %s", s.Name, why)
	if ctx.Err() == nil { // otherwise the caller did not wait
		s.failed, s.at = err, time.Now()
	}
	return nil, nil, err
}

// connect connects to the server and lists the tools that models can be offered. The session outlives ctx. s.mu is held.
func (s *server) connect(ctx context.Context) error {
	transport, err := s.transport()
	if err != nil {
		return err
	}
	if s.session, err = s.servers.client.Connect(ctx, transport, nil); err != nil {
		return err
	}
	s.tools = nil
	names := map[string]bool{}
	for tool, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		schema, _ := tool.InputSchema.(map[string]any)
		encoded, _ := json.Marshal(schema) // it was decoded from JSON
		name := model.Flat(serverPrefix + s.Name + "__" + tool.Name)
		// Every provider demands a schema of type object.
		if schema["type"] != "object" || len(encoded) > maxSchema || tool.Name == "" || names[name] || len(s.tools) == maxTools {
			continue
		}
		names[name] = true
		description := text.Visible(text.Cut(tool.Description, maxDescription))
		s.tools = append(s.tools, serverTool{s, tool.Name, model.Tool{Name: name, Description: description, Parameters: encoded}})
	}
	slices.SortFunc(s.tools, func(a, b serverTool) int { return strings.Compare(a.name, b.name) })
	return nil
}

func (s *server) transport() (mcp.Transport, error) {
	if s.Value.URL != "" {
		return &mcp.StreamableClientTransport{
			Endpoint: s.Value.URL, DisableStandaloneSSE: true, MaxEventSize: maxMessage,
			HTTPClient: &http.Client{Transport: bounded{}, CheckRedirect: sameOrigin},
		}, nil
	}
	env := process.DefaultEnv()
	for name, value := range s.Value.Env {
		env = append(env, name+"="+value)
	}
	program, err := process.Exec{}.Start(process.Command{Path: s.Value.Command, Args: s.Value.Args, Dir: s.servers.dir, Env: env})
	if err != nil {
		return nil, err
	}
	s.program = program
	return &mcp.IOTransport{Reader: io.NopCloser(program.Stdout), Writer: program.Stdin, MaxLineLength: maxMessage}, nil
}

// stop ends a session, or the current one if session is nil.
func (s *server) stop(session *mcp.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session == nil || s.session == session {
		s.end()
	}
}

// end ends the session and returns the last line of the program's standard error. s.mu is held.
func (s *server) end() (line string) {
	if s.program != nil {
		s.program.Stop()
		line = s.program.LastLine()
	}
	if s.session != nil {
		_ = s.session.Close() // the server may be gone
	}
	s.session, s.program = nil, nil
	return line
}

// textOf returns the text of a result. Of content that is not text it has the ends of the JSON.
func textOf(result *mcp.CallToolResult) string {
	const most = 200 // characters
	var parts []string
	for _, content := range result.Content {
		if c, ok := content.(*mcp.EmbeddedResource); ok && c.Resource != nil && c.Resource.Text != "" {
			content = &mcp.TextContent{Text: c.Resource.Text}
		}
		if c, ok := content.(*mcp.TextContent); ok {
			parts = append(parts, c.Text)
			continue
		}
		encoded, _ := json.Marshal(content) // it was decoded from JSON
		parts = append(parts, text.Line(text.CutMiddle(string(encoded), most)))
	}
	if len(parts) == 0 && result.StructuredContent != nil {
		encoded, _ := json.Marshal(result.StructuredContent)
		return string(encoded)
	}
	return strings.Join(parts, "\n")
}

// sameOrigin refuses a redirect to another origin: requests may hold secrets that no other server should get.
func sameOrigin(r *http.Request, via []*http.Request) error {
	if to, from := r.URL, via[0].URL; to.Scheme != from.Scheme || to.Host != from.Host || len(via) == 10 {
		return fmt.Errorf("it redirects to another origin, %s://%s, which is not followed; if that is right, make it the url", to.Scheme, to.Host)
	}
	return nil
}

// bounded limits the size of response bodies.
type bounded struct{}

func (bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, 2*maxMessage)
	}
	return response, err
}
