package wire

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/base/text"
)

// What stands in this file is there because a session of the SDK cannot do what
// the protocol allows on one stream (go-sdk v1.8.0):
//
//   - ServerSession keeps one InitializeParams for both eras. A request of the
//     stateless era sets it, and initialize is then refused as a duplicate
//     (https://github.com/modelcontextprotocol/go-sdk/issues/961), although clients
//     that speak both ask server/discover first and may then begin a session. So
//     each era has a session of its own.
//   - Server keeps one subscriptions/listen a session
//     (https://github.com/modelcontextprotocol/go-sdk/pull/1007): a second one
//     replaces the first, and the end of either ends both. So each request that
//     listens has a session of its own.
//   - A version in _meta that is older than the stateless era, and none on a request
//     that listens, make the SDK serve a request in the other era, where the protocol
//     wants it refused.
//
// With a session that can do both, all of this is one Conn a stream.

const (
	// Stateless is the protocol version whose requests stand by themselves:
	// https://modelcontextprotocol.io/seps/2575-stateless-mcp
	Stateless = "2026-07-28"
	// listenMethod is that of requests that are told of changes until they end: what
	// the stateless era has in place of a session.
	listenMethod = "subscriptions/listen"
)

// era is one of the two.
type era int

const (
	withSessions era = iota // begins with initialize
	stateless               // says the protocol version in every request
)

// Listens reports whether a request is told of changes until it ends.
func (m *Message) Listens() bool {
	return m.Method == listenMethod && m.HasVersion
}

// CheckVersion refuses a request with a protocol version in _meta that is not the
// one of the stateless era, as the others are agreed on with initialize; and one
// that listens without a version.
func (m *Message) CheckVersion() *Refusal {
	switch {
	case m.Method == listenMethod && m.IsCall() && !m.HasVersion:
		return m.Refuse(jsonrpc.CodeMethodNotFound, fmt.Sprintf("There is no method %s in protocol versions before %s, which has to be in _meta, as %q.", listenMethod, Stateless, mcp.MetaKeyProtocolVersion))
	case !m.HasVersion, m.Version == Stateless:
		return nil
	}
	requested := text.Cut(m.Version, maxEcho)
	refused := m.Refuse(mcp.CodeUnsupportedProtocolVersion, fmt.Sprintf("Unsupported protocol version in _meta: %q. %s can be asked for there; older ones begin with initialize.", requested, Stateless))
	// Without the data the message still says what is wrong.
	refused.Data, _ = json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: []string{Stateless}, Requested: requested})
	return refused
}

// connFor returns the connection for a message: that of its era, or one of its
// own. nil stands for a notification of an era that has not begun, and for a
// stream that ends.
func (s *Stream) connFor(msg *Message) (*Conn, error) {
	if msg.Listens() {
		return s.open()
	}
	e := withSessions
	if msg.HasVersion {
		e = stateless
	}
	if s.eras[e] == nil && msg.IsCall() {
		c, err := s.open()
		if err != nil {
			return nil, err
		}
		s.eras[e] = c
	}
	return s.eras[e], nil
}

// endListening ends the requests that listen, with their answer.
func (s *Stream) endListening() {
	s.mu.Lock()
	var listening []*pendingRequest
	for _, p := range s.pending {
		if p.Listens() && p.conn != nil {
			listening = append(listening, p)
		}
	}
	s.mu.Unlock()
	for _, p := range listening {
		p.conn.cancel(p.ID)
	}
}
