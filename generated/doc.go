// Package generated dispatches tool calls: it knows every tool the specs
// declare, and calls the handler that does a tool's work with arguments that
// have been repaired, checked and given their defaults.
//
// Everything beside this file is written by convgen and never edited by hand.
package generated

//go:generate go run ../cmd/convgen generate -C ..
