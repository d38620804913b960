// Package provider asks language models over HTTP: OpenAI's Responses, Chat Completions, which many local servers offer
// as well, and Anthropic's Messages. Responses come as server-sent events.
//
// Everything that a server sends is untrusted: what is kept of it is bounded, and so is the time that it may be silent.
// A server that answers with a redirect is not followed, since it could have the conversation sent elsewhere. Proxies
// are those of the environment, as net/http reads it. The package must never write a key anywhere but into the header
// of a request.
package provider

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/convtools/convtools/runtime/model"
)

// API is an HTTP interface of providers.
type API string

const (
	Responses API = "responses" // https://platform.openai.com/docs/api-reference/responses
	Chat      API = "chat"      // https://platform.openai.com/docs/api-reference/chat
	Messages  API = "messages"  // https://docs.anthropic.com/en/api/messages
)

// Options is one model of one provider.
type Options struct {
	Name    string // what the configuration calls it
	API     API
	BaseURL string // the paths of the interface are below it
	Model   string // what the provider calls it

	// Key returns the key, or an empty text for none. With fresh it was refused, and another one is wanted. Nil is none.
	Key func(ctx context.Context, fresh bool) (string, error)

	MaxOutputTokens int64          // of a response; 0 is the provider's own limit
	WebSearch       bool           // the provider's own search may be used
	Request         map[string]any // what a request has besides what the interface needs
	Silence         time.Duration  // how long the provider may send nothing; 0 is 5 minutes
}

const (
	maxAttempts   = 5
	maxErrorBody  = 64 << 10 // bytes that are read of the body of an error
	maxResponse   = 64 << 20 // bytes; the longest of today's models have some 128,000 tokens, each in an event of a few hundred
	maxRetryAfter = 2 * time.Minute
)

// Reserved returns the keys of requests that are the package's own, so that Options.Request cannot have them.
func Reserved() []string {
	return []string{
		"model", "input", "instructions", "messages", "system", "tools", "stream", "stream_options", "store",
		"previous_response_id", "conversation", "background", "n",
	}
}

// Model is a model of a provider. It implements [model.Model].
type Model struct {
	options Options
	wire    wire
	client  *http.Client
	most    int64                                      // bytes of a response
	wait    func(context.Context, time.Duration) error // between attempts
}

// New returns a model. Nothing is sent before it is asked.
func New(o Options) *Model {
	m := &Model{options: o, most: maxResponse, wait: wait}
	switch o.API {
	case Responses:
		m.wire = wire{"/responses", bearer, responsesBody, func(s *stream) decoder { return &responsesDecoder{stream: s} }}
	case Messages:
		m.wire = wire{"/messages", messagesKey, messagesBody, func(s *stream) decoder { return &messagesDecoder{stream: s} }}
	default:
		m.wire = wire{"/chat/completions", bearer, chatBody, func(s *stream) decoder { return &chatDecoder{stream: s} }}
	}
	if m.options.Silence <= 0 {
		m.options.Silence = 5 * time.Minute
	}
	m.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return m
}

// wire is one HTTP interface.
type wire struct {
	path      string
	authorize func(h http.Header, key string) // adds the headers that the interface needs; the key may be empty
	body      func(request) fields            // returns a request, as it is encoded in JSON
	decode    func(*stream) decoder
}

// fields is a JSON object.
type fields = map[string]any

func bearer(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// request is what a request is encoded from.
type request struct {
	model.Request
	model string
	// from is what marks an item's Raw as this model's own.
	from string
}

// stream is what decoders read a response with, and what they have read.
type stream struct {
	names model.Names
	delta func(string) // gets the pieces of messages
	usage model.Usage
	whole bool // nothing of the response is missing
}

// decoder reads the events of a response.
type decoder interface {
	// event takes the data of one event. It returns whether the response has ended.
	event(data []byte) (end bool, err error)
	// response returns what the response was, after its last event, but for the usage.
	response() reply
}

// reply is a response as its decoder leaves it.
type reply struct {
	items  []model.Item // Raw is the provider's own form alone
	usage  model.Usage
	paused bool // the provider wants the request again, with these items
}

// Sample implements [model.Model].
func (m *Model) Sample(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	if delta == nil {
		delta = func(string) {}
	}
	tools := r.Tools
	if r.WebSearch = r.WebSearch && m.options.WebSearch; r.WebSearch {
		tools = append(tools[:len(tools):len(tools)], model.Tool{Name: webSearch})
	}
	names, err := model.NamesOf(tools)
	if err != nil {
		return model.Response{}, &model.Error{Model: m.options.Name, Code: model.CodeConfiguration, Message: err.Error(), Err: err}
	}
	if r.MaxOutputTokens == 0 || m.options.MaxOutputTokens > 0 && m.options.MaxOutputTokens < r.MaxOutputTokens {
		r.MaxOutputTokens = m.options.MaxOutputTokens
	}
	var whole model.Response
	for range maxPauses {
		reply, err := m.ask(ctx, r, names, delta)
		whole.Usage = add(whole.Usage, reply.usage)
		if err != nil {
			return model.Response{Usage: whole.Usage}, err
		}
		whole.Items = append(whole.Items, reply.items...)
		if !reply.paused {
			break
		}
		r.Items = append(r.Items[:len(r.Items):len(r.Items)], reply.items...)
	}
	return whole, nil
}

// maxPauses is how often a provider may want to be asked again before a response is whole.
const maxPauses = 8

// ask returns one response, after as many attempts as it takes, with the usage of all of them.
func (m *Model) ask(ctx context.Context, r model.Request, names model.Names, delta func(string)) (reply, error) {
	t := try{model: m, request: request{Request: r, model: m.options.Model, from: m.from()}, names: names}
	t.delta = func(text string) {
		if text != "" {
			t.streamed = true
			delta(text)
		}
	}
	var used model.Usage
	for attempt := 1; ; attempt++ {
		reply, err := t.once(ctx)
		used = add(used, reply.usage)
		if reply.usage = used; err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return reply, context.Cause(ctx)
		}
		failure := (*model.Error)(nil)
		if !errors.As(err, &failure) {
			failure = &model.Error{Code: model.CodeConfiguration, Message: err.Error(), Err: err}
		}
		failure.Model, failure.Attempts, failure.Streamed = m.options.Name, attempt, t.streamed
		if !t.again(failure, attempt) {
			return reply, failure
		}
		if err := m.wait(ctx, pause(attempt, failure.RetryAfter)); err != nil {
			return reply, err
		}
	}
}

// pause returns how long to wait after an attempt: longer after each, and not the same for all who were refused at
// the same time.
func pause(attempt int, wanted time.Duration) time.Duration {
	backoff := min(500*time.Millisecond<<(attempt-1), 8*time.Second)
	return max(wanted, backoff/2+rand.N(backoff/2))
}

// from returns what marks the items that the model writes. Providers accept their own form of reasoning from the model
// that wrote it alone.
func (m *Model) from() string { return string(m.options.API) + " " + m.options.Model }

func add(a, b model.Usage) model.Usage {
	return model.Usage{InputTokens: a.InputTokens + b.InputTokens, OutputTokens: a.OutputTokens + b.OutputTokens}
}

// wait returns after a duration, or with the error of a context that has ended.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
