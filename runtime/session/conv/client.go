package conv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/mcptools"
	"github.com/convtools/convtools/runtime/session/sessionlog"
	"github.com/convtools/convtools/runtime/sessionconfig"
	"github.com/convtools/convtools/runtime/trust"
)

// SessionsDir returns the directory of the logs of all sessions: in the user's own state, where the system keeps that.
func SessionsDir(getenv func(string) string) (string, error) {
	home := trust.Home(getenv)
	var state string
	switch runtime.GOOS {
	case "windows":
		state = getenv("LOCALAPPDATA")
	case "darwin":
		state = filepath.Join(home, "Library", "Application Support")
	default: // https://specifications.freedesktop.org/basedir-spec/latest/
		if state = getenv("XDG_STATE_HOME"); !filepath.IsAbs(state) {
			state = filepath.Join(home, ".local", "state")
		}
	}
	if !filepath.IsAbs(state) {
		return "", errors.New("the environment does not say where the user's home directory is, in which sessions are kept")
	}
	return filepath.Join(state, "convtools", "sessions"), nil
}

// SessionOf returns the id of the session of an outside program in a workspace: that of the conversation which calls,
// where the program says which, and else that of the program by its name.
func SessionOf(root string, where contract.Context) string {
	name, key := where.Caller.Client, "program "+where.Caller.Client
	if where.ConversationID != "" {
		name, key = where.ConversationID, "conversation "+where.ConversationID
	}
	sum := sha256.Sum256([]byte(key + "\x00" + root))
	return strings.TrimLeft(plain(name)+"-", "-") + hex.EncodeToString(sum[:6])
}

// plain returns a name for a file: at most 32 of a-z 0-9 -.
func plain(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case b.Len() == 32:
			return b.String()
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0:
			b.WriteByte('-')
		}
	}
	return b.String()
}

// client is an outside program with its session, which is open while it is used: other processes of that program use
// it too.
type client struct {
	family  *family
	session string // its id
	name    string // of the program, as it gives it itself
	dir     string // of the logs
	config  sessionconfig.Config
	setting Settings

	mu      sync.Mutex
	engine  *engine.Engine // nil while nobody uses it
	tools   *outsideTools  // of the engine
	servers *mcptools.Servers
	users   int
	closed  bool

	changing sync.Mutex
	changed  chan struct{} // is closed when something has happened in the session
}

// use opens the session where it is not open. Errors are those of package engine.
func (c *client) use(ctx context.Context) (e *engine.Engine, tools *outsideTools, done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, nil, engine.ErrClosed
	}
	if c.engine != nil && c.engine.Err() != nil {
		c.end()
	}
	if c.engine == nil {
		if err := c.open(ctx); err != nil {
			c.end()
			return nil, nil, nil, err
		}
	}
	c.users++
	opened := c.engine
	return opened, c.tools, func() { c.done(opened) }, nil
}

// open starts the session, or goes on with it. c.mu is held.
func (c *client) open(ctx context.Context) error {
	host := c.family.host
	var servers []mcptools.Server
	for _, s := range c.config.Servers {
		servers = append(servers, mcptools.Server{Name: s.Name, Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL})
	}
	c.servers = mcptools.New(servers, mcptools.Options{Name: host.Name, Version: host.Version, Dir: c.setting.Root})
	tools := NewTools(Options{Registry: c.family.others, Servers: c.servers, Now: host.Now, Warn: c.family.warn})
	c.tools = &outsideTools{Tools: tools, prepared: map[string]session.Request{}}
	o := engine.Options{Model: c.model, Tools: c.tools, Now: host.Now, NewID: c.family.newID, Observe: func(session.Event) { c.tell() }}
	var err error
	c.engine, err = engine.Resume(c.dir, c.session, o)
	if errors.Is(err, fs.ErrNotExist) {
		c.engine, err = engine.Start(c.dir, c.start(tools.Catalogue(ctx)), o)
		if errors.Is(err, fs.ErrExist) { // another process was faster
			c.engine, err = engine.Resume(c.dir, c.session, o)
		}
	}
	if err != nil {
		c.engine = nil
	}
	return err
}

