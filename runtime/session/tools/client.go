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

	generated "github.com/convtools/convtools/generated/conv"
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

// client is an outside program with its session.
type client struct {
	family   *family
	sessions *Sessions
	id       string // of the session
	title    string
	from     string // the conversation that calls; empty where the host does not say

	mu     sync.Mutex
	opened *opened // nil while nobody uses the session
	closed bool
}

// opened is a session that is open.
type opened struct {
	*Session
	client *client
	users  int // calls; belongs to the client's mu
}

// turn is use, and waits while another process has the session, as long as waiting lasts.
func (c *client) turn(ctx, waiting context.Context) (o *opened, done func(), err error) {
	again := time.NewTicker(busyPause)
	defer again.Stop()
	for {
		o, done, err = c.use(ctx)
		var busy *log.BusyError
		if !errors.As(err, &busy) {
			return o, done, err
		}
		select {
		case <-again.C:
		case <-waiting.Done():
			return nil, nil, err
		}
	}
}

// busyPause is the time between two attempts to open a session that another process has.
const busyPause = 100 * time.Millisecond

// use opens the session where it is not open. done has to be called. Errors are those of packages sessionhost and engine.
func (c *client) use(ctx context.Context) (o *opened, done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, engine.ErrClosed
	}
	if c.opened != nil && c.opened.Err() != nil {
		c.end()
	}
	if c.opened == nil {
		if c.opened, err = c.open(ctx); err != nil {
			return nil, nil, err
		}
	}
	o = c.opened
	o.users++
	return o, func() { c.done(o) }, nil
}

// open goes on with the session, or starts it.
func (c *client) open(ctx context.Context) (*opened, error) {
	s, err := c.sessions.Resume(c.id, nil)
	if errors.Is(err, fs.ErrNotExist) {
		s, err = c.sessions.Begin(ctx, New{ID: c.id, Title: c.title, Outside: true, Recorded: c.from}, nil)
		if errors.Is(err, fs.ErrExist) { // another process was faster
			s, err = c.sessions.Resume(c.id, nil)
		}
	}
	if err != nil {
		return nil, err
	}
	return &opened{Session: s, client: c}, nil
}

// done ends one use. Behind the last one, the session is closed as soon as nothing runs in it.
func (c *client) done(o *opened) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o.users--
	switch {
	case o.users > 0 || c.opened != o:
	case o.State().Idle():
		c.end()
	default:
		go func() {
			_ = o.Wait(context.Background()) // an engine that has ended is closed as well
			c.mu.Lock()
			defer c.mu.Unlock()
			if o.users == 0 && c.opened == o {
				c.end()
			}
		}()
	}
}

// end closes the session. c.mu is held.
func (c *client) end() {
	if c.opened == nil {
		return
	}
	if err := c.opened.Close(); err != nil {
		c.family.host.WarnOnce(fmt.Sprintf("session %s: %v", c.id, err))
	}
	c.opened = nil
}

// close ends what runs in the session, which goes on when the session is used again.
func (c *client) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.end()
}

const (
	// standardWait is how long a call waits that does not say how long, where something can go on behind it. Clients
	// give up after a minute.
	standardWait = 50 * time.Second
	// stopTime is how long a call that was canceled waits for what it has stopped.
	stopTime = 10 * time.Second
)

// errWaiting is why a wait ended that was not over.
var errWaiting = errors.New("not done in the time to wait")

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

// converse makes a call of conv.create or conv.send, and waits for its output: as long as waiting lasts, and
// unless the client has canceled the call, when ctx is done.
func (o *opened) converse(ctx, waiting context.Context, call session.Item) (string, error) {
	call.CallID = o.client.sessions.NewID()
	if create := call.Request.Create; create != nil {
		if err := o.makeRoom(ctx); err != nil {
			return "", err
		}
		create.ConversationID = call.CallID
	}
	turn, err := o.Submit(ctx, session.Invoke{Conversation: o.client.id, Call: call})
	if err != nil {
		return "", err
	}
	answer, err := o.answer(waiting, call.CallID)
	if ctx.Err() != nil && err != nil {
		// The client has canceled the call, or is gone: nobody waits for the answer.
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if o.Do(stopping, session.Interrupt{Chain: true, Submission: turn.ID}) == nil {
			_, _ = turn.Wait(stopping) // what takes longer stops in its own time
		}
	}
	return answer, err
}

