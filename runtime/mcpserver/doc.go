// Package mcpserver serves the tools, resources and prompts of a
// [toolset.Registry] over the Model Context Protocol: on standard input and
// output, and as streamable HTTP. It speaks both eras of the protocol at once, the
// one that begins with initialize and the stateless one of 2026-07-28:
// https://modelcontextprotocol.io/specification
//
// The SDK has sessions, methods and HTTP. The package reads standard input itself; the comment of stream has the
// reasons.
//
// It must never know a family by name, never let a client choose a program, a
// directory or a file, never write anything but JSON-RPC to its output, and never
// hold more of what a client sends than its limits allow.
package mcpserver
