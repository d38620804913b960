package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/convtools/convtools/runtime/session"
)

// run is the goroutine that owns the session.
func (e *Engine) run() {
	defer close(e.done)
	e.err = e.loop()
	e.close()
	if e.working.result != nil {
		e.settle()
	}
	e.fail(e.log.Close())
}

// settle waits until the work that was running has ended.
func (e *Engine) settle() {
	select {
	case in := <-e.working.result:
		// A tool that ended well after all had its effect, and must not run again.
		if done, _ := in.(session.ToolDone); done.Success && errors.Is(e.err, ErrClosed) {
			e.fail(e.take(in, nil))
		}
	case <-time.After(grace):
		e.fail(e.stuck())
	}
}

// fail makes an error the one of the engine, unless an earlier one is.
func (e *Engine) fail(err error) {
	if err != nil && errors.Is(e.err, ErrClosed) {
		e.err = err
	}
}

// loop takes inputs until the engine is closed or something fails.
func (e *Engine) loop() error {
	for {
		e.work()
		var err error
		select {
		case r := <-e.requests:
			err = e.take(r.input, r.turn)
			r.reply <- err
			if session.CodeOf(err) != "" { // the input was refused
				err = nil
			}
		case in := <-e.working.result:
			if e.closing.Err() != nil { // closing may have stopped the work, so settle takes the report
				e.working.result <- in
				return ErrClosed
			}
			e.working = working{}
			err = e.take(in, nil)
		case <-e.working.stopAsked:
			e.working.stopAsked, e.working.graceOver = nil, time.After(grace)
		case <-e.working.graceOver:
			return e.stuck()
		case <-e.closing.Done():
			return ErrClosed
		}
		if err != nil {
			return err
		}
	}
}

// take takes a step, which may be that of a new turn. The state is the next one when its events are written and observed.
func (e *Engine) take(in session.Input, submitted *Turn) error {
	state, events, err := session.Step(e.State(), e.options.Now(), in)
	if err != nil {
		return err
	}
	if err := e.log.Append(events); err != nil {
		return err
	}
	e.observe(events, state)
	e.follow(events, state, submitted)
	before := e.now.Swap(&moment{state: state, over: make(chan struct{})})
	close(before.over)
	return nil
}

func (e *Engine) observe(events []session.Event, after session.State) {
	for _, event := range events {
		if e.options.Observe != nil {
			e.options.Observe(event, after)
		}
	}
}

// follow passes the events of a step to the turns of their submissions.
func (e *Engine) follow(events []session.Event, after session.State, submitted *Turn) {
	for _, event := range events {
		if event.Kind == session.SubmissionQueued && submitted != nil {
			submitted.ID = event.Submission
			e.turns[event.Submission] = submitted
		}
		t := e.turns[event.Submission]
		if t == nil || event.Frame != 0 || !t.result.Note(event) {
			continue
		}
		if t.result.Status == session.StatusInterrupted && after.Conversation(event.Conversation).Destroyed {
			t.result.Status = session.StatusDestroyed
		}
		delete(e.turns, t.ID)
		t.ended.Store(&t.result)
	}
}

// working is a model or a tool that works. It is zero if nothing does.
type working struct {
	name      string
	cancel    context.CancelFunc
	result    chan session.Input // gets the report when nothing of the work runs any more
	stopAsked <-chan struct{}    // closed when the work is asked to stop, or its deadline has passed
	graceOver <-chan time.Time   // gets the time by which the work should have stopped
}

// work begins the work that the session waits for, or asks it to stop.
func (e *Engine) work() {
	switch w := e.State().Work(); {
	case w == nil:
	case e.working.result == nil:
		e.begin(w)
	case w.Stop:
		e.working.cancel()
	}
}

// begin begins work on a goroutine of its own.
func (e *Engine) begin(w *session.Work) {
	ctx, cancel := context.WithCancel(e.closing)
	if at := w.Left.Deadline; !at.IsZero() {
		left := at.Sub(e.options.Now()) + time.Millisecond // sessions count in milliseconds
		cancel()
		ctx, cancel = context.WithTimeout(e.closing, left)
	}
	e.working = working{name: "the model", cancel: cancel, result: make(chan session.Input, 1), stopAsked: ctx.Done()}
	do := e.sample
	if w.Call != nil {
		e.working.name, do = "the tool "+w.Call.Name, e.runTool
	}
	go func(result chan<- session.Input) {
		defer cancel()
		result <- do(ctx, w)
	}(e.working.result)
}

// stuck is the error that work did not stop. The next process that resumes the session ends the task.
func (e *Engine) stuck() error {
	return fmt.Errorf("%s did not stop within %v", e.working.name, grace)
}
