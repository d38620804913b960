package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reportProgress tells the client from time to time that a call is still worked
// on, where the client asked to be told. After stop, nothing more is sent.
func (s *Server) reportProgress(ctx context.Context, req *mcp.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	switch token.(type) {
	case string, float64:
	default:
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
			// A client that cannot be told will not get the answer either; the
			// connection sees to that.
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token,
				Progress:      seconds,
				Message:       fmt.Sprintf("%s has been working for %.0f seconds", req.Params.Name, seconds),
			})
		}
	}()
	return func() { cancel(); <-done }
}
