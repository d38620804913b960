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
	tool   session.Tool // empty for the model
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
	return &StuckError{Task: w.task, Tool: w.tool, Grace: grace}
}

// begin begins work on a goroutine of its own.
func (e *Engine) begin(task session.TaskID, tool session.Tool, f func(context.Context) session.Input) {
	ctx, cancel := context.WithCancel(context.Background())
	w := &work{task: task, tool: tool, cancel: cancel, result: make(chan session.Input, 1)}
	e.working = w
	go func() { w.result <- f(ctx) }()
}

// finest is into how many pieces what has come of a response is cut at most. Each piece is a record of the log: a
// megabyte that is written word by word would make hundreds of thousands of them.
const finest = 1024

// sample asks the model of a conversation, and passes on the pieces of its messages.
func (o Options) sample(ctx context.Context, c *session.Conversation, effect session.Sample, pass func(context.Context, session.Delta)) session.Input {
	m, err := o.Model(ctx, c)
	if err != nil {
		return session.SampleFailed{Task: effect.Task, Failure: failure(err)}
	}
	request := requestFor(c, effect.Left, o.Tools.Offered(ctx, c))
	if most := o.Limits.HistoryBytes; sizeOf(request.Items) > most {
		return session.SampleFailed{Task: effect.Task, Failure: session.Failure{
			Code: session.Code(model.CodeTooLarge), Message: fmt.Sprintf("the conversation is longer than %d bytes: a new one has room", most),
		}}
	}
	stopping := ctx
	ctx, cancel := context.WithTimeout(ctx, o.Limits.ResponseTime)
	defer cancel()
	size, limit := 0, o.Limits.ResponseBytes
	joined := ""
	passOn := func() {
		if joined != "" {
			pass(ctx, session.Delta{Task: effect.Task, Text: valid(joined)})
			joined = ""
		}
	}
	response, err := m.Sample(ctx, request, func(piece string) {
		size += len(piece)
		if size > limit {
			cancel()
			return
		}
		if joined += piece; len(joined) >= size/finest {
			passOn()
		}
	})
	if err == nil {
		passOn()
	}
	usage := session.Usage{InputTokens: response.Usage.InputTokens, OutputTokens: response.Usage.OutputTokens}
	var failed session.Failure
	switch {
	case size > limit || sizeOf(response.Items) > limit:
		failed = session.Failure{Code: session.Code(model.CodeTooLarge), Message: fmt.Sprintf("the response is longer than %d bytes", limit)}
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && stopping.Err() == nil:
		failed = session.Failure{Code: session.Code(model.CodeStalled), Message: fmt.Sprintf("the response did not end within %v", o.Limits.ResponseTime)}
	case err != nil:
		failed = failure(err)
	}
	if failed.Code != "" {
		return session.SampleFailed{Task: effect.Task, Usage: usage, Failure: failed}
	}
	return session.Response{Task: effect.Task, Usage: usage, Items: o.responseItems(ctx, c, response.Items)}
}

// responseItems returns what a response is for the session, with its calls prepared.
func (o Options) responseItems(ctx context.Context, c *session.Conversation, items []model.Item) []session.ResponseItem {
	var all []session.ResponseItem
	calls, bytes := 0, 0
	for _, item := range items {
		item = cleanItem(item)
		switch item.Kind {
		case model.AgentMessage:
			message := item.Text()
			all = append(all, session.ResponseItem{Message: &message, Raw: item.Raw})
		case model.ToolCall:
			calls++
			request := o.prepare(ctx, c, item, calls, &bytes)
			all = append(all, session.ResponseItem{Call: &session.Call{ID: item.CallID, Name: item.Wire, Arguments: item.Arguments, Raw: item.Raw, Request: request}})
		default:
			all = append(all, session.ResponseItem{Raw: item.Raw})
		}
	}
	return all
}

