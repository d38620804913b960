// Package transcript is the domain of recorded conversations: ids, timestamps,
// kinds of events, turns, and a scanner over the events.json file of a JP
// conversation.
//
// The scanner reads a file held in memory. It copies and allocates nothing per
// event, looks only at the structure, and leaves decoding (JSON escapes, the
// base64 that JP applies to tool data at rest) to accessors that append to a
// buffer of the caller.
//
// Everything recorded is untrusted. The package never panics on any input,
// never recurses deeper than [MaxDepth], never reads or writes a file, and
// never changes the bytes it was given.
package transcript
