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
	// lookPause is the time from a client's request to the check for changes that the request may have made.
	lookPause = time.Second
	// idlePause is the time between two checks without requests.
	idlePause = 10 * time.Second
)

// changes has the tools that are offered now.
type changes struct {
	registry *toolset.Registry
	// tellTools and tellResources tell clients that a list has changed.
	tellTools, tellResources func()
	tools                    atomic.Pointer[[]contract.Tool] // offered last

	turn    chan struct{} // has a value during a check, which owns the following fields
	version [2]string     // of the tools and of the list of resources, at the last check

	wake chan struct{} // has a value after a request
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

// structured reports whether a tool answers in JSON for programs too.
func (c *changes) structured(tool string) bool {
	return slices.ContainsFunc(c.offered(), func(t contract.Tool) bool { return t.Structured && t.AnswersTo(tool) })
}

// look checks for changes, and tells clients about them. It asks for the offered tools only if they may have changed
// or all is set.
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
		return // the check was cut off
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

// asked notes a request of a client, which may have changed something.
func (c *changes) asked() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// watch checks for changes until ctx is done while there are clients: from time to time, and soon after a request.
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
