package mcpserver

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// errStopping is the cause of stopping calls when the server ends.
var errStopping = errors.New("the server is shutting down")

// lifetime bounds the requests of a client. The SDK uses the values of a context for its sessions, and not its end.
type lifetime struct {
	calls, listening context.Context
	// endListening ends the requests that listen; they are answered then.
	endListening context.CancelFunc
}

type lifetimeKey struct{}

// newLifetime returns a lifetime that ends with ctx or with stop.
func newLifetime(ctx context.Context) (l lifetime, stop context.CancelCauseFunc) {
	l.calls, stop = context.WithCancelCause(ctx)
	l.listening, l.endListening = context.WithCancel(l.calls)
	return l, stop
}

// context returns a context with the lifetime.
func (l lifetime) context() context.Context {
	return context.WithValue(l.calls, lifetimeKey{}, l)
}

// bound returns a context that ends with the lifetime of a request.
func bound(ctx context.Context, req mcp.Request) (bounded context.Context, done func()) {
	l, ok := ctx.Value(lifetimeKey{}).(lifetime)
	if !ok {
		return ctx, func() {}
	}
	end := l.calls
	if _, listens := req.(*mcp.SubscriptionsListenRequest); listens {
		end = l.listening
	}
	ctx, stop := context.WithCancelCause(ctx)
	forget := context.AfterFunc(end, func() { stop(context.Cause(end)) })
	return ctx, func() { forget(); stop(nil) }
}
