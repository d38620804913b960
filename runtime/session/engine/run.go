package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/convtools/convtools/runtime/session"
)

// run is the goroutine that owns the session: it runs the loop, waits for the work that still runs, and closes the log.
func (e *Engine) run() {
	defer close(e.done)
	e.err = e.loop()
	e.close()
	if e.working.result != nil {
		e.awaitWork()
	}
	e.setErr(e.log.Close())
}

// awaitWork waits until the work that was running has ended, at most as long as grace. It records the output of a tool
// that has succeeded, and drops any other report: [Resume] continues as after a crash.
func (e *Engine) awaitWork() {
	select {
	case in := <-e.working.result:
		// A tool that has succeeded had its effect: without the output, the model could call it again.
		if done, _ := in.(session.ToolDone); done.Success && errors.Is(e.err, ErrClosed) {
			e.setErr(e.step(in, nil))
		}
	case <-time.After(grace):
		e.setErr(e.stuckError())
	}
}

// setErr replaces [ErrClosed] as the error of the engine by err, if that is not nil. Any other error stays.
func (e *Engine) setErr(err error) {
	if err != nil && errors.Is(e.err, ErrClosed) {
		e.err = err
	}
}

// loop applies inputs and the reports of work until the engine is closed or a step fails. It returns why.
func (e *Engine) loop() error {
	for {
		e.startOrStopWork()
		var err error
		select {
		case r := <-e.requests:
			err = e.step(r.input, r.turn)
			r.reply <- err
			if session.CodeOf(err) != "" { // the input was refused: the session goes on
				err = nil
			}
		case in := <-e.working.result:
			if e.closing.Err() != nil { // in may be the failure of work that closing has stopped
				e.working.result <- in // back for awaitWork, which run calls after loop; the channel has room for one report
				return ErrClosed
			}
			e.working = working{}
			err = e.step(in, nil)
		case <-e.working.stopAsked:
			e.working.stopAsked, e.working.graceOver = nil, time.After(grace)
		case <-e.working.graceOver:
			return e.stuckError()
		case <-e.closing.Done():
			return ErrClosed
		}
		if err != nil {
			return err
		}
	}
}

// step applies an input, which may submit a new turn. It writes the events, passes them to the observer and to turns, and
// then sets the new state. The error is a refusal, or that of the log.
func (e *Engine) step(in session.Input, submitted *Turn) error {
	state, events, err := session.Step(e.State(), e.options.Now(), in)
	if err != nil {
		return err
	}
	if err := e.log.Append(events); err != nil {
		return err
	}
	e.observe(events, state)
	e.updateTurns(events, state, submitted)
	before := e.current.Swap(&moment{state: state, over: make(chan struct{})})
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

// updateTurns applies the events of a step to the turns of submissions. A turn that gets its last event leaves e.turns,
// and keeps the state before the step as t.last. submitted is the turn of a submission that the step queues, or nil.
func (e *Engine) updateTurns(events []session.Event, after session.State, submitted *Turn) {
	for _, event := range events {
		if event.Kind == session.SubmissionQueued && submitted != nil {
			submitted.ID = event.Submission
			e.turns[event.Submission] = submitted
		}
		t := e.turns[event.Submission]
		if t == nil || event.Frame != 0 { // an event with a Frame is of a turn that a call has started
			continue
		}
		if ended := t.result.Apply(event); ended {
			if t.result.Status == session.StatusInterrupted && after.Conversation(event.Conversation).Destroyed {
				t.result.Status = session.StatusDestroyed
			}
			delete(e.turns, t.ID)
			t.last.Store(e.current.Load()) // step replaces e.current after this; Turn.Wait waits for that
		}
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

// startOrStopWork starts the work that the session waits for. If the work runs already and has to stop, it is canceled.
func (e *Engine) startOrStopWork() {
	switch w := e.State().Work(); {
	case w == nil: // the session waits for inputs
	case e.working.result == nil:
		e.startWork(w)
	case w.Stop:
		e.working.cancel()
	}
}

// startWork starts work on a goroutine of its own, until the engine is closed or the deadline of the budget has passed.
func (e *Engine) startWork(w *session.Work) {
	ctx, cancel := context.WithCancel(e.closing)
	if deadline := w.Left.Deadline; !deadline.IsZero() {
		left := deadline.Sub(e.options.Now()) + time.Millisecond // sessions round the time down to milliseconds
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

// stuckError returns the error that work did not stop. The next process that resumes the session ends the task.
func (e *Engine) stuckError() error {
	return fmt.Errorf("%s did not stop within %v", e.working.name, grace)
}
