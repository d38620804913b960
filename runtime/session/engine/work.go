package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

// work is a model or a tool that works for a task.
type work struct {
	task   session.TaskID
	tool   string // empty for the model
	cancel context.CancelFunc
	result chan session.Input // what it returned; nothing of it runs then
	grace  <-chan time.Time   // when it is stuck; nil until it is asked to stop
}

func (w *work) stop(grace time.Duration) {
	w.cancel()
	w.grace = time.After(grace)
}

func (w *work) stopping() bool { return w.grace != nil }

func (w *work) stuck(grace time.Duration) error {
	what := "the model"
	if w.tool != "" {
		what = "the tool " + w.tool
	}
	return fmt.Errorf("%s did not stop within %v", what, grace) // the next process to resume the session ends the task
}

// begin begins work on a goroutine of its own.
func (e *Engine) begin(task session.TaskID, tool string, f func(context.Context) session.Input) {
	ctx, cancel := context.WithCancel(context.Background())
	w := &work{task: task, tool: tool, cancel: cancel, result: make(chan session.Input, 1)}
	e.working = w
	go func() { w.result <- f(ctx) }()
}

// sample asks the model of a conversation, and passes on the pieces of its messages.
func (e *Engine) sample(ctx context.Context, asked session.Sample) session.Input {
	o := e.options
	c := e.State().Conversation(asked.Conversation)
	var usage session.Usage
	failed := func(code model.Code, format string, args ...any) session.Input {
		return session.Response{Task: asked.Task, Usage: usage, Failure: session.Failure{Code: session.Code(code), Message: fmt.Sprintf(format, args...)}}
	}
	m, err := o.Model(ctx, c)
	if err != nil {
		return session.Response{Task: asked.Task, Failure: failure(err)}
	}
	request := requestFor(c, asked.Left, o.Tools.Offered(ctx, c))
	if most := o.Limits.HistoryBytes; sizeOf(request.Items) > most {
		return failed(model.CodeTooLarge, "the conversation is longer than %d bytes: a new one has room", most)
	}
	limited, cancel := context.WithTimeout(ctx, o.Limits.ResponseTime)
	defer cancel()
	p := pieces{engine: e, task: asked.Task, most: o.Limits.ResponseBytes, tooMany: cancel}
	response, err := m.Sample(limited, request, func(piece string) { p.add(limited, piece) })
	usage = session.Usage{InputTokens: response.Usage.InputTokens, OutputTokens: response.Usage.OutputTokens}
	switch stalled := errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil; {
	case p.size > p.most || sizeOf(response.Items) > p.most:
		return failed(model.CodeTooLarge, "the response is longer than %d bytes", p.most)
	case err != nil && stalled:
		return failed(model.CodeStalled, "the response did not end within %v", o.Limits.ResponseTime)
	case err != nil:
		return session.Response{Task: asked.Task, Usage: usage, Failure: failure(err)}
	}
	p.pass(limited)
	return session.Response{Task: asked.Task, Usage: usage, Items: o.prepareAll(ctx, c, response.Items)}
}

// pieces is what has come of a response. It is passed on in at most so many pieces, each of which is a record of the log:
// a megabyte that is written word by word would make hundreds of thousands of them.
type pieces struct {
	engine  *Engine
	task    session.TaskID
	size    int // of all
	most    int
	tooMany func()
	waiting string
}

const finest = 1024

func (p *pieces) add(ctx context.Context, piece string) {
	p.size += len(piece)
	p.waiting += piece
	switch {
	case p.size > p.most:
		p.tooMany()
	case len(p.waiting) >= p.size/finest:
		p.pass(ctx)
	}
}

// pass passes on what waits, for it to be logged.
func (p *pieces) pass(ctx context.Context) {
	if p.waiting == "" {
		return
	}
	select {
	case p.engine.requests <- request{input: session.Delta{Task: p.task, Text: valid(p.waiting)}, reply: make(chan error, 1)}:
	case <-ctx.Done():
	}
	p.waiting = ""
}

// prepareAll returns what a response is for the session, with its calls prepared.
func (o Options) prepareAll(ctx context.Context, c *session.Conversation, items []model.Item) []session.Item {
	var all []session.Item
	calls, bytes := 0, 0
	for _, item := range items {
		prepared := session.Item{Item: cleanItem(item)}
		if item.Kind == model.ToolCall {
			calls++
			prepared.Request = o.prepare(ctx, c, prepared.Item, calls)
			bytes += prepared.Request.Size()
		}
		if bytes > o.Limits.RequestBytes && prepared.Request.Size() > 0 {
			bytes -= prepared.Request.Size()
			prepared.Request = session.Request{Refused: &session.Refusal{
				Code: session.CodeInvalidArguments, Reason: "what the calls of one response send, with the files that they name, is too large", Max: o.Limits.RequestBytes,
			}}
		}
		all = append(all, prepared)
	}
	return all
}

// prepare returns what the nth call of a response asks for.
func (o Options) prepare(ctx context.Context, c *session.Conversation, call model.Item, nth int) session.Request {
	if most := o.Limits.Calls; nth > most {
		return session.Request{Refused: &session.Refusal{Code: session.CodeDepth, Reason: "too many calls in one response", Count: nth, Max: most}}
	}
	request := o.Tools.Prepare(ctx, c, call)
	if create := request.Create; create != nil && create.ConversationID == "" {
		create.ConversationID = o.NewID()
	}
	return request
}

// runTool runs the tool of an ordinary call.
func (e *Engine) runTool(ctx context.Context, asked session.RunTool) session.Input {
	content, success := e.options.Tools.Run(ctx, e.State().Conversation(asked.Conversation), asked.Call)
	content = text.CutMiddle(valid(content), e.options.Limits.OutputChars)
	return session.ToolDone{Task: asked.Task, Call: asked.Call.CallID, Content: content, Success: success}
}

// failure returns what is recorded of an error of a model.
func failure(err error) session.Failure {
	var known *model.Error
	if errors.As(err, &known) {
		return session.Failure{Code: session.Code(known.Code), Message: valid(known.Error())}
	}
	return session.Failure{Code: session.CodeFailed, Message: valid(err.Error())}
}

// requestFor returns the request to the model for the history of a conversation. Web search is what the conversation may
// have; whether the model has it is for Options.Model to know.
func requestFor(c *session.Conversation, left session.Budget, tools []model.Tool) model.Request {
	r := model.Request{Instructions: c.Base, Tools: tools, WebSearch: c.Internal[session.SearchTool], MaxOutputTokens: max(left.Tokens, 0), CacheKey: c.ID}
	for _, item := range c.Items() {
		r.Items = append(r.Items, item.Item)
	}
	return r
}

func sizeOf(items []model.Item) int {
	n := 0
	for _, i := range items {
		n += len(i.CallID) + len(i.Wire) + len(i.Arguments) + len(i.Output) + len(i.Raw)
		for _, p := range i.Parts {
			n += len(p.Text) + len(p.ImageURL)
		}
	}
	return n
}

// What is recorded is UTF-8, as JSON is: the state in memory and that of the log are the same.

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func cleanItem(i model.Item) model.Item {
	i.CallID, i.Name, i.Wire, i.Arguments, i.Raw = valid(i.CallID), valid(i.Name), valid(i.Wire), valid(i.Arguments), valid(i.Raw)
	i.Parts = cleanParts(i.Parts)
	return i
}

func cleanParts(parts []session.Part) []session.Part {
	var cleaned []session.Part
	for _, p := range parts {
		cleaned = append(cleaned, session.Part{Text: valid(p.Text), ImageURL: valid(p.ImageURL)})
	}
	return cleaned
}
