// Package modeltest is a provider of models for tests, on this machine: it speaks OpenAI's Responses and Chat
// Completions and Anthropic's Messages over HTTP. The files API.sse have the streams that the providers' documentation
// shows, as templates for an [Answer]. The package does not check requests: the exchanges in provider/testdata do.
//
// The package uses nothing that it tests. It must never listen beyond loopback.
package modeltest

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"text/template"
)

// Key is the key that a [Server] accepts.
const Key = "sk-test-0123456789abcdef"

// Server is a provider. Set its fields before [Server.Start].
type Server struct {
	Answer func(Exchange) Answer // returns the answer to a request; the server calls Answer for one request at a time
	AnyKey bool                  // accepts every key

	http      *httptest.Server
	mu        sync.Mutex // is held during Answer
	exchanges []Exchange
}

// Exchange is a request.
type Exchange struct {
	Model   string
	Tools   []Tool
	Body    json.RawMessage
	Last    string   // the text of the last message or output
	Outputs []string // of calls, oldest first
}

// Tool is a tool that the model may call. Only the Responses API has namespaces.
type Tool struct {
	Namespace, Name, Description string
	Parameters                   json.RawMessage
}

// Answer is what the model answers, or how it fails to.
type Answer struct {
	Thinking string
	Pieces   []string // of the text
	Calls    []Call
	Hang     func() // if not nil, is called after the first half of the events; the second half is never sent

	Status        int // refuses the request, with an error of this type and message
	Type, Message string
	Header        map[string]string
}

// Call is a call of a tool. Only the Responses API has namespaces.
type Call struct{ ID, Namespace, Name, Args string }

// Sequence returns the answers in turn, and then the last one again and again.
func Sequence(answers ...Answer) func(Exchange) Answer {
	latest := -1
	return func(Exchange) Answer {
		latest = min(latest+1, len(answers)-1)
		return answers[latest]
	}
}

// Start begins to listen and returns the base URL.
func (s *Server) Start() string {
	s.http = httptest.NewServer(s)
	return s.http.URL + "/v1"
}

// Close ends the server and its connections.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Exchanges returns the requests, oldest first.
func (s *Server) Exchanges() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.exchanges)
}

// ServeHTTP answers one request. It sends half of an answer that has Hang, calls Hang, and waits for the client to go.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	apis := map[string]string{"/v1/responses": "responses.sse", "/v1/chat/completions": "chat.sse", "/v1/messages": "messages.sse"}
	file, known := apis[r.URL.Path]
	if !known {
		http.NotFound(w, r)
		return
	}
	answer := s.answer(r)
	if answer.Status != 0 {
		refuse(w, answer)
		return
	}
	events, err := answer.events(file)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, event := range events {
		if answer.Hang != nil && i == len(events)/2 {
			answer.Hang()
			<-r.Context().Done()
			return
		}
		if _, err := io.WriteString(w, event); err != nil {
			return // the client has gone
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// answer records a request and returns the answer to it. A request with a wrong key or body is refused and not recorded.
func (s *Server) answer(r *http.Request) Answer {
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("x-api-key")
	if key != Key && !s.AnyKey {
		return Answer{Status: http.StatusUnauthorized, Type: "authentication_error", Message: "Incorrect API key provided: " + key}
	}
	e, err := readExchange(r.Body)
	if err != nil {
		return Answer{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: err.Error()}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exchanges = append(s.exchanges, e)
	return s.Answer(e)
}

// refuse writes an answer with a Status.
func refuse(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "application/json")
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.Status)
	body := map[string]any{"type": "error", "error": map[string]any{"type": a.Type, "message": a.Message}}
	_ = json.NewEncoder(w).Encode(body) // the client may have gone
}

//go:embed *.sse
var streams embed.FS

// events returns the server-sent events of an answer, from the template in a file. Each event ends with an empty line.
func (a Answer) events(file string) ([]string, error) {
	counts := map[string]int{}
	functions := template.FuncMap{
		"count": func(name string) int { // returns 0 at the first call with name, then 1, 2, …
			counts[name]++
			return counts[name] - 1
		},
		"join": func(pieces []string) string { return strings.Join(pieces, "") },
		"json": func(text string) (string, error) {
			encoded, err := json.Marshal(text)
			return string(encoded), err
		},
	}
	t, err := template.New(file).Funcs(functions).ParseFS(streams, file)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	err = t.Execute(&b, a)
	return strings.SplitAfter(strings.TrimSpace(b.String())+"\n\n", "\n\n"), err
}

// readExchange reads the body of a request to any of the three interfaces.
func readExchange(r io.Reader) (Exchange, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return Exchange{}, fmt.Errorf("reading the body: %w", err)
	}
	var body struct {
		Model           string
		Tools           []tool
		Input, Messages []map[string]any // Input is that of Responses
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return Exchange{}, fmt.Errorf("the body of the request cannot be parsed: %w", err)
	}
	e := Exchange{Model: body.Model, Body: data}
	e.addTools("", body.Tools)
	for _, message := range append(body.Input, body.Messages...) {
		e.Last = textOf(message)
		parts, _ := message["content"].([]any)
		for _, value := range append(parts, message) { // the output of a call is a part or a whole message
			object, _ := value.(map[string]any)
			if object["type"] == "function_call_output" || object["role"] == "tool" || object["type"] == "tool_result" {
				e.Outputs = append(e.Outputs, textOf(object))
			}
		}
	}
	return e, nil
}

// textOf returns a text, the joined texts of a list, or the texts in the members text, output and content of an object.
func textOf(v any) (text string) {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		for _, part := range v {
			text += textOf(part)
		}
	case map[string]any:
		text = textOf(v["text"]) + textOf(v["output"]) + textOf(v["content"])
	}
	return text
}

// tool is a tool of any interface.
type tool struct {
	Type        string
	Name        string
	Description string
	Parameters  json.RawMessage
	InputSchema json.RawMessage `json:"input_schema"`
	Function    *tool
	Tools       []tool
}

// addTools adds the tools of a namespace, which may have namespaces with further tools in it, to the exchange.
func (e *Exchange) addTools(namespace string, tools []tool) {
	for _, t := range tools {
		if t.Type == "namespace" {
			e.addTools(t.Name, t.Tools)
			continue
		}
		t = *cmp.Or(t.Function, &t)                          // Chat Completions has the tool in an object
		schema := slices.Concat(t.Parameters, t.InputSchema) // only one is not empty
		e.Tools = append(e.Tools, Tool{namespace, cmp.Or(t.Name, t.Type), t.Description, schema})
	}
}
