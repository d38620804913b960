package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reportProgress notifies the client every ProgressInterval that a tool still works, until stop is called or ctx is
// done. It does nothing if the client did not ask for progress.
func (s *Server) reportProgress(ctx context.Context, req *mcp.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	switch token.(type) {
	case string, float64:
	default: // there is no token: the client did not ask
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(s.cfg.ProgressInterval)
		defer ticker.Stop()
		step := s.cfg.ProgressInterval.Seconds()
		for seconds := step; ; seconds += step {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			// If this fails, the answer cannot be sent either, and the connection ends.
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token,
				Progress:      seconds,
				Message:       fmt.Sprintf("%s has been working for %.0f seconds", req.Params.Name, seconds),
			})
		}
	}()
	return func() { cancel(); <-done }
}
