package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/log"
)

// A program is what a conversation does with one input, which is the program in JSON: the nth element is its nth
// response. What a model answers depends on the history alone, as if it were asked for the first time.
type program []response

// response is a message, calls, or a failure.
type response struct {
	Say   string `json:"say,omitempty"` // OUTPUTS stands for what the calls since the input returned
	Calls []act  `json:"calls,omitempty"`
	Fail  bool   `json:"fail,omitempty"`
}

// act is one call: of a tool, or of conv.create or conv.send with a program. Send goes to the conversation that the first
// output of the history names.
type act struct {
	Tool   string  `json:"tool,omitempty"`
	Create program `json:"create,omitempty"`
	Send   program `json:"send,omitempty"`
}

func (p program) text() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (p program) submit(to string) session.Submit {
	return session.Submit{Conversation: to, Input: []session.Part{{Text: p.text()}}}
}

func say(text string) response  { return response{Say: text} }
func call(acts ...act) response { return response{Calls: acts} }
func tool(name string) act      { return act{Tool: name} }
func create(p ...response) act  { return act{Create: p} }
func send(p ...response) act    { return act{Send: p} }

// world is the models and the tools of a session, with what they have been asked. It outlives engines that crash.
type world struct {
	// enter is called before a model or a tool works, and may wait or fail; nil does neither.
	enter func(ctx context.Context, what string) error
	newID func() string // of a conversation; nil counts

	mu       sync.Mutex
	created  int
	prepared int // calls, each of which has a deadline of its own
	working  int
	most     int // that worked at the same time
	asked    []string
}

func id(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

// begin notes that something works, until end is called.
func (w *world) begin(ctx context.Context, what string) (end func(), err error) {
	w.mu.Lock()
	w.working++
	w.most = max(w.most, w.working)
	w.asked = append(w.asked, what)
	w.mu.Unlock()
	end = func() {
		w.mu.Lock()
		w.working--
		w.mu.Unlock()
	}
	if w.enter != nil {
		err = w.enter(ctx, what)
	}
	return end, err
}

func (w *world) options() engine.Options {
	return engine.Options{
		Model: func(_ context.Context, c *session.Conversation) (model.Model, error) { return worldModel{w, c.ID}, nil },
		Tools: worldTools{w},
		Now:   time.Now,
	}
}

// has returns what has been asked, and how many worked at most and work now.
func (w *world) has() (asked []string, most, working int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked), w.most, w.working
}

func (w *world) calls() []string {
	asked, _, _ := w.has()
	return asked
}

type worldModel struct {
	world        *world
	conversation string
}

var usage = model.Usage{InputTokens: 9, OutputTokens: 1}

func (m worldModel) Sample(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	end, err := m.world.begin(ctx, "model of "+m.conversation)
	defer end()
	if err != nil {
		return model.Response{Usage: usage}, err
	}
	// Each response has one item of reasoning, so that they can be counted.
	var p program
	var outputs []string
	nth, target := 0, ""
	for _, item := range r.Items {
		switch item.Kind {
		case model.UserMessage:
			p, outputs, nth = nil, nil, 0
			if err := json.Unmarshal([]byte(item.Text()), &p); err != nil {
				return model.Response{}, err
			}
		case model.Reasoning:
			nth++
		case model.ToolOutput:
			var content struct {
				ID      string `json:"conversation_id"`
				Message string `json:"last_assistant_message"`
				Code    string `json:"code"`
			}
			if json.Unmarshal([]byte(item.Output), &content) != nil {
				content.Message = item.Output
			}
			if target == "" {
				target = content.ID
			}
			outputs = append(outputs, strings.TrimSpace(content.Code+" "+content.Message))
		}
	}
	response := model.Response{Usage: usage, Items: []model.Item{{Kind: model.Reasoning, Raw: "thought " + strconv.Itoa(nth)}}}
	if nth >= len(p) {
		response.Items = append(response.Items, model.Text(model.AgentMessage, "end"))
		return response, nil
	}
	if p[nth].Fail {
		return model.Response{Usage: usage}, &model.Error{Model: "world", Code: model.CodeServer, Message: "it failed"}
	}
	for i, a := range p[nth].Calls {
		c := model.Item{Kind: model.ToolCall, CallID: "k" + strconv.Itoa(i+1)}
		switch {
		case a.Create != nil:
			c.Name, c.Wire, c.Arguments = "conv.create", "conv_create", a.Create.text()
		case a.Send != nil:
			c.Name, c.Wire, c.Arguments = "conv.send", "conv_send", target+" "+a.Send.text()
		default:
			c.Name, c.Wire, c.Arguments = a.Tool, a.Tool, strconv.Itoa(nth)
		}
		response.Items = append(response.Items, c)
	}
	if text := p[nth].Say; text != "" {
		text = strings.ReplaceAll(text, "OUTPUTS", strings.Join(outputs, ", "))
		delta(text[:len(text)/2])
		delta(text[len(text)/2:])
		response.Items = append(response.Items, model.Text(model.AgentMessage, text))
	}
	return response, nil
}

