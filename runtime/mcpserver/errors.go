package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxErrorMessage is how many bytes of an error's message are sent. Some quote
// what they are about, however long that is.
const maxErrorMessage = 1000

const (
	// maxEcho is how many bytes of what a client sent are sent back.
	maxEcho = 256
	// maxLogged is how many bytes of what is wrong with a request are logged.
	maxLogged = 200
)

// failedMessage is all that a client is told about what is wrong in here.
const failedMessage = "The server failed to answer; its standard error says more."

// stoppingMessage is the answer to what is not done when the server ends.
const stoppingMessage = "The server is shutting down; the call was stopped."

// errStopping is why the context of a call is done when the server ends.
var errStopping = errors.New("the server is shutting down")

// clientError is what a client is told about an error of a method. An error that
// is meant for clients has a code of its own; all others are the SDK's way to
// talk to the people who write servers, and go to the log.
func (s *Server) clientError(ctx context.Context, method string, err error) error {
	var coded *jsonrpc.Error
	wire, meant := err.(*jsonrpc.Error) //nolint:errorlint // a wrapped one has a text that is not meant for clients
	switch {
	case errors.Is(context.Cause(ctx), errStopping):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: stoppingMessage}
	case meant && wire.Code == jsonrpc.CodeInvalidParams && strings.HasSuffix(method, "/list"):
		return &jsonrpc.Error{Code: wire.Code, Message: "There is no page with this cursor. List from the beginning."}
	case meant && wire.Code != 0:
		return &jsonrpc.Error{Code: wire.Code, Message: clip(wire.Message, maxErrorMessage), Data: boundData(wire.Data)}
	case ctx.Err() != nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The request was canceled."}
	case method == "initialize":
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "The session has begun already: initialize is sent once."}
	case errors.As(err, &coded) && coded.Code == jsonrpc.CodeInvalidParams:
		s.log.Warn("bad parameters", "method", method, "cause", clip(err.Error(), maxLogged))
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: method + `: something in "params" is missing or wrong.`}
	default:
		s.log.Error("failed", "method", method, "cause", clip(err.Error(), maxLogged))
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: failedMessage}
	}
}

// sessionError is what a client is told about an error that no method has
// returned. What the SDK wants of a request it tells with a code; without one, it
// is about the order of requests.
func (s *Server) sessionError(msg *message, err error) *jsonrpc.Error {
	wire, meant := err.(*jsonrpc.Error) //nolint:errorlint // a wrapped one has a text that is not meant for clients
	if meant && wire.Code != 0 {
		return &jsonrpc.Error{Code: wire.Code, Message: clip(wire.Message, maxErrorMessage), Data: boundData(wire.Data)}
	}
	s.log.Warn("refused", "method", msg.Method, "cause", clip(err.Error(), maxLogged))
	if problem := paramsProblem(msg); problem != "" {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: problem}
	}
	var coded *jsonrpc.Error
	if errors.As(err, &coded) && coded.Code != 0 {
		return &jsonrpc.Error{Code: coded.Code, Message: msg.Method + ": the request does not have the form that the protocol wants."}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: msg.Method + ": the session has not begun. Send initialize first, or say the protocol version in _meta."}
}

// boundData shortens the data of an error in which the SDK sends the address of a
// resource back.
func boundData(data json.RawMessage) json.RawMessage {
	if len(data) <= maxErrorMessage {
		return data
	}
	var about struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(data, &about) != nil || about.URI == "" {
		return nil
	}
	return uriData(about.URI)
}

// uriData is the data of an error about a resource.
func uriData(uri string) json.RawMessage {
	data, err := encodeJSON(map[string]string{"uri": clip(uri, maxEcho)})
	if err != nil {
		return nil // a string always can be written
	}
	return data
}
