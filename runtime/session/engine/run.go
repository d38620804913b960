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
	if e.working != nil {
		e.working.cancel()
		if err := e.drain(); err != nil && errors.Is(e.err, ErrClosed) {
			e.err = err
		}
	}
	if err := e.log.Close(); err != nil && errors.Is(e.err, ErrClosed) {
		e.err = err
	}
}

// drain waits for what works to return. What has come to its end in spite of that is recorded, unless something else
// than closing has ended the engine.
func (e *Engine) drain() error {
	grace := time.NewTimer(e.options.Limits.Grace)
	defer grace.Stop()
	select {
	case in := <-e.working.result:
		_, responded := in.(session.Response)
		done, _ := in.(session.ToolDone)
		if !errors.Is(e.err, ErrClosed) || !responded && !done.Success {
			return nil
		}
		_, err := e.take(in)
		return err
	case <-grace.C:
		return e.working.stuck(e.options.Limits.Grace)
	}
}

// loop takes inputs until the engine is closed or something fails.
func (e *Engine) loop(effects []session.Effect) error {
	deadline := time.NewTimer(time.Hour)
	defer deadline.Stop()
	for {
		if err := e.carryOut(effects); err != nil {
			return err
		}
		effects = nil
		var result <-chan session.Input
		var grace, expire <-chan time.Time
		if w := e.working; w != nil {
			result, grace = w.result, w.grace
			expire = e.until(deadline)
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
			effects, err = e.expire()
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
	case session.SampleFailed:
		return in.Usage != session.Usage{}
	case session.ToolDone:
		return in.Success
	}
	return true
}

// until returns a channel that has the time of the deadline of what works, and nil where there is none or it has been
// asked to stop.
func (e *Engine) until(timer *time.Timer) <-chan time.Time {
	at := e.State().Deadline()
	if at.IsZero() || e.working.stopping() {
		return nil
	}
	// The core counts in milliseconds.
	timer.Reset(at.Sub(e.options.Now()) + time.Millisecond)
	return timer.C
}

func (e *Engine) expire() ([]session.Effect, error) {
	effects, err := e.take(session.Expire{Task: e.working.task})
	var early *session.InputError
	if errors.As(err, &early) {
		return nil, nil // the clock was put back
	}
	return effects, err
}