type worldTools struct{ world *world }

func (worldTools) Offered(context.Context, *session.Conversation) []model.Tool { return nil }

func (t worldTools) Prepare(_ context.Context, _ *session.Conversation, c model.Item) session.Request {
	t.world.mu.Lock()
	defer t.world.mu.Unlock()
	t.world.prepared++
	budget := session.Budget{Deadline: time.Date(2040, 1, 1, 0, 0, t.world.prepared, 0, time.UTC)}
	switch c.Name {
	case "conv.create":
		t.world.created++
		created := id(t.world.created)
		if t.world.newID != nil {
			created = t.world.newID()
		}
		return session.Request{Create: &session.Create{ConversationID: created, UserInstruction: &c.Arguments, Budget: budget}}
	case "conv.send":
		to, text, _ := strings.Cut(c.Arguments, " ")
		return session.Request{Send: &session.Send{ConversationID: to, Text: &text, Budget: budget}}
	}
	return session.Request{}
}

func (t worldTools) Run(ctx context.Context, _ *session.Conversation, c session.Item) (string, bool) {
	end, err := t.world.begin(ctx, "tool "+c.Name)
	defer end()
	if err != nil {
		return err.Error(), false
	}
	return c.Name + " ran", true
}

// start starts session s in a directory, with the root id(0).
func start(t testing.TB, dir string, o engine.Options) *engine.Engine {
	t.Helper()
	e, err := engine.Start(dir, session.Start{Session: "s", Root: id(0), Context: everything()}, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func everything() session.Context {
	return session.Context{Capabilities: session.Capabilities{Internal: session.InternalTools{session.ConvTools: true}}}
}

// unsynced is a file without syncs, for tests that are not about them.
type unsynced struct{ log.File }

func (unsynced) Sync() error { return nil }

func withoutSync(f log.File) log.File { return unsynced{f} }

// usageOf returns what all samples and calls of a session have used.
func usageOf(s session.State) (sum session.Usage) {
	for c := range s.Conversations() {
		sum.Add(c.Usage)
	}
	return sum
}

// ask submits a program to the root and waits for the result.
func ask(t testing.TB, e *engine.Engine, p ...response) session.Result {
	t.Helper()
	turn, err := e.Submit(t.Context(), program(p).submit(id(0)))
	if err != nil {
		t.Fatal(err)
	}
	result, err := turn.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// logged returns the events of the log of session s.
func logged(t testing.TB, dir string) []session.Event {
	t.Helper()
	var all []session.Event
	for e, err := range log.Events(dir, "s") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// conversationsOf returns the histories of a session, each as lines without ids and numbers, in the order of creation.
func conversationsOf(s session.State) [][]string {
	var all [][]string
	for c := range s.Conversations() {
		lines := []string{}
		for _, item := range c.Items() {
			line := string(item.Kind) + " " + item.CallID + " " + item.Name + " "
			for _, p := range item.Parts {
				line += p.Text
			}
			content := item.Output
			for other := range s.Conversations() {
				content = strings.ReplaceAll(content, other.ID, "ID")
			}
			lines = append(lines, strings.TrimSpace(line+content))
		}
		all = append(all, lines)
	}
	return all
}

var errCrashed = errors.New("the process has ended")
