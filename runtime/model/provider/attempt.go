package provider

import (
	"bufio"
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

// once makes one attempt, or two where a server refuses a key that may have expired.
func (t *try) once(ctx context.Context) (reply, error) {
	reply, err := t.post(ctx)
	failure := (*model.Error)(nil)
	if errors.As(err, &failure) && failure.Status == http.StatusUnauthorized && t.model.options.Key != nil && !t.fresh {
		t.fresh = true
		return t.post(ctx)
	}
	return reply, err
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
	encoded, err := model.JSON(body)
	if err != nil {
		return reply{}, fmt.Errorf("writing the request: %w", err)
	}
	watched, stall := context.WithCancelCause(ctx)
	defer stall(nil)
	quiet := time.AfterFunc(m.options.Silence, func() { stall(errSilence) })
	defer quiet.Stop()
	r, err := http.NewRequestWithContext(watched, http.MethodPost, m.options.BaseURL+m.wire.path, bytes.NewReader(encoded))
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
	quiet.Reset(m.options.Silence)
	if response.StatusCode != http.StatusOK {
		return reply{}, presentable(t.refused(response), key)
	}
	got, err := t.read(watched, readerFunc(func(p []byte) (int, error) {
		n, err := response.Body.Read(p)
		quiet.Reset(m.options.Silence)
		return n, err
	}))
	return got, presentable(err, key)
}

// read reads the events of a response up to its end.
func (t *try) read(ctx context.Context, body io.Reader) (reply, error) {
	limited := &io.LimitedReader{R: body, N: t.model.most}
	s := &stream{names: t.names, delta: t.delta}
	decoder := t.model.wire.decode(s)
	end := false
	var err error
	for data, readErr := range events(limited) {
		switch {
		case errors.Is(readErr, bufio.ErrTooLong):
			err = tooLarge()
		case readErr != nil:
			err = broken(ctx, readErr, true)
		default:
			end, err = decoder.event(data)
		}
		if end || err != nil {
			break
		}
	}
	got := decoder.response()
	got.usage = s.usage
	switch {
	case err == nil && limited.N <= 0 && !end:
		err = tooLarge()
	case err == nil && !s.whole:
		err = &model.Error{Code: model.CodeCut, Temporary: true, Message: "the server ended the response before its end"}
	}
	if err == nil {
		err = t.finish(got.items)
	}
	if err != nil {
		got.items = nil // void: what is left is the usage
	}
	return got, err
}

func tooLarge() error {
	return &model.Error{Code: model.CodeTooLarge, Message: "the response is larger than any that is read"}
}

// finish checks a response that has ended, gives ids to calls that have none, as some servers send them, and marks what
// is the provider's own.
func (t *try) finish(items []model.Item) error {
	ids := map[string]bool{}
	for _, item := range items {
		if item.CallID != "" && ids[item.CallID] {
			return invalid("the response has two calls with the id %s", text.Quote(item.CallID))
		}
		ids[item.CallID] = true
	}
	n := 0
	for i := range items {
		item := &items[i]
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
	return nil
}

// invalid is the error for a response that is none of the interface.
func invalid(format string, args ...any) error {
	return &model.Error{Code: model.CodeInvalidResponse, Message: fmt.Sprintf(format, args...)}
}

// broken returns the error for a connection that was not made, or did not last.
func broken(ctx context.Context, err error, begun bool) error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errSilence) {
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
	if json.Unmarshal(body, &whole) != nil || whole.Error.Message == "" {
		whole.Error = providerError{Message: string(body)}
	}
	if strings.TrimSpace(whole.Error.Message) == "" {
		whole.Error.Message = http.StatusText(r.StatusCode)
	}
	failure := whole.Error.failure(r.StatusCode)
	failure.Status, failure.RetryAfter = r.StatusCode, retryAfter(r.Header)
	return failure
}

// providerError is an error as providers write it. The code may be a number, which is a status of HTTP: in a stream that has
// begun, servers have no other place for it.
type providerError struct {
	Type    any    `json:"type"`
	Code    any    `json:"code"`
	Message string `json:"message"`
}

// UnmarshalJSON reads an object, or a text.
func (e *providerError) UnmarshalJSON(data []byte) error {
	type plain providerError // without this method
	if json.Unmarshal(data, &e.Message) == nil {
		return nil
	}
	return json.Unmarshal(data, (*plain)(e))
}

// status returns the status of HTTP that stands for an error in a stream.
func (e providerError) status() int {
	for _, name := range []any{e.Code, e.Type} {
		if status, ok := name.(float64); ok && status >= 400 && status < 600 {
			return int(status)
		}
		switch name {
		case "rate_limit_error", "rate_limit_exceeded":
			return http.StatusTooManyRequests
		case "overloaded_error", "server_is_overloaded", "slow_down":
			return http.StatusServiceUnavailable
		case "api_error", "server_error", "timeout_error", "internal_server_error":
			return http.StatusInternalServerError
		case "authentication_error", "permission_error", "invalid_api_key":
			return http.StatusUnauthorized
		case "not_found_error", "model_not_found":
			return http.StatusNotFound
		}
	}
	return http.StatusBadRequest
}

// failure returns the error for what a provider reports with a status; 0 stands for none, in a stream.
func (e providerError) failure(status int) *model.Error {
	f := &model.Error{Message: "the provider answers: " + strings.TrimSpace(e.Message)}
	switch status = cmp.Or(status, e.status()); {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.Code = model.CodeUnauthorized
	case status == http.StatusNotFound:
		f.Code = model.CodeUnknownModel
	case status == http.StatusTooManyRequests:
		f.Code, f.Temporary = model.CodeRateLimited, e.Type != "insufficient_quota" && e.Code != "insufficient_quota"
	case status == http.StatusServiceUnavailable || status == 529:
		f.Code, f.Temporary = model.CodeOverloaded, true
	case status >= 500 || status == http.StatusRequestTimeout:
		f.Code, f.Temporary = model.CodeServer, true
	case status < 400:
		f.Code = model.CodeInvalidResponse
	default:
		f.Code = model.CodeInvalidRequest
	}
	return f
}

// presentable makes what a provider said in an error fit to be shown, and takes the key out of it: a provider may repeat
// what it was sent.
func presentable(err error, key string) error {
	failure := (*model.Error)(nil)
	if !errors.As(err, &failure) {
		return err
	}
	if key != "" {
		failure.Message = strings.ReplaceAll(failure.Message, key, "[key]")
	}
	failure.Message = text.Line(text.Cut(failure.Message, maxMessage))
	if key != "" && failure.Err != nil && strings.Contains(failure.Err.Error(), key) {
		failure.Err = nil
	}
	return err
}

// retryAfter returns for how many seconds a provider wants to be left alone.
func retryAfter(h http.Header) time.Duration {
	if seconds, err := strconv.ParseFloat(h.Get("retry-after"), 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 1e6) * float64(time.Second))
	}
	return 0
}

var errSilence = errors.New("the server has sent nothing for too long")

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
