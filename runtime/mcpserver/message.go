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
	// maxID is how many characters the id of a request may have: it is sent back.
	maxID = 256
	// maxInteger is the largest integer that every JSON implementation keeps
	// apart from its neighbours.
	maxInteger = 1<<53 - 1
	// codeBusy says that the server has too much to do. JSON-RPC leaves codes from
	// -32099 to -32000 to servers.
	codeBusy = -32000
)

// refusal is the answer to a message that is not passed on. A zero id is
// written as null: it is not known which request is answered.
type refusal struct {
	id      jsonrpc.ID
	code    int64
	message string
}

// encode writes the refusal as JSON-RPC; [jsonrpc.EncodeMessage] would leave out
// an id that is null.
func (r *refusal) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Version string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", r.id.Raw(), &jsonrpc.Error{Code: r.code, Message: r.message}})
	if err != nil {
		return nil, fmt.Errorf("writing an error: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decodeMessage reads one JSON-RPC request or notification of a client. A
// message that is none is refused; nil and nil is a response, which a server
// that asks nothing has no use for.
//
// Names of members are compared to the letter and the last of two equal ones
// counts, as the SDK does it: two readers that disagree about a message are a
// way around checks.
func decodeMessage(text []byte) (*jsonrpc.Request, *refusal) {
	if !utf8.Valid(text) {
		return nil, &refusal{code: jsonrpc.CodeParseError, message: "The message is not UTF-8."}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, notAnObject(text, err)
	}
	if members == nil {
		return nil, invalid(jsonrpc.ID{}, "A message is a JSON object, not null.")
	}
	rawID, hasID := members["id"]
	id, idProblem := decodeID(rawID)

	rawMethod, isRequest := members["method"]
	if !isRequest {
		_, hasResult := members["result"]
		_, hasError := members["error"]
		if hasResult || hasError {
			return nil, nil
		}
		return nil, invalid(id, `The message has neither a "method" nor a "result".`)
	}
	if hasID && idProblem != "" {
		return nil, invalid(jsonrpc.ID{}, idProblem)
	}
	if version := members["jsonrpc"]; string(version) != `"2.0"` {
		return nil, invalid(id, `"jsonrpc" has to be "2.0".`)
	}
	var method string
	if rawMethod[0] != '"' || json.Unmarshal(rawMethod, &method) != nil {
		return nil, invalid(id, `"method" has to be a string.`)
	}
	params := members["params"]
	switch {
	case string(params) == "null":
		params = nil
	case len(params) > 0 && params[0] != '{':
		return nil, &refusal{id, jsonrpc.CodeInvalidParams, `"params" has to be an object.`}
	}
	return &jsonrpc.Request{ID: id, Method: method, Params: params}, nil
}

func invalid(id jsonrpc.ID, message string) *refusal {
	return &refusal{id, jsonrpc.CodeInvalidRequest, message}
}

// notAnObject says why text could not be decoded as an object.
func notAnObject(text []byte, err error) *refusal {
	var mismatch *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &mismatch) && text[0] == '[':
		return invalid(jsonrpc.ID{}, "Batches are not supported: send every message by itself.")
	case errors.As(err, &mismatch):
		return invalid(jsonrpc.ID{}, "A message is a JSON object, not a "+mismatch.Value+".")
	case errors.As(err, &syntax):
		return &refusal{code: jsonrpc.CodeParseError, message: fmt.Sprintf("The message is not JSON: %v, at byte %d.", syntax, syntax.Offset)}
	default:
		return &refusal{code: jsonrpc.CodeParseError, message: "The message is not JSON: " + err.Error() + "."}
	}
}

// decodeID reads an id and says what is wrong with it. MCP allows strings and
// integers, and not null: https://modelcontextprotocol.io/specification/2025-11-25/basic#requests
func decodeID(raw json.RawMessage) (id jsonrpc.ID, problem string) {
	if len(raw) == 0 {
		return jsonrpc.ID{}, ""
	}
	var value any
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) != nil || len(s) > maxID {
			return jsonrpc.ID{}, fmt.Sprintf(`"id" is longer than %d bytes.`, maxID)
		}
		value = s
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		n, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || n != math.Trunc(n) || math.Abs(n) > maxInteger {
			return jsonrpc.ID{}, fmt.Sprintf(`"id" has to be an integer of at most %d, or a string.`, maxInteger)
		}
		value = n
	default:
		return jsonrpc.ID{}, `"id" has to be a string or an integer.`
	}
	id, err := jsonrpc.MakeID(value)
	if err != nil {
		return jsonrpc.ID{}, `"id" has to be a string or an integer.`
	}
	return id, ""
}

// leadingID looks for the id of a message of which only the beginning is known.
func leadingID(beginning []byte) jsonrpc.ID {
	dec := json.NewDecoder(bytes.NewReader(beginning))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return jsonrpc.ID{}
	}
	for {
		name, err := dec.Token()
		if err != nil {
			return jsonrpc.ID{}
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return jsonrpc.ID{}
		}
		if name == "id" {
			id, _ := decodeID(value)
			return id
		}
	}
}
