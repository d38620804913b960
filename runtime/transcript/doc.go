// Package transcript defines recorded conversations independently of the store
// that holds them: ids, times, kinds of events, scopes of text, and events.
//
// It knows no store's format, never reads or writes a file, and never panics on recorded data, which is untrusted.
package transcript
