package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const canceledMethod = "notifications/cancelled"

// Connect begins a session of the SDK's server on a connection, which
// [ConnectionOf] finds in the context of its requests.
type Connect func(*Conn) (*mcp.ServerSession, error)

// Conn is the connection of one session of the SDK's: what its client sends comes
// by [Conn.Read], what the session sends goes to its client. It is the transport,
// too.
type Conn struct {
	incoming chan *jsonrpc.Request
	over     chan struct{} // is closed when nothing more comes
	end      func()        // closes over
	send     func(jsonrpc.Message) error
}

var (
	_ mcp.Transport  = (*Conn)(nil)
	_ mcp.Connection = (*Conn)(nil)
)

func newConn(send func(jsonrpc.Message) error) *Conn {
	over := make(chan struct{})
	return &Conn{incoming: make(chan *jsonrpc.Request), over: over, end: sync.OnceFunc(func() { close(over) }), send: send}
}

// Connect returns the connection itself.
func (c *Conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID returns nothing: what tells clients apart is not for the SDK.
func (c *Conn) SessionID() string { return "" }

// Read returns the next request or notification, and [io.EOF] where there are no
// more. The SDK then cancels what it still works on, and drops the answers.
func (c *Conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.over:
		return nil, io.EOF
	case req := <-c.incoming:
		return req, nil
	}
}

// Write sends a response or a notification.
func (c *Conn) Write(_ context.Context, msg jsonrpc.Message) error { return c.send(msg) }

// Over is closed when the client is told nothing more.
func (c *Conn) Over() <-chan struct{} { return c.over }

// Close makes Read return.
func (c *Conn) Close() error {
	c.end()
	return nil
}

// Notify tells the client something for which the SDK has no method:
// https://github.com/modelcontextprotocol/go-sdk/pull/1146
func (c *Conn) Notify(method string, meta mcp.Meta) error {
	params, err := json.Marshal(struct {
		Meta mcp.Meta `json:"_meta,omitempty"`
	}{meta})
	if err != nil {
		return fmt.Errorf("writing a notification: %w", err)
	}
	return c.send(&jsonrpc.Request{Method: method, Params: params})
}

// pass has Read return a message, unless nothing more is read.
func (c *Conn) pass(req *jsonrpc.Request) {
	select {
	case c.incoming <- req:
	case <-c.over:
	}
}

// cancel cancels a request.
func (c *Conn) cancel(id jsonrpc.ID) {
	params, err := json.Marshal(map[string]any{"requestId": id.Raw()})
	if err != nil {
		return // an id always can be written
	}
	c.pass(&jsonrpc.Request{Method: canceledMethod, Params: params})
}

type connKey struct{}

// WithConnection returns a context for a session on c.
func WithConnection(ctx context.Context, c *Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// ConnectionOf returns the connection by which a request came, from its context.
func ConnectionOf(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}
