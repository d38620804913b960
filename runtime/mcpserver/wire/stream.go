package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// maxInFlightBytes is what the messages of requests that wait for an answer may
	// add up to.
	maxInFlightBytes = 32 << 20
	// farewellTime is how long a client has, after the calls that were not done in
	// time are stopped, to read that they are.
	farewellTime = time.Second
	// maxWriteTime is how long a client may leave an answer unread.
	maxWriteTime = 5 * time.Minute
)

// StoppingMessage is the answer to what is not done when a server ends.
const StoppingMessage = "The server is shutting down; the call was stopped."

// errUnread ends a stream whose client does not read.
var errUnread = errors.New("the client does not read its answers")

// StreamOptions are the limits of a stream.
type StreamOptions struct {
	// MaxInFlight is how many requests may wait for an answer.
	MaxInFlight int
	// DrainTime is how long requests go on that are not answered yet when the input
	// ends. Those that listen end at once, with their answer.
	DrainTime time.Duration
}

// Stream is one client on a pair of streams, one JSON-RPC message a line. It keeps
// the books of the requests that wait for an answer.
type Stream struct {
	options StreamOptions
	connect Connect
	frames  *frameReader
	out     io.Writer
	eras    [2]*Conn // of the goroutine that receives

	writing  chan struct{} // has a value while somebody writes
	patience *time.Timer   // of the write that goes on
	giveUp   func()        // closes unread
	unread   chan struct{} // is closed when nothing more is written

	broken chan error // has what the first write that failed said

	mu       sync.Mutex
	pending  map[jsonrpc.ID]*pendingRequest
	bytes    int           // of the messages of pending
	stopping bool          // and no request is taken any more
	less     chan struct{} // has a value after less is left to do
	conns    map[*Conn]struct{}
	sessions sync.WaitGroup
}

type pendingRequest struct {
	*Message
	size     int   // bytes
	conn     *Conn // nil until the request was passed on
	canceled bool  // the client wants no answer any more
}

// NewStream returns the stream of a client that writes in and reads out.
func NewStream(in io.Reader, out io.Writer, options StreamOptions) *Stream {
	s := &Stream{
		options: options,
		frames:  newFrameReader(in, MaxMessage),
		out:     out,
		writing: make(chan struct{}, 1),
		unread:  make(chan struct{}),
		broken:  make(chan error, 1),
		pending: map[jsonrpc.ID]*pendingRequest{},
		less:    make(chan struct{}, 1),
		conns:   map[*Conn]struct{}{},
	}
	s.giveUp = sync.OnceFunc(func() { close(s.unread) })
	s.patience = time.AfterFunc(maxWriteTime, s.giveUp)
	s.patience.Stop()
	return s
}

