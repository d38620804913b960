package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// exchange is what one request shows the model, in the words of no provider in
// particular.
type exchange struct {
	System  string // what the agent says before anybody else
	Tools   []offer
	Results []result // of tool calls, oldest first
}

// offer is a tool that the model may call.
type offer struct {
	Name string // as the agent spells it
	// Namespace groups tools of one server, for agents that have that; its
	// description is NamespaceText.
	Namespace     string
	NamespaceText string
	Description   string
	Parameters    json.RawMessage
}

// result is what an agent shows the model of a call's answer.
type result struct {
	CallID string
	Text   string
}

// reply is what the model says: it calls a tool, or it says something and so
// ends its turn.
type reply struct {
	tool      offer
	callID    string
	arguments string // a JSON object
	text      string
}

// protocol is the HTTP interface of a provider of models.
type protocol struct {
	path   string
	parse  func(body []byte) (exchange, error)
	stream func(w io.Writer, r reply) error // server-sent events
}

// maxRequest bounds what an agent may send, in bytes.
const maxRequest = 32 << 20

// model answers an agent's requests by a script. It only listens on loopback.
type model struct {
	protocol protocol
	// script decides what to say. It is called for one request at a time.
	script func(context.Context, exchange) (reply, error)

	mu        sync.Mutex
	exchanges []exchange
	errs      []error
}

// listen serves the model until close is called. baseURL is what agents are told.
func (m *model) listen(ctx context.Context) (baseURL string, closeModel func() error, err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listening for the agent's requests: %w", err)
	}
	server := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	closeModel = func() error {
		err := server.Close()
		if serving := <-served; !errors.Is(serving, http.ErrServerClosed) {
			err = errors.Join(err, serving)
		}
		if err != nil {
			return fmt.Errorf("closing the model: %w", err)
		}
		return nil
	}
	return "http://" + listener.Addr().String() + "/v1", closeModel, nil
}

// ServeHTTP answers one request of an agent.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.serve(w, r); err != nil {
		m.errs = append(m.errs, err)
		http.Error(w, `{"error":{"message":"the script has no answer","type":"invalid_request_error"}}`, http.StatusBadRequest)
	}
}

func (m *model) serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost || r.URL.Path != "/v1"+m.protocol.path {
		return fmt.Errorf("the agent asks for %s %s", r.Method, r.URL.Path)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return fmt.Errorf("reading a request: %w", err)
	}
	e, err := m.protocol.parse(body)
	if err != nil {
		return fmt.Errorf("understanding a request: %w", err)
	}
	m.exchanges = append(m.exchanges, e)
	answer, err := m.script(r.Context(), e)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if err := m.protocol.stream(w, answer); err != nil {
		// The agent has gone; what it had wanted does not matter any more.
		return fmt.Errorf("answering a request: %w", err)
	}
	return nil
}

// err returns everything that went wrong on the model's side.
func (m *model) err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return errors.Join(m.errs...)
}
