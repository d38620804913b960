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

// client is a program outside of sessions, with the session that it has in a project.
type client struct {
	project   *Project
	new       New       // describes the session if it has to be started
	firstSeen time.Time // when this process got the first call of the client

	mu      sync.Mutex
	session *Session // nil if it is not open
	users   int      // calls, and work that calls have left running
}

func newClient(p *Project, id string, where contract.Context) *client {
	title := text.Line(text.Cut(where.Caller.Client, 100))
	settings := Settings{Outside: true, Recorded: where.ConversationID}
	firstSeen := p.host.Now().Truncate(time.Millisecond) // as precise as the times in logs
	return &client{project: p, new: New{Settings: settings, ID: id, Title: title}, firstSeen: firstSeen}
}

// sessionID returns the id of the session of a program in a workspace. It is always the same.
func sessionID(root string, where contract.Context) string {
	key := "program " + where.Caller.Client
	if where.ConversationID != "" {
		key = "conversation " + where.ConversationID
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("convtools session of "+key+" in "+root)).String()
}

// acquire returns the session, and keeps it open until [client.release]. While another process has the session open,
// acquire tries again until waiting ends, and then returns the last error.
func (c *client) acquire(ctx, waiting context.Context) (*Session, error) {
	for {
		s, err := c.tryAcquire(ctx)
		if !isInUse(err) {
			return s, err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-waiting.Done():
			return nil, err
		}
	}
}

// isInUse reports whether an error of tryAcquire says that another process has the session open, or has just started it.
func isInUse(err error) bool {
	_, isBusy := errors.AsType[*log.BusyError](err)
	return isBusy || errors.Is(err, fs.ErrExist)
}

