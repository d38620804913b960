package prove

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/log"
)

var rounds = flag.Int("rounds", 20, "how many histories TestLinearizable makes")

// operation is what one client does: an input or a request of a person or a program outside, or an answer of a model.
// Either input, or request, or answer with answerer is set.
type operation struct {
	input    session.Input // [session.Submit], [session.Remove] or [session.Interrupt]
	request  *session.Item // a call of conv.list or conv.history by the root conversation
	answer   []session.Item
	answerer string // the conversation whose model answers
}

// outcome is what a client is told: the content of an answer, or why the session refuses the operation. Both are empty
// if the session accepts the operation without an answer.
type outcome struct{ content, refused string }

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// id returns the id of conversation n. Conversation 0 is the root.
func id(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

// refusal returns the code of an error of a session, the text of an error without a code, or "" for nil.
func refusal(err error) string {
	if err == nil {
		return ""
	}
	return cmp.Or(string(session.CodeOf(err)), err.Error())
}

// contentOf returns the outcome of a request in a state of a session.
func contentOf(s session.State, r *session.Item) outcome {
	content, ok := s.Answer(id(0), *r)
	if !ok {
		return outcome{refused: content}
	}
	return outcome{content: content}
}

var usage = session.Usage{InputTokens: 3, OutputTokens: 1}

// sequential returns a model of a session that does one operation after the other, as the reducer does. A task that was
// told to stop may stop between any two operations.
func sequential(start session.State) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{start} },
		Step: func(state, input, output any) []any {
			s, op, got := state.(session.State), input.(operation), output.(outcome)
			before := []session.State{s}
			if work := s.Work(); work != nil && work.Stop {
				stopped, _, err := session.Step(s, now, session.Response{Task: work.Task, Failure: session.Failure{Code: "canceled"}})
				if err == nil {
					before = append(before, stopped)
				}
			}
			var after []any
			for _, s := range before {
				if next, ok := op.apply(s, got); ok {
					after = append(after, next)
				}
			}
			return after
		},
		Equal: func(a, b any) bool { return reflect.DeepEqual(a, b) },
	}
	return m.ToModel()
}

// apply returns the state of a session after an operation in state s. It returns false if the operation has another
// outcome than got in that state.
func (op operation) apply(s session.State, got outcome) (session.State, bool) {
	in := op.input
	if op.request != nil {
		return s, contentOf(s, op.request) == got
	}
	if in == nil { // an answer
		work := s.Work()
		if work == nil || work.Conversation.ID != op.answerer {
			return s, false
		}
		in = session.Response{Task: work.Task, Items: op.answer, Usage: usage}
	}
	next, _, err := session.Step(s, now, in)
	return next, refusal(err) == got.refused
}

// party is a session with several clients at the same time, and the history of what they do. It is also the model of
// all conversations.
type party struct {
	engine    *engine.Engine
	questions chan question
	recorded  chan int64   // the time at which a response was recorded
	clock     atomic.Int64 // counts the calls and returns of operations
	created   atomic.Int64 // the number of conversations beside the root

	mu      sync.Mutex
	history []porcupine.Operation
}

// question is a request to the model of a conversation, which waits for the answer.
type question struct {
	conversation string
	answer       chan model.Response
	gone         chan struct{} // closed when nobody waits for the answer any more
}

// Sample implements [model.Model]. It passes the question to whoever receives from p.questions, and waits.
func (p *party) Sample(ctx context.Context, r model.Request, _ func(string)) (model.Response, error) {
	q := question{r.CacheKey, make(chan model.Response), make(chan struct{})}
	defer close(q.gone)
	select {
	case p.questions <- q:
	case <-ctx.Done():
		return model.Response{}, ctx.Err()
	}
	select {
	case response := <-q.answer:
		return response, nil
	case <-ctx.Done():
		return model.Response{}, ctx.Err()
	}
}

func (p *party) Offered(context.Context, *session.Conversation) []model.Tool { return nil }

func (p *party) Prepare(_ context.Context, _ *session.Conversation, call model.Item) session.Request {
	return request(call)
}

func (p *party) Run(context.Context, *session.Conversation, session.Item) (string, bool) {
	return "", false
}

