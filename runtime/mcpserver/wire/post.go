package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ErrStopping is why the context of a post is done when the server ends.
var ErrStopping = errors.New("the server is shutting down")

// eventTime is how long a client that listens has to take what it is told: others
// wait meanwhile.
const eventTime = 10 * time.Second

// post is a request over HTTP, whose answer is a stream of events.
type post struct {
	msg     *Message
	modern  bool // of the stateless era, by its header
	conn    *Conn
	control *http.ResponseController

	mu       sync.Mutex
	w        http.ResponseWriter // nil when nothing more is written
	begun    bool                // the header is written
	failed   error               // of writing
	answered chan struct{}       // is closed when nothing more is written
}

// ServePost passes one message on to a session that connect begins, and writes
// what comes back until the message is answered or ctx is done: the server ends
// where that is because of [ErrStopping], else nobody wants the answer. modern
// reports whether the message is of the stateless era by its header.
func ServePost(ctx context.Context, w http.ResponseWriter, msg *Message, modern bool, connect Connect) error {
	p := &post{msg: msg, modern: modern, w: w, control: http.NewResponseController(w), answered: make(chan struct{})}
	p.conn = newConn(p.send)
	session, err := connect(p.conn)
	if err != nil {
		return fmt.Errorf("beginning a session: %w", err)
	}
	p.conn.pass(msg.Request)
	select {
	case <-p.answered:
		p.conn.end()
		if p.failed == nil {
			return nil
		}
	case <-ctx.Done():
		if stopping := errors.Is(context.Cause(ctx), ErrStopping); stopping && msg.Listens() {
			p.conn.cancel(msg.ID)
			<-p.answered
		} else {
			why := "The request was canceled."
			if stopping {
				why = StoppingMessage
			}
			_ = p.write(msg.Refuse(jsonrpc.CodeInternalError, why).Encode(), true, 0) // a client that is gone needs no answer
		}
		p.conn.end()
	}
	_ = session.Wait() // until the work has ended
	return nil
}

// send writes a response or a notification of the session.
func (p *post) send(msg jsonrpc.Message) error {
	resp, isResponse := msg.(*jsonrpc.Response)
	if isResponse {
		status := 0
		if resp.Error != nil {
			status = http.StatusOK
		}
		if resp.Error != nil && p.modern {
			status = statusOf(p.msg.clientError(resp.Error).Code)
		}
		return p.write(p.msg.answer(resp), true, status)
	}
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	return p.write(text, false, 0)
}

// statusOf is the status of an answer of the stateless era that is an error with
// that code. The era with sessions leaves it to the error, and takes 404 for the end
// of a session:
// https://modelcontextprotocol.io/seps/2575-stateless-mcp
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
func statusOf(code int64) int {
	switch code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeInvalidParams, mcp.CodeUnsupportedProtocolVersion, mcp.CodeMissingRequiredClientCapabilities:
		return http.StatusBadRequest
	default:
		return http.StatusOK
	}
}

// write writes one message: as an event, or by itself where it has a status and
// comes first. Nothing follows the last.
func (p *post) write(text []byte, last bool, status int) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w == nil {
		return nil
	}
	w := p.w
	defer func() {
		if p.failed = err; last || err != nil {
			p.w = nil
			close(p.answered)
		}
	}()
	if status != 0 && !p.begun {
		return writeJSON(w, status, text)
	}
	if !p.begun {
		p.begun = true
		w.Header().Set("Cache-Control", "no-cache, no-transform")
		w.Header().Set("Content-Type", "text/event-stream")
	}
	if p.msg.Listens() {
		// A recorder has no connection, and no client that could be slow.
		_ = p.control.SetWriteDeadline(time.Now().Add(eventTime))
	}
	event := make([]byte, 0, len(text)+32)
	event = append(event, "event: message\ndata: "...)
	event = append(event, text...)
	event = append(event, "\n\n"...)
	if _, err := w.Write(event); err != nil {
		return fmt.Errorf("writing to the client: %w", err)
	}
	if !last {
		_ = p.control.Flush() // what cannot be flushed is written at the end
	}
	return nil
}

// Write answers a request over HTTP with a refusal.
func (r *Refusal) Write(w http.ResponseWriter, status int) {
	_ = writeJSON(w, status, append(r.Encode(), '\n')) // a client that is gone needs no answer
}

func writeJSON(w http.ResponseWriter, status int, text []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(bytes.TrimSpace(text)); err != nil {
		return fmt.Errorf("writing to the client: %w", err)
	}
	return nil
}
