// Package provider asks models over HTTP: OpenAI's Responses and Chat Completions, which many local servers have too,
// and Anthropic's Messages. A response is a stream of server-sent events.
//
// The package does not trust servers: it bounds the size of a response and the time without a byte, and follows no
// redirect, which could send the conversation elsewhere. net/http takes proxies from the environment. The package must
// never write a key anywhere but into the header of a request.
package provider

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
)

// The values of api in the configuration.
const (
	Responses = "responses" // https://platform.openai.com/docs/api-reference/responses
	Chat      = "chat"      // https://platform.openai.com/docs/api-reference/chat
	Messages  = "messages"  // https://docs.anthropic.com/en/api/messages
)

const (
	maxAttempts   = 5               // to send a request
	maxPauses     = 8               // requests for one response that the provider interrupts with pause_turn
	maxErrorBody  = 64 << 10        // bytes that are read of the body of an error
	maxResponse   = 64 << 20        // bytes; 128,000 tokens, each in an event of a few hundred bytes
	maxLine       = 16 << 20        // bytes of a line of a response
	maxCalls      = 1000            // in a response of Chat Completions: each piece of a call is compared with all calls
	maxRetryAfter = 2 * time.Minute // that a provider may ask to wait before the next attempt
	maxMessage    = 500             // characters of an error that is shown
)

// Key returns the key of a provider, or an empty text for none. refused says that the provider has refused the last one.
type Key func(ctx context.Context, refused bool) (string, error)

// Model is a model of a provider. It implements [model.Model].
type Model struct {
	name     string
	config   config.Model
	key      Key
	wire     wire
	client   *http.Client
	maxBytes int64                                // of a response
	after    func(time.Duration) <-chan time.Time // time.After, for the wait between attempts
}

// wire is what differs between the interfaces.
type wire struct {
	url    string                      // without the path; the default of base_url
	path   string                      // below base_url
	header string                      // has the key
	scheme string                      // precedes the key
	body   func(request) fields        // the JSON of a request
	event  func(*stream, fields) error // reads an event; [io.EOF] is for the last one
	finish func(*stream)               // makes items after the last event
}

// New returns the model of a table [model.NAME]. A nil key means that the provider wants none. New sends nothing.
func New(name string, c config.Model, key Key) *Model {
	const openAI, anthropic = "https://api.openai.com/v1", "https://api.anthropic.com/v1"
	w := wire{openAI, "/chat/completions", "Authorization", "Bearer ", chatBody, (*stream).chatEvent, (*stream).chatFinish}
	switch c.API {
	case Responses:
		w = wire{openAI, "/responses", "Authorization", "Bearer ", responsesBody, (*stream).responsesEvent, (*stream).responsesFinish}
	case Messages:
		w = wire{anthropic, "/messages", "X-Api-Key", "", messagesBody, (*stream).messagesEvent, (*stream).messagesFinish}
	}
	base := cmp.Or(c.BaseURL, w.url)
	if u, err := url.Parse(base); err == nil {
		u.Path = cmp.Or(strings.TrimRight(u.Path, "/"), "/v1") // an address without a path has this one
		base = u.String()
	}
	w.url = base + w.path
	if key == nil {
		key = func(context.Context, bool) (string, error) { return "", nil }
	}
	c.Timeout = cmp.Or(c.Timeout, 5*time.Minute)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Model{name: name, config: c, key: key, wire: w, client: client, maxBytes: maxResponse, after: time.After}
}

// Sample implements [model.Model]. If the provider pauses, it sends the items so far in another request.
func (m *Model) Sample(ctx context.Context, asked model.Request, delta func(string)) (model.Response, error) {
	asked.WebSearch = asked.WebSearch && m.config.WebSearch
	limit, isUnlimited := m.config.MaxOutputTokens, asked.MaxOutputTokens == 0
	if limit > 0 && (isUnlimited || limit < asked.MaxOutputTokens) {
		asked.MaxOutputTokens = limit
	}
	r := request{Request: asked, model: m.config.Model, from: m.config.API + " " + m.config.Model}
	var sum model.Response // of all requests
	for range maxPauses {
		s, err := m.respond(ctx, r, &sum.Usage, delta)
		if err != nil {
			return model.Response{Usage: sum.Usage}, err
		}
		sum.Items = append(sum.Items, s.items...)
		if !s.paused {
			break
		}
		r.Items = slices.Concat(r.Items, s.items)
	}
	return sum, nil
}

// respond sends a request and returns the response. It tries again with a new key if the provider refuses the key, and
// after a temporary failure, unless delta has had a part of the response. It adds the usage of all attempts to used.
// The error is the cause of the end of ctx, or the failure of the last attempt.
func (m *Model) respond(ctx context.Context, r request, used *model.Usage, delta func(string)) (*stream, error) {
	streamed, refused := false, false
	attempt := 1
	for {
		s := &stream{request: r, tokens: map[string]int64{}, message: fields{}, ids: map[string]bool{}}
		s.delta = func(text string) {
			if text != "" {
				streamed = true // another attempt would repeat it
				delta(text)
			}
		}
		key, err := m.key(ctx, refused)
		if err == nil {
			err = m.send(ctx, s, key)
		}
		s.addUsage(used)
		if err == nil {
			return s, nil
		}
		failure := m.shownError(err, key)
		failure.Attempts = attempt
		mayRetry := failure.Temporary && !streamed && attempt < maxAttempts && failure.RetryAfter <= maxRetryAfter
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case failure.Status == http.StatusUnauthorized && key != "" && !refused: // it may have expired
			refused = true
			continue // this does not count as an attempt
		case !mayRetry:
			return nil, failure
		}
		select {
		case <-m.after(waitAfter(attempt, failure.RetryAfter)):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		attempt++
	}
}

// shownError returns err as an error that is safe to show: without the key, which a provider may repeat.
func (m *Model) shownError(err error, key string) *model.Error {
	failure, ok := errors.AsType[*model.Error](err)
	if !ok {
		failure = &model.Error{Code: model.CodeConfiguration, Message: err.Error()} // there is no key, or no request
	}
	failure.Model = m.name
	if key != "" {
		failure.Message = strings.ReplaceAll(failure.Message, key, "[key]")
	}
	failure.Message = text.Line(text.Cut(failure.Message, maxMessage))
	return failure
}

// waitAfter returns the time to wait after an attempt, which is at least retryAfter. It grows with each attempt, and
// has a random part so that many clients do not return at the same time.
func waitAfter(attempt int, retryAfter time.Duration) time.Duration {
	backoff := min(500*time.Millisecond<<(attempt-1), 8*time.Second)
	return max(retryAfter, backoff/2+rand.N(backoff/2))
}