// start is how a new session begins.
func (c *client) start(catalogue map[string][]string) session.Start {
	capabilities := session.Capabilities{MCP: []string{}, Internal: session.InternalTools{Conv: true}}
	if m, err := c.config.Choose(c.setting.Model); err == nil {
		capabilities.Internal.WebSearch = m.WebSearch()
	}
	for _, s := range c.config.Servers {
		if _, ok := catalogue[s.Name]; ok {
			capabilities.MCP = append(capabilities.MCP, s.Name)
		}
	}
	limits := c.config.Session
	return session.Start{
		Session: c.session, Root: c.family.newID(),
		Context: session.Context{Title: text.Line(text.Cut(c.name, 100)), Settings: c.setting.String(), Capabilities: capabilities},
		Config: session.Config{
			MaxInterruptChainDepth: limits.MaxInterruptChainDepth, MaxInterruptsPerTurn: limits.MaxInterruptsPerTurn,
			MaxConversations: limits.MaxConversations, Catalogue: catalogue,
		},
	}
}

// model returns the model of a conversation; that of the root is the outside program.
func (c *client) model(_ context.Context, conversation *session.Conversation) (model.Model, error) {
	if conversation.Parent == "" {
		return outside{}, nil
	}
	settings, err := ParseSettings(conversation.Settings)
	if err != nil {
		return nil, err
	}
	chosen, err := c.config.Choose(settings.Model)
	if err != nil {
		return nil, &model.Error{Model: settings.Model, Code: model.CodeConfiguration, Message: err.Error(), Err: err}
	}
	return chosen.Open()
}

// done ends one use. Where it was the last, the session is closed as soon as nothing runs in it.
func (c *client) done(e *engine.Engine) {
	c.mu.Lock()
	c.users--
	last := c.users == 0 && c.engine == e
	if last && e.State().Idle() {
		c.end()
		last = false
	}
	c.mu.Unlock()
	if !last {
		return
	}
	go func() {
		_ = e.Wait(context.Background()) // the error of an engine that has ended
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.users == 0 && c.engine == e {
			c.end()
		}
	}()
}

// end closes the session. c.mu is held.
func (c *client) end() {
	if c.engine != nil {
		if err := c.engine.Close(); err != nil {
			c.family.warn(fmt.Sprintf("session %s: %v", c.session, err))
		}
	}
	if c.servers != nil {
		c.servers.Close()
	}
	c.engine, c.tools, c.servers = nil, nil, nil
}

// close ends the session for good.
func (c *client) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.end()
	c.tell()
}

// tell lets those go on that wait for something to happen.
func (c *client) tell() {
	c.changing.Lock()
	defer c.changing.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *client) change() <-chan struct{} {
	c.changing.Lock()
	defer c.changing.Unlock()
	return c.changed
}

// errWaiting is why a wait ended that was not over.
var errWaiting = errors.New("not done in the time to wait")

