package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/log"
)

// sessionOf returns the id of the session of an outside program in a workspace, which is always the same.
func sessionOf(root string, where contract.Context) string {
	key := "program " + where.Caller.Client
	if where.ConversationID != "" {
		key = "conversation " + where.ConversationID
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("convtools session of "+key+" in "+root)).String()
}

// titleOf returns the title of the conversation of a program: the beginning of its name.
func titleOf(where contract.Context) string { return text.Line(text.Cut(where.Caller.Client, 100)) }

// client is an outside program with its session.
type client struct {
	family   *family
	sessions *Sessions
	id       string // of the session
	title    string
	from     string // the conversation that calls; empty where the host does not say

	mu      sync.Mutex
	session *Session // nil while nobody uses it
	users   int      // calls
	closed  bool
}

// busyPause is the time between two attempts to open a session that another process has.
const busyPause = 100 * time.Millisecond

// turn is like use, but waits until another process closes the session or waiting ends.
func (c *client) turn(ctx, waiting context.Context) (s *Session, done func(), err error) {
	again := time.NewTicker(busyPause)
	defer again.Stop()
	for {
		s, done, err = c.use(ctx)
		var busy *log.BusyError
		if !errors.As(err, &busy) {
			return s, done, err
		}
		select {
		case <-again.C:
		case <-waiting.Done():
			return nil, nil, err
		}
	}
}

// use opens the session where it is not open. done has to be called. Errors are those of [Sessions.Begin],
// [Sessions.Resume] and of an engine that is closed.
func (c *client) use(ctx context.Context) (s *Session, done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, engine.ErrClosed
	}
	if c.session != nil && c.session.Err() != nil {
		c.end()
	}
	if c.session == nil {
		if s, err = c.open(ctx); err != nil {
			return nil, nil, err
		}
		c.session, c.users = s, 0
	}
	s = c.session
	c.users++
	return s, func() { c.done(s) }, nil
}

// open goes on with the session, or starts it.
func (c *client) open(ctx context.Context) (*Session, error) {
	s, err := c.sessions.Resume(c.id, nil)
	if errors.Is(err, fs.ErrNotExist) {
		s, err = c.sessions.Begin(ctx, New{ID: c.id, Title: c.title, Settings: Settings{Outside: true, Recorded: c.from}}, nil)
		if errors.Is(err, fs.ErrExist) { // another process was faster
			s, err = c.sessions.Resume(c.id, nil)
		}
	}
	return s, err
}

// done ends one use. After the last one, the session is closed as soon as nothing runs in it.
func (c *client) done(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != s {
		return
	}
	if c.users--; c.users > 0 {
		return
	}
	if s.State().Idle() {
		c.end()
		return
	}
	go func() {
		_ = s.Wait(context.Background()) // an engine that has ended is closed as well
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.users == 0 && c.session == s {
			c.end()
		}
	}()
}

// end closes the session. c.mu is held.
func (c *client) end() {
	if c.session == nil {
		return
	}
	if err := c.session.Close(); err != nil {
		c.family.host.WarnOnce(fmt.Sprintf("session %s: %v", c.id, err))
	}
	c.session = nil
}

// close ends what runs in the session, which goes on when the session is used again.
func (c *client) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.end()
}

const (
	// standardWait is how long a call without wait_ms waits if its work can continue after the answer. Clients give up
	// after a minute.
	standardWait = 50 * time.Second
	// stopTime is how long a canceled call waits for its work to stop.
	stopTime = 10 * time.Second
)

// errWaiting is the cause of a context whose time to wait has passed.
var errWaiting = errors.New("not done in the time to wait")

// waitContext returns a context that ends when a call has waited long enough.
func waitContext(ctx context.Context, where contract.Context, milliseconds *int) (context.Context, context.CancelFunc) {
	wait := standardWait
	switch {
	case milliseconds != nil:
		wait = time.Duration(*milliseconds) * time.Millisecond
	case where.Ends:
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, wait, errWaiting)
}