// tryAcquire counts a use of the session. It opens the session if it is not open, and starts it if it has no log.
func (c *client) tryAcquire(ctx context.Context) (*Session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil || c.session.Err() != nil {
		s, err := c.project.Resume(c.new.ID, nil)
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

// release ends a use of the session once no work runs in it. The last use closes the session.
func (c *client) release(s *Session) {
	if s.Err() == nil && !s.State().Idle() {
		go func() {
			_ = s.Wait(context.Background()) // an error ends the session
			c.release(s)
		}()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != s { // s is closed already, or has failed and was replaced
		return
	}
	if c.users--; c.users == 0 {
		c.closeSession()
	}
}

// closeSession closes the session, and warns of an error. c.mu is held.
func (c *client) closeSession() {
	if err := c.session.Close(); err != nil {
		c.project.host.WarnOnce(fmt.Sprintf("session %s: %v", c.new.ID, err))
	}
	c.session = nil
}

// close closes the session and stops its work. The work continues when the session is opened again.
func (c *client) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil {
		c.closeSession()
	}
}

const (
	standardWait = 50 * time.Second // of a call without wait_ms if the process goes on after the call; clients wait a minute
	stopTime     = 10 * time.Second // for which a canceled call waits for its work to stop
)

// errWaiting is the cause of a context that ends because a call has waited long enough.
var errWaiting = errors.New("not done in the time to wait")

// answer answers a call of the program. A [*session.Refusal] or a [*contract.Error] is for the model.
func (c *client) answer(ctx context.Context, call contract.Call) (string, error) {
	d := c.project.decodeCall(c.project.Settings, call.Tool, call.Arguments)
	if d.request.Refused != nil {
		return "", d.request.Refused
	}
	wait := standardWait
	switch {
	case d.wait != nil:
		wait = time.Duration(*d.wait) * time.Millisecond
	case call.Context.Ends: // the process ends with the answer, and so does its work
		wait = math.MaxInt64
	}
	waiting, cancel := context.WithTimeoutCause(ctx, wait, errWaiting)
	defer cancel()
	item := session.Item{Item: model.Item{Name: d.tool, Wire: d.tool, Arguments: string(call.Arguments)}, Request: d.request}
	if d.tool == session.ConvList || d.tool == session.ConvHistory {
		return c.answerFromState(ctx, item)
	}
	s, err := c.acquire(ctx, waiting)
	if err != nil {
		return "", err
	}
	defer c.release(s)
	switch {
	case d.request.Destroy != nil:
		return destroy(ctx, s, d.request.Destroy.ConversationID)
	case d.task != nil:
		return awaitOutput(waiting, s, *d.task)
	}
	return c.submit(ctx, waiting, s, item)
}

// answerFromState answers conv.list and conv.history. If another process has the session open, it reads the log.
func (c *client) answerFromState(ctx context.Context, call session.Item) (string, error) {
	var state session.State
	s, err := c.tryAcquire(ctx)
	if err == nil {
		defer c.release(s)
		state = s.State()
	} else if isInUse(err) {
		state, _, err = log.Load(c.project.Logs, c.new.ID)
	}
	if err != nil {
		return "", err
	}
	return answerOf(state.Answer(state.Root().ID, call))
}

// destroy answers conv.destroy once the conversation is destroyed. A conversation that runs is interrupted.
func destroy(ctx context.Context, s *Session, id string) (string, error) {
	err := s.Do(ctx, session.Remove{Conversation: id})
	if err != nil && session.CodeOf(err) != session.CodeLate { // late: it runs, and is being destroyed already
		return "", err
	}
	err = s.Await(ctx, func(state session.State) bool { return state.Conversation(strings.ToLower(id)).Destroyed })
	return `{"ok":true}`, err
}

// submit answers conv.create and conv.send. If waiting ends, because the call has waited long enough, the answer is
// that the work is running. If ctx ends, because the call is canceled, submit stops the work.
func (c *client) submit(ctx, waiting context.Context, s *Session, call session.Item) (string, error) {
	call.CallID = uuid.NewString()
	if create := call.Request.Create; create != nil {
		create.ConversationID = call.CallID // one id serves the call and the new conversation
		if err := c.makeRoom(ctx, s); err != nil {
			return "", err
		}
	}
	turn, err := s.Submit(ctx, session.Submit{Conversation: c.new.ID, Call: &call})
	if err != nil {
		return "", err
	}
	answer, err := awaitOutput(waiting, s, call.CallID)
	if err != nil && ctx.Err() != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if s.Do(stopping, session.Interrupt{Chain: true, Submission: turn.ID}) == nil { // Chain: the callers on the stack end, too
			_, _ = turn.Wait(stopping) // slow work stops later
		}
	}
	return answer, err
}

// makeRoom destroys the conversation that has been idle longest, if the session is full. It destroys nothing if that
// conversation was used since the first call of this client, which may still need the conversation.
func (c *client) makeRoom(ctx context.Context, s *Session) error {
	idle := s.State().Replaceable()
	if idle == nil || !idle.LastActive.Before(c.firstSeen) {
		return nil
	}
	err := s.Do(ctx, session.Remove{Conversation: idle.ID})
	if _, isRefused := errors.AsType[*session.Refusal](err); isRefused { // another call has used or destroyed it
		return nil
	}
	if err != nil {
		return err
	}
	since := idle.LastActive.Format(time.RFC3339)
	c.project.host.WarnOnce(fmt.Sprintf("conversation %s, idle since %s, has been destroyed to make room for a new one (max_conversations)", idle.ID, since))
	return nil
}

// awaitOutput returns the output of a call, or an answer that the call is still running if waiting ends with errWaiting.
func awaitOutput(waiting context.Context, s *Session, callID string) (string, error) {
	var target string // the conversation that has to answer; "" if the call has an output, or if there is no such call
	var output *session.Item
	err := s.Await(waiting, func(state session.State) bool {
		target, output = outcomeOf(state, callID)
		return target == ""
	})
	switch {
	case errors.Is(err, errWaiting):
		data, err := json.Marshal(conv.SendResult{ConversationID: target, Status: "running", TaskID: &callID})
		return string(data), err
	case err != nil:
		return "", err
	case output == nil:
		return "", &session.Refusal{Code: session.CodeNotFound, Field: "task_id", Reason: "there is no such task in this session"}
	}
	return answerOf(output.Output, !output.Failed)
}

// outcomeOf returns the output of a call of the root or, without one yet, the id of its target; neither for no call.
func outcomeOf(s session.State, callID string) (target string, output *session.Item) {
	for _, queued := range s.Queue() {
		if queued.Call != nil && queued.Call.CallID == callID {
			return queued.Call.Target(), nil
		}
	}
	for entry := range s.Root().Latest() { // newest first, so the output of a call comes before the call
		if entry.CallID == callID && entry.Kind == session.ToolOutput {
			return "", &entry.Item
		}
		if entry.CallID == callID {
			return entry.Target(), nil
		}
	}
	return "", nil
}

// answerOf returns the output of a call as an answer, or as an error for the model if the call failed.
func answerOf(content string, success bool) (string, error) {
	if !success {
		return "", contract.Fixable(content)
	}
	return content, nil
}
