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
	// requestPause is the time from a client's request to the check for changes that the request may have made.
	requestPause = time.Second
	// idlePause is the time between two checks without requests.
	idlePause = 10 * time.Second
)

// changes keeps the tools that are offered, and notices when they or the list of resources change.
type changes struct {
	registry *toolset.Registry
	// tellTools and tellResources tell clients that a list has changed.
	tellTools, tellResources func()
	tools                    atomic.Pointer[[]contract.Tool] // offered last

	turn                      chan struct{} // has a value during update, which alone uses the versions
	toolsVersion, listVersion string        // of the tools and of the list of resources, at the last update

	wake chan struct{} // has a value after a request, until watch takes it
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

// offers reports whether a name is that of a tool in offered, or an alias.
func (c *changes) offers(tool string) bool {
	return slices.ContainsFunc(c.offered(), func(t contract.Tool) bool { return t.AnswersTo(tool) })
}

// structured reports whether a tool in offered answers in JSON, which programs get as structured content too.
func (c *changes) structured(tool string) bool {
	return slices.ContainsFunc(c.offered(), func(t contract.Tool) bool { return t.Structured && t.AnswersTo(tool) })
}

// update stores the tools that the registry offers now. It tells clients if these tools or the list of resources have
// changed since the last update; the first update tells clients nothing. If always is false and the version of the
// tools is the same, the registry is not asked for its tools. If ctx ends first, update changes nothing.
func (c *changes) update(ctx context.Context, always bool) {
	select {
	case c.turn <- struct{}{}: // one update at a time
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return
	}
	isFirst := c.tools.Load() == nil
	if !isFirst && !c.registry.Changes() {
		return // the tools and the resources never change
	}
	before := c.offered()
	tools := before
	toolsVersion, listVersion := c.registry.Version(ctx), c.registry.ListVersion(ctx)
	if always || isFirst || toolsVersion != c.toolsVersion {
		tools = c.registry.Offered(ctx)
	}
	if ctx.Err() != nil {
		return // the registry may have stopped early
	}
	c.tools.Store(&tools)
	if !isFirst && !reflect.DeepEqual(tools, before) {
		c.tellTools()
	}
	if !isFirst && listVersion != c.listVersion {
		c.tellResources()
	}
	c.toolsVersion, c.listVersion = toolsVersion, listVersion
}

// wakeWatch makes watch check soon: a client's request may have changed something.
func (c *changes) wakeWatch() {
	select {
	case c.wake <- struct{}{}:
	default: // watch is woken already
	}
}

// watch calls [changes.update] until ctx is done: every idlePause, and requestPause after a request. It skips updates
// while there are no clients, and returns at once if the tools never change.
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
			case <-time.After(requestPause):
			}
		}
		for range s.sdk.Sessions() {
			s.changes.update(ctx, false)
			break // one update is for all sessions
		}
	}
}
