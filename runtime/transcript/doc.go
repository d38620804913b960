// Package transcript is what is true of recorded conversations whichever store
// holds them: ids, times, kinds of events, scopes of text, and events.
//
// It knows the format of no store, never reads or writes a file, and never
// panics on anything recorded, all of which is untrusted.
package transcript
