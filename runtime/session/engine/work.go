package engine

import (
	"context"
	"errors"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

const (
	maxOutput = 256 << 10        // characters of a tool's output that are kept, the first and the last ones
	grace     = 10 * time.Second // in which work returns once it is asked to stop; longer ends the session
)

// sample asks the model of a conversation, and passes on the pieces of its messages.
func (e *Engine) sample(ctx context.Context, w *session.Work) session.Input {
	report := session.Response{Task: w.Task}
	m, err := e.options.Model(ctx, w.Conversation)
	if err != nil {
		report.Failure = failureOf(err)
		return report
	}
	p := pieces{engine: e, task: w.Task}
	response, err := m.Sample(ctx, e.request(ctx, w), func(piece string) { p.add(ctx, piece) })
	report.Usage.InputTokens, report.Usage.OutputTokens = response.Usage.InputTokens, response.Usage.OutputTokens
	if err != nil {
		report.Failure = failureOf(err)
		return report
	}
	p.pass(ctx)
	report.Items = e.prepare(ctx, w.Conversation, response.Items)
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

// pieces is the messages of a response as they come. Each piece that it passes on is a record of the log: the first ones
// are as the model sent them, and later ones as long as all before them divided by finest.
type pieces struct {
	engine  *Engine
	task    session.TaskID
	size    int // of all
	waiting string
}

const finest = 1024

func (p *pieces) add(ctx context.Context, piece string) {
	p.size += len(piece)
	p.waiting += piece
	if len(p.waiting) >= p.size/finest {
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
	return session.ToolDone{Task: w.Task, Call: w.Call.CallID, Content: text.CutMiddle(content, maxOutput), Success: success}
}

// failureOf returns what is recorded of the error of a model.
func failureOf(err error) session.Failure {
	code := session.CodeFailed
	if known, ok := errors.AsType[*model.Error](err); ok {
		code = session.Code(known.Code)
	}
	return session.Failure{Code: code, Message: err.Error()}
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
