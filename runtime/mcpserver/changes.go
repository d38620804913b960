package mcpserver

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/mcpserver/wire"
	"github.com/convtools/convtools/runtime/toolset"
)

const (
	// lookPause is how long after a look for changes requests do not lead to another
	// one, unless they ask for a list.
	lookPause = time.Second
	// idlePause is how long it may take until a client that waits is told of a
	// change.
	idlePause = 10 * time.Second
	// lookShare keeps looks for changes to this part of the time: the longer one
	// takes, the longer the pause after it.
	lookShare = 100

	toolsChanged     = "notifications/tools/list_changed"
	resourcesChanged = "notifications/resources/list_changed"
)

// changes has what is offered at the moment, and tells clients when that is
// something else. The SDK has no notification of its own for resources that it does
// not keep the list of, so tools are not left to it either.
type changes struct {
	registry *toolset.Registry
	tools    atomic.Pointer[[]contract.Tool] // offered last
	looked   atomic.Int64                    // when the last look ended, in nanoseconds
	took     atomic.Int64                    // nanoseconds of that look

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

func (c *changes) names() []string {
	var names []string
	for _, t := range c.offered() {
		names = append(names, t.Name)
	}
	return names
}

func (c *changes) offers(tool string) bool {
	return slices.ContainsFunc(c.offered(), func(t contract.Tool) bool { return t.Name == tool })
}

// refresh looks at what is offered now.
func (c *changes) refresh(ctx context.Context) { c.look(ctx, true) }

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
	begun := time.Now()
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
	c.took.Store(int64(time.Since(begun)))
	c.looked.Store(time.Now().UnixNano())
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

// join has a client told of changes until its connection ends, or leave is called.
func (c *changes) join(conn *wire.Conn, i interest) (leave func()) {
	if !c.registry.Changes() {
		return func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.audience[conn] = i
	if c.stop == nil {
		var ctx context.Context
		ctx, c.stop = context.WithCancel(context.Background())
		go c.watch(ctx)
	}
	left := sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.audience, conn)
		if len(c.audience) == 0 {
			c.stop()
			c.stop = nil
		}
	})
	go func() {
		<-conn.Over()
		left()
	}()
	return left
}

// asked notes that a client has asked for something.
func (c *changes) asked() {
	if time.Now().UnixNano()-c.looked.Load() < int64(c.pause(lookPause)) {
		return
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// pause is how long to wait after a look that took as long as the last one.
func (c *changes) pause(least time.Duration) time.Duration {
	return max(least, lookShare*time.Duration(c.took.Load()))
}

// watch looks for changes as long as there is somebody to tell: from time to time,
// and when a client asks for something.
func (c *changes) watch(ctx context.Context) {
	for {
		idle := time.NewTimer(c.pause(idlePause))
		select {
		case <-ctx.Done():
			idle.Stop()
			return
		case <-c.wake:
			idle.Stop()
		case <-idle.C:
		}
		c.look(ctx, false)
	}
}

// listen answers a request that is told of changes until it ends.
func (s *Server) listen(ctx context.Context, method string, req *mcp.SubscriptionsListenRequest, next mcp.MethodHandler) (mcp.Result, error) {
	conn := wire.ConnectionOf(ctx)
	if version, _ := req.Params.GetMeta()[mcp.MetaKeyProtocolVersion].(string); version == "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "There is no method " + method + " in protocol versions before " + wire.Stateless + "."}
	}
	if want := req.Params.Notifications; want != nil {
		s.changes.refresh(ctx)
		i := interest{tools: want.ToolsListChanged, resources: want.ResourcesListChanged, meta: mcp.Meta{mcp.MetaKeySubscriptionID: conn.RequestID()}}
		if i.tools || i.resources {
			defer s.changes.join(conn, i)()
		}
	}
	return next(ctx, method, req)
}
