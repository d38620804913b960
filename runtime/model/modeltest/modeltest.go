// Package modeltest is a provider of models for tests: OpenAI's Responses and Chat Completions, and Anthropic's
// Messages, over HTTP on this machine. It refuses what the real ones refuse, with the errors that they give, answers
// from a script, and fails in the ways in which servers and networks do.
//
// It is written from the documentation of the providers and their own clients, and uses nothing of what it tests. It
// must only ever listen on loopback.
package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Key is the key that a [Server] wants.
const Key = "sk-test-0123456789abcdef"

// Server is a provider. Its fields are set before [Server.Start].
type Server struct {
	// Answer decides what the model answers. It is called for one request at a time, and only for requests that are
	// legal, unless the server is lenient.
	Answer func(Exchange) Answer
	// NoNamespaces has the server refuse namespaces in Responses, as most local servers do.
	NoNamespaces bool
	// Lenient has the server answer requests that are not legal too, as other programs send them.
	Lenient bool
	// Hung is called when the server has begun to say nothing; it may be nil.
	Hung func()

	listener net.Listener
	http     *http.Server
	served   chan struct{}

	mu        sync.Mutex
	answering sync.Mutex
	exchanges []Exchange
	refused   []string
	issued    issued
}

// issued is what only the server that wrote it accepts.
type issued struct {
	n         int
	encrypted map[string]bool   // reasoning, in the form of Responses
	reasoning map[string]string // of Responses, by the id of the item that needs it
	signed    map[string]bool   // thinking, with its signature
}

// Exchange is what one request shows the model, in the words of no provider.
type Exchange struct {
	API          string // responses, chat or messages
	Model        string
	Instructions string
	Tools        []string // as the provider calls them; NAMESPACE.NAME in a namespace
	Items        []Item   // what was said, oldest first
	Body         json.RawMessage
	Header       http.Header
}

// Item is one entry of a history.
type Item struct {
	Kind string // user, assistant, call, output, or another type of the provider
	Text string // of a message and of an output
	ID   string // of a call and of its output
	Name string // of a call, with its namespace before a dot
	Args string // of a call
}

// Last returns the text of the last item.
func (e Exchange) Last() string {
	if len(e.Items) == 0 {
		return ""
	}
	return e.Items[len(e.Items)-1].Text
}

// Answer is what the model answers, or how it fails to.
type Answer struct {
	Thinking string
	Pieces   []string // of the text
	Calls    []Call
	Usage    Usage
	// Truncated ends the response at a limit of tokens.
	Truncated bool
	// Paused has Messages end the response before the model does.
	Paused bool
	// Withheld ends the response by the provider's rules for content.
	Withheld bool

	// Status refuses the request, with the error's type, a message and headers.
	Status  int
	Type    string
	Message string
	Header  map[string]string

	Fault Fault
}

// Call is a tool call. The name is the canonical one: the server writes it as the request offers it.
type Call struct {
	ID, Name, Args string
	Verbatim       bool // the name is written as it is
}

// Usage is the tokens of a response. Cached are of the input, Reasoning of the output.
type Usage struct{ Input, Cached, Output, Reasoning int }

// Fault is how the server fails in the middle of a response.
type Fault int

const (
	None         Fault = iota
	Unanswered         // the connection is closed before anything was sent
	Cut                // the connection breaks after the first half
	Ended              // the response ends after the first half, as if it were whole
	Hangs              // nothing comes after the first half
	HangsAtOnce        // nothing comes at all
	Endless            // the first piece of text is sent again and again
	LongLine           // a line never ends
	BadJSON            // an event in the middle is no JSON
	NoStream           // a page of HTML, with status 200
	FailedInside       // an error event after the first half, of Answer.Type
	Twice              // each call has the id of the first one
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
	s.issued = issued{encrypted: map[string]bool{}, reasoning: map[string]string{}, signed: map[string]bool{}}
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return "", fmt.Errorf("listening for requests to a model: %w", err)
	}
	s.http = &http.Server{Handler: s}
	s.served = make(chan struct{})
	go func() {
		defer close(s.served)
		_ = s.http.Serve(s.listener) // it ends with Close
	}()
	return "http://" + s.listener.Addr().String() + "/v1", nil
}

// Close ends the server and what it is still sending.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.served
	return err
}

// Exchanges returns the requests that were legal, oldest first.
func (s *Server) Exchanges() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.exchanges)
}

// Refused returns why requests were refused that were not legal.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// refusal is an error of the provider.
type refusal struct {
	status  int
	kind    string
	message string
}

func (r *refusal) Error() string { return r.message }

func illegal(format string, args ...any) error {
	return &refusal{status: http.StatusBadRequest, kind: "invalid_request_error", message: fmt.Sprintf(format, args...)}
}

