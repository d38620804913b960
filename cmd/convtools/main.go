// Command convtools gives an assistant its conversations and what its project
// knows: over MCP, as local tools of JP, through convtools call, and as a command
// line for people.
//
// Output policy: results go to standard output and nothing else does; errors
// and warnings go to standard error as "error: …", "hint: …", "warning: …". The
// exit code is 0 on success, 1 when something failed or nothing was found, 2 on
// wrong use. jp-tool is the exception its protocol demands: one JSON value on
// standard output and exit code 0, whatever happened.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"golang.org/x/term"

	"github.com/convtools/convtools/runtime/knowledge"
)

func main() {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		a.terminal = true
		a.width, _, _ = term.GetSize(fd) // 0 means unknown
	}
	os.Exit(a.main(os.Args[1:]))
}

// gcPercent is how much the heap may grow before it is collected. Searching
// 200 MB in 20 conversations peaks at 75 MB with it, and at 134 MB with Go's 100.
const gcPercent = 40

// main runs one command line and returns the exit code. What costs time at
// start is only done for commands that need it: hosts start this program for
// every tool call.
func (a *app) main(args []string) int {
	if len(args) == 1 && args[0] == "version" {
		return a.report(a.printVersion())
	}
	if a.getenv("GOGC") == "" {
		// Most of the heap is a few large buffers of recorded text, without
		// pointers: cheap to collect early, and half as much memory at the peak.
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	defer stop()
	return a.run(ctx, args)
}

// endingSignals are those that ask a process to end. They cancel what runs, so
// that it stops the programs it has started: those have sessions of their own,
// and get no signal. SIGHUP, of a terminal that is closed, stays ignored for a
// process that was told to ignore it, as with nohup.
func endingSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// app is everything the commands take from the process they run in.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	terminal       bool
	width          int
	getenv         func(string) string
	workspace      string            // --workspace
	conversationID string            // --conversation-id
	knowledge      knowledge.Options // --knowledge and --prompt-injected
}
