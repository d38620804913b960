package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// MaxMessage is the largest message that is read, in bytes.
	MaxMessage = 4 << 20
	// stopTime is the time for calls to end after they were told to stop.
	stopTime = 10 * time.Second
)

// stream is one client on a pair of streams, one JSON-RPC message a line. It stands
// in place of the SDK's transport (go-sdk v1.8.0), with which
//
//   - a line that is no message, or too long, ends the server
//     (https://github.com/modelcontextprotocol/go-sdk/issues/1209);
//   - answers that are not written yet when the input ends are lost, which scripts
//     that pipe their requests in wait for;
//   - one stream has one session, which refuses initialize after a request of the
//     stateless era (https://github.com/modelcontextprotocol/go-sdk/issues/961):
//     clients that speak both ask server/discover first.
type stream struct {
	sdk  *mcp.Server
	ctx  context.Context // of the sessions
	eras [2]*conn        // [0] for requests without a protocol version, [1] with one; nil before the first request

	mu       sync.Mutex
	sessions []*mcp.ServerSession
	pending  map[jsonrpc.ID]bool // requests without an answer
	writes   int                 // answers that are being written
	answered chan struct{}       // has a value after an answer was written
	over     chan struct{}       // is closed when no more messages are passed on

	writing sync.Mutex
	out     io.Writer
	broken  chan error // has the error of the first write that failed
}

// ServeStdio serves one client, one JSON-RPC message in a line, until in ends or ctx is done, and returns nil then.
// When in ends, requests without an answer have [Config.DrainTime] to finish. When ctx is done, such requests are
// stopped and answered at once: a person pressed Ctrl-C, or a client asked for the end and waits. A failure to read in,
// to write out or to begin a session is an error. A goroutine that reads in may stay until in ends.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	limits, stop := newLifetime(context.WithoutCancel(ctx)) // stop ends the requests; ctx does not
	defer stop(nil)
	st := &stream{
		sdk: s.sdk, ctx: limits.context(), out: out, broken: make(chan error, 1),
		pending: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1), over: make(chan struct{}),
	}
	watching, stopWatching := context.WithCancel(ctx) // watch, which notifies clients of changes, ends with ServeStdio
	defer stopWatching()
	go s.watch(watching)

	received := make(chan error, 1)
	go func() { received <- st.receive(in) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-st.broken: // a write has failed
	case err = <-received: // in has ended, or reading has failed
		limits.endListening() // answers the requests that only wait for changes
		if err == nil {       // the other requests have DrainTime to end by themselves
			draining, cancel := context.WithTimeout(ctx, s.cfg.DrainTime)
			err = st.await(draining)
			cancel()
		}
	}
	stop(errStopping) // ends the requests that still run
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err == nil { // the stopped requests still get their answers
		err = st.await(stopping)
	}
	st.close(stopping)
	if err != nil {
		return fmt.Errorf("the MCP session ended: %w", err)
	}
	return nil
}

// receive passes each line of in that is not blank to accept. It returns nil at the end of in, or the first error.
func (st *stream) receive(in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		// Some editors and shells write a byte order mark first.
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		if len(line) > 0 {
			if acceptErr := st.accept(line); acceptErr != nil {
				return acceptErr
			}
		}
		if errors.Is(err, io.EOF) { // the last line comes with io.EOF
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading from the client: %w", err)
		}
	}
}

// readLine returns the next line with its line ending, and the error of the reader. The last line comes with [io.EOF].
// A line of more than MaxMessage bytes is read to its end, but cut to MaxMessage and the length of a line ending.
func readLine(r *bufio.Reader) ([]byte, error) {
	const most = MaxMessage + len("\r\n")
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part[:min(len(part), most-len(line))]...)
		if isWhole := !errors.Is(err, bufio.ErrBufferFull); isWhole {
			return line, err
		}
	}
}