// maxBody is how many bytes a request may have, as Anthropic's documentation gives it.
const maxBody = 32 << 20

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	format, ok := map[string]format{
		"/v1/responses": responses{}, "/v1/chat/completions": chat{}, "/v1/messages": messages{},
	}[r.URL.Path]
	if !ok || r.Method != http.MethodPost {
		s.refuse(w, messages{}, &refusal{http.StatusNotFound, "not_found_error", "there is no " + r.Method + " " + r.URL.Path})
		return
	}
	e, err := s.read(format, r)
	if err != nil && !s.Lenient {
		s.refuse(w, format, err)
		return
	}
	s.answering.Lock()
	defer s.answering.Unlock()
	s.mu.Lock()
	s.exchanges = append(s.exchanges, e)
	s.mu.Unlock()
	answer := s.Answer(e)
	if answer.Status != 0 {
		for name, value := range answer.Header {
			w.Header().Set(name, value)
		}
		format.refuse(w, answer.Status, answer.Type, answer.Message)
		return
	}
	s.send(w, r, format, answer, e)
}

func (s *Server) refuse(w http.ResponseWriter, f format, err error) {
	r, ok := err.(*refusal)
	if !ok {
		r = illegal("%s", err).(*refusal)
	}
	s.mu.Lock()
	s.refused = append(s.refused, r.message)
	s.mu.Unlock()
	f.refuse(w, r.status, r.kind, r.message)
}

// read reads a request and checks that it is legal.
func (s *Server) read(f format, r *http.Request) (Exchange, error) {
	e := Exchange{API: f.name(), Header: r.Header.Clone()}
	if err := f.authorized(r.Header); err != nil {
		return e, err
	}
	if got := r.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
		return e, illegal("Unsupported content type: %q", got)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return e, illegal("reading the body: %s", err)
	}
	if len(body) > maxBody {
		return e, &refusal{http.StatusRequestEntityTooLarge, "request_too_large", "Request exceeds the maximum size"}
	}
	e.Body = body
	s.mu.Lock()
	defer s.mu.Unlock()
	var o object
	if err := json.Unmarshal(body, &o); err != nil {
		return e, illegal("We could not parse the JSON body of your request: %s", err)
	}
	return e, f.read(s, o, &e)
}

// send writes a response, with its fault.
func (s *Server) send(w http.ResponseWriter, r *http.Request, f format, a Answer, e Exchange) {
	gone := r.Context().Done()
	hang := func() {
		if s.Hung != nil {
			s.Hung()
		}
		<-gone
	}
	switch a.Fault {
	case Unanswered:
		panic(http.ErrAbortHandler)
	case HangsAtOnce:
		hang()
		return
	case NoStream:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>Welcome</body></html>")
		return
	case Twice:
		for i := range a.Calls {
			a.Calls[i].ID = a.Calls[0].ID
		}
	}
	s.mu.Lock()
	events := f.events(s, a, e)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("x-request-id", "req_test")
	flush := http.NewResponseController(w).Flush
	for i, event := range events {
		if i == len(events)/2 {
			switch a.Fault {
			case Cut:
				_ = flush()
				panic(http.ErrAbortHandler)
			case Ended:
				return
			case Hangs:
				_ = flush()
				hang()
				return
			case Endless:
				for r.Context().Err() == nil {
					if _, err := io.WriteString(w, f.piece("again ")); err != nil {
						return
					}
				}
				return
			case LongLine:
				for r.Context().Err() == nil {
					if _, err := io.WriteString(w, "data: "+strings.Repeat("x", 64<<10)); err != nil {
						return
					}
				}
				return
			case BadJSON:
				event = "event: message\ndata: {\"type\": \n\n"
			case FailedInside:
				_, _ = io.WriteString(w, f.failure(a.Type, a.Message))
				return
			}
		}
		if _, err := io.WriteString(w, event); err != nil {
			return // the client has gone
		}
		_ = flush()
	}
}

// format is one HTTP interface.
type format interface {
	name() string
	authorized(http.Header) error
	// read checks a request and adds to the exchange what it has.
	read(s *Server, o object, e *Exchange) error
	// events returns a response as server-sent events.
	events(s *Server, a Answer, e Exchange) []string
	// piece returns the event for a piece of text, in a message that has begun.
	piece(text string) string
	// failure returns the event for an error in a response that has begun.
	failure(kind, message string) string
	refuse(w http.ResponseWriter, status int, kind, message string)
}

// offered returns the name of a call as a request offers the tool: a member of a namespace, or a name without a dot.
func offered(c Call, e Exchange) (namespace, name string) {
	if c.Verbatim {
		return "", c.Name
	}
	if space, member, ok := strings.Cut(c.Name, "."); ok && slices.Contains(e.Tools, c.Name) {
		return space, member
	}
	return "", strings.ReplaceAll(c.Name, ".", "_")
}

func sse(name string, data any) string {
	encoded, err := json.Marshal(data)
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	if name == "" {
		return fmt.Sprintf("data: %s\n\n", encoded)
	}
	return fmt.Sprintf("event: %s\ndata: %s\n\n", name, encoded)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("x-request-id", "req_test")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have gone
}

func bearer(h http.Header) error {
	if h.Get("Authorization") != "Bearer "+Key {
		return &refusal{http.StatusUnauthorized, "invalid_request_error", "Incorrect API key provided: " + strings.TrimPrefix(h.Get("Authorization"), "Bearer ")}
	}
	return nil
}

func openAIError(kind, message string) map[string]any {
	return map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": nil}}
}
