package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
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

// ServerOptions says who asks, and for how long. Zero times have the defaults given here.
type ServerOptions struct {
	Name, Version string        // of this program
	Dir           string        // where servers are started; empty for the working directory
	StartTime     time.Duration // to start and list its tools; 30 s
	CallTime      time.Duration // of one call; 5 min
}

// What a server may say.
const (
	maxTools       = 500
	maxDescription = 4096     // characters
	maxSchema      = 64 << 10 // bytes
	maxOutput      = 256 << 10
	maxMessage     = 16 << 20
)

// retryTime is how long a server that could not be started is left alone.
const retryTime = time.Minute

// ServerTool is a tool of a server.
type ServerTool struct {
	Server, Name string
	// Tool is how models are offered it, by the name mcp__SERVER__TOOL in characters that every provider takes.
	model.Tool
	of *server
}

// serverPrefix is how every name begins that a tool of an MCP server is offered under.
const serverPrefix = "mcp__"

// Servers is the MCP servers that the user has configured. One is started, or connected to, when its tools are first asked
// for, and stays until [Servers.Close]. What it says is untrusted: the number of its tools, their descriptions and
// schemas, what they return and how long they take are bounded. No tool is offered under a name that another one has.
//
// Its methods may be called from several goroutines at once.
type Servers struct {
	options ServerOptions
	client  *mcp.Client
	servers []*server
}

// NewServers returns servers none of which is started, in their order. Their names have to differ.
func NewServers(tables []config.Table[config.Server], o ServerOptions) *Servers {
	o.StartTime, o.CallTime = cmp.Or(o.StartTime, 30*time.Second), cmp.Or(o.CallTime, 5*time.Minute)
	s := &Servers{
		options: o,
		client:  mcp.NewClient(&mcp.Implementation{Name: o.Name, Version: o.Version}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}),
	}
	for _, t := range tables {
		s.servers = append(s.servers, &server{Table: t, all: s})
	}
	return s
}

// Tools yields the servers that are wanted with their tools, by name. What cannot be used is left out, and warn is told
// why.
func (s *Servers) Tools(ctx context.Context, wanted func(server string) bool, warn func(string)) iter.Seq2[string, []ServerTool] {
	return func(yield func(string, []ServerTool) bool) {
		for _, one := range s.servers {
			if !wanted(one.Name) {
				continue
			}
			_, tools, err := one.connected(ctx)
			if err != nil {
				warn(err.Error())
			} else if !yield(one.Name, tools) {
				return
			}
		}
	}
}

// Call calls a tool, and returns its text, shortened where it is too long. Where it cannot be called, the text is why.
// Arguments are a JSON object; an empty text is an empty object.
func (s *Servers) Call(ctx context.Context, t ServerTool, arguments []byte) (content string, success bool) {
	if arguments = bytes.TrimSpace(arguments); len(arguments) == 0 {
		arguments = []byte("{}")
	}
	if arguments[0] != '{' || !json.Valid(arguments) {
		return "the arguments are not one JSON object", false
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.CallTime)
	defer cancel()
	session, _, err := t.of.connected(ctx)
	if err != nil {
		return err.Error(), false
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: t.Name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		if errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) {
			t.of.stop(session)
		}
		return fmt.Sprintf("%s/%s did not answer: %s", t.Server, t.Name, cause(ctx, err)), false
	}
	return shortened(textOf(result)), !result.IsError
}

// Close ends all servers. Nothing of them is left when it returns.
func (s *Servers) Close() {
	var stopping sync.WaitGroup
	for _, one := range s.servers {
		stopping.Go(func() { one.stop(nil) })
	}
	stopping.Wait()
}

func cause(ctx context.Context, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "it took too long"
	}
	return text.Line(text.Cut(err.Error(), 300))
}

// server is a server with its connection.
type server struct {
	config.Table[config.Server]
	all *Servers

	mu      sync.Mutex
	session *mcp.ClientSession // nil while there is none
	talk    *process.Running   // of a session with a command
	tools   []ServerTool       // of the session
	failed  error              // why the server could not be started at the time that follows
	at      time.Time
}

