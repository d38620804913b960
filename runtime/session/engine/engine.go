// Package engine runs sessions: it carries out what package session decides. It asks models, runs tools, keeps the log,
// and goes on where a process has ended.
//
// One goroutine owns a session. Each input is a step; the events of a step are in the log before anything is carried
// out, and the observer has seen them by then as well. At most one model or tool works at any time, on a goroutine of
// its own, and the next begins when that has returned.
//
// A call of conv.send costs two syncs, both between the response that calls and the next request of the caller to its
// model: the first writes the call, the end of its task and the start of the target; the second the answer, the end of
// the target's task and the continuation of the caller. Fewer would break the promise of the package. Without the first,
// what the target does, with all its tools, would be the answer to a call that is not in the log after a crash: the
// caller's model would be asked again and call again. Without the second, the caller could act on an answer that the
// target, asked again, would not give. Each request to a model that follows, and each ordinary tool, costs one sync more
// for the same two reasons.
//
// The package must never decide what happens in a session, nor know how a model or a tool works.
package engine

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
)

// Options is what a session works with.
type Options struct {
	// Model returns the model of a conversation, by its settings for example. It is asked before each request. The error
	// may be a [*model.Error].
	Model func(ctx context.Context, c *session.Conversation) (model.Model, error)
	// Tools is what conversations may call.
	Tools Tools
	// Now is the clock, [time.Now] where it is nil.
	Now func() time.Time
	// NewID returns a UUID in lower case that it has not returned before. It names conversations.
	NewID func() string
	// Observe is called with every event of this process in the order of the log, with the state after its step, once it
	// is written and before anything is carried out. The session waits for it, so that none is lost; it must not call
	// methods of the Engine. It may be nil.
	Observe func(session.Event, session.State)
	// File replaces the file of the log, for tests and measurements. It may be nil.
	File func(log.File) log.File
	// Limits bounds what models and tools return.
	Limits Limits
}

// Limits bounds what models and tools return. Zero fields have the defaults given here.
type Limits struct {
	ResponseBytes int           // of a response, its pieces and its items alike; 8 MiB. A longer one fails the task.
	ResponseTime  time.Duration // that a response may take to its end; 1 h. One that takes longer fails the task.
	Calls         int           // of a response that are carried out; 128. The others are refused.
	RequestBytes  int           // that the calls of a response send, with the files that they name; 64 MiB. More is refused.
	// HistoryBytes is the size of a conversation that a model is asked in; 64 MiB. A longer one fails the task: no provider
	// takes as much, and each request would have all of it.
	HistoryBytes int
	OutputChars  int           // of a tool's output that are kept, the first and the last ones; 262,144
	Grace        time.Duration // in which a model or a tool returns once its context has ended; 10 s. More ends the session.
}

// Tools is what conversations may call besides their models. Its methods are called one at a time.
type Tools interface {
	// Offered returns the tools of a conversation, always in the same order.
	Offered(ctx context.Context, c *session.Conversation) []model.Tool
	// Prepare decodes and validates a call that a model made in a conversation, and reads the files that it names. What
	// cannot be prepared is refused, and a tool that there is not, too. The engine sets the id of the conversation to
	// create where there is none.
	Prepare(ctx context.Context, c *session.Conversation, call model.Item) session.Request
	// Run runs the tool of an ordinary call. Once the context has ended it returns soon, with nothing left running.
	Run(ctx context.Context, c *session.Conversation, call session.Item) (content string, success bool)
}

// ErrClosed is the error of an Engine that has been closed.
var ErrClosed = errors.New("the session has been closed")

// Engine is a session that runs. Its methods may be called from several goroutines at once.
type Engine struct {
	options Options
	log     *log.Log

	now      atomic.Pointer[moment]
	requests chan request
	close    sync.Once
	closing  chan struct{}
	done     chan struct{} // closed when nothing runs any more
	err      error         // why it ended; read after done

	// What follows belongs to the goroutine of run.
	working *work
	queued  *Turn // of the submission that the next step queues
	turns   map[session.SubmissionID]*Turn
}

// moment is the session between two steps.
type moment struct {
	state session.State
	over  chan struct{} // closed by the next step
}

// Start starts a new session, whose log is made in a directory.
func Start(dir string, in session.Start, o Options) (*Engine, error) {
	o = o.withDefaults()
	_, _, events, err := session.Step(session.State{}, o.Now(), in)
	if err != nil {
		return nil, err
	}
	written, err := log.Create(dir, events)
	if err != nil {
		return nil, err
	}
	e := newEngine(o, written)
	e.observe(events)
	go e.run(nil)
	return e, nil
}