// prepare returns what the nth call of a response asks for. bytes counts those of all its calls.
func (o Options) prepare(ctx context.Context, c *session.Conversation, call model.Item, nth int, bytes *int) session.Request {
	limits := o.Limits
	if nth > limits.Calls {
		return session.Invalid{Tool: session.Tool(call.Name), Refusal: session.Refusal{
			Code: session.CodeDepth, Reason: "too many calls in one response", Count: nth, Max: limits.Calls,
		}}
	}
	request := o.Tools.Prepare(ctx, c, call)
	size := requestSize(request)
	if *bytes+size > limits.RequestBytes {
		return session.Invalid{Tool: session.Tool(call.Name), Refusal: session.Refusal{
			Code: session.CodeInvalidArguments, Reason: "what the calls of one response send, with the files that they name, is too large", Max: limits.RequestBytes,
		}}
	}
	*bytes += size
	switch r := request.(type) {
	case session.Create:
		if r.ConversationID == "" {
			r.ConversationID = o.NewID()
		}
		r.Budget.Deadline = r.Budget.Deadline.UTC().Round(0)
		return r
	case session.Send:
		r.Budget.Deadline = r.Budget.Deadline.UTC().Round(0)
		return r
	}
	return request
}

// requestSize returns the bytes of what a call sends to another conversation.
func requestSize(r session.Request) int {
	var items []session.Part
	var texts []*string
	switch r := r.(type) {
	case session.Create:
		items, texts = r.Items, []*string{r.UserInstruction, r.Base}
	case session.Send:
		items, texts = r.Items, []*string{r.Text}
	}
	n := 0
	for _, text := range texts {
		if text != nil {
			n += len(*text)
		}
	}
	for _, p := range items {
		n += len(p.Text) + len(p.ImageURL)
	}
	return n
}

// runTool runs the tool of an ordinary call.
func (e *Engine) runTool(ctx context.Context, effect session.RunTool) session.Input {
	content, success := e.options.Tools.Run(ctx, e.State().Conversation(effect.Conversation), effect.Call)
	content = text.CutMiddle(valid(content), e.options.Limits.OutputChars)
	return session.ToolDone{Task: effect.Task, Call: effect.Call.ID, Content: content, Success: success}
}

// failure returns what is recorded of an error of a model.
func failure(err error) session.Failure {
	var known *model.Error
	if errors.As(err, &known) {
		return session.Failure{Code: session.Code(known.Code), Message: valid(known.Error())}
	}
	return session.Failure{Code: session.CodeFailed, Message: valid(err.Error())}
}

// requestFor returns the request to the model for the history of a conversation. The standing instructions of the user
// come first, as a message that is not of the history. Web search is what the conversation may have; whether the
// model has it is for Options.Model to know.
func requestFor(c *session.Conversation, left session.Budget, tools []model.Tool) model.Request {
	r := model.Request{Instructions: c.Base, Tools: tools, WebSearch: c.Internal.WebSearch, MaxOutputTokens: max(left.Tokens, 0), CacheKey: c.ID}
	if c.UserInstructions != nil && *c.UserInstructions != "" {
		r.Items = append(r.Items, model.Text(model.UserMessage, *c.UserInstructions))
	}
	for _, item := range c.Items() {
		r.Items = append(r.Items, modelItem(item))
	}
	return r
}

func modelItem(i session.Item) model.Item {
	m := model.Item{
		Kind: model.Kind(i.Kind), CallID: i.CallID, Name: string(i.Tool), Wire: i.Name, Arguments: i.Arguments,
		Output: i.Content, Failed: i.Kind == session.ToolOutput && !i.Success, Raw: i.Raw,
	}
	for _, p := range i.Parts {
		m.Parts = append(m.Parts, model.Part(p))
	}
	return m
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

// What is recorded is UTF-8, as JSON is, and times are in UTC: the state in memory and that of the log are the same.

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func cleanItem(i model.Item) model.Item {
	i.CallID, i.Name, i.Wire, i.Arguments, i.Raw = valid(i.CallID), valid(i.Name), valid(i.Wire), valid(i.Arguments), valid(i.Raw)
	for n, p := range i.Parts {
		i.Parts[n].Text = valid(p.Text)
	}
	return i
}

func clean(in session.Input) session.Input {
	submit, ok := in.(session.Submit)
	if !ok {
		return in
	}
	submit.Context, submit.Input = cleanParts(submit.Context), cleanParts(submit.Input)
	submit.Budget.Deadline = submit.Budget.Deadline.UTC().Round(0)
	return submit
}

func cleanParts(parts []session.Part) []session.Part {
	var cleaned []session.Part
	for _, p := range parts {
		cleaned = append(cleaned, session.Part{Text: valid(p.Text), ImageURL: valid(p.ImageURL)})
	}
	return cleaned
}
