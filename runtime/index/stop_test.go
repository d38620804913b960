package index_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/index"
)

// stopping is a context that is canceled after some calls of Err.
type stopping struct {
	context.Context
	left  int
	asked int // calls since then
}

func (s *stopping) Err() error {
	if s.left > 0 {
		s.left--
		return nil
	}
	s.asked++
	return context.Canceled
}

// TestStop cancels the context at each call of Err: no message is read afterwards, and Err is called between any two
// messages.
func TestStop(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	x := index.Open(dir)
	x.SetLimits(400, 100)
	m := model{}
	for i := range 3 {
		put(t, x, m, fmt.Sprint(i), "alpha beta gamma", 6)
	}
	v := mustView(t, x)
	for name, search := range map[string]func(context.Context, index.Query) error{
		"search": func(ctx context.Context, q index.Query) (err error) {
			for _, err = range v.Search(ctx, q) { //nolint:revive // to the end
			}
			return err
		},
	} {
		for _, text := range []string{"be", "beta gamma"} {
			for places := 0; ; places++ {
				ctx := &stopping{Context: t.Context(), left: places}
				looked := 0
				q := index.Query{Filter: index.Filter{Kinds: 1 << 1}, Text: text, TextOnly: true, Has: func(b []byte) bool {
					if looked++; ctx.asked > 0 {
						t.Errorf("%s %q: a message is looked at after the context is done", name, text)
					}
					return bytes.Contains(b, []byte(text))
				}}
				err := search(ctx, q)
				if err == nil {
					segments := v.Info().Segments
					if least := max(looked, segments); places < least || segments < 3 {
						t.Errorf("%s %q: asked %d times for %d messages in %d segments", name, text, places, looked, segments)
					}
					break
				}
				if !errors.Is(err, context.Canceled) || ctx.asked > 2 {
					t.Fatalf("%s %q: %v after %d, asked %d times more", name, text, err, places, ctx.asked)
				}
			}
		}
	}
}
