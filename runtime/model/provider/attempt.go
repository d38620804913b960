package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model"
)

// try is the attempts at one response.
type try struct {
	model    *Model
	request  request
	names    model.Names
	delta    func(string)
	streamed bool // a piece has been passed on

	fresh bool // the key was refused, and another one was fetched
}

// again reports whether there is another attempt after a failure. What has been passed on cannot be taken back, so that
// there is none then.
func (t *try) again(failure *model.Error, attempt int) bool {
	return failure.Temporary && !t.streamed && attempt < maxAttempts && failure.RetryAfter <= maxRetryAfter
}

// once makes one attempt, or two where a server refuses what it need not know or a key that has expired.
func (t *try) once(ctx context.Context) (reply, error) {
	t.request.flat = t.model.flat.Load()
	reply, err := t.post(ctx)
	failure := (*model.Error)(nil)
	if !errors.As(err, &failure) || t.streamed {
		return reply, err
	}
	switch {
	case failure.Status == http.StatusUnauthorized && t.model.options.Key != nil && !t.fresh:
		t.fresh = true
		return t.post(ctx)
	case (failure.Status == http.StatusBadRequest || failure.Status == http.StatusUnprocessableEntity) &&
		t.model.options.API == Responses && !t.request.flat && t.request.namespaced():
		// The error of a server without namespaces has no form of its own. One that refuses the request for another
		// reason refuses it again.
		t.request.flat = true
		reply, err := t.post(ctx)
		if err == nil {
			t.model.flat.Store(true)
		}
		return reply, err
	}
	return reply, err
}

// namespaced reports whether a tool has a namespace.
func (r request) namespaced() bool {
	for _, tool := range r.Tools {
		if _, _, ok := model.Member(tool.Name); ok {
			return true
		}
	}
	return false
}

// post sends the request and reads the response.
func (t *try) post(ctx context.Context) (reply, error) {
	m := t.model
	key := ""
	if m.options.Key != nil {
		var err error
		if key, err = m.options.Key(ctx, t.fresh); err != nil {
			return reply{}, &model.Error{Code: model.CodeConfiguration, Message: err.Error(), Err: err}
		}
	}
	body := m.wire.body(t.request)
	maps.Copy(body, m.options.Request)
	encoded, err := encode(body)
	if err != nil {
		return reply{}, fmt.Errorf("writing the request: %w", err)
	}
	watched, watch := newWatch(ctx, m.clock, m.options.Silence)
	defer watch.stop()
	r, err := http.NewRequestWithContext(watched, http.MethodPost, m.options.BaseURL+m.wire.path(), bytes.NewReader(encoded))
	if err != nil {
		return reply{}, fmt.Errorf("preparing the request: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("User-Agent", "convtools")
	m.wire.authorize(r.Header, key)
	response, err := m.client.Do(r)
	if err != nil {
		return reply{}, presentable(broken(watched, err, false), key)
	}
	defer response.Body.Close()
	watch.reset()
	if response.StatusCode != http.StatusOK {
		return reply{}, presentable(t.refused(response), key)
	}
	got, err := t.read(watched, &watchedReader{r: response.Body, watch: watch})
	if failure := (*model.Error)(nil); errors.As(err, &failure) {
		failure.RequestID = requestID(response.Header)
	}
	return got, presentable(err, key)
}

// encode returns JSON. Characters that HTML gives a meaning stay as they are: some models would read the escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// read reads the events of a response up to its end.
func (t *try) read(ctx context.Context, body io.Reader) (reply, error) {
	limited := &io.LimitedReader{R: body, N: t.model.bounds.bytes}
	events := newEventReader(limited, t.model.bounds.event)
	decoder := t.model.wire.decode(t.names, t.delta)
	for range t.model.bounds.events {
		data, err := events.next()
		if err != nil {
			got, whole := decoder.response()
			switch {
			case errors.Is(err, errEventTooLarge) || limited.N <= 0:
				return usageOf(got), tooLarge()
			case !errors.Is(err, io.EOF):
				return usageOf(got), broken(ctx, err, true)
			case whole:
				return t.finish(got)
			}
			return usageOf(got), &model.Error{Code: model.CodeCut, Temporary: true, Message: "the server ended the response before its end"}
		}
		if end, err := decoder.event(data); end || err != nil {
			got, _ := decoder.response()
			if err != nil {
				return usageOf(got), err
			}
			return t.finish(got)
		}
		if decoder.kept() > t.model.bounds.kept {
			break
		}
	}
	got, _ := decoder.response()
	return usageOf(got), tooLarge()
}

func tooLarge() error {
	return &model.Error{Code: model.CodeTooLarge, Message: "the response is larger than any that is read"}
}

// usageOf returns what is left of a response that is void.
func usageOf(r reply) reply { return reply{usage: r.usage} }

// finish checks a response that has ended, gives ids to calls that have none, as some servers send them, and marks what
// is the provider's own.
func (t *try) finish(r reply) (reply, error) {
	ids := map[string]bool{}
	for _, item := range r.items {
		if item.Kind == model.ToolCall && item.CallID != "" {
			if ids[item.CallID] {
				return usageOf(r), invalid("the response has two calls with the id %s", text.Quote(item.CallID))
			}
			ids[item.CallID] = true
		}
	}
	n := 0
	for i := range r.items {
		item := &r.items[i]
		for item.Kind == model.ToolCall && item.CallID == "" {
			if id := "call_" + strconv.Itoa(n); !ids[id] {
				item.CallID = id
			}
			n++
		}
		if item.Raw != "" {
			item.Raw = mark(t.request.from, item.Raw)
		}
	}
	return r, nil
}

// invalid is the error for a response that is none of the interface.
func invalid(format string, args ...any) error {
	return &model.Error{Code: model.CodeInvalidResponse, Message: fmt.Sprintf(format, args...)}
}

// broken returns the error for a connection that was not made, or did not last.
func broken(ctx context.Context, err error, begun bool) error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errSilence) || errors.Is(cause, errDuration) {
			return &model.Error{Code: model.CodeStalled, Temporary: true, Message: cause.Error(), Err: cause}
		}
		return cause
	}
	failure := &model.Error{Code: model.CodeUnreachable, Temporary: true, Err: err, Message: "there is no connection to the server: " + err.Error()}
	if begun {
		failure.Code, failure.Message = model.CodeCut, "the connection broke before the end of the response: "+err.Error()
	}
	return failure
}

