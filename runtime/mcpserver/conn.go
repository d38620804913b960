package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxInFlight is how many requests of one client may wait for an answer. It is
	// more than there may be tool calls, which get a better answer when there are
	// too many.
	maxInFlight = 2 * (maxRunning + maxWaiting)
	// maxInFlightBytes is what the messages of those requests may add up to.
	maxInFlightBytes = 32 << 20
)

// streamTransport is one client on a pair of streams, one JSON-RPC message a
// line.
type streamTransport struct {
	in    io.Reader
	out   io.Writer
	drain time.Duration // see Config.DrainTime
}

// Connect begins to read.
func (t *streamTransport) Connect(context.Context) (mcp.Connection, error) {
	c := &streamConn{
		frames:   newFrameReader(t.in, MaxMessage),
		out:      t.out,
		drain:    t.drain,
		incoming: make(chan *jsonrpc.Request),
		closed:   make(chan struct{}),
		pending:  map[jsonrpc.ID]*pendingRequest{},
		answered: make(chan struct{}, 1),
	}
	go c.receive()
	return c, nil
}

// streamConn answers what the SDK must not see, and keeps the books of requests
// that wait for an answer.
type streamConn struct {
	frames   *frameReader
	drain    time.Duration
	incoming chan *jsonrpc.Request // closed when nothing more comes
	readErr  error                 // why, once incoming is closed
	closing  sync.Once
	closed   chan struct{}

	writing sync.Mutex
	out     io.Writer

	mu       sync.Mutex
	pending  map[jsonrpc.ID]*pendingRequest
	bytes    int           // of the messages of pending
	answered chan struct{} // has a value after pending became empty
}

type pendingRequest struct {
	size     int // bytes
	method   string
	canceled bool // the client wants no answer any more
}

var _ mcp.Connection = (*streamConn)(nil)

// SessionID returns nothing: streams have one session.
func (c *streamConn) SessionID() string { return "" }

// Read returns the next request or notification.
func (c *streamConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, io.EOF
	case req, ok := <-c.incoming:
		if !ok {
			return nil, c.readErr
		}
		return req, nil
	}
}

// Close makes Read return. What blocks on the input cannot be woken up
// everywhere; it ends with the input.
func (c *streamConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return nil
}

// receive passes messages on until the input ends.
func (c *streamConn) receive() {
	defer close(c.incoming)
	for {
		line, err := c.frames.next()
		switch {
		case errors.Is(err, errTooLong):
			err = c.refuse(&refusal{
				leadingID(line), jsonrpc.CodeInvalidRequest,
				fmt.Sprintf("The message is longer than %d bytes and was not read.", MaxMessage),
			})
		case err == nil:
			err = c.accept(line)
		}
		if err != nil {
			c.readErr = err
			break
		}
	}
	// The SDK drops the answers that are still missing when Read reports an error.
	if errors.Is(c.readErr, io.EOF) {
		c.finish()
	}
}

// accept passes one message on or refuses it. An error means that the session
// is over.
func (c *streamConn) accept(line []byte) error {
	req, refused := decodeMessage(line)
	if refused == nil && req == nil {
		return nil
	}
	if refused == nil {
		refused = c.track(req, len(line))
	}
	if refused != nil {
		return c.refuse(refused)
	}
	select {
	case c.incoming <- req:
		return nil
	case <-c.closed:
		return io.EOF
	}
}

// track opens the book for a request, and notes when one is canceled.
func (c *streamConn) track(req *jsonrpc.Request, size int) *refusal {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !req.IsCall() {
		if p := c.pending[canceledID(req)]; p != nil && p.method != "initialize" {
			p.canceled = true
		}
		return nil
	}
	switch {
	case c.pending[req.ID] != nil:
		// An error with this id would be taken for the answer to the first request.
		return invalid(jsonrpc.ID{}, fmt.Sprintf("The id %.100q is in use by a request that is not answered yet.", fmt.Sprint(req.ID.Raw())))
	case len(c.pending) >= maxInFlight:
		return &refusal{req.ID, codeBusy, fmt.Sprintf("Busy: %d requests wait for an answer. Send this one again later.", len(c.pending))}
	case c.bytes+size > maxInFlightBytes:
		return &refusal{req.ID, codeBusy, fmt.Sprintf("Busy: requests of %d bytes wait for an answer. Send this one again later.", c.bytes)}
	}
	c.pending[req.ID] = &pendingRequest{size: size, method: req.Method}
	c.bytes += size
	return nil
}

// canceledID is the id of the request that a notification cancels; the zero id,
// which is no request's, for every other notification.
func canceledID(req *jsonrpc.Request) jsonrpc.ID {
	if req.Method != "notifications/cancelled" {
		return jsonrpc.ID{}
	}
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(req.Params, &params) != nil {
		return jsonrpc.ID{}
	}
	id, _ := decodeID(params.RequestID)
	return id
}

// settle closes the book of a request and says whether its answer is wanted.
func (c *streamConn) settle(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[id]
	if p == nil {
		return true
	}
	delete(c.pending, id)
	c.bytes -= p.size
	if len(c.pending) == 0 {
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return !p.canceled
}

// finish waits until every request is answered, for a while.
func (c *streamConn) finish() {
	deadline := time.NewTimer(c.drain)
	defer deadline.Stop()
	for {
		c.mu.Lock()
		left := len(c.pending)
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-c.answered:
		case <-deadline.C:
			return
		case <-c.closed:
			return
		}
	}
}

// Write sends a response or a notification. Responses to requests that were
// canceled are not sent, as MCP wants it:
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
func (c *streamConn) Write(_ context.Context, msg jsonrpc.Message) error {
	if resp, ok := msg.(*jsonrpc.Response); ok {
		if !c.settle(resp.ID) {
			return nil
		}
		if resp.Error != nil {
			resp.Error = wireError(resp.Error)
		}
	}
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	return c.send(text)
}

func (c *streamConn) refuse(r *refusal) error {
	text, err := r.encode()
	if err != nil {
		return err
	}
	return c.send(text)
}

func (c *streamConn) send(text []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.out.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("writing to the client: %w", err)
	}
	return nil
}

// maxErrorMessage is how many bytes of an error's message are sent. The SDK
// quotes what it could not read, however long that is.
const maxErrorMessage = 1000

// wireError gives every error a code: without one, the SDK sends 0, which
// JSON-RPC does not know. Those are errors of order: a request before
// initialize, or a second initialize.
func wireError(err error) error {
	var known *jsonrpc.Error
	e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	if errors.As(err, &known) && known.Code != 0 {
		e.Code, e.Data = known.Code, known.Data
	}
	e.Message = clip(e.Message, maxErrorMessage)
	return e
}
