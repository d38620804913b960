package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// An mcpClient sends one request again and again. It does
// next to nothing else: what a client takes to read an answer would be added to
// the times of all servers alike, and hide how they differ.
type mcpClient interface {
	// text sends the request, a call of a tool, and returns the text of the answer.
	text() (string, error)
	// each sends it n times, and keeps so many in flight.
	each(n, atOnce int) error
	close() error
}

// request is what to send.
type request struct {
	method string
	params string // JSON
	tool   string // that is called
}

// toolCall returns a call of a tool. Arguments are JSON.
func toolCall(tool, arguments string) request {
	return request{"tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments), tool}
}

const (
	protocolVersion = "2025-11-25"
	initialize      = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + protocolVersion + `","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"
	initialized     = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
)

// line returns the JSON-RPC request with an id, on a line.
func (r request) line(id int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, r.method, r.params)
}

// answerText returns the text of the result in a response.
func answerText(response []byte) (string, error) {
	var message struct {
		Result *struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	if err := json.Unmarshal(response, &message); err != nil {
		return "", fmt.Errorf("reading the answer %.200q: %w", response, err)
	}
	if message.Result == nil || len(message.Result.Content) == 0 {
		return "", fmt.Errorf("the answer %.200q has no text", response)
	}
	return message.Result.Content[0].Text, nil
}

// checkAnswer tells a response with a result from everything else, without
// decoding it.
func checkAnswer(response []byte) error {
	if !bytes.Contains(response, []byte(`"result":{`)) {
		return fmt.Errorf("not the answer that was expected: %.200q", response)
	}
	return nil
}

// streamClient is a client on a pair of streams.
type streamClient struct {
	in  io.WriteCloser
	out *bufio.Reader
	of  request
	id  int
}

// newStreamClient begins a session with the server that reads in and writes out.
func newStreamClient(in io.WriteCloser, out io.Reader, of request) (*streamClient, error) {
	c := &streamClient{in: in, out: bufio.NewReaderSize(out, 64<<10), of: of}
	if _, err := c.ask(initialize); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(in, initialized); err != nil {
		return nil, fmt.Errorf("sending a message: %w", err)
	}
	return c, nil
}

// ask sends a request and returns the response to it.
func (c *streamClient) ask(request string) ([]byte, error) {
	if _, err := io.WriteString(c.in, request); err != nil {
		return nil, fmt.Errorf("sending a request: %w", err)
	}
	return c.response()
}

// response returns the next message that is no notification.
func (c *streamClient) response() ([]byte, error) {
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("reading an answer: %w", err)
		}
		if !bytes.Contains(line, []byte(`"method":`)) {
			return line, nil
		}
	}
}

func (c *streamClient) next() []byte {
	c.id++
	return c.of.line(c.id)
}

func (c *streamClient) text() (string, error) {
	line, err := c.ask(string(c.next()))
	if err != nil {
		return "", err
	}
	return answerText(line)
}

func (c *streamClient) each(n, atOnce int) error {
	for sent, answered := 0, 0; answered < n; answered++ {
		for ; sent < n && sent-answered < atOnce; sent++ {
			if _, err := c.in.Write(c.next()); err != nil {
				return fmt.Errorf("sending a request: %w", err)
			}
		}
		line, err := c.response()
		if err != nil {
			return err
		}
		if err := checkAnswer(line); err != nil {
			return err
		}
	}
	return nil
}

func (c *streamClient) close() error { return c.in.Close() }

// webClient is a client over HTTP.
type webClient struct {
	ctx     context.Context //nolint:containedctx // that of the run: a client is measured within it
	url     string
	http    *http.Client
	session string
	request []byte
}

// newWebClient begins a session with the server at a URL, over at most so many
// connections.
func newWebClient(ctx context.Context, url string, connections int, of request) (*webClient, error) {
	c := &webClient{
		ctx: ctx, url: url, request: of.line(1),
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}},
	}
	for _, message := range []string{initialize, initialized} {
		if _, err := c.post([]byte(message)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// post sends a message and returns what it is answered with.
func (c *webClient) post(message []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(c.ctx, http.MethodPost, c.url, bytes.NewReader(message))
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", protocolVersion)
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("sending a request: %w", err)
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, fmt.Errorf("reading an answer: %w", err)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s: %.200q", resp.Status, body)
	}
	if id := resp.Header.Get("Mcp-Session-Id"); c.session == "" {
		c.session = id
	}
	return body, nil
}

func (c *webClient) text() (string, error) {
	body, err := c.post(c.request)
	if err != nil {
		return "", err
	}
	// An answer may come as a stream of events with one message each.
	if _, data, ok := bytes.Cut(body, []byte("data: ")); ok {
		body, _, _ = bytes.Cut(data, []byte("\n"))
	}
	return answerText(body)
}

func (c *webClient) each(n, atOnce int) error {
	failures := make([]error, atOnce)
	var group sync.WaitGroup
	for i := range atOnce {
		group.Go(func() {
			for range (n + atOnce - 1 - i) / atOnce { // its share of n
				body, err := c.post(c.request)
				if err == nil {
					err = checkAnswer(body)
				}
				if err != nil {
					failures[i] = err
					return
				}
			}
		})
	}
	group.Wait()
	return errors.Join(failures...)
}

func (c *webClient) close() error {
	c.http.CloseIdleConnections()
	return nil
}