// converse makes a call of conv.create or conv.send, and waits for its output: as long as waiting lasts, and
// unless the client has canceled the call, when ctx is done.
func (c *client) converse(ctx, waiting context.Context, s *Session, call session.Item) (string, error) {
	call.CallID = uuid.NewString()
	if create := call.Request.Create; create != nil {
		if err := c.makeRoom(ctx, s); err != nil {
			return "", err
		}
		create.ConversationID = call.CallID
	}
	turn, err := s.Submit(ctx, session.Submit{Conversation: c.id, Call: &call})
	if err != nil {
		return "", err
	}
	answer, err := answer(waiting, s, call.CallID)
	if ctx.Err() != nil && err != nil {
		// The client has canceled the call, or is gone: nobody waits for the answer.
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if s.Do(stopping, session.Interrupt{Chain: true, Submission: turn.ID}) == nil {
			_, _ = turn.Wait(stopping) // what takes longer stops in its own time
		}
	}
	return answer, err
}

// makeRoom destroys a conversation if the session is full: the one that has been idle longest, if it was last used before
// this process began. Conversations used since then stay, and the call is refused.
func (c *client) makeRoom(ctx context.Context, s *Session) error {
	state := s.State()
	room := state.Room()
	for _, old := range state.Idling() {
		if room > 0 || !old.LastActive.Before(c.family.began) {
			break
		}
		err := s.Do(ctx, session.Remove{Conversation: old.ID})
		var refusal *session.Refusal // another call was faster
		if err != nil && !errors.As(err, &refusal) {
			return err
		}
		room++
		c.family.host.WarnOnce(fmt.Sprintf("conversation %s, idle since %s, has been destroyed to make room for a new one (max_conversations)", old.ID, old.LastActive.Format(time.RFC3339)))
	}
	return nil
}

// answer waits for the output of a call.
func answer(waiting context.Context, s *Session, id string) (string, error) {
	var got outcome
	err := s.Await(waiting, func(state session.State) bool {
		got = outcomeOf(state, id)
		return !got.running
	})
	switch {
	case errors.Is(err, errWaiting):
		data, err := json.Marshal(conv.SendResult{ConversationID: got.target, Status: "running", TaskID: &id})
		return string(data), err
	case err != nil:
		return "", err
	case got.output == nil:
		return "", refused(&session.Refusal{Code: session.CodeNotFound, Field: "task_id", Reason: "there is no such task in this session"})
	}
	return answerOf(got.output.Output, !got.output.Failed)
}

// outcome is the state of a call of an outside program. It is zero if the session does not have the call.
type outcome struct {
	running bool
	target  string
	output  *session.Item
}

// outcomeOf looks for a call: in the queue, and in the history of the root.
func outcomeOf(s session.State, id string) outcome {
	for _, q := range s.Queue() {
		if q.Call != nil && q.Call.CallID == id {
			return outcome{true, q.Call.Target(), nil}
		}
	}
	for entry := range s.Root().Latest() {
		switch {
		case entry.CallID != id:
		case entry.Kind == session.ToolOutput:
			return outcome{output: &entry.Item}
		default:
			return outcome{true, entry.Target(), nil}
		}
	}
	return outcome{}
}

// answerOf returns the output of a call as an answer, or as an error if the call failed.
func answerOf(content string, success bool) (string, error) {
	if !success {
		return "", &contract.Error{Message: content, Caller: true}
	}
	return content, nil
}

func refused(r *session.Refusal) error {
	return &contract.Error{Message: r.Content(), Caller: true, Err: r}
}

// destroy makes a call of conv.destroy, also of a conversation that runs.
func destroy(ctx context.Context, s *Session, id string) (string, error) {
	err := s.Do(ctx, session.Remove{Conversation: id})
	var refusal *session.Refusal
	var late *session.InputError // it is being destroyed already
	switch {
	case errors.As(err, &refusal):
		return "", refused(refusal)
	case err != nil && !errors.As(err, &late):
		return "", err
	}
	err = s.Await(ctx, func(state session.State) bool { return state.Conversation(strings.ToLower(id)).Destroyed })
	return `{"ok":true}`, err
}

// read answers conv.list and conv.history, also while another process uses the session.
func (c *client) read(ctx context.Context, call session.Item) (string, error) {
	s, done, err := c.use(ctx)
	var state session.State
	var busy *log.BusyError
	switch {
	case err == nil:
		defer done()
		state = s.State()
	case errors.As(err, &busy):
		if state, _, err = log.Load(c.sessions.Dir, c.id); err != nil {
			return "", err
		}
	default:
		return "", err
	}
	return answerOf(state.Answer(state.Root().ID, call))
}