// accept reads a message from a line. It gives a request to the session for the request's protocol, the old or the new
// one, and a notification to both sessions. It answers a line that is too long or holds no message with an error. It
// ignores a response: the server asks nothing. accept returns an error if it cannot write or begin a session.
func (st *stream) accept(line []byte) error {
	if len(line) > MaxMessage {
		return st.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("The message is longer than %d bytes and was not read.", MaxMessage))
	}
	if !json.Valid(line) {
		return st.refuse(jsonrpc.CodeParseError, "The message is not JSON.")
	}
	msg, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return st.refuse(jsonrpc.CodeInvalidRequest, "The message is no JSON-RPC 2.0 request; each has to be an object on a line of its own.")
	}
	req, isRequest := msg.(*jsonrpc.Request)
	if !isRequest {
		return nil
	}
	if isNotification := !req.IsCall(); isNotification {
		for _, c := range st.eras {
			if c != nil {
				c.deliver(req)
			}
		}
		return nil
	}
	era := 0 // the old protocol: clients begin with initialize
	if hasVersion(req.Params) {
		era = 1 // the new protocol: each request names the version
	}
	if st.eras[era] == nil {
		c := &conn{stream: st, incoming: make(chan *jsonrpc.Request)}
		if err := st.open(c); err != nil {
			return err
		}
		st.eras[era] = c
	}
	st.mu.Lock()
	st.pending[req.ID] = true
	st.mu.Unlock()
	st.eras[era].deliver(req)
	return nil
}

// hasVersion reports whether the parameters of a request name a protocol version, as in the stateless era.
func hasVersion(params json.RawMessage) bool {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	return json.Unmarshal(params, &p) == nil && p.Meta[mcp.MetaKeyProtocolVersion] != nil
}

// refuse answers a message with an error. The id is null, as JSON-RPC wants it for a request that could not be read.
func (st *stream) refuse(code int64, why string) error {
	return st.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`, code, why))
}

// write writes a message and a line feed. The first error ends ServeStdio, through broken.
func (st *stream) write(message []byte) error {
	st.writing.Lock()
	defer st.writing.Unlock()
	_, err := st.out.Write(append(message, '\n'))
	if err == nil {
		return nil
	}
	err = fmt.Errorf("writing to the client: %w", err)
	select {
	case st.broken <- err:
	default: // an earlier error is there
	}
	return err
}

// answer writes the answer to the request with an id, and wakes await. Before the write it removes the id from pending:
// a client may use the id again once it has read the answer. It counts the write in writes, for which await waits too.
func (st *stream) answer(id jsonrpc.ID, message []byte) error {
	st.mu.Lock()
	delete(st.pending, id)
	st.writes++
	st.mu.Unlock()
	err := st.write(message)
	st.mu.Lock()
	st.writes--
	st.mu.Unlock()
	select {
	case st.answered <- struct{}{}:
	default: // await is woken already
	}
	return err
}

// await returns nil when the answer to every request is written or ctx is done. The error is that of a write.
func (st *stream) await(ctx context.Context) error {
	for {
		st.mu.Lock()
		unanswered := len(st.pending) + st.writes
		st.mu.Unlock()
		if unanswered == 0 {
			return nil
		}
		select {
		case <-st.answered:
		case err := <-st.broken:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// open begins a session of the SDK on a connection, and adds the session to sessions. After close it does nothing.
func (st *stream) open(c *conn) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	select {
	case <-st.over:
		return nil
	default:
	}
	session, err := st.sdk.Connect(st.ctx, c, nil)
	if err != nil {
		return fmt.Errorf("beginning a session: %w", err)
	}
	st.sessions = append(st.sessions, session)
	return nil
}

// close passes no more messages on, and waits until the work of the sessions has ended or ctx is done.
func (st *stream) close(ctx context.Context) {
	st.mu.Lock()
	close(st.over)
	sessions := st.sessions
	st.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		for _, session := range sessions {
			_ = session.Wait() // errors of writes are known already
		}
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// conn is the transport of one session of the SDK, and also the connection that this transport makes.
type conn struct {
	stream   *stream
	incoming chan *jsonrpc.Request
}

// Connect returns c itself.
func (c *conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID returns "": there is one client.
func (c *conn) SessionID() string { return "" }

// Read waits for the next request or notification. The error is [io.EOF] after [stream.close].
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.stream.over:
		return nil, io.EOF
	case req := <-c.incoming:
		return req, nil
	}
}

// Write writes a response or a notification. A response is the answer to a pending request.
func (c *conn) Write(_ context.Context, msg jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(msg)
	resp, isAnswer := msg.(*jsonrpc.Response)
	switch {
	case err != nil:
		return err
	case isAnswer:
		return c.stream.answer(resp.ID, text)
	}
	return c.stream.write(text)
}

// Close does nothing: a session ends with its stream.
func (c *conn) Close() error { return nil }

// deliver waits until Read takes a message. After [stream.close] nothing reads, and the message is dropped.
func (c *conn) deliver(req *jsonrpc.Request) {
	select {
	case c.incoming <- req:
	case <-c.stream.over:
	}
}
