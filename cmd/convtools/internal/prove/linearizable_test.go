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

// operation is what one client does: people and programs outside, or a model that answers. One field is set.
type operation struct {
	input    session.Input // [session.Submit], [session.Remove] or [session.Interrupt]
	request  *session.Item // a call of conv.list or conv.history, as the root sees it
	answer   []session.Item
	answerer string // the conversation whose model answers
}

// outcome is what a client is told: a content, or why it is refused.
type outcome struct{ content, refused string }

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func id(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

// refusedFor names an error that a session gives its host.
func refusedFor(err error) string {
	if err == nil {
		return ""
	}
	return cmp.Or(string(session.CodeOf(err)), err.Error())
}

func contentOf(s session.State, r *session.Item) outcome {
	content, ok := s.Answer(id(0), *r)
	if !ok {
		return outcome{refused: content}
	}
	return outcome{content: content}
}

var usage = session.Usage{InputTokens: 3, OutputTokens: 1}

// sequential is a session in which one thing happens after the other, as the reducer has it. A task that has been asked to
// stop does so at any time, which is nobody's operation.
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
				if next, ok := op.follows(s, got); ok {
					after = append(after, next)
				}
			}
			return after
		},
		Equal: func(a, b any) bool { return reflect.DeepEqual(a, b) },
	}
	return m.ToModel()
}

// follows returns the state behind an operation with an outcome, and false where a session in a state has another one.
func (op operation) follows(s session.State, got outcome) (session.State, bool) {
	in := op.input
	if op.request != nil {
		return s, contentOf(s, op.request) == got
	}
	if in == nil {
		work := s.Work()
		if work == nil || work.Conversation.ID != op.answerer {
			return s, false
		}
		in = session.Response{Task: work.Task, Items: op.answer, Usage: usage}
	}
	next, _, err := session.Step(s, now, in)
	return next, refusedFor(err) == got.refused
}

// party is a session with several clients at the same time, and what they do.
type party struct {
	engine *engine.Engine
	asked  chan asked
	noted  chan int64 // when a response was recorded
	clock  atomic.Int64
	made   atomic.Int64

	mu      sync.Mutex
	history []porcupine.Operation
}

// asked is a model that has been asked.
type asked struct {
	conversation string
	answer       chan model.Response
	gone         chan struct{} // is closed where nobody wants the answer any more
}

// Sample implements [model.Model].
func (p *party) Sample(ctx context.Context, r model.Request, _ func(string)) (model.Response, error) {
	a := asked{r.CacheKey, make(chan model.Response), make(chan struct{})}
	defer close(a.gone)
	select {
	case p.asked <- a:
	case <-ctx.Done():
		return model.Response{}, ctx.Err()
	}
	select {
	case response := <-a.answer:
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

// request is what a call asks for: the argument is the conversation that it creates or sends to.
func request(call model.Item) session.Request {
	text := "go"
	if call.Name == session.ConvCreate {
		return session.Request{Create: &session.Create{ConversationID: call.Arguments, UserInstruction: &text}}
	}
	return session.Request{Send: &session.Send{ConversationID: call.Arguments, Text: &text}}
}

type unsynced struct{ log.File }

func (unsynced) Sync() error { return nil }

// newParty starts a session in which the root has created two conversations.
func newParty(t *testing.T) *party {
	t.Helper()
	p := &party{asked: make(chan asked), noted: make(chan int64, 1)}
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
				p.noted <- p.clock.Add(1)
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
		a := <-p.asked
		a.answer <- model.Response{Items: answer, Usage: model.Usage{InputTokens: usage.InputTokens, OutputTokens: usage.OutputTokens}}
		<-p.noted
	}
	if _, err := turn.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.made.Store(2)
	return p
}

func say() model.Item { return model.Text(model.AgentMessage, "yes") }

func create(n int) model.Item {
	return model.Item{Kind: model.ToolCall, CallID: "create " + id(n), Name: "conv.create", Wire: "conv_create", Arguments: id(n)}
}

func send(n int) model.Item {
	return model.Item{Kind: model.ToolCall, CallID: "send " + id(n), Name: "conv.send", Wire: "conv_send", Arguments: id(n)}
}

func (p *party) note(client int, op operation, called int64, got outcome, returned int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.history = append(p.history, porcupine.Operation{ClientId: client, Input: op, Call: called, Output: got, Return: returned})
}

// do has a client do something.
func (p *party) do(ctx context.Context, client int, op operation) {
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
		got.refused = refusedFor(err)
	}
	p.note(client, op, called, got, p.clock.Add(1))
}

// models answers what models are asked, until done.
func (p *party) models(client int, done <-chan struct{}, r *rand.Rand) {
	for {
		var a asked
		select {
		case a = <-p.asked:
		case <-done:
			return
		}
		items := []model.Item{say()}
		switch r.IntN(6) {
		case 0:
			items = []model.Item{create(int(p.made.Add(1)))}
		case 1:
			items = []model.Item{say(), send(r.IntN(4)), send(r.IntN(4))}
			items[2].CallID += " again"
		}
		op := operation{answerer: a.conversation}
		for _, item := range items {
			answered := session.Item{Item: item}
			if item.Kind == model.ToolCall {
				answered.Request = request(item)
			}
			op.answer = append(op.answer, answered)
		}
		called := p.clock.Add(1)
		select {
		case a.answer <- model.Response{Items: items, Usage: model.Usage{InputTokens: usage.InputTokens, OutputTokens: usage.OutputTokens}}:
			p.note(client, op, called, outcome{}, <-p.noted)
		case <-a.gone:
		}
	}
}

func list() *session.Item { return &session.Item{Item: model.Item{Name: session.ConvList}} }

// random returns something that somebody does.
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

// Whatever clients do at the same time, each is told what it would be told if everything happened one after the other, in
// an order that their calls allow, while models answer.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	for round := range *rounds {
		p := newParty(t)
		start := p.engine.State()
		done := make(chan struct{})
		var models, clients sync.WaitGroup
		models.Go(func() { p.models(0, done, rand.New(rand.NewPCG(uint64(round), 0))) })
		for client := range 3 {
			clients.Go(func() {
				r := rand.New(rand.NewPCG(uint64(round), uint64(client+1)))
				for range 6 {
					p.do(t.Context(), client+1, random(r))
				}
			})
		}
		clients.Wait()
		if err := p.engine.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		close(done)
		models.Wait()
		p.do(t.Context(), 1, operation{request: list()})
		if !porcupine.CheckOperations(sequential(start), p.history) {
			slices.SortFunc(p.history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
			for _, op := range p.history {
				t.Logf("%d: %d to %d: %+v: %+v", op.ClientId, op.Call, op.Return, op.Input, op.Output)
			}
			t.Fatalf("round %d: there is no order of this", round)
		}
	}
}

// The check finds what no order explains.
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
