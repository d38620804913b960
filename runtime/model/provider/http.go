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
	"iter"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model"
)

// stream is what decoders read a response with, and what they have read.
type stream struct {
	names model.Names
	from  string       // see request
	delta func(string) // gets the pieces of messages

	items  []model.Item
	usage  model.Usage
	whole  bool // nothing of the response is missing
	paused bool // the provider wants the request again, with these items
}

// decoder reads the events of a response.
type decoder interface {
	// event takes the data of one event. It returns whether the response has ended.
	event(data []byte) (end bool, err error)
	// finish adds the items that are not in the stream yet.
	finish()
}

// post sends a request and reads the response.
func (m *Model) post(ctx context.Context, asked request, s *stream, fresh bool) (err error) {
	key := ""
	if m.options.Key != nil {
		if key, err = m.options.Key(ctx, fresh); err != nil {
			return &model.Error{Code: model.CodeConfiguration, Message: err.Error(), Err: err}
		}
	}
	defer func() { present(err, key) }()
	body := m.wire.body(asked)
	maps.Copy(body, m.options.Request)
	encoded, err := model.JSON(body)
	if err != nil {
		return fmt.Errorf("writing the request: %w", err)
	}
	watched, stall := context.WithCancelCause(ctx)
	defer stall(nil)
	quiet := time.AfterFunc(m.options.Silence, func() { stall(errSilence) })
	defer quiet.Stop()
	r, err := http.NewRequestWithContext(watched, http.MethodPost, m.options.BaseURL+m.wire.path, bytes.NewReader(encoded))
	if err != nil {
		return fmt.Errorf("preparing the request: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("User-Agent", "convtools")
	m.wire.headers(r.Header, key)
	response, err := m.client.Do(r)
	if err != nil {
		return broken(watched, &model.Error{Code: model.CodeUnreachable, Message: "there is no connection to the server: "}, err)
	}
	defer response.Body.Close()
	quiet.Reset(m.options.Silence)
	if response.StatusCode != http.StatusOK {
		return refused(response)
	}
	return m.read(watched, s, readerFunc(func(p []byte) (int, error) {
		n, err := response.Body.Read(p)
		quiet.Reset(m.options.Silence)
		return n, err
	}))
}

var errSilence = errors.New("the server has sent nothing for too long")

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// read reads the events of a response up to its end. After an error the stream has nothing but the usage.
func (m *Model) read(ctx context.Context, s *stream, body io.Reader) (err error) {
	limited := &io.LimitedReader{R: body, N: m.most}
	decoder := m.wire.decode(s)
	end := false
	for data, readErr := range events(limited) {
		switch {
		case errors.Is(readErr, bufio.ErrTooLong):
			limited.N = 0
		case readErr != nil:
			err = broken(ctx, &model.Error{Code: model.CodeCut, Message: "the connection broke before the end of the response: "}, readErr)
		default:
			end, err = decoder.event(data)
		}
		if end || err != nil {
			break
		}
	}
	decoder.finish()
	switch {
	case err == nil && limited.N <= 0 && !end:
		err = &model.Error{Code: model.CodeTooLarge, Message: "the response is larger than any that is read"}
	case err == nil && !s.whole:
		err = &model.Error{Code: model.CodeCut, Temporary: true, Message: "the server ended the response before its end"}
	case err == nil:
		err = s.identify()
	}
	if err != nil {
		s.items = nil
	}
	return err
}

// maxLine is the longest line of a stream, in bytes.
const maxLine = 16 << 20

// events yields the data of server-sent events (WHATWG HTML, 9.2.6). An event that has not ended with the stream is
// none.
func events(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		var data []byte
		for lines.Scan() {
			line := lines.Bytes()
			field, value, _ := bytes.Cut(line, []byte(":"))
			switch {
			case len(line) == 0 && data != nil:
				if !yield(data[:len(data)-1], nil) {
					return
				}
				data = nil
			case string(field) == "data":
				data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// identify gives ids to calls that have none, as some servers send them. Those that there are have to differ.
func (s *stream) identify() error {
	ids := map[string]bool{}
	for _, item := range s.items {
		if item.CallID != "" && ids[item.CallID] {
			return invalid("the response has two calls with the id %s", text.Quote(item.CallID))
		}
		ids[item.CallID] = true
	}
	n := 0
	for i := range s.items {
		for item := &s.items[i]; item.Kind == model.ToolCall && item.CallID == ""; n++ {
			if id := "call_" + strconv.Itoa(n); !ids[id] {
				item.CallID = id
			}
		}
	}
	return nil
}

// invalid is the error for a response that is none of the interface.
func invalid(format string, args ...any) error {
	return &model.Error{Code: model.CodeInvalidResponse, Message: fmt.Sprintf(format, args...)}
}

// withheld is the error for a response that the provider does not give.
func withheld() error {
	return &model.Error{Code: model.CodeRefused, Message: "the provider withholds the response, by its rules for content"}
}

// broken returns the error for a connection that was not made, or did not last: failure, unless the context has ended.
func broken(ctx context.Context, failure *model.Error, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSilence):
		failure = &model.Error{Code: model.CodeStalled, Message: cause.Error(), Err: cause}
	case cause != nil:
		return cause
	default:
		failure.Message, failure.Err = failure.Message+err.Error(), err
	}
	failure.Temporary = true
	return failure
}

// refused returns the error for an answer that is no response.
func refused(r *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxErrorBody)) // if it cannot be read, the status says enough
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
	failure.Status = r.StatusCode
	if seconds, err := strconv.ParseFloat(r.Header.Get("retry-after"), 64); err == nil && seconds > 0 {
		failure.RetryAfter = time.Duration(min(seconds, 1e6) * float64(time.Second))
	}
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

// status returns the HTTP status that an error in a stream would have had.
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

// failure returns the error for a report of the provider with an HTTP status, which is 0 in a stream.
func (e providerError) failure(status int) *model.Error {
	f := &model.Error{Code: model.CodeInvalidRequest, Message: "the provider answers: " + strings.TrimSpace(e.Message)}
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
	}
	return f
}

// present makes what a provider said in an error fit to be shown, and takes the key out of it: a provider may repeat
// what it was sent.
func present(err error, key string) {
	failure := (*model.Error)(nil)
	if !errors.As(err, &failure) {
		return
	}
	const most = 500
	if key != "" {
		failure.Message = strings.ReplaceAll(failure.Message, key, "[key]")
		if failure.Err != nil && strings.Contains(failure.Err.Error(), key) {
			failure.Err = nil
		}
	}
	failure.Message = text.Line(text.Cut(failure.Message, most))
}
