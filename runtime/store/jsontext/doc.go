// Package jsontext walks and rewrites recorded JSON without decoding all of it: a
// cursor over its structure, the members of an object, and a writer that indents a
// value and lets its strings be replaced. The stores, and the logs of sessions, share it.
//
// What it gets is untrusted. It never panics on any input to a cursor, never recurses
// deeper than [MaxDepth], and never changes the bytes it was given.
package jsontext