// Resume opens the session with an id in a directory. It goes on at once with what was running when its last process
// ended. Errors are those of [log.Open].
func Resume(dir, id string, o Options) (*Engine, error) {
	written, err := log.Open(dir, id)
	if err != nil {
		return nil, err
	}
	e := newEngine(o.withDefaults(), written)
	var effects []session.Effect
	if e.State().Idle() {
		err = written.Sync()
	} else {
		effects, err = e.take(session.Recover{}) // with a sync
	}
	if err != nil {
		return nil, errors.Join(err, written.Close())
	}
	go e.run(effects)
	return e, nil
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &o.Limits
	*l = Limits{
		ResponseBytes: cmp.Or(l.ResponseBytes, 8<<20), ResponseTime: cmp.Or(l.ResponseTime, time.Hour), Calls: cmp.Or(l.Calls, 128),
		RequestBytes: cmp.Or(l.RequestBytes, 64<<20), HistoryBytes: cmp.Or(l.HistoryBytes, 64<<20),
		OutputChars: cmp.Or(l.OutputChars, 256<<10), Grace: cmp.Or(l.Grace, 10*time.Second),
	}
	return o
}

func newEngine(o Options, written *log.Log) *Engine {
	if o.File != nil {
		written.File = o.File(written.File)
	}
	e := &Engine{
		options: o, log: written,
		requests: make(chan request), closing: make(chan struct{}), done: make(chan struct{}),
		turns: map[session.SubmissionID]*Turn{},
	}
	e.now.Store(&moment{state: written.State, over: make(chan struct{})})
	return e
}

// State returns the state after the last step.
func (e *Engine) State() session.State { return e.now.Load().state }

// Torn returns what a crash had left at the end of the log, and nil where there was nothing.
func (e *Engine) Torn() *log.Torn { return e.log.Torn }

// Done returns a channel that is closed when the engine has ended, because it was closed or by an error.
func (e *Engine) Done() <-chan struct{} { return e.done }

// Err returns why the engine has ended, and nil while it has not: [ErrClosed], that something did not stop, or
// why the log could not be written.
func (e *Engine) Err() error {
	select {
	case <-e.done:
		return e.err
	default:
		return nil
	}
}

// request is what a method asks of the goroutine of run.
type request struct {
	input session.Input
	turn  *Turn // of a submission
	reply chan error
}

// Do takes an input from outside. When it returns, the events of it are in the log; what it has asked for may go on. An
// error is a [*session.Refusal], a [*session.InputError] where there is nothing to do, or that of an engine that has
// ended.
func (e *Engine) Do(ctx context.Context, in session.Input) error {
	return e.ask(ctx, request{input: in, reply: make(chan error, 1)})
}

// ask passes a request on and waits for the reply.
func (e *Engine) ask(ctx context.Context, r request) error {
	select {
	case e.requests <- r:
		return <-r.reply
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-e.done:
		return e.err
	}
}

// Submit is [Engine.Do] for a submission, whose answer the turn has.
func (e *Engine) Submit(ctx context.Context, in session.Submit) (*Turn, error) {
	in.Context, in.Input = cleanParts(in.Context), cleanParts(in.Input)
	in.Budget.Deadline = in.Budget.Deadline.UTC().Round(0)
	t := &Turn{engine: e, ended: make(chan struct{})}
	if err := e.ask(ctx, request{input: in, turn: t, reply: make(chan error, 1)}); err != nil {
		return nil, err
	}
	return t, nil
}

// Wait returns when nothing runs and nothing waits.
func (e *Engine) Wait(ctx context.Context) error { return e.Await(ctx, session.State.Idle) }

// Await returns when the session is in a state that is wanted. Of several that follow each other fast, some may not be
// looked at.
func (e *Engine) Await(ctx context.Context, wanted func(session.State) bool) error {
	for {
		now := e.now.Load()
		if wanted(now.state) {
			return nil
		}
		select {
		case <-now.over:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-e.done:
			if wanted(e.State()) {
				return nil
			}
			return e.err
		}
	}
}

// Close ends the engine. What runs is stopped, and is not recorded as interrupted: [Resume] goes on with it. Close returns
// when nothing runs any more and the log is closed. An error is that of the log, or that something did not stop.
func (e *Engine) Close() error {
	e.close.Do(func() { close(e.closing) })
	<-e.done
	if errors.Is(e.err, ErrClosed) {
		return nil
	}
	return e.err
}
