// Package mcpserver serves tools over the Model Context Protocol: on standard
// input and output, and as streamable HTTP. It speaks both eras of the protocol
// at once, the one that begins with initialize and the stateless one of
// 2026-07-28: https://modelcontextprotocol.io/specification
//
// The protocol is the SDK's; everything a client sends goes through the checks
// of this package first, because the SDK ends a session over one bad line.
//
// It must never let a client choose a program, a directory or a file, never
// write anything but JSON-RPC to its output, and never hold more of what a
// client sends than its limits allow.
package mcpserver
