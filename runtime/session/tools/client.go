package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
)

// client is a program outside with its session.
type client struct {
	project *Project
	new     New
	began   time.Time // when this process first heard of the program

	mu      sync.Mutex
	session *Session // nil if it is not open
	users   int      // calls, and work that calls have left running
}

func newClient(p *Project, id string, where contract.Context) *client {
	title := text.Line(text.Cut(where.Caller.Client, 100))
	settings := Settings{Outside: true, Recorded: where.ConversationID}
	began := p.host.Now().Truncate(time.Millisecond) // as precise as the times in logs
	return &client{project: p, new: New{Settings: settings, ID: id, Title: title}, began: began}
}

// sessionID returns the id of the session of a program in a workspace. It is always the same.
func sessionID(root string, where contract.Context) string {
	key := "program " + where.Caller.Client
	if where.ConversationID != "" {
		key = "conversation " + where.ConversationID
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("convtools session of "+key+" in "+root)).String()
}

// use opens the session, or counts another use, until [client.done]. If another process has the session open, use waits
// until waiting ends; then the error is a [*log.BusyError].
func (c *client) use(ctx, waiting context.Context) (*Session, error) {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		s, err := c.tryUse(ctx)
		if busy := (*log.BusyError)(nil); !errors.As(err, &busy) && !errors.Is(err, fs.ErrExist) {
			return s, err
		}
		select {
		case <-again.C:
		case <-waiting.Done():
			return nil, err
		}
	}
}

func (c *client) tryUse(ctx context.Context) (s *Session, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil || c.session.Err() != nil {
		s, err = c.project.Resume(c.new.ID, nil)
		if errors.Is(err, fs.ErrNotExist) {
			s, err = c.project.Begin(ctx, c.new, nil)
		}
		if err != nil {
			return nil, err
		}
		c.session, c.users = s, 0
	}
	c.users++
	return c.session, nil
}

// done ends a use, once its work is finished. The last one closes the session.
func (c *client) done(s *Session) {
	if s.Err() == nil && !s.State().Idle() {
		go func() {
			_ = s.Wait(context.Background()) // an error ends the session
			c.done(s)
		}()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != s {
		return
	}
	if c.users--; c.users == 0 {
		c.end()
	}
}

// end closes the session. c.mu is held.
func (c *client) end() {
	if err := c.session.Close(); err != nil {
		c.project.host.WarnOnce(fmt.Sprintf("session %s: %v", c.new.ID, err))
	}
	c.session = nil
}

// close stops the work in the session. It continues when the session is used again.
func (c *client) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil {
		c.end()
	}
}

const (
	// standardWait is how long a call without wait_ms waits if the process goes on after it. Clients wait a minute.
	standardWait = 50 * time.Second
	// stopTime is how long a canceled call waits for its work to stop.
	stopTime = 10 * time.Second
)

// errWaiting is the cause of a context that ends because a call has waited long enough.
var errWaiting = errors.New("not done in the time to wait")

// answer answers a call of the program. The error may be a [*session.Refusal].
func (c *client) answer(ctx context.Context, call contract.Call) (string, error) {
	d := c.project.decode(c.project.Settings, call.Tool, call.Arguments)
	if d.request.Refused != nil {
		return "", d.request.Refused
	}
	wait := standardWait
	switch {
	case d.wait != nil:
		wait = time.Duration(*d.wait) * time.Millisecond
	case call.Context.Ends: // nothing can go on after the answer
		wait = math.MaxInt64
	}
	waiting, cancel := context.WithTimeoutCause(ctx, wait, errWaiting)
	defer cancel()
	item := session.Item{Item: model.Item{Name: d.tool, Wire: d.tool, Arguments: string(call.Arguments)}, Request: d.request}
	if d.tool == session.ConvList || d.tool == session.ConvHistory {
		return c.read(ctx, item)
	}
	s, err := c.use(ctx, waiting)
	if err != nil {
		return "", err
	}
	defer c.done(s)
	switch {
	case d.request.Destroy != nil:
		return destroy(ctx, s, d.request.Destroy.ConversationID)
	case d.task != nil:
		return output(waiting, s, *d.task)
	}
	return c.submit(ctx, waiting, s, item)
}

