// Package engine runs sessions: it carries out what package session decides. It asks models, runs tools, keeps the log,
// and continues a session whose process ended.
//
// One goroutine owns a session. The events of a step are in the log, and the observer has seen them, before the work
// that follows begins. One model or tool works at a time, on a goroutine of its own.
//
// A call of conv.send costs two syncs: of the call with the start of the target's task, and of the answer with the
// continuation of the caller. Without the first, a crash could lose the call but not what the target's tools did;
// without the second, the caller could act on an answer that the target, asked again, would not give. Each further
// request to a model and each ordinary tool costs one sync, for the same reasons.
//
// The package must never decide what happens in a session, nor know how a model or a tool works.
package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
)

// Options is what a session works with.
type Options struct {
	// Model returns the model of a conversation. It is called before each request. The error may be a [*model.Error].
	Model func(ctx context.Context, c *session.Conversation) (model.Model, error)
	Tools Tools            // what conversations may call
	Now   func() time.Time // the clock
	// Observe is called with each event that is written, and the state after its step, before the work that follows
	// begins. The session waits for it. It must not call methods of the Engine, and may be nil.
	Observe func(session.Event, session.State)
	File    func(log.File) log.File // replaces the file of the log in tests and measurements; may be nil
}

// Tools is what conversations may call. Its methods are called one at a time.
type Tools interface {
	// Offered returns the tools of a conversation, always in the same order.
	Offered(ctx context.Context, c *session.Conversation) []model.Tool
	// Prepare decodes a call of a model and reads the files that it names. A wrong call is refused.
	Prepare(ctx context.Context, c *session.Conversation, call model.Item) session.Request
	// Run runs the tool of an ordinary call. Once the context has ended it returns soon, and leaves nothing running.
	Run(ctx context.Context, c *session.Conversation, call session.Item) (content string, success bool)
}

// ErrClosed is the error of an Engine that was closed.
var ErrClosed = errors.New("the session has been closed")

// Engine is a session that runs. Its methods are safe for concurrent use.
type Engine struct {
	options  Options
	log      *log.Log
	current  atomic.Pointer[moment]
	requests chan request
	closing  context.Context // ends when the engine is to end
	close    context.CancelFunc
	done     chan struct{} // closed when nothing runs any more
	err      error         // why the engine ended; valid after done

	// The goroutine of run owns these.
	working working
	turns   map[session.SubmissionID]*Turn
}

// moment is the state of the session from one step to the next.
type moment struct {
	state session.State
	over  chan struct{} // closed by the next step
}

// Start starts a new session, and creates its log in a directory.
func Start(dir string, in session.Start, o Options) (*Engine, error) {
	_, events, err := session.Step(session.State{}, o.Now(), in)
	if err != nil {
		return nil, err
	}
	created, err := log.Create(dir, events)
	if err != nil {
		return nil, err
	}
	e := newEngine(o, created)
	e.observe(events, created.State)
	go e.run()
	return e, nil
}

// Resume opens a session and continues what was running when the last process ended. The error may be that of [log.Open].
func Resume(dir, id string, o Options) (*Engine, error) {
	opened, err := log.Open(dir, id)
	if err != nil {
		return nil, err
	}
	e := newEngine(o, opened)
	if !e.State().Idle() { // the last process left work
		if err := e.step(session.Recover{}, nil); err != nil {
			return nil, errors.Join(err, opened.Close())
		}
	}
	go e.run()
	return e, nil
}

// newEngine returns an engine for a log that is open. Its goroutine does not run yet.
func newEngine(o Options, l *log.Log) *Engine {
	if o.File != nil {
		l.File = o.File(l.File)
	}
	e := &Engine{options: o, log: l, requests: make(chan request), done: make(chan struct{}), turns: map[session.SubmissionID]*Turn{}}
	e.closing, e.close = context.WithCancel(context.Background())
	e.current.Store(&moment{state: l.State, over: make(chan struct{})})
	return e
}

// State returns the state after the last step.
func (e *Engine) State() session.State { return e.current.Load().state }

// Torn returns what a crash had left at the end of the log, and nil if there was nothing.
func (e *Engine) Torn() *log.Torn { return e.log.Torn }

// Err returns why the engine has ended, such as [ErrClosed], and nil while it has not.
func (e *Engine) Err() error {
	select {
	case <-e.done:
		return e.err
	default:
		return nil
	}
}

// request is an input for the goroutine of run.
type request struct {
	input session.Input
	turn  *Turn // of a submission
	reply chan error
}

// Do applies an input to the session. When it returns nil, the events of the input are in the log. The error is a
// [*session.Refusal], the cause of the end of ctx, or the reason why the engine has ended.
func (e *Engine) Do(ctx context.Context, in session.Input) error { return e.send(ctx, in, nil) }

// send lets the goroutine of run apply an input, with its turn if it is a submission, and returns the error of the step.
func (e *Engine) send(ctx context.Context, in session.Input, submitted *Turn) error {
	r := request{in, submitted, make(chan error, 1)}
	select {
	case e.requests <- r:
		return <-r.reply
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-e.done:
		return e.err
	}
}

// Turn is the logical turn of a submission.
type Turn struct {
	ID     session.SubmissionID
	engine *Engine
	result session.Result         // the goroutine of run owns it until the turn has ended
	last   atomic.Pointer[moment] // the state before the last step of the turn; nil until the turn has ended
}

// Submit applies a submission as [Engine.Do] does, and returns its turn. After an error the turn is of no use.
func (e *Engine) Submit(ctx context.Context, in session.Submit) (*Turn, error) {
	t := &Turn{engine: e}
	return t, e.send(ctx, in, t)
}

// Wait returns the turn's result once the observer and the state have the turn's last event. Errors are as for Await.
func (t *Turn) Wait(ctx context.Context) (session.Result, error) {
	if err := t.engine.Await(ctx, func(session.State) bool { return t.last.Load() != nil }); err != nil {
		return session.Result{}, err
	}
	<-t.last.Load().over // t.last is set after the observer has the event; over is closed after the state has it
	return t.result, nil
}

// Wait returns when nothing runs and nothing waits in the session. The error is that of [Engine.Await].
func (e *Engine) Wait(ctx context.Context) error { return e.Await(ctx, session.State.Idle) }

// Await waits until reached returns true for the current state. If states follow each other fast, Await may skip some.
// The error is the cause of the end of ctx, or the reason why the engine has ended.
func (e *Engine) Await(ctx context.Context, reached func(session.State) bool) error {
	for {
		current := e.current.Load()
		if reached(current.state) {
			return nil
		}
		select {
		case <-current.over:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-e.done:
			if reached(e.State()) { // by the last step
				return nil
			}
			return e.err
		}
	}
}

// Close stops all work and closes the log. [Resume] continues the work. The error is why the engine failed, or nil.
func (e *Engine) Close() error {
	e.close()
	<-e.done
	if errors.Is(e.err, ErrClosed) { // the engine has ended because of Close alone
		return nil
	}
	return e.err
}
