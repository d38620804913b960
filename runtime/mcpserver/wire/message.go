package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	sdkjson "github.com/segmentio/encoding/json" // the SDK's: two readers that disagree are a way around checks
)

const (
	// MaxMessage is the largest message that is read, in bytes.
	MaxMessage = 4 << 20
	// maxID is how many bytes the id of a request may have: it is sent back.
	maxID = 512
	// maxInteger is the largest integer that every JSON implementation keeps
	// apart from its neighbours.
	maxInteger = 1<<53 - 1
	// maxErrorMessage is how many characters of an error's message are sent. Some
	// quote what they are about, however long that is.
	maxErrorMessage = 1000
	// maxEcho is how many characters of what a client sent are sent back.
	maxEcho = 256
)

// CodeBusy is the code of an error where there is too much to do.
// JSON-RPC leaves codes from -32099 to -32000 to servers.
const CodeBusy = -32000

// asTheSDK reads JSON as the SDK does: names of members are compared to the
// letter.
const asTheSDK = sdkjson.ZeroCopy | sdkjson.DontMatchCaseInsensitiveStructFields

// Message is one request or notification of a client.
type Message struct {
	*jsonrpc.Request
	// Version is the protocol version in _meta, of a request, and HasVersion reports
	// whether there is one.
	Version    string
	HasVersion bool
	// id is the id as it was written, which is sent back: nil for a notification.
	id json.RawMessage
}

// Decode reads one JSON-RPC request or notification of a client. A message that
// is none is refused; nil and nil is one to ignore: a response, which a server
// that asks nothing has no use for, or a notification whose parameters are no
// object, which nobody waits to hear about. The message refers to text.
func Decode(text []byte) (*Message, *Refusal) {
	if !utf8.Valid(text) {
		return nil, &Refusal{Code: jsonrpc.CodeParseError, Message: "The message is not UTF-8."}
	}
	if !json.Valid(text) || text[0] != '{' {
		return nil, notAnObject(text)
	}
	var m struct {
		JSONRPC json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  json.RawMessage `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if _, err := sdkjson.Parse(text, &m, asTheSDK); err != nil {
		return nil, &Refusal{Code: jsonrpc.CodeParseError, Message: "The message cannot be read."}
	}
	id, echo, problem := decodeID(m.ID)
	switch {
	case m.Method == nil && (m.Result != nil || m.Error != nil):
		return nil, nil
	case m.Method == nil:
		return nil, invalid(echo, `The message has neither a "method" nor a "result".`)
	case problem != "":
		return nil, invalid(echo, problem)
	case string(m.JSONRPC) != `"2.0"`:
		return nil, invalid(echo, `"jsonrpc" has to be "2.0".`)
	}
	msg := &Message{Request: &jsonrpc.Request{ID: id, Params: m.Params}, id: echo}
	if m.Method[0] != '"' || json.Unmarshal(m.Method, &msg.Method) != nil {
		return nil, invalid(echo, `"method" has to be a string.`)
	}
	switch {
	case string(m.Params) == "null":
		msg.Params = nil
	case len(m.Params) > 0 && m.Params[0] != '{' && msg.IsCall():
		return nil, msg.Refuse(jsonrpc.CodeInvalidParams, `"params" has to be an object.`)
	case len(m.Params) > 0 && m.Params[0] != '{':
		return nil, nil
	}
	if msg.IsCall() {
		if said := protocolVersion(msg.Params); said != nil {
			if msg.Version, msg.HasVersion = (*said).(string); !msg.HasVersion {
				return nil, msg.Refuse(jsonrpc.CodeInvalidParams, fmt.Sprintf("%q in _meta has to be a string.", mcp.MetaKeyProtocolVersion))
			}
		}
	}
	return msg, nil
}

// protocolVersion returns the protocol version in the _meta of a request's
// parameters, whatever its type is; nil where there is none.
func protocolVersion(params json.RawMessage) *any {
	if !bytes.Contains(params, []byte("_meta")) && bytes.IndexByte(params, '\\') < 0 {
		return nil // it is not there in escapes either
	}
	var p struct {
		Meta mcp.Meta `json:"_meta"`
	}
	if _, err := sdkjson.Parse(params, &p, asTheSDK); err != nil {
		return nil // which the SDK refuses, or does without
	}
	if said, there := p.Meta[mcp.MetaKeyProtocolVersion]; there {
		return &said
	}
	return nil
}

// notAnObject returns why text could not be decoded as an object.
func notAnObject(text []byte) *Refusal {
	var object map[string]json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(text, &object); {
	case errors.As(err, &syntax):
		return &Refusal{Code: jsonrpc.CodeParseError, Message: fmt.Sprintf("The message is not JSON: %v, at byte %d.", syntax, syntax.Offset)}
	case text[0] == '[':
		return invalid(nil, "Batches are not supported: send every message by itself.")
	default:
		return invalid(nil, "A message is a JSON object.")
	}
}

// decodeID reads an id and returns what is wrong with it; echo is what an answer
// has in its place. MCP allows strings and integers, and not null:
// https://modelcontextprotocol.io/specification/2025-11-25/basic#requests
func decodeID(raw json.RawMessage) (id jsonrpc.ID, echo json.RawMessage, problem string) {
	const wrongType = `"id" has to be a string or an integer.`
	var value any
	switch {
	case len(raw) == 0:
		return jsonrpc.ID{}, nil, ""
	case len(raw) > maxID:
		return jsonrpc.ID{}, nil, fmt.Sprintf(`"id" is longer than %d bytes, or no string or integer.`, maxID)
	case raw[0] == '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return jsonrpc.ID{}, nil, wrongType
		}
		value = s
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		n, err := strconv.ParseFloat(string(raw), 64)
		switch {
		case err == nil && n == math.Trunc(n) && math.Abs(n) <= maxInteger:
			value = n
		case !bytes.ContainsAny(raw, ".eE"):
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
