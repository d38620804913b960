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
	maxPauses     = 8        // how often a provider may want to be asked again before a response is whole
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

// wire is one HTTP interface.
type wire struct {
	path    string
	headers func(h http.Header, key string) // adds those that the interface needs; the key may be empty
	body    func(request) fields            // returns a request, as it is encoded in JSON
	decode  func(*stream) decoder
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

func bearer(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// Sample implements [model.Model].
func (m *Model) Sample(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	tools := r.Tools
	if r.WebSearch = r.WebSearch && m.options.WebSearch; r.WebSearch {
		tools = append(tools[:len(tools):len(tools)], model.Tool{Name: webSearch})
	}
	names, err := model.NamesOf(tools)
	if err != nil {
		return model.Response{}, &model.Error{Model: m.options.Name, Code: model.CodeConfiguration, Message: err.Error(), Err: err}
	}
	if most := m.options.MaxOutputTokens; r.MaxOutputTokens == 0 || most > 0 && most < r.MaxOutputTokens {
		r.MaxOutputTokens = most
	}
	// Providers accept their own form of reasoning from the model that wrote it alone.
	asked := request{Request: r, model: m.options.Model, from: string(m.options.API) + " " + m.options.Model, names: names}
	var whole model.Response
	for range maxPauses {
		s, used, err := m.ask(ctx, asked, delta)
		whole.Usage = add(whole.Usage, used)
		if err != nil {
			return model.Response{Usage: whole.Usage}, err
		}
		whole.Items = append(whole.Items, s.items...)
		if !s.paused {
			break
		}
		asked.Items = append(asked.Items[:len(asked.Items):len(asked.Items)], s.items...)
	}
	return whole, nil
}

// ask returns one response, after as many attempts as it takes, with the usage of all of them. What has been passed on
// cannot be taken back, so that there is no further attempt then.
func (m *Model) ask(ctx context.Context, r request, delta func(string)) (s *stream, used model.Usage, err error) {
	streamed, fresh := false, false
	pass := func(text string) {
		if text != "" {
			streamed = true
			if delta != nil {
				delta(text)
			}
		}
	}
	for attempt := 1; ; attempt++ {
		s = &stream{names: r.names, from: r.from, delta: pass}
		err := m.post(ctx, r, s, fresh)
		used = add(used, s.usage)
		if err == nil {
			return s, used, nil
		}
		if ctx.Err() != nil {
			return s, used, context.Cause(ctx)
		}
		failure := (*model.Error)(nil)
		if !errors.As(err, &failure) {
			failure = &model.Error{Code: model.CodeConfiguration, Message: err.Error(), Err: err}
		}
		if failure.Status == http.StatusUnauthorized && m.options.Key != nil && !fresh { // it may have expired
			fresh = true
			attempt--
			continue
		}
		failure.Model, failure.Attempts, failure.Streamed = m.options.Name, attempt, streamed
		if !failure.Temporary || streamed || attempt == maxAttempts || failure.RetryAfter > maxRetryAfter {
			return s, used, failure
		}
		if err := m.wait(ctx, pause(attempt, failure.RetryAfter)); err != nil {
			return s, used, err
		}
	}
}

// pause returns how long to wait after an attempt: longer after each, and not the same for all who were refused at
// the same time.
func pause(attempt int, wanted time.Duration) time.Duration {
	backoff := min(500*time.Millisecond<<(attempt-1), 8*time.Second)
	return max(wanted, backoff/2+rand.N(backoff/2))
}

func add(a, b model.Usage) model.Usage {
	return model.Usage{InputTokens: a.InputTokens + b.InputTokens, OutputTokens: a.OutputTokens + b.OutputTokens}
}

// wait returns after a duration, or with the error of a context that has ended.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
