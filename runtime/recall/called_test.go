package recall

import (
	"context"
	"testing"

	"github.com/convtools/convtools/generated/conversation"
)

// A search that was canceled has no index made: what it took too long over is not begun again.
func TestCanceledSearch(t *testing.T) {
	t.Parallel()
	f := &family{searched: make(chan struct{}, 1)}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		tool string
		want int
	}{
		{canceled, conversation.SearchTool().Name, 0},
		{t.Context(), conversation.ListTool().Name, 0},
		{t.Context(), conversation.SearchTool().Name, 1},
	} {
		if f.called(c.ctx, c.tool); len(f.searched) != c.want {
			t.Errorf("%s: %v, %d times searched", c.tool, c.ctx.Err(), len(f.searched))
		}
	}
}
