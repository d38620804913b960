package mcpserver

import (
	"context"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

const (
	// lookPause is the time from a client's request to a look for changes, which
	// that may have made.
	lookPause = time.Second
	// idlePause is the time between two looks while nobody asks for anything.
	idlePause = 10 * time.Second
)

// changes has what is offered at the moment.
type changes struct {
	registry *toolset.Registry
	// tellTools and tellResources tell clients that a list has changed.
	tellTools, tellResources func()
	tools                    atomic.Pointer[[]contract.Tool] // offered last

	turn    chan struct{} // has a value while somebody looks, who owns what follows
	version [2]string     // of the tools and the list of resources, at the last look

	wake chan struct{} // has a value after a request came in
}

func newChanges(registry *toolset.Registry) *changes {
	return &changes{registry: registry, turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), tellTools: func() {}, tellResources: func() {}}
}

// offered returns the tools that were offered last.
func (c *changes) offered() []contract.Tool {
	if tools := c.tools.Load(); tools != nil {
		return *tools
	}
	return nil
}

func (c *changes) offers(tool string) bool {
	return slices.ContainsFunc(c.offered(), func(t contract.Tool) bool { return t.AnswersTo(tool) })
}

// structured reports whether the answer of a tool is JSON for programs as well.
func (c *changes) structured(tool string) bool {
	return slices.ContainsFunc(c.offered(), func(t contract.Tool) bool { return t.Structured && t.AnswersTo(tool) })
}

// look looks for changes, at what is offered only if that may have changed or all is
// set, and has clients told of those there are.
func (c *changes) look(ctx context.Context, all bool) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return
	}
	first := c.tools.Load() == nil
	if !first && !c.registry.Changes() {
		return
	}
	now := [2]string{c.registry.Version(ctx), c.registry.ListVersion(ctx)}
	tools := c.offered()
	if all || first || now[0] != c.version[0] {
		tools = c.registry.Offered(ctx)
	}
	if ctx.Err() != nil {
		return // a look that was cut off has not seen everything
	}
	if first || !reflect.DeepEqual(tools, c.offered()) {
		c.tools.Store(&tools)
		if !first {
			c.tellTools()
		}
	}
	if now[1] != c.version[1] && !first {
		c.tellResources()
	}
	c.version = now
}

// asked notes that a client has asked for something, which may have changed
// something.
func (c *changes) asked() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// watch looks for changes while there are clients, until ctx is done: from time to
// time, and soon after one has asked for something.
func (s *Server) watch(ctx context.Context) {
	if !s.cfg.Tools.Changes() {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(idlePause):
		case <-s.changes.wake:
			select {
			case <-ctx.Done():
				return
			case <-time.After(lookPause):
			}
		}
		for range s.sdk.Sessions() {
			s.changes.look(ctx, false)
			break
		}
	}
}
