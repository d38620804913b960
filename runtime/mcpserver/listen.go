package mcpserver

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// listens says that a request is to be told of changes until it ends: what the
// stateless era has in place of a session.
// https://modelcontextprotocol.io/seps/2575-stateless-mcp
func listens(msg *message) bool {
	return msg.Method == listenMethod && msg.IsCall()
}

// lookUntil looks for changes from time to time until ctx is done. However many do
// so at once, there are no more looks than for one.
func (s *Server) lookUntil(ctx context.Context) {
	for s.changes() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.offered.pause(idlePause)):
			s.refresh(ctx, idlePause)
		}
	}
}

// listen gives a request that listens a session of its own. The SDK keeps one
// such request a session: a second one would silence the first, and the end of
// either both.
func (c *stream) listen(msg *message, size int) *refusal {
	l := c.newLane()
	l.listens = true
	if refused := c.track(msg, l, size); refused != nil {
		return refused
	}
	session, err := c.connect(l)
	if err != nil {
		c.settle(msg.ID)
		c.server.log.Error("failed", "method", msg.Method, "cause", clip(err.Error(), maxLogged))
		return refusedAs(msg.rawID, jsonrpc.CodeInternalError, failedMessage)
	}
	c.countEars(1)
	go func() {
		defer c.countEars(-1)
		_ = session.Wait() // its end is that of the request, or of the stream
	}()
	l.pass(msg)
	return nil
}

func (c *stream) countEars(change int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ears += change
	c.isLess()
}
