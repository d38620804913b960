package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

// limits bound what models and tools do.
type limits struct {
	response int           // bytes of a response; a longer one fails the task
	time     time.Duration // of a response; a slower one fails the task
	history  int           // bytes of a conversation that a model is asked in; a longer one fails the task
	output   int           // characters of a tool's output that are kept, the first and the last ones
	grace    time.Duration // for work to return once it is asked to stop; longer ends the session
}

func standardLimits() limits {
	return limits{response: 8 << 20, time: time.Hour, history: 64 << 20, output: 256 << 10, grace: 10 * time.Second}
}

// sample asks the model of a conversation, and passes on the pieces of its messages.
func (e *Engine) sample(ctx context.Context, w *session.Work) session.Input {
	limits, report := e.options.limits, session.Response{Task: w.Task}
	m, err := e.options.Model(ctx, w.Conversation)
	if err != nil {
		report.Failure = failureOf(err)
		return report
	}
	request := e.request(ctx, w)
	if sizeOf(request.Items) > limits.history {
		report.Failure = failed(model.CodeTooLarge, "the conversation is longer than %d bytes: a new one has room", limits.history)
		return report
	}
	limited, cancel := context.WithTimeout(ctx, limits.time)
	defer cancel()
	p := pieces{engine: e, task: w.Task, most: limits.response, tooMany: cancel}
	response, err := m.Sample(limited, request, func(piece string) { p.add(limited, piece) })
	report.Usage.InputTokens, report.Usage.OutputTokens = response.Usage.InputTokens, response.Usage.OutputTokens
	switch {
	case p.size > p.most || sizeOf(response.Items) > p.most:
		report.Failure = failed(model.CodeTooLarge, "the response is longer than %d bytes", p.most)
	case err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded):
		report.Failure = failed(model.CodeStalled, "the response did not end within %v", limits.time)
	case err != nil:
		report.Failure = failureOf(err)
	default:
		p.pass(limited)
		report.Items = e.prepare(ctx, w.Conversation, response.Items)
	}
	return report
}

// prepare returns the items of a response with the requests of its calls.
func (e *Engine) prepare(ctx context.Context, c *session.Conversation, items []model.Item) (prepared []session.Item) {
	for _, item := range items {
		p := session.Item{Item: item}
		if item.Kind == model.ToolCall {
			p.Request = e.options.Tools.Prepare(ctx, c, item)
		}
		prepared = append(prepared, p)
	}
	return prepared
}

// pieces is the messages of a response as they come. It passes them on in at most some thousands of pieces, since each
// piece is a record of the log.
type pieces struct {
	engine  *Engine
	task    session.TaskID
	size    int // of all
	most    int
	tooMany func()
	waiting string
}

// finest is how many pieces are passed on as they come. After them, a piece is as large as all before it divided by
// finest.
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

// pass passes on what waits.
func (p *pieces) pass(ctx context.Context) {
	if p.waiting == "" {
		return
	}
	select {
	case p.engine.requests <- request{input: session.Delta{Task: p.task, Text: p.waiting}, reply: make(chan error, 1)}:
	case <-ctx.Done():
	}
	p.waiting = ""
}

// runTool runs the tool of an ordinary call.
func (e *Engine) runTool(ctx context.Context, w *session.Work) session.Input {
	content, success := e.options.Tools.Run(ctx, w.Conversation, *w.Call)
	return session.ToolDone{Task: w.Task, Call: w.Call.CallID, Content: text.CutMiddle(content, e.options.limits.output), Success: success}
}

// failureOf returns what is recorded of the error of a model.
func failureOf(err error) session.Failure {
	if known, ok := errors.AsType[*model.Error](err); ok {
		return failed(known.Code, "%v", known)
	}
	return session.Failure{Code: session.CodeFailed, Message: err.Error()}
}

func failed(code model.Code, format string, args ...any) session.Failure {
	return session.Failure{Code: session.Code(code), Message: fmt.Sprintf(format, args...)}
}

// request returns the request to the model with the history of a conversation.
func (e *Engine) request(ctx context.Context, w *session.Work) model.Request {
	c := w.Conversation
	r := model.Request{
		Instructions: c.Base, Tools: e.options.Tools.Offered(ctx, c), WebSearch: c.Internal[session.SearchTool],
		MaxOutputTokens: max(w.Left.Tokens, 0), CacheKey: c.ID,
	}
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
