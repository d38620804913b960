package mcpserver

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/mcpserver/wire"
	"github.com/convtools/convtools/runtime/toolset"
)

const (
	// lookPause is the time between two looks for changes, unless clients ask for a
	// list.
	lookPause = time.Second
	// idlePause is how long it may take until a client that waits is told of a
	// change.
	idlePause = 10 * time.Second

	toolsChanged     = "notifications/tools/list_changed"
	resourcesChanged = "notifications/resources/list_changed"
)

// changes has what is offered at the moment, and tells clients when that is
// something else. The SDK has no notification of its own for resources that it does
// not keep the list of, so tools are not left to it either.
type changes struct {
	registry *toolset.Registry
	tools    atomic.Pointer[[]contract.Tool] // offered last
	looked   atomic.Int64                    // when the last look began, in nanoseconds

	turn    chan struct{} // has a value while somebody looks, who owns what follows
	version [2]string     // of the tools and the list of resources, at the last look

	wake chan struct{} // has a value after a request came in

	mu       sync.Mutex
	audience map[*wire.Conn]interest
	stop     context.CancelFunc // of watching, while there is an audience
}

// interest is what a client wants to be told.
type interest struct {
	tools, resources bool
	meta             mcp.Meta // of what it is told
}

func newChanges(registry *toolset.Registry) *changes {
	return &changes{registry: registry, turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), audience: map[*wire.Conn]interest{}}
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
// set, and tells the audience of those there are.
func (c *changes) look(ctx context.Context, all bool) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return
	}
	if c.tools.Load() != nil && !c.registry.Changes() {
		return
	}
	c.looked.Store(time.Now().UnixNano())
	now := [2]string{c.registry.Version(ctx), c.registry.ListVersion(ctx)}
	tools, first := c.offered(), c.tools.Load() == nil
	if all || first || now[0] != c.version[0] {
		tools = c.registry.Offered(ctx)
	}
	if ctx.Err() != nil {
		return // a look that was cut off has not seen everything
	}
	if !reflect.DeepEqual(tools, c.offered()) || first {
		c.tools.Store(&tools)
		if !first {
			c.tell(toolsChanged, func(i interest) bool { return i.tools })
		}
	}
	if now[1] != c.version[1] && !first {
		c.tell(resourcesChanged, func(i interest) bool { return i.resources })
	}
	c.version = now
}

// tell tells those who want to know.
func (c *changes) tell(method string, wants func(interest) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn, i := range c.audience {
		if wants(i) {
			go conn.Notify(method, i.meta) //nolint:errcheck // a client that cannot be told is gone
		}
	}
}

// join has a client told of changes until its connection ends.
func (c *changes) join(conn *wire.Conn, i interest) {
	if !i.tools && !i.resources || !c.registry.Changes() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.audience[conn] = i
	if c.stop == nil {
		var ctx context.Context
		ctx, c.stop = context.WithCancel(context.Background())
		go c.watch(ctx)
	}
	go func() {
		<-conn.Over()
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.audience, conn); len(c.audience) == 0 {
			c.stop()
			c.stop = nil
		}
	}()
}

// asked notes that a client has asked for something, which may have changed
// something.
func (c *changes) asked() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// watch looks for changes as long as there is somebody to tell: from time to time,
// and soon after a client has asked for something.
func (c *changes) watch(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(idlePause)
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-c.wake:
			timer.Reset(time.Until(time.Unix(0, c.looked.Load()).Add(lookPause)))
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
		}
		c.look(ctx, false)
	}
}

// acknowledged stands before everything that the SDK sends. A request that listens
// is told of changes once it was told that it will be, and of which.
func (s *Server) acknowledged(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if params, ok := req.GetParams().(*mcp.SubscriptionsAcknowledgedParams); ok && err == nil {
			s.changes.join(wire.ConnectionOf(ctx), interest{
				tools: params.Notifications.ToolsListChanged, resources: params.Notifications.ResourcesListChanged, meta: params.Meta,
			})
		}
		return result, err
	}
}
