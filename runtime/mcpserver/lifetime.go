package mcpserver

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// errStopping is the cause of stopping calls when the server ends.
var errStopping = errors.New("the server is shutting down")

// lifetime has the contexts with which the requests of a client end. It is a value of a context: the SDK's sessions
// keep the values of a context, but do not end with it.
type lifetime struct {
	calls     context.Context // of requests that do not listen
	listening context.Context // of requests that listen for changes; it ends with calls too
	// endListening ends listening. The requests that listen are then answered.
	endListening context.CancelFunc
}

type lifetimeKey struct{}

// newLifetime returns a lifetime whose contexts end with ctx or with stop.
func newLifetime(ctx context.Context) (l lifetime, stop context.CancelCauseFunc) {
	l.calls, stop = context.WithCancelCause(ctx)
	l.listening, l.endListening = context.WithCancel(l.calls)
	return l, stop
}

// context returns a context that ends with calls and has the lifetime as a value.
func (l lifetime) context() context.Context {
	return context.WithValue(l.calls, lifetimeKey{}, l)
}

// withLifetime returns a context for handling req: it ends with ctx, and also with the server's calls or, if req
// listens for changes, with the server's listening. It finds both in the lifetime that is a value of ctx; without a
// lifetime it returns ctx. done has to be called when the request is handled.
func withLifetime(ctx context.Context, req mcp.Request) (bounded context.Context, done func()) {
	l, ok := ctx.Value(lifetimeKey{}).(lifetime)
	if !ok {
		return ctx, func() {}
	}
	limit := l.calls
	if _, listens := req.(*mcp.SubscriptionsListenRequest); listens {
		limit = l.listening
	}
	bounded, stop := context.WithCancelCause(ctx)
	unregister := context.AfterFunc(limit, func() { stop(context.Cause(limit)) })
	return bounded, func() { unregister(); stop(nil) }
}
