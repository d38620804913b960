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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/model"
)

// stream is a response while it is read.
type stream struct {
	request
	delta  func(string)     // gets each piece of text
	tokens map[string]int64 // the usage, by the names of all interfaces

	message    fields   // the message of Chat Completions, without its calls
	parts      []fields // the blocks of Messages, the calls of Chat Completions, the items of Responses
	stopReason string   // of Messages

	complete bool // the last event was read
	items    []model.Item
	ids      map[string]bool // of the calls in items
	paused   bool            // the provider wants another request, with these items
}

// addUsage adds the tokens of the response to a sum.
func (s *stream) addUsage(sum *model.Usage) {
	t := s.tokens
	sum.InputTokens += t["input_tokens"] + t["cache_read_input_tokens"] + t["cache_creation_input_tokens"] + t["prompt_tokens"]
	sum.OutputTokens += t["output_tokens"] + t["completion_tokens"]
}

// newCall returns the item of a call of the tool with a flat name. If id is empty, or is the id of another call in the
// response, the item gets a new id.
func (s *stream) newCall(id, name, arguments string) model.Item {
	for n := len(s.items); id == "" || s.ids[id]; n++ {
		id = "call_without_id_" + strconv.Itoa(n)
	}
	s.ids[id] = true
	canonical := name
	for _, t := range s.Tools {
		if model.Flat(t.Name) == name {
			canonical = t.Name
		}
	}
	return model.Item{Kind: model.ToolCall, CallID: id, Name: canonical, Wire: name, Arguments: arguments}
}

var errSilence = errors.New("the server has sent nothing for too long")

// send sends the request of s and reads the response into s. It gives up when the server is silent for too long.
func (m *Model) send(ctx context.Context, s *stream, key string) error {
	body := m.wire.body(s.request)
	maps.Copy(body, m.config.Request) // the user's fields replace ours
	encoded, err := model.JSON(body)
	if err != nil {
		return fmt.Errorf("writing the request: %w", err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timer := time.AfterFunc(m.config.Timeout, func() { stop(errSilence) })
	defer timer.Stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.wire.url, bytes.NewReader(encoded))
	if err != nil {
		return fmt.Errorf("preparing the request: %w", err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "User-Agent": {"convtools"}}
	if m.config.API == Messages {
		r.Header.Set("Anthropic-Version", "2023-06-01") // compatible servers know this version, too
	}
	if key != "" {
		r.Header.Set(m.wire.header, m.wire.scheme+key)
	}
	response, err := m.client.Do(r)
	if err != nil {
		return connectionError(ctx, model.CodeUnreachable, "there is no connection to the server: ", err)
	}
	defer response.Body.Close()
	timer.Reset(m.config.Timeout)
	if response.StatusCode != http.StatusOK {
		return statusError(response)
	}
	return m.readStream(ctx, s, readerFunc(func(p []byte) (int, error) {
		n, err := response.Body.Read(p)
		timer.Reset(m.config.Timeout)
		return n, err
	}))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// readStream reads the events of a response into s. The error is that of an event, or says that the response is too
// large, that the connection broke, or that the response has no last event.
func (m *Model) readStream(ctx context.Context, s *stream, body io.Reader) error {
	limited := &io.LimitedReader{R: body, N: m.maxBytes}
	err := scanEvents(limited, func(data []byte) error { return m.readEvent(s, data) })
	if _, ok := errors.AsType[*model.Error](err); ok {
		return err
	}
	isCutOff := err == nil && limited.N <= 0 // at the limit, before the last event
	switch {
	case errors.Is(err, bufio.ErrTooLong) || isCutOff:
		return &model.Error{Code: model.CodeTooLarge, Message: "the response is larger than any that is read"}
	case err != nil && !errors.Is(err, io.EOF): // readEvent returns io.EOF for the last event
		return connectionError(ctx, model.CodeCut, "the connection broke before the end of the response: ", err)
	case !s.complete:
		return &model.Error{Code: model.CodeCut, Temporary: true, Message: "the server ended the response before its end"}
	}
	m.wire.finish(s)
	return nil
}

// readEvent reads an event into s. It returns [io.EOF] for the last event, and a [*model.Error] for an error in an event.
func (m *Model) readEvent(s *stream, data []byte) error {
	if string(data) == "[DONE]" { // the end of OpenAI's streams
		s.complete = true
		return io.EOF
	}
	var event fields
	if err := parse(data, &event); err != nil {
		return err
	}
	for _, holder := range []any{event, event["message"], event["response"]} {
		for name, value := range objectOf(objectOf(holder)["usage"]) {
			number, _ := value.(json.Number)
			if n, err := number.Int64(); err == nil {
				s.tokens[name] = max(n, 0) // the latest event wins
			}
		}
	}
	switch failure := event["error"]; {
	case failure != nil:
		return reportedError(failure, 0)
	case event["type"] == "error": // some servers send the fields of the error in the event
		return reportedError(event, 0)
	}
	return m.wire.event(s, event)
}

// scanEvents calls event with the data of each server-sent event (WHATWG HTML, 9.2.6) up to the first error, which it
// returns. It ignores an event without an empty line after it.
func scanEvents(r io.Reader, event func(data []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		field, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case len(line) == 0 && data != nil:
			if err := event(data[:len(data)-1]); err != nil { // without the last newline
				return err
			}
			data = nil
		case string(field) == "data":
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		}
	}
	return lines.Err()
}

// parse decodes JSON into to. It keeps numbers as they are written.
func parse(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		return &model.Error{Code: model.CodeInvalidResponse, Message: "an event of the response is not JSON of this interface"}
	}
	return nil
}

// withheldError returns the error for a response that the provider does not give.
func withheldError() error {
	return &model.Error{Code: model.CodeRefused, Message: "the provider withholds the response, by its rules for content"}
}

// connectionError returns the error for a connection that failed, or that was given up because of silence.
func connectionError(ctx context.Context, code model.Code, message string, err error) error {
	message += err.Error()
	if errors.Is(context.Cause(ctx), errSilence) {
		code, message = model.CodeStalled, errSilence.Error()
	}
	return &model.Error{Code: code, Message: message, Temporary: true}
}

// statusError returns the error for a response whose status is not 200. The message is that of an error in JSON, or else
// the body, or else the name of the status.
func statusError(r *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxErrorBody)) // the status is enough without it
	var decoded struct{ Error any }
	_ = parse(body, &decoded) // it may be HTML
	if textOf(decoded.Error) == "" && textOf(objectOf(decoded.Error)["message"]) == "" {
		decoded.Error = cmp.Or(strings.TrimSpace(string(body)), http.StatusText(r.StatusCode))
	}
	failure := reportedError(decoded.Error, r.StatusCode)
	failure.Status = r.StatusCode
	if seconds, err := strconv.ParseFloat(r.Header.Get("retry-after"), 64); err == nil && seconds > 0 {
		failure.RetryAfter = time.Duration(min(seconds, 1e6) * float64(time.Second)) // does not overflow
	}
	return failure
}