// Serve passes messages on to sessions that connect begins, until the input ends,
// ctx is done, or nothing can be written any more. In the first case requests that
// are not answered yet go on for a while. In the second they are stopped and
// answered at once. A goroutine that reads the input may stay behind until that
// ends: there is no way to wake it up everywhere.
func (s *Stream) Serve(ctx context.Context, connect Connect) error {
	s.connect = connect
	ended := make(chan error, 1)
	go func() { ended <- s.receive() }()
	var err error
	select {
	case <-ctx.Done():
		time.AfterFunc(s.options.DrainTime, s.giveUp)
	case err = <-s.broken:
	case <-s.unread:
		err = errUnread
	case err = <-ended:
		if errors.Is(err, io.EOF) {
			// The SDK drops the answers that are still missing when Read ends.
			time.AfterFunc(s.options.DrainTime+farewellTime, s.giveUp)
			s.endListening()
			err = s.await(ctx)
		}
	}
	left := s.stop()
	if err == nil {
		s.endListening()
		for _, p := range left {
			if err = s.write(p.Refuse(jsonrpc.CodeInternalError, StoppingMessage).Encode()); err != nil {
				break // nobody reads it
			}
		}
	}
	if err == nil {
		err = s.await(context.Background()) // those that listened
	}
	if closeErr := s.close(); err == nil {
		err = closeErr
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// close ends all sessions, and waits until what they worked on has ended. A
// goroutine that writes what nobody reads is left behind.
func (s *Stream) close() error {
	s.mu.Lock()
	for c := range s.conns {
		c.end()
	}
	s.mu.Unlock()
	over := make(chan struct{})
	go func() {
		s.sessions.Wait()
		close(over)
	}()
	select {
	case <-over:
		return nil
	case <-s.unread:
	}
	select {
	case s.writing <- struct{}{}: // nobody writes, and nobody will
		<-over
		return nil
	default:
		return errUnread
	}
}

// receive passes messages on until the input ends, and returns why it did.
func (s *Stream) receive() error {
	for {
		line, err := s.frames.next()
		switch {
		case errors.Is(err, errFrameTooLong):
			err = s.refuse(RefuseBeginning(line, jsonrpc.CodeInvalidRequest, fmt.Sprintf("The message is longer than %d bytes and was not read.", MaxMessage)))
		case err == nil:
			err = s.accept(line)
		}
		if err != nil {
			return err
		}
	}
}

// accept passes one message on or refuses it. An error means that the stream is
// over.
func (s *Stream) accept(line []byte) error {
	msg, refused := Decode(bytes.Clone(line))
	if msg != nil && refused == nil {
		refused = msg.CheckVersion()
	}
	if refused != nil {
		return s.refuse(refused)
	}
	if msg == nil {
		return nil
	}
	if msg.Method == canceledMethod {
		s.cancel(msg)
		return nil
	}
	if msg.IsCall() {
		if refused := s.track(msg, len(line)); refused != nil {
			return s.refuse(refused)
		}
	}
	c, err := s.connFor(msg)
	if err != nil {
		return err
	}
	switch {
	case c != nil:
		c.pass(msg.Request)
		s.passed(msg, c)
	case s.settle(msg.ID) != nil:
		return s.refuse(msg.Refuse(jsonrpc.CodeInternalError, StoppingMessage))
	}
	return nil
}

// open begins a session. It returns nil when the stream ends.
func (s *Stream) open() (*Conn, error) {
	var c *Conn
	c = newConn(func(msg jsonrpc.Message) error { return s.send(c, msg) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return nil, nil
	}
	session, err := s.connect(c)
	if err != nil {
		return nil, fmt.Errorf("beginning a session: %w", err)
	}
	s.conns[c] = struct{}{}
	s.sessions.Go(func() {
		_ = session.Wait() // what cannot be read or written, the stream knows better
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	})
	return c, nil
}

// track opens the book for a request.
func (s *Stream) track(msg *Message, size int) *Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping:
		return msg.Refuse(jsonrpc.CodeInternalError, StoppingMessage)
	case s.pending[msg.ID] != nil:
		// An error with this id would be taken for the answer to the first request.
		return invalid(nil, fmt.Sprintf("The id %s is in use by a request that is not answered yet.", msg.id))
	case len(s.pending) >= s.options.MaxInFlight:
		return msg.Refuse(CodeBusy, fmt.Sprintf("Busy: %d requests wait for an answer. Send this one again later.", len(s.pending)))
	case s.bytes+size > maxInFlightBytes:
		return msg.Refuse(CodeBusy, fmt.Sprintf("Busy: requests of %d bytes wait for an answer. Send this one again later.", s.bytes))
	}
	s.pending[msg.ID] = &pendingRequest{Message: msg, size: size}
	s.bytes += size
	return nil
}

// passed notes that the SDK has a request.
func (s *Stream) passed(msg *Message, c *Conn) {
	s.mu.Lock()
	p, stopping := s.pending[msg.ID], s.stopping
	if p != nil && p.Message == msg {
		p.conn = c
	}
	s.mu.Unlock()
	if stopping && msg.Listens() {
		c.cancel(msg.ID)
	}
}

// cancel has the SDK cancel the request that a notification names. The answer to
// it is not sent, as MCP wants it:
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
func (s *Stream) cancel(msg *Message) {
	s.mu.Lock()
	p := s.pending[CanceledID(msg)]
	if p == nil || p.conn == nil || p.Method == "initialize" {
		s.mu.Unlock()
		return
	}
	p.canceled = true
	s.mu.Unlock()
	p.conn.cancel(p.ID)
}

// CanceledID is the id of the request that a notification cancels; the zero id,
// which is no request's, for every other message.
func CanceledID(msg *Message) jsonrpc.ID {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if msg.Method != canceledMethod || json.Unmarshal(msg.Params, &params) != nil {
		return jsonrpc.ID{}
	}
	id, _, _ := decodeID(params.RequestID)
	return id
}

// settle closes the book of a request.
func (s *Stream) settle(id jsonrpc.ID) *pendingRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pending[id]
	if p == nil {
		return nil
	}
	delete(s.pending, id)
	s.bytes -= p.size
	select {
	case s.less <- struct{}{}:
	default:
	}
	return p
}

// await waits until every request is answered, for a while, and until ctx is done.
// An error means that the rest need not be told.
func (s *Stream) await(ctx context.Context) error {
	deadline := time.NewTimer(s.options.DrainTime)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		left := len(s.pending)
		s.mu.Unlock()
		if left == 0 {
			return nil
		}
		select {
		case <-s.less:
		case <-deadline.C:
			return nil
		case <-ctx.Done():
			return nil
		case <-s.unread:
			return errUnread
		case err := <-s.broken:
			return err
		}
	}
}

// stop takes no request any more, and returns those that are not answered and
// still wanted. From then on an answer to them is dropped. Requests that listen
// are left to end with their answer.
func (s *Stream) stop() []*pendingRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	var left []*pendingRequest
	for id, p := range s.pending {
		if p.Listens() {
			continue
		}
		if !p.canceled {
			left = append(left, p)
		}
		delete(s.pending, id)
		s.bytes -= p.size
	}
	return left
}

// send sends a response or a notification of a session.
func (s *Stream) send(c *Conn, msg jsonrpc.Message) error {
	resp, isResponse := msg.(*jsonrpc.Response)
	if !isResponse {
		text, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return fmt.Errorf("writing a message: %w", err)
		}
		return s.write(text)
	}
	p := s.settle(resp.ID)
	if p == nil {
		return nil
	}
	if p.Listens() {
		defer c.end()
	}
	if p.canceled {
		return nil
	}
	return s.write(p.answer(resp))
}

func (s *Stream) refuse(r *Refusal) error { return s.write(r.Encode()) }

// write writes one message. A client that has stopped to read must not keep the
// server and its work alive, so it does not wait for good; what cannot be woken up
// is left behind.
func (s *Stream) write(text []byte) error {
	select {
	case <-s.unread:
		return errUnread
	case s.writing <- struct{}{}:
	}
	defer func() { <-s.writing }()
	s.patience.Reset(maxWriteTime)
	_, err := s.out.Write(append(text, '\n'))
	s.patience.Stop()
	if err != nil {
		err = fmt.Errorf("writing to the client: %w", err)
		select {
		case s.broken <- err:
		default:
		}
	}
	return err
}
