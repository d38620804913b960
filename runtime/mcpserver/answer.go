package mcpserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxPlainError is how many bytes of the SDK's plain text are kept.
const maxPlainError = 4 << 10

// answerWriter makes of what the SDK answers to a message over HTTP what its
// client can read: errors that are plain text become JSON-RPC, and the id is
// written the way the client did.
type answerWriter struct {
	http.ResponseWriter
	server *Server
	msg    *message
	conn   *http.ResponseController // of a request that listens, which lasts; else nil
	status int                      // of an error in plain text
	plain  []byte
}

// Unwrap lets [http.ResponseController] flush.
func (a *answerWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader holds back the header of an error that is no JSON.
func (a *answerWriter) WriteHeader(status int) {
	if status >= http.StatusBadRequest && !strings.HasPrefix(a.Header().Get("Content-Type"), "application/json") {
		a.status = status
		return
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write passes on one event, one JSON value, or nothing of an error that is no
// JSON. The SDK writes each at once.
func (a *answerWriter) Write(p []byte) (int, error) {
	if a.status != 0 {
		a.plain = append(a.plain, p[:min(len(p), maxPlainError-len(a.plain))]...)
		return len(p), nil
	}
	if a.conn != nil {
		// A recorder has no connection, and no client that could be slow.
		_ = a.conn.SetWriteDeadline(time.Now().Add(eventTime))
	}
	if _, err := a.ResponseWriter.Write(a.restoreID(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// restoreID gives the answer in p the id of its request.
func (a *answerWriter) restoreID(p []byte) []byte {
	if hasUsualID(a.msg.ID, a.msg.rawID) {
		return p
	}
	begin := 0
	if !bytes.HasPrefix(p, []byte("{")) {
		const field = "data: "
		if begin = bytes.Index(p, []byte(field)); begin < 0 {
			return p
		}
		begin += len(field)
	}
	text := bytes.TrimRight(p[begin:], "\n")
	var kind struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
	}
	if json.Unmarshal(text, &kind) != nil || kind.ID == nil || kind.Method != nil {
		return p
	}
	answer, err := withID(text, a.msg.ID, a.msg.rawID)
	if err != nil {
		return p
	}
	return bytes.Join([][]byte{p[:begin], answer, p[begin+len(text):]}, nil)
}

// finish sends an error that was held back.
func (a *answerWriter) finish() {
	if a.status == 0 {
		return
	}
	why := strings.TrimPrefix(strings.TrimSpace(string(a.plain)), "Bad Request: ")
	refused := invalid(a.msg.rawID, why)
	if a.status >= http.StatusInternalServerError {
		a.server.log.Error("failed", "method", a.msg.Method, "cause", clip(why, maxLogged))
		refused.code, refused.message = jsonrpc.CodeInternalError, failedMessage
	}
	refuse(a.ResponseWriter, a.status, refused)
}