// maxMessage is how many characters are repeated of what a provider says in an error.
const maxMessage = 500

// refused returns the error for an answer that is no response.
func (t *try) refused(r *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxErrorBody)) // the status stands for what cannot be read
	var whole struct {
		Error providerError `json:"error"`
	}
	said := providerError{Message: string(body)}
	if json.Unmarshal(body, &whole) == nil && whole.Error.Message != "" {
		said = whole.Error
	}
	if strings.TrimSpace(said.Message) == "" {
		said.Message = http.StatusText(r.StatusCode)
	}
	said.Status = 0 // the real one counts
	failure := said.failure()
	failure.Status, failure.RequestID = r.StatusCode, requestID(r.Header)
	failure.RetryAfter = retryAfter(r.Header, t.model.clock.Now())
	said.classify(failure, r.StatusCode)
	if retry, err := strconv.ParseBool(r.Header.Get("x-should-retry")); err == nil {
		failure.Temporary = retry
	}
	return failure
}

// providerError is an error as providers write it.
type providerError struct {
	Type, Code, Message string
	// Status is a code that is a number, which is a status of HTTP: in a stream that has begun, servers have no other
	// place for it.
	Status int
}

// UnmarshalJSON reads an object with a type, a code and a message, or a text.
func (e *providerError) UnmarshalJSON(data []byte) error {
	var fields struct {
		Type    any    `json:"type"`
		Code    any    `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(data, &e.Message) == nil {
		return nil
	}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	e.Type, _ = fields.Type.(string)
	e.Code, _ = fields.Code.(string)
	if status, ok := fields.Code.(float64); ok && status >= 400 && status < 600 {
		e.Status = int(status)
	}
	e.Message = fields.Message
	return nil
}

// failure returns the error for what a provider reports, in a stream or beside a status.
func (e providerError) failure() *model.Error {
	failure := &model.Error{Code: model.CodeInvalidRequest, Type: cmp.Or(e.Code, e.Type), Message: "the provider answers: " + strings.TrimSpace(e.Message)}
	if e.Status != 0 {
		e.classify(failure, e.Status)
	}
	for _, name := range []string{e.Type, e.Code} {
		switch name {
		case "rate_limit_error", "rate_limit_exceeded":
			failure.Code, failure.Temporary = model.CodeRateLimited, true
		case "overloaded_error", "server_is_overloaded", "slow_down":
			failure.Code, failure.Temporary = model.CodeOverloaded, true
		case "api_error", "server_error", "timeout_error", "internal_server_error":
			failure.Code, failure.Temporary = model.CodeServer, true
		case "authentication_error", "permission_error", "invalid_api_key":
			failure.Code = model.CodeUnauthorized
		case "not_found_error", "model_not_found":
			failure.Code = model.CodeUnknownModel
		}
	}
	return failure
}

// classify has an error be what a status of HTTP stands for.
func (e providerError) classify(failure *model.Error, status int) {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		failure.Code, failure.Temporary = model.CodeUnauthorized, false
		failure.Hint = "check the key that key_env or key_command of the model's configuration gives"
	case status == http.StatusNotFound:
		failure.Code, failure.Temporary = model.CodeUnknownModel, false
		failure.Hint = "check base_url and model of the model's configuration"
	case status == http.StatusTooManyRequests:
		failure.Code = model.CodeRateLimited
		failure.Temporary = e.Type != "insufficient_quota" && e.Code != "insufficient_quota"
	case status == http.StatusServiceUnavailable || status == 529:
		failure.Code, failure.Temporary = model.CodeOverloaded, true
	case status >= 500 || status == http.StatusRequestTimeout:
		failure.Code, failure.Temporary = model.CodeServer, true
	case status < 400:
		failure.Code, failure.Temporary = model.CodeInvalidResponse, false
		failure.Hint = "check base_url of the model's configuration"
	default:
		failure.Code, failure.Temporary = model.CodeInvalidRequest, false
	}
}

// presentable makes what a provider said in an error fit to be shown, and takes the key out of it: a provider may repeat
// what it was sent.
func presentable(err error, key string) error {
	failure := (*model.Error)(nil)
	if !errors.As(err, &failure) {
		return err
	}
	for _, said := range []*string{&failure.Message, &failure.Type, &failure.RequestID} {
		if key != "" {
			*said = strings.ReplaceAll(*said, key, "[key]")
		}
		*said = text.Line(text.Cut(*said, maxMessage))
	}
	if key != "" && failure.Err != nil && strings.Contains(failure.Err.Error(), key) {
		failure.Err = nil
	}
	return err
}

func requestID(h http.Header) string {
	return cmp.Or(h.Get("x-request-id"), h.Get("request-id"))
}

// retryAfter returns how long a provider wants to be left alone (RFC 9110, 10.2.3; retry-after-ms is OpenAI's own).
func retryAfter(h http.Header, now time.Time) time.Duration {
	wait := time.Duration(0)
	if ms, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil {
		wait = inRange(ms / 1000)
	} else if s, err := strconv.ParseFloat(h.Get("retry-after"), 64); err == nil {
		wait = inRange(s)
	} else if at, err := http.ParseTime(h.Get("retry-after")); err == nil {
		wait = at.Sub(now)
	}
	return max(wait, 0)
}

// inRange returns a number of seconds that fits into a duration.
func inRange(seconds float64) time.Duration {
	if !(seconds > 0) { // not a number neither
		return 0
	}
	return time.Duration(min(seconds, 1e6) * float64(time.Second))
}

var (
	errSilence  = errors.New("the server has sent nothing for too long")
	errDuration = errors.New("the response has taken too long")
)

// watch ends a context when nothing has happened for a while, or all has taken too long.
type watch struct {
	clock   Clock
	silence time.Duration
	cancel  context.CancelCauseFunc
	quiet   func() bool
	whole   func() bool
}

func newWatch(ctx context.Context, clock Clock, silence time.Duration) (context.Context, *watch) {
	watched, cancel := context.WithCancelCause(ctx)
	w := &watch{clock: clock, silence: silence, cancel: cancel}
	w.quiet = clock.After(silence, func() { cancel(errSilence) })
	w.whole = clock.After(maxDuration, func() { cancel(errDuration) })
	return watched, w
}

func (w *watch) reset() {
	if w.quiet() {
		w.quiet = w.clock.After(w.silence, func() { w.cancel(errSilence) })
	}
}

func (w *watch) stop() {
	w.quiet()
	w.whole()
	w.cancel(nil)
}

// watchedReader resets a watch with every byte.
type watchedReader struct {
	r     io.Reader
	watch *watch
}

func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.watch.reset()
	}
	return n, err
}
