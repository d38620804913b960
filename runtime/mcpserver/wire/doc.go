// Package wire carries the messages of the Model Context Protocol between a
// client and the SDK's server: over a pair of streams, one message a line, and
// over HTTP, one message a request. Its [Conn] is a transport of the SDK's that
// bears with clients: the SDK's own ends a session over one bad line
// (https://github.com/modelcontextprotocol/go-sdk/issues/1209) and holds whatever
// it is sent.
//
// It knows messages, ids and protocol versions, and no method of what is served.
// It must never pass on a message that the SDK reads in another way than it does
// itself, never write anything but whole messages, never hold more of what a
// client sends than its limits allow, and never wait for a client for good.
package wire
