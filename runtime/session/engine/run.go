package engine

import (
	"context"
	"errors"
	"time"

	"github.com/convtools/convtools/runtime/session"
)

// run is the goroutine that owns the session.
func (e *Engine) run(effects []session.Effect) {
	defer close(e.done)
	e.err = e.loop(effects)
	fail := func(err error) {
		if err != nil && errors.Is(e.err, ErrClosed) {
			e.err = err
		}
	}
	if w := e.working; w != nil {
		w.cancel()
		select {
		case in := <-w.result:
			// A tool that has come to its end all the same may have had its effect.
			if done, _ := in.(session.ToolDone); done.Success && errors.Is(e.err, ErrClosed) {
				_, err := e.take(in)
				fail(err)
			}
		case <-time.After(e.options.Limits.Grace):
			fail(w.stuck(e.options.Limits.Grace))
		}
	}
	fail(e.log.Close())
}

// loop takes inputs until the engine is closed or something fails.
func (e *Engine) loop(effects []session.Effect) error {
	for {
		if err := e.carryOut(effects); err != nil {
			return err
		}
		var result <-chan session.Input
		var grace, expire <-chan time.Time
		if w := e.working; w != nil {
			result, grace, expire = w.result, w.grace, e.deadline()
		}
		var err error
		select {
		case r := <-e.requests:
			effects, err = e.serve(r)
		case in := <-result:
			effects, err = e.finished(in)
		case <-grace:
			return e.working.stuck(e.options.Limits.Grace)
		case <-e.closing:
			return ErrClosed
		case <-expire:
			effects, err = e.take(session.Expire{Task: e.working.task})
			var early *session.InputError // the clock was put back
			if errors.As(err, &early) {
				err = nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// take takes a step: the state is the next one when its events are written and observed.
func (e *Engine) take(in session.Input) ([]session.Effect, error) {
	state, effects, events, err := session.Step(e.State(), e.options.Now(), in)
	if err != nil {
		return nil, err
	}
	if err := e.log.Append(events); err != nil {
		return nil, err
	}
	before := e.now.Load()
	e.now.Store(&moment{state: state, over: make(chan struct{})})
	e.observe(events)
	e.follow(events)
	close(before.over)
	return effects, nil
}

func (e *Engine) observe(events []session.Event) {
	for _, event := range events {
		if e.options.Observe != nil {
			e.options.Observe(event, e.State())
		}
	}
}

// serve answers a request from outside. What the session refuses is the caller's error; any other is the engine's.
func (e *Engine) serve(r request) ([]session.Effect, error) {
	e.queued = r.turn
	effects, err := e.take(r.input)
	e.queued = nil
	r.reply <- err
	var refusal *session.Refusal
	var late *session.InputError
	if errors.As(err, &refusal) || errors.As(err, &late) {
		return nil, nil
	}
	return effects, err
}

// carryOut begins what a step has decided. Its events are written.
func (e *Engine) carryOut(effects []session.Effect) error {
	for _, effect := range effects {
		switch effect := effect.(type) {
		case session.Sample:
			e.begin(effect.Task, "", func(ctx context.Context) session.Input { return e.sample(ctx, effect) })
		case session.RunTool:
			e.begin(effect.Task, effect.Call.Name, func(ctx context.Context) session.Input { return e.runTool(ctx, effect) })
		case session.Cancel:
			if e.working == nil {
				return errors.New("a task is to be stopped of which nothing runs")
			}
			e.working.stop(e.options.Limits.Grace)
		}
	}
	return nil
}

// finished takes what a model or a tool returned.
func (e *Engine) finished(in session.Input) ([]session.Effect, error) {
	w := e.working
	e.working = nil
	w.cancel()
	if !w.stopping() {
		return e.take(in)
	}
	if worthwhile(in) {
		if _, err := e.take(in); err != nil {
			return nil, err
		}
	}
	return e.take(session.Stopped{Task: w.task})
}

// worthwhile reports whether something is recorded that a model or a tool returned after it was asked to stop: all but
// that it has been stopped.
func worthwhile(in session.Input) bool {
	switch in := in.(type) {
	case session.Response:
		return in.Failure == session.Failure{} || in.Usage != session.Usage{}
	case session.ToolDone:
		return in.Success
	}
	return true
}

// deadline returns a channel that has the time of the deadline of what works, and nil where there is none or it has been
// asked to stop.
func (e *Engine) deadline() <-chan time.Time {
	at := e.State().Deadline()
	if at.IsZero() || e.working.stopping() {
		return nil
	}
	return time.After(at.Sub(e.options.Now()) + time.Millisecond) // the core counts in milliseconds
}
