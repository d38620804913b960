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

// sample asks the model of a conversation, sends the pieces of its messages, and returns the whole [session.Response].
func (e *Engine) sample(ctx context.Context, w *session.Work) session.Input {
	report := session.Response{Task: w.Task}
	var response model.Response
	m, err := e.options.Model(ctx, w.Conversation)
	if err == nil {
		response, err = m.Sample(ctx, e.requestOf(ctx, w), func(piece string) {
			e.sendDelta(ctx, session.Delta{Task: w.Task, Text: piece})
		})
	}
	report.Usage.InputTokens, report.Usage.OutputTokens = response.Usage.InputTokens, response.Usage.OutputTokens
	if err != nil {
		report.Failure = failureOf(err)
		return report
	}
	for _, item := range response.Items {
		prepared := session.Item{Item: item}
		if item.Kind == model.ToolCall {
			prepared.Request = e.options.Tools.Prepare(ctx, w.Conversation, item)
		}
		report.Items = append(report.Items, prepared)
	}
	return report
}

// sendDelta sends a piece of a message to the goroutine of run. It does not wait until the session has the piece.
func (e *Engine) sendDelta(ctx context.Context, piece session.Delta) {
	select {
	case e.requests <- request{input: piece, reply: make(chan error, 1)}: // nobody reads the reply
	case <-ctx.Done():
	}
}

// runTool runs the tool of an ordinary call and returns its [session.ToolDone].
func (e *Engine) runTool(ctx context.Context, w *session.Work) session.Input {
	content, success := e.options.Tools.Run(ctx, w.Conversation, *w.Call)
	if !success && ctx.Err() != nil { // the deadline has passed, or the work is stopped
		content = session.CallInterrupted().Content()
	}
	return session.ToolDone{Task: w.Task, Call: w.Call.CallID, Content: text.CutMiddle(content, maxOutput), Success: success}
}

// failureOf returns the failure that is recorded for an error of a model.
func failureOf(err error) session.Failure {
	code := session.CodeFailed
	if known, ok := errors.AsType[*model.Error](err); ok {
		code = session.Code(known.Code)
	}
	return session.Failure{Code: code, Message: err.Error()}
}

// requestOf returns the request to the model for the history of a conversation.
func (e *Engine) requestOf(ctx context.Context, w *session.Work) model.Request {
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
