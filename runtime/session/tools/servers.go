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

const (
	retryTime      = time.Minute // between two attempts to start a server that cannot be used
	maxTools       = 500         // of a server; further ones are left out
	maxDescription = 4096        // characters of the description of a tool, which is cut
	maxSchema      = 64 << 10    // bytes of the schema of a tool; one with more is left out
	maxMessage     = 16 << 20    // bytes of a message of the protocol, such as an answer
)

// servers are the configured MCP servers. A server is started, or connected to, when its tools are first needed.
// Servers are not trusted: their answers are bounded in size and time. The methods are safe for concurrent use.
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
	client := mcp.NewClient(&program, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	s := &servers{startTime: 30 * time.Second, callTime: 5 * time.Minute, dir: dir, warn: warn, client: client}
	for _, t := range tables {
		s.all = append(s.all, &server{Table: t, servers: s})
	}
	return s
}

// tools starts the servers whose names wanted accepts, and returns their tools. It warns of a server that cannot be used.
func (s *servers) tools(ctx context.Context, wanted func(server string) bool) (all []serverTool) {
	for _, srv := range s.all {
		if !wanted(srv.Name) {
			continue
		}
		_, tools, err := srv.connected(ctx)
		if err != nil {
			s.warn(err.Error())
		}
		all = append(all, tools...)
	}
	return all
}

// call calls the tool and returns its result as text. If it fails, content is the reason. Empty arguments mean {}.
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
	for _, srv := range s.all {
		stopping.Go(func() { srv.stop(nil) })
	}
	stopping.Wait()
}

// reason returns why a server failed, in one line. ctx is the context of what failed.
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

	mu       sync.Mutex
	session  *mcp.ClientSession // nil if there is none
	program  *process.Running   // of the session; nil over HTTP
	tools    []serverTool       // of the session
	startErr error              // why the last start failed
	failedAt time.Time          // when it failed
}

// connected returns the session with the server, and the tools of the server. If there is no session, it connects to the
// server. After a failure to connect, it returns the same error for retryTime before it tries again.
func (s *server) connected(ctx context.Context) (*mcp.ClientSession, []serverTool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.session != nil:
		return s.session, s.tools, nil
	case s.startErr != nil && time.Since(s.failedAt) < retryTime:
		return nil, nil, s.startErr
	}
	limited, cancel := context.WithTimeout(ctx, s.servers.startTime)
	defer cancel()
	err := s.connect(limited)
	if err == nil {
		return s.session, s.tools, nil
	}
	why := reason(limited, err)
	if line := s.disconnect(); line != "" {
		why += "; it said: " + line
	}
	err = fmt.Errorf("the MCP server %s cannot be used: %s", s.Name, why)
	if ctx.Err() == nil { // otherwise the caller gave up, and the server may be fine
		s.startErr, s.failedAt = err, time.Now()
	}
	return nil, nil, err
}

// connect connects to the server, and sets the session, which outlives ctx, and the tools for models. s.mu is held.
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
		encoded, _ := json.Marshal(schema) // cannot fail: schema was decoded from JSON
		name := model.Flat(serverPrefix + s.Name + "__" + tool.Name)
		// Every provider demands a schema of type object, and names that differ.
		isUsable := schema["type"] == "object" && len(encoded) <= maxSchema && tool.Name != "" && !names[name]
		if !isUsable || len(s.tools) == maxTools {
			continue
		}
		names[name] = true
		description := text.Visible(text.Cut(tool.Description, maxDescription))
		s.tools = append(s.tools, serverTool{s, tool.Name, model.Tool{Name: name, Description: description, Parameters: encoded}})
	}
	slices.SortFunc(s.tools, func(a, b serverTool) int { return strings.Compare(a.name, b.name) })
	return nil
}

// transport returns the connection to the server. It starts the program of a server that has a command.
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

// stop disconnects from the server if session is the current session or nil.
func (s *server) stop(session *mcp.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session == nil || s.session == session {
		s.disconnect()
	}
}

// disconnect ends the session and the program. It returns the last line of the program's standard error. s.mu is held.
func (s *server) disconnect() (line string) {
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

// textOf returns the text of a result: one line of JSON, cut in the middle, stands for content that is not text. If the
// result has no content, the text is its structured content as JSON.
func textOf(result *mcp.CallToolResult) string {
	const maxJSON = 200 // characters of content that is not text
	var parts []string
	for _, content := range result.Content {
		if c, ok := content.(*mcp.EmbeddedResource); ok && c.Resource != nil && c.Resource.Text != "" {
			content = &mcp.TextContent{Text: c.Resource.Text}
		}
		if c, ok := content.(*mcp.TextContent); ok {
			parts = append(parts, c.Text)
			continue
		}
		encoded, _ := json.Marshal(content) // cannot fail: content was decoded from JSON
		parts = append(parts, text.Line(text.CutMiddle(string(encoded), maxJSON)))
	}
	if len(parts) == 0 && result.StructuredContent != nil {
		encoded, _ := json.Marshal(result.StructuredContent)
		return string(encoded)
	}
	return strings.Join(parts, "\n")
}

// sameOrigin refuses a redirect to another origin, because requests may hold secrets that no other server should get,
// and the tenth redirect, because it is probably a loop.
func sameOrigin(r *http.Request, via []*http.Request) error {
	if to, from := r.URL, via[0].URL; to.Scheme != from.Scheme || to.Host != from.Host {
		return fmt.Errorf("it redirects to another origin, %s://%s, which is not followed; if that is right, make it the url", to.Scheme, to.Host)
	}
	if len(via) == 10 {
		return errors.New("it redirects more than nine times")
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
