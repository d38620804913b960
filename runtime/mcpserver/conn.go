package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxInFlight is how many requests of one client may wait for an answer. It is
	// more than there may be tool calls, which get a better answer when there are
	// too many.
	maxInFlight = 2 * (maxRunning + maxWaiting)
	// maxInFlightBytes is what the messages of those requests may add up to.
	maxInFlightBytes = 32 << 20
	// farewellTime is how long a client has, after the calls that were not done in
	// time are stopped, to read that they are.
	farewellTime = time.Second
	// maxWriteTime is how long a client may leave an answer unread.
	maxWriteTime = 5 * time.Minute
)

// errUnread ends a session whose client does not read.
var errUnread = errors.New("the client does not read its answers")

// stream is one client on a pair of streams, one JSON-RPC message a line. It
// answers what the SDK must not see, and keeps the books of requests that wait
// for an answer.
type stream struct {
	server   *Server
	frames   *frameReader
	eras     [2]*lane // with sessions, and stateless
	connect  func(*lane) (*mcp.ServerSession, error)
	unlisten func() // ends the requests that listen, with their answer

	readErr error         // why nothing more comes, once the lanes are closed
	closed  func()        // closes reading
	reading chan struct{} // is closed when nothing more is read

	sending  sync.Mutex
	outgoing chan []byte   // to the goroutine that writes
	written  chan error    // from it
	giveUp   func()        // closes writing
	writing  chan struct{} // is closed when nothing more is written

	mu       sync.Mutex
	pending  map[jsonrpc.ID]*pendingRequest
	bytes    int           // of the messages of pending
	stopping bool          // and no request is taken any more
	less     chan struct{} // is closed, and another one made, when less is left to do
	ears     int           // lanes of requests that listen
	begun    bool          // the client has a session

	asked chan struct{} // has a value after a request came in
}

type pendingRequest struct {
	*message
	era      *lane
	size     int  // bytes
	canceled bool // the client wants no answer any more
}

// lane has the messages of one era. Each has a session of the SDK, because one
// that has seen the stateless era refuses initialize, and clients that speak
// both ask server/discover first. A request that listens has a lane by itself.
type lane struct {
	*stream
	listens  bool
	incoming chan *jsonrpc.Request
	end      func()        // closes over
	over     chan struct{} // is closed when nothing more comes
}

var (
	_ mcp.Transport  = (*lane)(nil)
	_ mcp.Connection = (*lane)(nil)
)

func newStream(s *Server, in io.Reader, out io.Writer) *stream {
	c := &stream{
		server:   s,
		frames:   newFrameReader(in, MaxMessage),
		reading:  make(chan struct{}),
		outgoing: make(chan []byte),
		written:  make(chan error),
		writing:  make(chan struct{}),
		pending:  map[jsonrpc.ID]*pendingRequest{},
		less:     make(chan struct{}),
		asked:    make(chan struct{}, 1),
	}
	c.closed = sync.OnceFunc(func() { close(c.reading) })
	c.giveUp = sync.OnceFunc(func() { close(c.writing) })
	for i := range c.eras {
		c.eras[i] = c.newLane()
	}
	go c.write(out)
	return c
}

func (c *stream) newLane() *lane {
	over := make(chan struct{})
	return &lane{stream: c, incoming: make(chan *jsonrpc.Request), end: sync.OnceFunc(func() { close(over) }), over: over}
}

// Connect returns the lane, which is a connection already.
func (l *lane) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID returns nothing: a stream has one session of each era.
func (l *lane) SessionID() string { return "" }

// Read returns the next request or notification.
func (l *lane) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.reading:
		return nil, io.EOF
	case <-l.over:
		if l.listens {
			return nil, io.EOF
		}
		return nil, l.readErr
	case req := <-l.incoming:
		return req, nil
	}
}

// pass has Read return a message. It reports whether there is somebody to read.
func (l *lane) pass(msg *message) bool {
	select {
	case l.incoming <- msg.Request:
		return true
	case <-l.over: // whoever listened, and is to be canceled, has just been answered
		return true
	case <-l.reading:
		return false
	}
}