// read answers conv.list and conv.history, even while another process has the session open.
func (c *client) read(ctx context.Context, call session.Item) (string, error) {
	var state session.State
	s, err := c.tryUse(ctx)
	if err == nil {
		defer c.done(s)
		state = s.State()
	} else if busy := (*log.BusyError)(nil); errors.As(err, &busy) || errors.Is(err, fs.ErrExist) {
		state, _, err = log.Load(c.project.Logs, c.new.ID)
	}
	if err != nil {
		return "", err
	}
	return answerOf(state.Answer(state.Root().ID, call))
}

// destroy answers conv.destroy. A conversation that runs is interrupted.
func destroy(ctx context.Context, s *Session, id string) (string, error) {
	err := s.Do(ctx, session.Remove{Conversation: id})
	if err != nil && session.CodeOf(err) != session.CodeLate { // late: it is being destroyed
		return "", err
	}
	err = s.Await(ctx, func(state session.State) bool { return state.Conversation(strings.ToLower(id)).Destroyed })
	return `{"ok":true}`, err
}

// submit answers conv.create and conv.send. It waits until waiting ends. If ctx ends, it interrupts the work.
func (c *client) submit(ctx, waiting context.Context, s *Session, call session.Item) (string, error) {
	call.CallID = uuid.NewString()
	if create := call.Request.Create; create != nil {
		create.ConversationID = call.CallID
		if err := c.makeRoom(ctx, s); err != nil {
			return "", err
		}
	}
	turn, err := s.Submit(ctx, session.Submit{Conversation: c.new.ID, Call: &call})
	if err != nil {
		return "", err
	}
	answer, err := output(waiting, s, call.CallID)
	if err != nil && ctx.Err() != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if s.Do(stopping, session.Interrupt{Chain: true, Submission: turn.ID}) == nil {
			_, _ = turn.Wait(stopping) // slow work stops later
		}
	}
	return answer, err
}

// makeRoom destroys the conversation that has been idle longest, since before this process began, if the session is full.
func (c *client) makeRoom(ctx context.Context, s *Session) error {
	idle := s.State().Replaceable()
	if idle == nil || !idle.LastActive.Before(c.began) {
		return nil
	}
	err := s.Do(ctx, session.Remove{Conversation: idle.ID})
	if refusal := (*session.Refusal)(nil); errors.As(err, &refusal) { // another call was faster
		return nil
	}
	since := idle.LastActive.Format(time.RFC3339)
	c.project.host.WarnOnce(fmt.Sprintf("conversation %s, idle since %s, has been destroyed to make room for a new one (max_conversations)", idle.ID, since))
	return err
}

// output waits for the output of a call. If waiting ends with errWaiting, the answer is that the call is running.
func output(waiting context.Context, s *Session, id string) (string, error) {
	var target string
	var output *session.Item
	err := s.Await(waiting, func(state session.State) bool {
		target, output = outcomeOf(state, id)
		return target == ""
	})
	switch {
	case errors.Is(err, errWaiting):
		data, err := json.Marshal(conv.SendResult{ConversationID: target, Status: "running", TaskID: &id})
		return string(data), err
	case err != nil:
		return "", err
	case output == nil:
		return "", &session.Refusal{Code: session.CodeNotFound, Field: "task_id", Reason: "there is no such task in this session"}
	}
	return answerOf(output.Output, !output.Failed)
}

// outcomeOf returns the conversation that runs for a call of the root, or else the output, which is nil if there is none.
func outcomeOf(s session.State, id string) (target string, output *session.Item) {
	for _, queued := range s.Queue() {
		if queued.Call != nil && queued.Call.CallID == id {
			return queued.Call.Target(), nil
		}
	}
	for entry := range s.Root().Latest() {
		switch {
		case entry.CallID != id:
		case entry.Kind == session.ToolOutput:
			return "", &entry.Item
		default:
			return entry.Target(), nil
		}
	}
	return "", nil
}

// answerOf returns the output of a call as an answer, or as an error if the call failed.
func answerOf(content string, success bool) (string, error) {
	if !success {
		return "", contract.Fixable(content)
	}
	return content, nil
}
