package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// method is what is known about a method before the SDK sees a request for it.
type method struct {
	notification bool
	required     bool // parameters
	decode       func(params []byte) error
}

// decode says whether parameters can be read as a T.
func decode[T any](params []byte) error { return json.Unmarshal(params, new(T)) }

// findMethod returns the methods that are served. Those that the SDK serves for
// capabilities this server does not have, logging and subscriptions to a
// resource, are not among them.
func findMethod(name string) (m method, ok bool) {
	switch name {
	case "initialize":
		m = method{required: true, decode: decode[mcp.InitializeParams]}
	case "server/discover":
		m = method{decode: decode[mcp.DiscoverParams]}
	case "ping":
		m = method{decode: decode[mcp.PingParams]}
	case "tools/list":
		m = method{decode: decode[mcp.ListToolsParams]}
	case "tools/call":
		m = method{required: true, decode: decode[mcp.CallToolParamsRaw]}
	case "prompts/list":
		m = method{decode: decode[mcp.ListPromptsParams]}
	case "prompts/get":
		m = method{required: true, decode: decode[mcp.GetPromptParams]}
	case "resources/list":
		m = method{decode: decode[mcp.ListResourcesParams]}
	case "resources/templates/list":
		m = method{decode: decode[mcp.ListResourceTemplatesParams]}
	case "resources/read":
		m = method{required: true, decode: decode[mcp.ReadResourceParams]}
	case "completion/complete":
		m = method{required: true, decode: decode[mcp.CompleteParams]}
	case listenMethod:
		m = method{required: true, decode: decode[mcp.SubscriptionsListenParams]}
	case "notifications/initialized":
		m = method{notification: true, decode: decode[mcp.InitializedParams]}
	case canceledMethod:
		m = method{notification: true, decode: decode[mcp.CancelledParams]}
	case "notifications/progress":
		m = method{notification: true, required: true, decode: decode[mcp.ProgressNotificationParams]}
	case "notifications/roots/list_changed":
		m = method{notification: true, decode: decode[struct{}]}
	default:
		return method{}, false
	}
	return m, true
}

const (
	canceledMethod = "notifications/cancelled"
	listenMethod   = "subscriptions/listen"
)

// checkMethod refuses requests for what is not served. A notification that is not
// understood is to be ignored, as JSON-RPC wants it: then serve is false, without
// a refusal.
func checkMethod(msg *message) (serve bool, refused *refusal) {
	m, known := findMethod(msg.Method)
	lacking := m.required && len(msg.Params) == 0
	if !msg.IsCall() {
		return known && m.notification && !lacking, nil
	}
	switch {
	case !known:
		return false, refusedAs(msg.rawID, jsonrpc.CodeMethodNotFound, fmt.Sprintf("There is no method %.100q.", msg.Method))
	case m.notification:
		return false, invalid(msg.rawID, msg.Method+" is a notification: send it without an id.")
	case lacking:
		return false, refusedAs(msg.rawID, jsonrpc.CodeInvalidParams, msg.Method+`: "params" is required.`)
	}
	switch msg.Method {
	case "initialize", "ping":
		if isStateless(msg.Params) {
			return false, refusedAs(msg.rawID, jsonrpc.CodeMethodNotFound, "There is no method "+msg.Method+" in the protocol version "+firstStateless+", which _meta asks for.")
		}
	case listenMethod:
		if saidVersion(msg.Params) == nil {
			return false, refusedAs(msg.rawID, jsonrpc.CodeMethodNotFound, fmt.Sprintf("There is no method %s in protocol versions before %s, which has to be in _meta, as %q.", listenMethod, firstStateless, versionKey))
		}
	case "server/discover":
		if saidVersion(msg.Params) == nil {
			return false, refusedAs(msg.rawID, jsonrpc.CodeInvalidParams, fmt.Sprintf("server/discover needs the protocol version in _meta, as %q, such as %q.", versionKey, firstStateless))
		}
	}
	return true, nil
}

// paramsProblem says what is wrong with the form of a request's parameters, in
// words for the people who write clients; the SDK names its own types.
func paramsProblem(msg *message) string {
	m, known := findMethod(msg.Method)
	if !known || len(msg.Params) == 0 {
		return ""
	}
	err := m.decode(msg.Params)
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return fmt.Sprintf("%s: %.100q in \"params\" must not be %s.", msg.Method, mismatch.Field, kindOf(mismatch.Value))
	default:
		return msg.Method + `: "params" does not have the form that the protocol wants.`
	}
}

// kindOf names what a value is that a [json.UnmarshalTypeError] is about. The
// SDK's decoder has the beginning of the value in place of a name, in quotes.
func kindOf(value string) string {
	if beginning, err := strconv.Unquote(value); err == nil {
		value = beginning
	}
	switch {
	case value == "array", strings.HasPrefix(value, "["):
		return "an array"
	case value == "object", strings.HasPrefix(value, "{"):
		return "an object"
	case value == "string", strings.HasPrefix(value, `"`):
		return "a string"
	case value == "bool", value == "true", value == "false":
		return "a bool"
	default:
		return "a number"
	}
}

// versionKey is where requests of the stateless era say which version they speak.
const versionKey = "io.modelcontextprotocol/protocolVersion"

// saidVersion returns the protocol version in the _meta of a request, whatever
// its type is; nil, where there is none.
func saidVersion(params json.RawMessage) json.RawMessage {
	if !bytes.Contains(params, []byte(versionKey)) {
		return nil
	}
	var p, meta map[string]json.RawMessage
	if json.Unmarshal(params, &p) != nil || json.Unmarshal(p["_meta"], &meta) != nil {
		return nil
	}
	return meta[versionKey]
}

// isStateless says that a request is of the stateless era.
func isStateless(params json.RawMessage) bool {
	var version string
	said := saidVersion(params)
	return said != nil && json.Unmarshal(said, &version) == nil && version == firstStateless
}

// checkVersionType refuses requests with a protocol version in _meta that is no
// string. It returns the version, which is empty where there is none.
func checkVersionType(msg *message) (version string, refused *refusal) {
	said := saidVersion(msg.Params)
	if !msg.IsCall() || said == nil {
		return "", nil
	}
	if said[0] != '"' || json.Unmarshal(said, &version) != nil {
		return "", refusedAs(msg.rawID, jsonrpc.CodeInvalidParams, fmt.Sprintf("%q in _meta has to be a string.", versionKey))
	}
	return version, nil
}

// checkVersion refuses requests with a protocol version in _meta that is not one
// of the stateless era; the others are agreed on with initialize.
func checkVersion(msg *message) *refusal {
	version, refused := checkVersionType(msg)
	if refused != nil || version == firstStateless || !msg.IsCall() || saidVersion(msg.Params) == nil {
		return refused
	}
	refused = refusedAs(msg.rawID, mcp.CodeUnsupportedProtocolVersion, fmt.Sprintf("Unsupported protocol version in _meta: %q. %s can be asked for there; older ones begin with initialize.", clip(version, maxEcho), firstStateless))
	// Without the data the message still says what is wrong.
	refused.data, _ = encodeJSON(mcp.UnsupportedProtocolVersionData{
		Supported: []string{firstStateless}, Requested: clip(version, maxEcho),
	})
	return refused
}
