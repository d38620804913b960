package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/convtools/convtools/runtime/base/text"
)

// Refusal is the answer to a message that is not passed on. It names no request
// where it is not known which one is answered.
type Refusal struct {
	Code    int64
	Message string
	Data    json.RawMessage // or nil
	id      json.RawMessage
}

// Refuse returns an answer to a message that is not passed on.
func (m *Message) Refuse(code int64, message string) *Refusal {
	return &Refusal{Code: code, Message: message, id: m.id}
}

// RefuseBeginning returns an answer to a message of which only the beginning was
// read.
func RefuseBeginning(beginning []byte, code int64, message string) *Refusal {
	return &Refusal{Code: code, Message: message, id: leadingID(beginning)}
}

func invalid(id json.RawMessage, message string) *Refusal {
	return &Refusal{Code: jsonrpc.CodeInvalidRequest, Message: message, id: id}
}

// Encode returns the refusal as JSON-RPC; [jsonrpc.EncodeMessage] would leave out
// an id that is null.
func (r *Refusal) Encode() []byte {
	return encodeAnswer(r.id, nil, &jsonrpc.Error{Code: r.Code, Message: text.Cut(r.Message, maxErrorMessage), Data: r.Data})
}

// answer returns the answer of the SDK to a message, with the id the way it was
// written: clients may compare it as text, and JSON libraries do not agree on
// those that are large.
func (m *Message) answer(resp *jsonrpc.Response) []byte {
	if resp.Error != nil {
		return encodeAnswer(m.id, nil, m.clientError(resp.Error))
	}
	return encodeAnswer(m.id, resp.Result, nil)
}

func encodeAnswer(id, result json.RawMessage, failure *jsonrpc.Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	var b bytes.Buffer
	b.Grow(len(id) + len(result) + 64)
	b.WriteString(`{"jsonrpc":"2.0","id":`)
	b.Write(id)
	if failure == nil {
		b.WriteString(`,"result":`)
		b.Write(result)
	} else {
		b.WriteString(`,"error":`)
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if enc.Encode(failure) != nil { // data that is no JSON
			_ = enc.Encode(&jsonrpc.Error{Code: failure.Code, Message: failure.Message})
		}
		b.Truncate(b.Len() - 1) // the encoder ends a line
	}
	b.WriteByte('}')
	return b.Bytes()
}

// clientError is what a client is told about an error that the SDK answers a
// request with. One with a code of its own is meant for clients. One that wraps
// what is wrong with parameters quotes all of them and names types of the SDK. One
// without a code is about the order of requests.
func (m *Message) clientError(err error) *jsonrpc.Error {
	var coded *jsonrpc.Error
	var mismatch *json.UnmarshalTypeError
	hasCode := errors.As(err, &coded) && coded.Code != 0
	told := jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: m.Method + `: "params" does not have the form that the protocol wants.`}
	switch {
	case hasCode && error(coded) == err:
		told = *coded
	case errors.As(err, &mismatch) && mismatch.Field != "":
		told.Message = fmt.Sprintf("%s: %.100q in \"params\" has a value of the wrong type.", m.Method, mismatch.Field)
	case hasCode && coded.Code != jsonrpc.CodeInvalidParams:
		told.Code, told.Message = coded.Code, err.Error()
	case !hasCode && errors.Unwrap(err) == nil:
		told.Code, told.Message = jsonrpc.CodeInvalidRequest, err.Error()
	}
	told.Message = text.Cut(told.Message, maxErrorMessage)
	return &told
}