// reportedError returns the error for the report of a provider: a text, or an object with a message, a type and a code.
// status is the HTTP status, or 0 for a report in a stream, where some servers have a status in the code.
func reportedError(report any, status int) *model.Error {
	object := objectOf(report)
	names := textOf(object["type"]) + " " + textOf(object["code"])
	if code, ok := object["code"].(json.Number); ok && status == 0 {
		status, _ = strconv.Atoi(code.String())
	}
	matches := func(statuses []int, words ...string) bool {
		return slices.Contains(statuses, status) ||
			slices.ContainsFunc(words, func(word string) bool { return strings.Contains(names, word) })
	}
	message := strings.TrimSpace(textOf(report) + textOf(object["message"]))
	f := &model.Error{Code: model.CodeInvalidRequest, Message: "the provider answers: " + message}
	switch {
	case matches(nil, "insufficient_quota"): // has status 429, but does not pass by waiting
		f.Code = model.CodeRateLimited
	case matches([]int{401, 403}, "authentication", "permission", "api_key"):
		f.Code = model.CodeUnauthorized
	case matches([]int{404}, "not_found"):
		f.Code = model.CodeUnknownModel
	case matches([]int{429}, "rate_limit"):
		f.Code, f.Temporary = model.CodeRateLimited, true
	case matches([]int{503, 529}, "overloaded", "slow_down"):
		f.Code, f.Temporary = model.CodeOverloaded, true
	case status >= 500 && status < 600 || matches([]int{408}, "api_error", "server_error", "timeout"):
		f.Code, f.Temporary = model.CodeServer, true
	case status >= 300 && status < 400:
		f.Code = model.CodeInvalidResponse
	}
	return f
}
