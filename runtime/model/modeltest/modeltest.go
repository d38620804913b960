// Package modeltest is a provider of models for tests: OpenAI's Responses and Chat
// Completions, and Anthropic's Messages, over HTTP on this machine. It says what a
// test has it say, in the form that the providers' documentation gives, to who has the
// key; whether a request is one that they would take is for the exchanges in
// provider/testdata to show.
//
// It uses nothing of what it tests, and must only ever listen on loopback.
package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// Key is the key that a [Server] wants.
const Key = "sk-test-0123456789abcdef"

// Server is a provider. Its fields are set before [Server.Start].
type Server struct {
	// Answer decides what the model answers. It is called for one request at a time.
	Answer func(Exchange) Answer
	// AnyKey lets in who has another key, too.
	AnyKey bool
	// Hung is called when the server has begun to say nothing; it may be nil.
	Hung func()

	http      *httptest.Server
	answering sync.Mutex
	mu        sync.Mutex
	exchanges []Exchange
}

// Exchange is a request.
type Exchange struct {
	API   string // responses, chat or messages
	Model string
	Tools []Tool
	Body  json.RawMessage
	// Last is the text of the last message, or of the last output of a tool.
	Last    string
	Outputs []Output // of tools, oldest first
}

// Tool is a tool that the model may call. The Responses API can group tools in a namespace.
type Tool struct {
	Namespace, Name, Description string
	Parameters                   json.RawMessage
}

// Output is the text that a tool call was answered with.
type Output struct{ CallID, Text string }

// Answer is what the model answers, or how it fails to.
type Answer struct {
	Thinking string
	Pieces   []string // of the text
	Calls    []Call
	Usage    Usage

	// Status refuses the request, with the error's type, a message and headers.
	Status        int
	Type, Message string
	Header        map[string]string

	Hangs Hangs
}

// Call is a tool call. The name is written as it is; only the Responses API has a namespace.
type Call struct{ ID, Namespace, Name, Args string }

// Usage is the tokens of a response.
type Usage struct{ Input, Output int }

// Hangs is where a server stops to send.
type Hangs int

const (
	Never   Hangs = iota
	AtOnce        // nothing comes
	Halfway       // nothing comes after the first half
)

// Sequence returns an answerer that gives the answers in turn, and the last one again after that.
func Sequence(answers ...Answer) func(Exchange) Answer {
	n := 0
	return func(Exchange) Answer {
		answer := answers[min(n, len(answers)-1)]
		n++
		return answer
	}
}

// Start begins to listen and returns the base URL.
func (s *Server) Start() (baseURL string, err error) {
	s.http = httptest.NewServer(s)
	return s.http.URL + "/v1", nil
}

// Close ends the server and what it is still sending.
func (s *Server) Close() error {
	s.http.CloseClientConnections()
	s.http.Close()
	return nil
}

// Exchanges returns the requests, oldest first.
func (s *Server) Exchanges() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.exchanges)
}

// interfaces are the events of a response, by the path of a request.
var interfaces = map[string]struct {
	name   string
	events func(Answer) []string
}{
	"/v1/responses":        {"responses", responses},
	"/v1/chat/completions": {"chat", chat},
	"/v1/messages":         {"messages", messages},
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	api, known := interfaces[r.URL.Path]
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("x-api-key")
	switch {
	case !known:
		refuse(w, Answer{Status: http.StatusNotFound, Type: "not_found_error", Message: "there is no " + r.URL.Path})
		return
	case key != Key && !s.AnyKey:
		refuse(w, Answer{Status: http.StatusUnauthorized, Type: "authentication_error", Message: "Incorrect API key provided: " + key})
		return
	}
	e, err := read(r.Body)
	if err != nil {
		refuse(w, Answer{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: err.Error()})
		return
	}
	e.API = api.name
	s.answering.Lock()
	defer s.answering.Unlock()
	s.mu.Lock()
	s.exchanges = append(s.exchanges, e)
	s.mu.Unlock()
	answer := s.Answer(e)
	if answer.Status != 0 {
		refuse(w, answer)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	events := api.events(answer)
	for i, event := range events {
		if answer.Hangs == AtOnce || answer.Hangs == Halfway && i == len(events)/2 {
			if s.Hung != nil {
				s.Hung()
			}
			<-r.Context().Done()
			return
		}
		if _, err := io.WriteString(w, event); err != nil {
			return // the client has gone
		}
		_ = http.NewResponseController(w).Flush()
	}
}

func refuse(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "application/json")
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.Status)
	body := map[string]any{"type": "error", "error": map[string]any{"type": a.Type, "message": a.Message}}
	_ = json.NewEncoder(w).Encode(body) // the client may have gone
}

// read reads a request of any of the interfaces.
func read(r io.Reader) (e Exchange, err error) {
	if e.Body, err = io.ReadAll(r); err != nil {
		return e, fmt.Errorf("reading the body: %w", err)
	}
	var body struct {
		Model           string
		Tools           []tool
		Input, Messages []fields
	}
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return e, fmt.Errorf("the body of the request cannot be parsed: %w", err)
	}
	e.Model = body.Model
	for _, t := range body.Tools {
		if t.Type != "namespace" {
			e.Tools = append(e.Tools, t.offered(""))
		}
		for _, inner := range t.Tools {
			e.Tools = append(e.Tools, inner.offered(t.Name))
		}
	}
	for _, m := range append(body.Input, body.Messages...) {
		e.Last = textOf(m["output"]) + textOf(m["content"])
		if m["type"] == "function_call_output" || m["role"] == "tool" {
			e.Outputs = append(e.Outputs, Output{textOf(m["call_id"]) + textOf(m["tool_call_id"]), e.Last})
		}
		parts, _ := m["content"].([]any)
		for _, part := range parts {
			if p, _ := part.(fields); p["type"] == "tool_result" {
				e.Outputs = append(e.Outputs, Output{textOf(p["tool_use_id"]), textOf(p["content"])})
			}
		}
	}
	return e, nil
}

// textOf returns a text, or those of parts.
func textOf(v any) (text string) {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		for _, part := range v {
			text += textOf(part)
		}
	case fields:
		text = textOf(v["text"]) + textOf(v["content"])
	}
	return text
}

// tool is a tool in the form of any of the interfaces.
type tool struct {
	Type        string
	Name        string
	Description string
	Parameters  json.RawMessage
	InputSchema json.RawMessage `json:"input_schema"`
	Function    *tool
	Tools       []tool
}

func (t tool) offered(namespace string) Tool {
	if t.Function != nil {
		t = *t.Function
	}
	return Tool{namespace, cmp.Or(t.Name, t.Type), t.Description, append(t.Parameters, t.InputSchema...)}
}
