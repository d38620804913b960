package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// maxID is how many bytes the id of a request may have: it is sent back.
	maxID = 512
	// maxInteger is the largest integer that every JSON implementation keeps
	// apart from its neighbours.
	maxInteger = 1<<53 - 1
	// maxNesting is how deep arrays and objects may be in each other: as deep as the
	// SDK reads them.
	maxNesting = 1000
	// codeBusy says that the server has too much to do. JSON-RPC leaves codes from
	// -32099 to -32000 to servers.
	codeBusy = -32000
)

// message is one request or notification of a client. The id goes back the way
// it was written, which clients may compare as text, and which JSON libraries
// do not agree on where it is large or has escapes.
type message struct {
	*jsonrpc.Request
	rawID json.RawMessage // nil for a notification
}

// refusal is the answer to a message that is not passed on. Without an id, null
// is written: it is not known which request is answered.
type refusal struct {
	id      json.RawMessage
	code    int64
	message string
	data    json.RawMessage // or nil
}

// encode writes the refusal as JSON-RPC; [jsonrpc.EncodeMessage] would leave out
// an id that is null.
func (r *refusal) encode() ([]byte, error) {
	return encodeJSON(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", r.id, &jsonrpc.Error{Code: r.code, Message: clip(r.message, maxErrorMessage), Data: r.data}})
}

// decodeMessage reads one JSON-RPC request or notification of a client. A
// message that is none is refused; nil and nil is one to ignore: a response, which
// a server that asks nothing has no use for, or a notification whose parameters
// cannot be read, which nobody waits to hear about.
//
// Names of members are compared to the letter and the last of two equal ones
// counts, as the SDK does it: two readers that disagree about a message are a
// way around checks.
func decodeMessage(text []byte) (*message, *refusal) {
	if !utf8.Valid(text) {
		return nil, &refusal{code: jsonrpc.CodeParseError, message: "The message is not UTF-8."}
	}
	if isNestedDeeper(text, maxNesting) {
		return nil, invalid(leadingID(text), fmt.Sprintf("The message is nested more than %d levels deep.", maxNesting))
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, notAnObject(text, err)
	}
	if members == nil {
		return nil, invalid(nil, "A message is a JSON object, not null.")
	}
	rawID, hasID := members["id"]
	id, rawID, idProblem := decodeID(rawID)

	rawMethod, isRequest := members["method"]
	if !isRequest {
		_, hasResult := members["result"]
		_, hasError := members["error"]
		if hasResult || hasError {
			return nil, nil
		}
		return nil, invalid(rawID, `The message has neither a "method" nor a "result".`)
	}
	if hasID && idProblem != "" {
		return nil, invalid(rawID, idProblem)
	}
	if version := members["jsonrpc"]; string(version) != `"2.0"` {
		return nil, invalid(rawID, `"jsonrpc" has to be "2.0".`)
	}
	var method string
	if rawMethod[0] != '"' || json.Unmarshal(rawMethod, &method) != nil {
		return nil, invalid(rawID, `"method" has to be a string.`)
	}
	params := members["params"]
	switch {
	case string(params) == "null":
		params = nil
	case len(params) > 0 && params[0] != '{' && !hasID:
		return nil, nil
	case len(params) > 0 && params[0] != '{':
		return nil, refusedAs(rawID, jsonrpc.CodeInvalidParams, `"params" has to be an object.`)
	}
	return &message{&jsonrpc.Request{ID: id, Method: method, Params: params}, rawID}, nil
}

func invalid(id json.RawMessage, message string) *refusal {
	return refusedAs(id, jsonrpc.CodeInvalidRequest, message)
}

func refusedAs(id json.RawMessage, code int64, message string) *refusal {
	return &refusal{id: id, code: code, message: message}
}

// isNestedDeeper says that more than limit arrays and objects of text are in each
// other. Text that is no JSON is for others to refuse.
func isNestedDeeper(text []byte, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++ // what is escaped does not end the string
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// notAnObject says why text could not be decoded as an object.
func notAnObject(text []byte, err error) *refusal {
	var mismatch *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &mismatch) && text[0] == '[':
		return invalid(nil, "Batches are not supported: send every message by itself.")
	case errors.As(err, &mismatch):
		return invalid(nil, "A message is a JSON object, not a "+mismatch.Value+".")
	case errors.As(err, &syntax):
		return &refusal{code: jsonrpc.CodeParseError, message: fmt.Sprintf("The message is not JSON: %v, at byte %d.", syntax, syntax.Offset)}
	default:
		return &refusal{code: jsonrpc.CodeParseError, message: "The message is not JSON: " + err.Error() + "."}
	}
}

// decodeID reads an id and says what is wrong with it; echo is what an answer has
// in its place. MCP allows strings and integers, and not null:
// https://modelcontextprotocol.io/specification/2025-11-25/basic#requests
func decodeID(raw json.RawMessage) (id jsonrpc.ID, echo json.RawMessage, problem string) {
	if len(raw) == 0 {
		return jsonrpc.ID{}, nil, ""
	}
	const wrongType = `"id" has to be a string or an integer.`
	var value any
	switch raw[0] {
	case '"':
		var s string
		if len(raw) > maxID || json.Unmarshal(raw, &s) != nil {
			return jsonrpc.ID{}, nil, fmt.Sprintf(`"id" is longer than %d bytes.`, maxID)
		}
		value = s
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if len(raw) > maxID {
			return jsonrpc.ID{}, nil, fmt.Sprintf(`"id" is longer than %d bytes.`, maxID)
		}
		n, err := strconv.ParseFloat(string(raw), 64)
		switch {
		case err == nil && n == math.Trunc(n) && math.Abs(n) <= maxInteger:
			value = n
		case isInteger(raw):
			// The SDK would round it, and could not keep it apart from its
			// neighbours.
			value = "\x00" + string(raw)
		default:
			return jsonrpc.ID{}, raw, wrongType
		}
	default:
		return jsonrpc.ID{}, nil, wrongType
	}
	id, err := jsonrpc.MakeID(value)
	if err != nil {
		return jsonrpc.ID{}, nil, wrongType
	}
	return id, raw, ""
}

// isInteger says that a JSON number is written as an integer.
func isInteger(number []byte) bool {
	return !bytes.ContainsAny(number, ".eE")
}

// withID returns an answer with the id that its request has, where the SDK writes
// it another way. Everything else stays as it is.
func withID(answer []byte, id jsonrpc.ID, raw json.RawMessage) ([]byte, error) {
	if hasUsualID(id, raw) {
		return answer, nil
	}
	var m struct {
		Version json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  json.RawMessage `json:"result,omitempty"`
		Error   json.RawMessage `json:"error,omitempty"`
	}
	if err := json.Unmarshal(answer, &m); err != nil {
		return nil, fmt.Errorf("giving an answer its id: %w", err)
	}
	m.ID = raw
	return encodeJSON(m)
}

// hasUsualID says that the SDK writes an id the way it was written.
func hasUsualID(id jsonrpc.ID, raw json.RawMessage) bool {
	switch value := id.Raw().(type) {
	case int64:
		return string(raw) == strconv.FormatInt(value, 10)
	default:
		usual, err := encodeJSON(value)
		return err == nil && bytes.Equal(usual, raw)
	}
}

// encodeJSON writes v without the escapes for HTML.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// leadingID looks for the id of a message of which only the beginning is known.
func leadingID(beginning []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(beginning))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil
	}
	for {
		name, err := dec.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil
		}
		if name == "id" {
			_, echo, _ := decodeID(value)
			return echo
		}
	}
}