// Close makes Read return, of both eras; the end of a request that listens is not
// that of the stream. What blocks on the input cannot be woken up everywhere; it
// ends with the input.
func (l *lane) Close() error {
	if l.listens {
		l.end()
	} else {
		l.closed()
	}
	return nil
}

// receive passes messages on until the input ends.
func (c *stream) receive() {
	for c.readErr == nil {
		line, err := c.frames.next()
		switch {
		case errors.Is(err, errTooLong):
			err = c.refuse(invalid(leadingID(line), fmt.Sprintf("The message is longer than %d bytes and was not read.", MaxMessage)))
		case err == nil:
			err = c.accept(line)
		}
		c.readErr = err
	}
	time.AfterFunc(c.server.cfg.DrainTime+farewellTime, c.giveUp)
	// The SDK drops the answers that are still missing when Read reports an error.
	if errors.Is(c.readErr, io.EOF) {
		c.unlisten()
		c.await()
		c.sayStopped(c.stop())
	}
	for _, era := range c.eras {
		era.end()
	}
}

// accept passes one message on or refuses it. An error means that the session
// is over.
func (c *stream) accept(line []byte) error {
	msg, refused := decodeMessage(line)
	serve := false
	if msg != nil {
		serve, refused = checkMethod(msg)
	}
	if refused == nil && serve {
		refused = checkVersion(msg)
	}
	if refused != nil {
		return c.refuse(refused)
	}
	if !serve {
		return nil
	}
	if listens(msg) {
		if refused := c.listen(msg, len(line)); refused != nil {
			return c.refuse(refused)
		}
		return nil
	}
	era := c.eras[0]
	if isStateless(msg.Params) {
		era = c.eras[1]
	}
	switch {
	case msg.Method == canceledMethod:
		if era = c.cancel(msg); era == nil {
			return nil
		}
	case msg.IsCall():
		if refused := c.track(msg, era, len(line)); refused != nil {
			return c.refuse(refused)
		}
		signal(c.asked)
	}
	if !era.pass(msg) {
		return io.EOF
	}
	return nil
}

// track opens the book for a request.
func (c *stream) track(msg *message, era *lane, size int) *refusal {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stopping:
		return refusedAs(msg.rawID, jsonrpc.CodeInternalError, stoppingMessage)
	case c.pending[msg.ID] != nil:
		// An error with this id would be taken for the answer to the first request.
		return invalid(nil, fmt.Sprintf("The id %s is in use by a request that is not answered yet.", msg.rawID))
	case len(c.pending) >= maxInFlight:
		return refusedAs(msg.rawID, codeBusy, fmt.Sprintf("Busy: %d requests wait for an answer. Send this one again later.", len(c.pending)))
	case c.bytes+size > maxInFlightBytes:
		return refusedAs(msg.rawID, codeBusy, fmt.Sprintf("Busy: requests of %d bytes wait for an answer. Send this one again later.", c.bytes))
	}
	c.pending[msg.ID] = &pendingRequest{message: msg, era: era, size: size}
	c.bytes += size
	return nil
}

// cancel notes that a request is canceled, and returns the era it is of: nil,
// where there is nothing to cancel. The notification then has the id by which the
// SDK knows the request.
func (c *stream) cancel(msg *message) *lane {
	id := canceledID(msg)
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[id]
	if p == nil || p.Method == "initialize" {
		return nil
	}
	params, err := encodeJSON(map[string]any{"requestId": id.Raw()})
	if err != nil {
		return nil
	}
	p.canceled = true
	msg.Params = params
	return p.era
}

// canceledID is the id of the request that a notification cancels; the zero id,
// which is no request's, for every other notification.
func canceledID(msg *message) jsonrpc.ID {
	if msg.Method != canceledMethod {
		return jsonrpc.ID{}
	}
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(msg.Params, &params) != nil {
		return jsonrpc.ID{}
	}
	id, _, _ := decodeID(params.RequestID)
	return id
}

// settle closes the book of a request.
func (c *stream) settle(id jsonrpc.ID) *pendingRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[id]
	if p == nil {
		return nil
	}
	delete(c.pending, id)
	c.bytes -= p.size
	c.isLess()
	return p
}

