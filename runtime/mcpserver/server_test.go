package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/mcpserver"
	"github.com/convtools/convtools/runtime/toolset"
)

// tools are the tools of the tests: echo answers with its arguments, where with
// the place a call comes from, fail and break with errors, crash panics, and wait
// waits until it is told to go on or stopped.
type tools struct {
	started chan string   // the arguments of each call of wait
	release chan struct{} // a value, or closing it, lets calls of wait go on
	stopped chan error    // why a call of wait was stopped
}

func newTools() *tools {
	return &tools{started: make(chan string, 4096), release: make(chan struct{}), stopped: make(chan error, 4096)}
}

func (f *tools) list() []contract.Tool {
	var list []contract.Tool
	for _, name := range []string{"wait", "crash", "where", "fail", "echo", "break"} {
		list = append(list, contract.Tool{
			Name: name, Summary: "Test " + name, Description: "Does what its name says.",
			Effect: "read", InputSchema: `{"type":"object"}`,
		})
	}
	return list
}

func (f *tools) call(ctx context.Context, call contract.Call) (string, error) {
	switch call.Tool {
	case "echo":
		return "<echo>" + string(call.Arguments) + "</echo>", nil
	case "where":
		return fmt.Sprintf("conversation %q, directory %q", call.Context.ConversationID, call.Context.Dir), nil
	case "fail":
		return "", contract.Fixable("There is no turn 9. Read turn=1.")
	case "break":
		return "", &contract.Error{Message: "The disk is full.", Transient: true}
	case "crash":
		panic("boom")
	case "wait":
		f.started <- string(call.Arguments)
		select {
		case <-f.release:
			return "waited", nil
		case <-ctx.Done():
			f.stopped <- context.Cause(ctx)
			return "", ctx.Err()
		}
	default:
		return "", fmt.Errorf("%s is not for here", call.Tool)
	}
}

func (f *tools) config() mcpserver.Config { return f.configWith(f.family(), conversations()) }

// configWith serves families.
func (f *tools) configWith(families ...toolset.Family) mcpserver.Config {
	registry, err := toolset.NewRegistry(families...)
	if err != nil {
		panic(err)
	}
	return mcpserver.Config{Name: "convtools", Title: "Conversations and knowledge", Version: "1.2.3", Tools: registry, Context: contract.Context{Dir: "/work"}}
}

func (f *tools) family() toolset.Family {
	return toolset.Family{Name: "test", Declared: f.list, Call: f.call}
}

// session is a client on a pair of streams that can send anything.
type session struct {
	t      *testing.T
	in     *io.PipeWriter
	lines  chan string
	ended  chan error // has the result of ServeStdio
	cancel context.CancelFunc
}

func start(t *testing.T, cfg mcpserver.Config) *session {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	s := &session{t: t, in: inWrite, lines: make(chan string, 4096), ended: make(chan error, 1), cancel: cancel}
	go func() {
		s.ended <- mcpserver.New(cfg).ServeStdio(ctx, inRead, outWrite)
		_ = outWrite.Close()
		_ = inRead.Close()
	}()
	go func() {
		defer close(s.lines)
		r := bufio.NewReader(outRead)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				if line != "" {
					s.lines <- "unfinished: " + line
				}
				return
			}
			s.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = inWrite.Close()
		for range s.lines { // until the server has let go of its output
		}
	})
	return s
}

func (s *session) send(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, text); err != nil {
		s.t.Fatalf("sending %.60q: %v", text, err)
	}
}

// receive returns the next message of the server.
func (s *session) receive() message {
	s.t.Helper()
	line, ok := <-s.lines
	if !ok {
		s.t.Fatal("the server has closed its output")
	}
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		s.t.Fatalf("the server wrote %.200q, which is no message: %v", line, err)
	}
	return m
}

// receiveStopped returns the next message, which has to be the answer to a call
// that was stopped because the server ends.
func (s *session) receiveStopped() message {
	s.t.Helper()
	m := s.receive()
	if m.Error == nil || m.Error.Code != -32603 || m.Error.Message != "The server is shutting down; the call was stopped." {
		s.t.Errorf("answer %+v, error %+v", m, m.Error)
	}
	return m
}

// end closes the input and demands that the server ends in peace and says no
// more.
func (s *session) end() {
	s.t.Helper()
	if err := s.in.Close(); err != nil {
		s.t.Fatal(err)
	}
	for line := range s.lines {
		s.t.Errorf("unexpected output: %.300s", line)
	}
	if err := <-s.ended; err != nil {
		s.t.Errorf("the session ended with %v", err)
	}
}

type message struct {
	ID     any    `json:"id"`
	Method string `json:"method"`
	Params struct {
		Token    any     `json:"progressToken"`
		Progress float64 `json:"progress"`
		Message  string  `json:"message"`
	} `json:"params"`
	Result struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (m message) text() string {
	if len(m.Result.Content) == 0 {
		return ""
	}
	return m.Result.Content[0].Text
}

const (
	initialize  = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n"
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	// modern are the parameters every request of the stateless era has.
	modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
)

// begin does what a client of the era with sessions begins with.
func begin(t *testing.T, cfg mcpserver.Config) *session {
	t.Helper()
	s := start(t, cfg)
	s.send(initialize)
	if m := s.receive(); m.ID != "init" || m.Error != nil {
		t.Fatalf("initialize was answered with %+v", m)
	}
	s.send(initialized)
	return s
}

func callLine(id any, tool, arguments string) string {
	rawID, err := json.Marshal(id)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", rawID, tool, arguments)
}

var errGone = errors.New("gone")

// breaking is an output that can break.
type breaking struct{ broken atomic.Bool }

func (b *breaking) Write(p []byte) (int, error) {
	if b.broken.Load() {
		return 0, errGone
	}
	return len(p), nil
}