// connected returns the session, which is begun where there is none, and its tools.
func (s *server) connected(ctx context.Context) (*mcp.ClientSession, []ServerTool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.session != nil:
		return s.session, s.tools, nil
	case s.failed != nil && time.Since(s.at) < retryTime:
		return nil, nil, s.failed
	}
	limited, cancel := context.WithTimeout(ctx, s.all.options.StartTime)
	defer cancel()
	err := s.connect(limited)
	if err == nil {
		s.failed = nil
		return s.session, s.tools, nil
	}
	said := cause(limited, err)
	if last := s.end(); last != "" {
		said += "; it said: " + last
	}
	err = fmt.Errorf("the MCP server %s cannot be used: %s", s.Name, said)
	if ctx.Err() == nil { // otherwise it was not waited for
		s.failed, s.at = err, time.Now()
	}
	return nil, nil, err
}

// connect connects to the server, for longer than the call that needs it first, and lists its tools. What no model could
// be offered is left out. s.mu is held.
func (s *server) connect(ctx context.Context) error {
	transport, err := s.transport()
	if err != nil {
		return err
	}
	if s.session, err = s.all.client.Connect(ctx, transport, nil); err != nil {
		return err
	}
	s.tools = nil
	names := map[string]bool{}
	for tool, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		schema, err := json.Marshal(tool.InputSchema)
		offered := model.Flat(serverPrefix + s.Name + "__" + tool.Name)
		if err != nil || len(schema) > maxSchema || !object(schema) || tool.Name == "" || names[offered] || len(s.tools) == maxTools {
			continue
		}
		names[offered] = true
		description := text.Visible(text.Cut(tool.Description, maxDescription))
		s.tools = append(s.tools, ServerTool{s.Name, tool.Name, model.Tool{Name: offered, Description: description, Parameters: schema}, s})
	}
	slices.SortFunc(s.tools, func(a, b ServerTool) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func (s *server) transport() (mcp.Transport, error) {
	if s.Is.URL != "" {
		return &mcp.StreamableClientTransport{
			Endpoint: s.Is.URL, DisableStandaloneSSE: true, MaxEventSize: maxMessage,
			HTTPClient: &http.Client{Transport: bounded{}, CheckRedirect: withinOrigin},
		}, nil
	}
	env := process.DefaultEnv()
	for name, value := range s.Is.Env {
		env = append(env, name+"="+value)
	}
	talk, err := process.Exec{}.Start(process.Command{Path: s.Is.Command, Args: s.Is.Args, Dir: s.all.options.Dir, Env: env})
	if err != nil {
		return nil, err
	}
	s.talk = talk
	return &mcp.IOTransport{Reader: io.NopCloser(talk.Stdout), Writer: talk.Stdin, MaxLineLength: maxMessage}, nil
}

// object reports whether a schema is one of type object, as every provider demands.
func object(schema []byte) bool {
	var head struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &head) == nil && head.Type == "object"
}

// stop ends a session, so that the next call begins another one. A nil session is the present one.
func (s *server) stop(session *mcp.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session == nil || s.session == session {
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

// textOf returns the text of a result. Other content is in it as the beginning of its JSON, which says what it is.
func textOf(result *mcp.CallToolResult) string {
	const most = 200
	var parts []string
	for _, content := range result.Content {
		if said, ok := content.(*mcp.TextContent); ok {
			parts = append(parts, said.Text)
			continue
		}
		if resource, ok := content.(*mcp.EmbeddedResource); ok && resource.Resource != nil && resource.Resource.Text != "" {
			parts = append(parts, resource.Resource.Text)
			continue
		}
		encoded, _ := json.Marshal(content) // it has come as JSON
		parts = append(parts, text.Line(text.CutMiddle(string(encoded), most)))
	}
	if len(parts) == 0 && result.StructuredContent != nil {
		encoded, _ := json.Marshal(result.StructuredContent) // as above
		parts = append(parts, string(encoded))
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
	origin := func(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }
	switch {
	case origin(r.URL) != origin(via[0].URL):
		return fmt.Errorf("it redirects to another origin, %s, which is not followed; if that is right, make it the url", origin(r.URL))
	case len(via) >= 10:
		return errors.New("it redirects too often")
	}
	return nil
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
