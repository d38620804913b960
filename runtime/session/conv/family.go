package conv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/google/uuid"

	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/workspace"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/sessionlog"
	"github.com/convtools/convtools/runtime/sessionconfig"
	"github.com/convtools/convtools/runtime/toolset"
)

// Family returns the conv tools for programs outside, each of which has a session of its own. The conversations in it
// may use the tools of the other families.
func Family(host *toolset.Host, others ...toolset.Family) toolset.Family {
	registry, err := toolset.NewRegistry(others...)
	if err != nil { // Whoever puts all families together gets this error too.
		registry, _ = toolset.NewRegistry()
	}
	f := &family{host: host, others: registry, newID: uuid.NewString, clients: map[string]*client{}}
	return toolset.Family{
		Name:     "conv",
		Declared: declared,
		Offered: func(context.Context) []contract.Tool {
			if c, err := f.config(f.host.Dir); err != nil || c.unusable() != nil {
				return nil
			}
			return declared()
		},
		OfferedWhere: "where a model is configured",
		Call:         f.call,
		Variables:    []string{"XDG_STATE_HOME"},
		Checks:       f.checks,
		Close:        f.close,
	}
}

func declared() []contract.Tool {
	return []contract.Tool{conv.CreateTool(), conv.DestroyTool(), conv.HistoryTool(), conv.ListTool(), conv.SendTool(), conv.WaitTool()}
}

type family struct {
	host   *toolset.Host
	others *toolset.Registry
	newID  func() string

	mu      sync.Mutex
	clients map[string]*client // by session
	closed  bool
}

// configured is a directory with its configuration.
type configured struct {
	sessionconfig.Config
	Settings
}

// unusable returns why no model can be used without being named.
func (c configured) unusable() error {
	_, err := c.Choose("")
	return err
}

// config returns the configuration for a directory; empty stands for the working directory.
func (f *family) config(dir string) (configured, error) {
	var c configured
	dir, err := filepath.Abs(dir)
	if err != nil {
		return c, fmt.Errorf("finding the working directory: %w", err)
	}
	c.Settings = Settings{Root: dir, Dir: dir}
	if root, ok := workspace.Find(dir); ok {
		c.Root = root
	}
	c.Config, err = sessionconfig.Load(dir, f.host.Getenv)
	return c, err
}

// client returns the program that a call comes from.
func (f *family) client(where contract.Context) (*client, error) {
	dir := where.Dir
	if dir == "" {
		dir = f.host.Dir
	}
	config, err := f.config(dir)
	if err == nil {
		err = config.unusable()
	}
	if err != nil {
		return nil, refused(&session.Refusal{Code: session.CodeUnavailable, Reason: "no conversation can be held here: " + err.Error()})
	}
	logs, err := SessionsDir(f.host.Getenv)
	if err != nil {
		return nil, refused(&session.Refusal{Code: session.CodeUnavailable, Reason: err.Error()})
	}
	id := SessionOf(config.Root, where)
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.clients[id]
	if c == nil {
		c = &client{family: f, session: id, name: where.Caller.Client, dir: logs, config: config.Config, setting: config.Settings, changed: make(chan struct{}), closed: f.closed}
		f.clients[id] = c
	}
	return c, nil
}

// call answers a call of an outside program.
func (f *family) call(ctx context.Context, call contract.Call) (string, error) {
	for _, tool := range declared() {
		if tool.AnswersTo(call.Tool) {
			call.Tool = tool.Name
		}
	}
	answer, err := f.answer(ctx, call)
	var worded *contract.Error
	var busy *sessionlog.BusyError
	switch {
	case err == nil || errors.As(err, &worded):
		return answer, err
	case errors.As(err, &busy):
		e := &contract.Error{Transient: true, Err: err}
		e.Message = (&session.Refusal{Code: session.CodeUnavailable, Reason: "another process is working in this session; call again when it is done"}).Content()
		return "", e
	}
	return "", &contract.Error{
		Message: (&session.Refusal{Code: session.CodeFailed, Reason: "the session cannot be used at the moment; the standard error of this program says more"}).Content(),
		Detail:  err.Error(), Err: err,
	}
}

func (f *family) answer(ctx context.Context, call contract.Call) (string, error) {
	c, err := f.client(call.Context)
	if err != nil {
		return "", err
	}
	if call.Tool == conv.WaitTool().Name {
		return f.wait(ctx, c, call)
	}
	switch session.Tool(call.Tool) {
	case session.ConvList, session.ConvHistory, session.ConvDestroy:
		request, _, refusal := (&Tools{}).prepare(ctx, "", call.Tool, call.Arguments)
		if refusal != nil {
			return "", refused(refusal)
		}
		destroy, ok := request.(session.Destroy)
		if !ok {
			return c.read(ctx, request)
		}
		e, _, done, err := c.use(ctx)
		if err != nil {
			return "", err
		}
		defer done()
		return c.destroy(ctx, e, destroy.ConversationID)
	}
	e, tools, done, err := c.use(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	return c.converse(ctx, e, tools, call)
}

// wait answers conv.wait.
func (f *family) wait(ctx context.Context, c *client, call contract.Call) (string, error) {
	var w waiting
	if _, err := conv.Call(ctx, &w, call); err != nil {
		return "", err
	}
	e, _, done, err := c.use(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	return c.answer(ctx, e, w.TaskID, call.Context, w.WaitMs)
}

// waiting takes the parameters of conv.wait, as preparation does those of the other tools.
type waiting struct {
	preparation
	conv.WaitParams
}

// Wait implements the generated handler.
func (w *waiting) Wait(_ context.Context, _ contract.Call, p conv.WaitParams) (none conv.WaitResult, err error) {
	w.WaitParams = p
	return none, nil
}

func (f *family) warn(message string) {
	if f.host.Stderr != nil {
		fmt.Fprintf(f.host.Stderr, "warning: %s\n", text.Line(message)) // There is nowhere to report an error to.
	}
}

// close ends what runs. It is recorded as it is, and goes on when its session is used again.
func (f *family) close() {
	f.mu.Lock()
	f.closed = true
	var closing sync.WaitGroup
	for _, c := range f.clients {
		closing.Go(c.close)
	}
	f.mu.Unlock()
	closing.Wait()
}

// checks reports which model is used. To have none is no problem.
func (f *family) checks(context.Context) []toolset.Check {
	check := toolset.Check{Name: "models", Status: toolset.OK}
	c, err := f.config(f.host.Dir)
	if err != nil {
		check.Status, check.Detail, check.Fix = toolset.Problem, err.Error(), "correct the file"
		return []toolset.Check{check}
	}
	m, err := c.Choose("")
	switch {
	case len(c.Models) == 0:
		check.Status, check.Detail = toolset.Off, "none is configured, so the conv tools are not offered"
	case err != nil:
		check.Status, check.Detail, check.Fix = toolset.Problem, "the conv tools are not offered: "+err.Error(), "name one in [session]"
	default:
		check.Detail = text.Count(len(c.Models), "model", "models") + "; " + m.Name + " is used"
	}
	for _, left := range c.LeftOut {
		check.Status, check.Detail, check.Fix = toolset.Warning, left.Error(), "trust the project, or leave it"
	}
	return []toolset.Check{check}
}