// hasBegun says that the client has a session, and so is to be told of changes.
func (c *stream) hasBegun() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun
}

// signal leaves a value in c, where there is none yet.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// await waits until every request is answered, for a while.
func (c *stream) await() {
	deadline := time.NewTimer(c.server.cfg.DrainTime)
	defer deadline.Stop()
	for {
		c.mu.Lock()
		left, less := len(c.pending)+c.ears, c.less
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-less:
		case <-deadline.C:
			return
		case <-c.reading:
			return
		}
	}
}

// isLess wakes up whoever waits for less to be left. mu has to be held.
func (c *stream) isLess() {
	close(c.less)
	c.less = make(chan struct{})
}

// stop takes no request any more, and returns those that are not answered and
// still wanted. From then on an answer to them is dropped. Requests that listen
// are left to end with their answer.
func (c *stream) stop() []*pendingRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = true
	var left []*pendingRequest
	for id, p := range c.pending {
		if p.era.listens {
			continue
		}
		if !p.canceled {
			left = append(left, p)
		}
		delete(c.pending, id)
		c.bytes -= p.size
	}
	c.isLess()
	return left
}

// sayStopped answers requests that were stopped.
func (c *stream) sayStopped(left []*pendingRequest) {
	for _, p := range left {
		if c.refuse(refusedAs(p.rawID, jsonrpc.CodeInternalError, stoppingMessage)) != nil {
			return // nobody reads it
		}
	}
}

// Write sends a response or a notification. Responses to requests that were
// canceled are not sent, as MCP wants it:
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
func (l *lane) Write(_ context.Context, msg jsonrpc.Message) error {
	resp, isResponse := msg.(*jsonrpc.Response)
	var p *pendingRequest
	if isResponse {
		if l.listens {
			defer l.end()
		}
		p = l.settle(resp.ID)
	}
	if isResponse {
		if p == nil || p.canceled {
			return nil
		}
		if resp.Error == nil && p.Method == "initialize" {
			defer l.begin()
		}
		if resp.Error != nil {
			resp.Error = l.server.sessionError(p.message, resp.Error)
		}
	}
	if !isResponse && !l.tells(msg) {
		return nil
	}
	text, err := jsonrpc.EncodeMessage(msg)
	if err == nil && p != nil {
		text, err = withID(text, p.ID, p.rawID)
	}
	if err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	if err = l.send(text); err != nil && l.listens {
		l.closed() // the other lanes would not notice
	}
	return err
}

// begin notes that the client has been answered that it has a session.
func (l *lane) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = true
}

// tells says that a notification is for the client. The SDK tells of changes to
// every session that may be of the era with sessions, those of clients of the
// other era and of clients that have not begun one among them; requests that
// listen get a notification that names them.
func (l *lane) tells(msg jsonrpc.Message) bool {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || !strings.HasSuffix(req.Method, "/list_changed") {
		return true
	}
	if l != l.eras[0] {
		return bytes.Contains(req.Params, []byte(mcp.MetaKeySubscriptionID))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun
}

func (c *stream) refuse(r *refusal) error {
	text, err := r.encode()
	if err != nil {
		return err
	}
	return c.send(text)
}

// send writes one message. It does not wait forever: a client that has stopped to
// read must not keep the server and its work alive.
func (c *stream) send(text []byte) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	select {
	case <-c.writing:
		return errUnread
	case c.outgoing <- append(text, '\n'):
	}
	patience := time.NewTimer(maxWriteTime)
	defer patience.Stop()
	select {
	case err := <-c.written:
		if err != nil {
			return fmt.Errorf("writing to the client: %w", err)
		}
		return nil
	case <-patience.C:
		c.giveUp()
	case <-c.writing:
	}
	return errUnread
}

// write does what may block for good, in a goroutine that can be left behind.
func (c *stream) write(out io.Writer) {
	for {
		select {
		case <-c.writing:
			return
		case text := <-c.outgoing:
			_, err := out.Write(text)
			select {
			case c.written <- err:
			case <-c.writing:
			}
		}
	}
}