// makeRoom destroys conversations where the session has as many as it may have: those that programs left behind which ended
// before this one began, first the ones that have been idle longest. What this one has used counts, so that it is refused
// more of them as any caller is.
func (o *opened) makeRoom(ctx context.Context) error {
	s := o.State()
	wanted, asked := 1, map[string]bool{}
	for _, q := range s.Queue() {
		if q.Call != nil && q.Call.Request.Create != nil {
			wanted++
		} else if q.Call != nil {
			asked[targetOf(*q.Call)] = true
		}
	}
	for _, c := range s.Idling() {
		if wanted <= s.Room() || !c.LastActive.Before(o.client.family.began) {
			break
		}
		if asked[c.ID] {
			continue
		}
		err := o.Do(ctx, session.Remove{Conversation: c.ID})
		var refusal *session.Refusal // another call was faster
		if err != nil && !errors.As(err, &refusal) {
			return err
		}
		wanted--
		o.client.family.host.WarnOnce(fmt.Sprintf("conversation %s, idle since %s, has been destroyed to make room for a new one (max_conversations)", c.ID, c.LastActive.Format(time.RFC3339)))
	}
	return nil
}

// answer waits for the output of a call.
func (o *opened) answer(waiting context.Context, id string) (string, error) {
	var got outcome
	err := o.Await(waiting, func(s session.State) bool {
		got = outcomeOf(s, id)
		return !got.running
	})
	switch {
	case errors.Is(err, errWaiting):
		return running(got.target, id), nil
	case err != nil:
		return "", err
	case got.output == nil:
		return "", refused(&session.Refusal{Code: session.CodeNotFound, Field: "task_id", Reason: "there is no such task in this session"})
	}
	return told(got.output.Output, !got.output.Failed)
}

// outcome is what a session has of a call of an outside program: where nothing is set, it does not know it.
type outcome struct {
	running bool
	target  string
	output  *session.Item
}

// outcomeOf looks for a call: in the queue, and in the history of the root.
func outcomeOf(s session.State, id string) outcome {
	for _, q := range s.Queue() {
		if q.Call != nil && q.Call.CallID == id {
			return outcome{running: true, target: targetOf(*q.Call)}
		}
	}
	for entry := range s.Root().Latest() {
		switch {
		case entry.CallID != id:
		case entry.Kind == session.ToolOutput:
			return outcome{output: &entry.Item}
		default:
			return outcome{running: true, target: targetOf(entry.Item)}
		}
	}
	return outcome{}
}

// targetOf returns the conversation that a call asks.
func targetOf(call session.Item) string {
	switch {
	case call.Request.Create != nil:
		return call.Request.Create.ConversationID
	case call.Request.Send != nil:
		return strings.ToLower(call.Request.Send.ConversationID)
	}
	return ""
}

// running is the answer to a call that goes on.
func running(target, id string) string {
	data, _ := json.Marshal(generated.SendResult{ConversationID: target, Status: "running", TaskID: &id}) // of texts, which have a form
	return string(data)
}

// told is the output of a call as an answer: an error where the call has failed.
func told(content string, success bool) (string, error) {
	if !success {
		return "", &contract.Error{Message: content, Caller: true}
	}
	return content, nil
}

func refused(r *session.Refusal) error {
	return &contract.Error{Message: r.Content(), Caller: true, Err: r}
}

// destroy makes a call of conv.destroy, also of a conversation that runs.
func (o *opened) destroy(ctx context.Context, id string) (string, error) {
	err := o.Do(ctx, session.Remove{Conversation: id})
	var refusal *session.Refusal
	var late *session.InputError // it is being destroyed already
	switch {
	case errors.As(err, &refusal):
		return "", refused(refusal)
	case err != nil && !errors.As(err, &late):
		return "", err
	}
	err = o.Await(ctx, func(s session.State) bool {
		conversation := s.Conversation(strings.ToLower(id))
		return conversation == nil || conversation.Destroyed
	})
	if err != nil {
		return "", err
	}
	return `{"ok":true}`, nil
}

// read answers conv.list and conv.history, also while another process uses the session.
func (c *client) read(ctx context.Context, call session.Item) (string, error) {
	o, done, err := c.use(ctx)
	var state session.State
	var busy *log.BusyError
	switch {
	case err == nil:
		defer done()
		state = o.State()
	case errors.As(err, &busy):
		if state, _, err = log.Load(c.sessions.Dir, c.id); err != nil {
			return "", err
		}
	default:
		return "", err
	}
	return told(state.Answer(state.Root().ID, call))
}

func titleOf(where contract.Context) string {
	return text.Line(text.Cut(where.Caller.Client, maxTitle))
}

// maxTitle is how many characters of the name of a program are the title of its conversation.
const maxTitle = 100
