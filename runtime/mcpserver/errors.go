package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxErrorMessage is how many bytes of an error's message are sent. Some quote
// what they are about, however long that is.
const maxErrorMessage = 1000

// failedMessage is all that a client is told about what is wrong in here.
const failedMessage = "The server failed to answer; its standard error says more."

// clientError is what a client is told about an error of a method. An error that
// is meant for clients has a code of its own; all others are the SDK's way to
// talk to the people who write servers, and go to the log.
func (s *Server) clientError(ctx context.Context, method string, err error) error {
	var coded *jsonrpc.Error
	wire, meant := err.(*jsonrpc.Error) //nolint:errorlint // a wrapped one has a text that is not meant for clients
	switch {
	case meant && wire.Code == jsonrpc.CodeInvalidParams && strings.HasSuffix(method, "/list"):
		return &jsonrpc.Error{Code: wire.Code, Message: "There is no page with this cursor. List from the beginning."}
	case meant && wire.Code != 0:
		return &jsonrpc.Error{Code: wire.Code, Message: clip(wire.Message, maxErrorMessage), Data: wire.Data}
	case ctx.Err() != nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The request was canceled."}
	case method == "initialize":
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "The session has begun already: initialize is sent once."}
	case errors.As(err, &coded) && coded.Code == jsonrpc.CodeInvalidParams:
		s.log.Warn("bad parameters", "method", method, "cause", clip(err.Error(), maxErrorMessage))
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: method + `: something in "params" is missing or wrong.`}
	default:
		s.log.Error("failed", "method", method, "cause", clip(err.Error(), maxErrorMessage))
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: failedMessage}
	}
}

// sessionError is what a client is told about an error that no method has
// returned. What the SDK wants of a request it tells with a code; without one, it
// is about the order of requests.
func (s *Server) sessionError(msg *message, err error) *jsonrpc.Error {
	wire, meant := err.(*jsonrpc.Error) //nolint:errorlint // a wrapped one has a text that is not meant for clients
	if meant && wire.Code != 0 {
		return &jsonrpc.Error{Code: wire.Code, Message: clip(wire.Message, maxErrorMessage), Data: wire.Data}
	}
	s.log.Warn("refused", "method", msg.Method, "cause", clip(err.Error(), maxErrorMessage))
	if problem := paramsProblem(msg); problem != "" {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: problem}
	}
	var coded *jsonrpc.Error
	if errors.As(err, &coded) && coded.Code != 0 {
		return &jsonrpc.Error{Code: coded.Code, Message: msg.Method + ": the request does not have the form that the protocol wants."}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: msg.Method + ": the session has not begun. Send initialize first, or say the protocol version in _meta."}
}
