// Package events reads the events.json file of a JP conversation: a scanner over
// its events, which decodes them where it is asked to.
//
// The scanner works on a part of the file at a time. It copies and allocates
// nothing per event, and looks only at the structure. [Event.Decode] undoes JSON
// escapes, and the base64 that JP applies to tool data at rest.
//
// Everything recorded is untrusted. The package never panics on any input, never
// recurses deeper than [MaxDepth], never opens or writes a file, and never changes
// the bytes it was given.
package events
