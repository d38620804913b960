// Package events reads the events.json file of a JP conversation: a scanner over
// its events, and accessors that decode what they hold.
//
// The scanner works on a part of the file at a time. It copies and allocates
// nothing per event, looks only at the structure, and leaves decoding (JSON
// escapes, the base64 that JP applies to tool data at rest) to accessors that
// append to a buffer of the caller.
//
// Everything recorded is untrusted. The package never panics on any input, never
// recurses deeper than [MaxDepth], never opens or writes a file, and never changes
// the bytes it was given.
package events