// await waits until found reports that it has what it looks for.
func (c *client) await(ctx context.Context, e *engine.Engine, found func(session.State) bool) error {
	for {
		change := c.change()
		if found(e.State()) {
			return nil
		}
		select {
		case <-change:
		case <-e.Done():
			if found(e.State()) {
				return nil
			}
			return e.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

const (
	// standardWait is how long a call waits that does not say how long, where something can go on behind it. Clients
	// give up after a minute.
	standardWait = 50 * time.Second
	// stopTime is how long a call that was canceled waits for what it has stopped.
	stopTime = 10 * time.Second
)

// patience returns a context that ends when a call has waited long enough.
func patience(ctx context.Context, where contract.Context, milliseconds *int) (context.Context, context.CancelFunc) {
	wait := standardWait
	switch {
	case milliseconds != nil:
		wait = time.Duration(*milliseconds) * time.Millisecond
	case where.Ends:
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, wait, errWaiting)
}

// converse makes a call of conv.create or conv.send (S-11, S-21).
func (c *client) converse(ctx context.Context, e *engine.Engine, tools *outsideTools, call contract.Call) (string, error) {
	root := e.State().Root()
	request, milliseconds, refusal := tools.prepare(ctx, root.Settings, call.Tool, call.Arguments)
	if refusal != nil {
		return "", refused(refusal)
	}
	made := outsideCall{ID: c.family.newID(), Tool: call.Tool, Arguments: call.Arguments}
	tools.keep(made.ID, request)
	turn, err := e.Submit(ctx, session.Submit{Conversation: root.ID, Input: []session.Part{{Text: made.String()}}})
	if err != nil {
		return "", err
	}
	answer, err := c.answer(ctx, e, made.ID, call.Context, milliseconds)
	if ctx.Err() != nil && err != nil {
		// Nobody waits for the answer: the client has canceled the call, or is gone.
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if e.Interrupt(stopping, session.Interrupt{Chain: true, Submission: turn.ID}) == nil {
			_, _ = turn.Wait(stopping) // what is left of it stops in its own time
		}
	}
	return answer, err
}

// answer waits for the output of a call.
func (c *client) answer(ctx context.Context, e *engine.Engine, id string, where contract.Context, milliseconds *int) (string, error) {
	waiting, cancel := patience(ctx, where, milliseconds)
	defer cancel()
	var o outcome
	err := c.await(waiting, e, func(s session.State) bool {
		o = outcomeOf(s, id)
		return o.progress != runningCall
	})
	switch {
	case errors.Is(err, errWaiting):
		return running(o.target, id), nil
	case err != nil:
		return "", err
	case o.progress == unknownCall:
		return "", refused(&session.Refusal{Code: session.CodeNotFound, Field: "task_id", Reason: "there is no such task in this session"})
	case o.progress == endedCall:
		return "", refused(&session.Refusal{Code: session.CodeInterrupted, Reason: "the call was interrupted before it had a result"})
	case !o.success:
		return "", &contract.Error{Message: o.content, Caller: true}
	}
	return o.content, nil
}

// running is the answer to a call that goes on.
func running(target, id string) string {
	data, _ := json.Marshal(struct { // of strings, which always have a form
		ConversationID       string `json:"conversation_id"`
		LastAssistantMessage string `json:"last_assistant_message"`
		Status               string `json:"status"`
		TaskID               string `json:"task_id"`
	}{target, "", "running", id})
	return string(data)
}

func refused(r *session.Refusal) error {
	return &contract.Error{Message: r.Content(), Caller: true, Err: r}
}

// destroy makes a call of conv.destroy, which may be of a conversation that runs.
func (c *client) destroy(ctx context.Context, e *engine.Engine, id string) (string, error) {
	err := e.Remove(ctx, session.Remove{Conversation: id})
	var refusal *session.Refusal
	var late *session.InputError
	switch {
	case errors.As(err, &refusal):
		return "", refused(refusal)
	case err != nil && !errors.As(err, &late): // late: it is being destroyed already
		return "", err
	}
	err = c.await(ctx, e, func(s session.State) bool {
		conversation := s.Conversation(strings.ToLower(id))
		return conversation == nil || conversation.Destroyed
	})
	if err != nil {
		return "", err
	}
	return `{"ok":true}`, nil
}

// read answers conv.list and conv.history, also where another process has the session.
func (c *client) read(ctx context.Context, request session.Request) (string, error) {
	e, _, done, err := c.use(ctx)
	var state session.State
	var busy *sessionlog.BusyError
	switch {
	case err == nil:
		defer done()
		state = e.State()
	case errors.As(err, &busy):
		if state, _, err = sessionlog.Load(c.dir, c.session); err != nil {
			return "", err
		}
	default:
		return "", err
	}
	content, success := state.Answer(state.Root().ID, request)
	if !success {
		return "", &contract.Error{Message: content, Caller: true}
	}
	return content, nil
}