// request returns the request of a call of conv.create or conv.send. The argument of the call is the id of the
// conversation that it creates or sends to.
func request(call model.Item) session.Request {
	text := "go"
	if call.Name == session.ConvCreate {
		return session.Request{Create: &session.Create{ConversationID: call.Arguments, UserInstruction: &text}}
	}
	return session.Request{Send: &session.Send{ConversationID: call.Arguments, Text: &text}}
}

// unsynced is the file of a log that does not wait until the disk has what is written.
type unsynced struct{ log.File }

func (unsynced) Sync() error { return nil }

// newParty starts a session in which the root has created two conversations.
func newParty(t *testing.T) *party {
	t.Helper()
	p := &party{questions: make(chan question), recorded: make(chan int64, 1)}
	var err error
	p.engine, err = engine.Start(t.TempDir(), session.Start{
		Session: "s", Root: id(0), Config: session.Config{MaxConversations: 5},
		Context: session.Context{Capabilities: session.Capabilities{Internal: session.InternalTools{session.ConvTools: true}}},
	}, engine.Options{
		Model: func(context.Context, *session.Conversation) (model.Model, error) { return p, nil },
		Tools: p,
		Now:   func() time.Time { return now },
		File:  func(f log.File) log.File { return unsynced{f} },
		Observe: func(e session.Event, _ session.State) {
			if e.Kind == session.TokenCount {
				p.recorded <- p.clock.Add(1)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.engine.Close(); err != nil {
			t.Error(err)
		}
	})
	turn, err := p.engine.Submit(t.Context(), session.Submit{Conversation: id(0), Input: []session.Part{{Text: "go"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range [][]model.Item{{create(1), create(2)}, {say()}, {say()}, {say()}} {
		q := <-p.questions
		q.answer <- model.Response{Items: answer, Usage: model.Usage{InputTokens: usage.InputTokens, OutputTokens: usage.OutputTokens}}
		<-p.recorded
	}
	if _, err := turn.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.created.Store(2)
	return p
}

func say() model.Item { return model.Text(model.AgentMessage, "yes") }

func create(n int) model.Item {
	return model.Item{Kind: model.ToolCall, CallID: "create " + id(n), Name: "conv.create", Wire: "conv_create", Arguments: id(n)}
}

func send(n int) model.Item {
	return model.Item{Kind: model.ToolCall, CallID: "send " + id(n), Name: "conv.send", Wire: "conv_send", Arguments: id(n)}
}

// record adds an operation to the history, with its outcome and the times of its call and its return.
func (p *party) record(client int, op operation, called int64, got outcome, returned int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.history = append(p.history, porcupine.Operation{ClientId: client, Input: op, Call: called, Output: got, Return: returned})
}

// perform has a client perform an operation that is no answer, and records it.
func (p *party) perform(ctx context.Context, client int, op operation) {
	called := p.clock.Add(1)
	var got outcome
	var err error
	switch in := op.input.(type) {
	case session.Submit:
		_, err = p.engine.Submit(ctx, in)
	case session.Remove, session.Interrupt:
		err = p.engine.Do(ctx, in)
	default:
		got = contentOf(p.engine.State(), op.request)
	}
	if op.input != nil {
		got.refused = refusal(err)
	}
	p.record(client, op, called, got, p.clock.Add(1))
}

// answerModels answers questions to models with random texts and calls until done is closed, and records the answers.
func (p *party) answerModels(client int, done <-chan struct{}, r *rand.Rand) {
	for {
		var q question
		select {
		case q = <-p.questions:
		case <-done:
			return
		}
		items := []model.Item{say()}
		switch r.IntN(6) {
		case 0:
			items = []model.Item{create(int(p.created.Add(1)))}
		case 1:
			items = []model.Item{say(), send(r.IntN(4)), send(r.IntN(4))}
			items[2].CallID += " again" // both may be to one conversation
		}
		op := operation{answerer: q.conversation}
		for _, item := range items {
			sessionItem := session.Item{Item: item}
			if item.Kind == model.ToolCall {
				sessionItem.Request = request(item)
			}
			op.answer = append(op.answer, sessionItem)
		}
		called := p.clock.Add(1)
		select {
		case q.answer <- model.Response{Items: items, Usage: model.Usage{InputTokens: usage.InputTokens, OutputTokens: usage.OutputTokens}}:
			p.record(client, op, called, outcome{}, <-p.recorded)
		case <-q.gone:
		}
	}
}

func list() *session.Item { return &session.Item{Item: model.Item{Name: session.ConvList}} }

// random returns a random operation that is no answer.
func random(r *rand.Rand) operation {
	conversation := id(r.IntN(4))
	switch r.IntN(8) {
	case 0, 1, 2:
		return operation{input: session.Submit{Conversation: conversation, Input: []session.Part{{Text: "hello"}}}}
	case 3:
		return operation{input: session.Remove{Conversation: conversation}}
	case 4:
		return operation{input: session.Interrupt{Chain: r.IntN(2) == 0}}
	case 5:
		return operation{request: &session.Item{Item: model.Item{Name: session.ConvHistory}, Request: session.Request{History: &session.History{ConversationID: conversation}}}}
	}
	return operation{request: list()}
}

// Clients perform operations at the same time, while models answer. There is an order of all these operations in which
// each would have the same outcome if they happened one after the other. An operation that returned before another was
// called is before that one.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	for round := range *rounds {
		p := newParty(t)
		start := p.engine.State()
		done := make(chan struct{})
		var models, clients sync.WaitGroup
		models.Go(func() { p.answerModels(0, done, rand.New(rand.NewPCG(uint64(round), 0))) })
		for client := range 3 {
			clients.Go(func() {
				r := rand.New(rand.NewPCG(uint64(round), uint64(client+1)))
				for range 6 {
					p.perform(t.Context(), client+1, random(r))
				}
			})
		}
		clients.Wait()
		if err := p.engine.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		close(done)
		models.Wait()
		p.perform(t.Context(), 1, operation{request: list()})
		if !porcupine.CheckOperations(sequential(start), p.history) {
			slices.SortFunc(p.history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
			for _, op := range p.history {
				t.Logf("%d: %d to %d: %+v: %+v", op.ClientId, op.Call, op.Return, op.Input, op.Output)
			}
			t.Fatalf("round %d: there is no order of this", round)
		}
	}
}

// The check of TestLinearizable fails for a history that no order explains.
func TestNotLinearizable(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	start := p.engine.State()
	remove := operation{input: session.Remove{Conversation: id(1)}}
	submit := operation{input: session.Submit{Conversation: id(1), Input: []session.Part{{Text: "hello"}}}}
	listed := operation{request: list()}
	removed, _, err := session.Step(start, now, remove.input)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		history []porcupine.Operation
		want    bool
	}{
		"refused behind it":         {[]porcupine.Operation{{Input: remove, Call: 1, Output: outcome{}, Return: 2}, {Input: submit, Call: 3, Output: outcome{refused: "destroyed"}, Return: 4}}, true},
		"let in behind it":          {[]porcupine.Operation{{Input: remove, Call: 1, Output: outcome{}, Return: 2}, {Input: submit, Call: 3, Output: outcome{}, Return: 4}}, false},
		"let in at the same time":   {[]porcupine.Operation{{Input: remove, Call: 1, Output: outcome{}, Return: math.MaxInt64}, {Input: submit, Call: 3, Output: outcome{}, Return: 4}}, true},
		"destroyed twice":           {[]porcupine.Operation{{Input: remove, Call: 1, Output: outcome{}, Return: 4}, {Input: remove, Call: 1, Output: outcome{}, Return: 4}}, false},
		"seen at the same time":     {[]porcupine.Operation{{Input: remove, Call: 1, Output: outcome{}, Return: 9}, {Input: listed, Call: 2, Output: contentOf(removed, list()), Return: 3}}, true},
		"gone, and seen behind it":  {[]porcupine.Operation{{Input: remove, Call: 1, Output: outcome{}, Return: 2}, {Input: listed, Call: 3, Output: contentOf(start, list()), Return: 4}}, false},
		"seen as it was before it":  {[]porcupine.Operation{{Input: listed, Call: 1, Output: contentOf(start, list()), Return: 2}, {Input: remove, Call: 3, Output: outcome{}, Return: 4}}, true},
		"gone before it was called": {[]porcupine.Operation{{Input: listed, Call: 1, Output: contentOf(removed, list()), Return: 2}, {Input: remove, Call: 3, Output: outcome{}, Return: 4}}, false},
	} {
		if got := porcupine.CheckOperations(sequential(start), tc.history); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
