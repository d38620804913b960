// Package command is the command line for people who talk to models: convtools query, chat and session.
//
// It prints what happens in a session and passes on what a person says. It must never decide what happens there.
package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/session/tools"
	"github.com/convtools/convtools/runtime/toolset"
)

// commands are the commands of one host.
type commands struct {
	host *toolset.Host
	// others are the families whose tools conversations may call.
	others []toolset.Family
}

// Commands returns convtools query, chat and session. others are the families whose tools conversations may call.
func Commands(host *toolset.Host, others ...toolset.Family) []*cobra.Command {
	c := &commands{host: host, others: others}
	return []*cobra.Command{c.query(), c.chat(), c.session()}
}

// open returns what sessions have here.
func (c *commands) open() (*tools.Sessions, error) {
	registry, err := toolset.NewRegistry(c.others...)
	if err != nil {
		return nil, err
	}
	s, err := tools.Open(tools.Options{
		Host: c.host, Registry: registry,
		Warn: func(sentence string) { cli.Warn(c.host.Stderr, "%s", sentence) },
	})
	if err != nil {
		return nil, failure(err)
	}
	s.Warn()
	for _, warning := range (conversations.Options{Dir: c.host.Dir, Getenv: c.host.Getenv}).Warnings() {
		c.host.WarnOnce(warning)
	}
	return s, nil
}

// about returns a command about the session that a person means with an ID.
func (c *commands) about(name, flags, short, long string, run func(context.Context, *tools.Sessions, tools.Place) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: short, Long: long,
		Example: "  convtools session " + name + flags + " 5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11",
		Args:    cli.OneArg("ID"), ValidArgsFunction: c.completeID,
		RunE: func(cmd *cobra.Command, args []string) error {
			sessions, err := c.open()
			if err != nil {
				return err
			}
			defer sessions.Close()
			at, err := sessions.Find(cmd.Context(), args[0])
			if err != nil {
				return failure(err)
			}
			return run(cmd.Context(), sessions, at)
		},
	}
}

// learning is the flag with which a person has more learned, and the family that has it. Where there is none, its Set is
// nil.
func (c *commands) learning() (toolset.Flag, toolset.Family) {
	for _, f := range c.others {
		for _, flag := range f.Flags {
			if flag.Name == "knowledge" {
				return flag, f
			}
		}
	}
	return toolset.Flag{}, toolset.Family{}
}

// learn has the tools know what patterns name.
func (c *commands) learn(patterns []string) error {
	flag, _ := c.learning()
	if flag.Set == nil || len(patterns) == 0 {
		return nil
	}
	for _, pattern := range patterns {
		if err := flag.Set(pattern); err != nil {
			return err
		}
	}
	return flag.Check()
}

// relearn has the tools know what was learned when a conversation began.
func (c *commands) relearn(settings tools.Settings) {
	if err := c.learn(settings.Knowledge); err != nil {
		cli.Warn(c.host.Stderr, "what was learned with --knowledge cannot be found any more: %v", err)
	}
}

// failure is an error with what a person can do about it.
func failure(err error) error {
	var none *configured.NoModelError
	var busy *log.BusyError
	var missing *log.NotFoundError
	var ambiguous *tools.AmbiguousError
	switch {
	case errors.As(err, &none) && len(none.Known) == 0:
		return cli.Hint(err, `a model that needs no network: [model.NAME] with api = "scripted" and script = "file.toml"`)
	case errors.As(err, &busy):
		return cli.Hint(err, "wait for it to end, or stop it")
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG):
		return cli.Hint(err, "make room; convtools session resume goes on from what the log has")
	case errors.As(err, &missing):
		return cli.Hint(err, "convtools session ls lists sessions")
	case errors.As(err, &ambiguous):
		return cli.Hint(err, "write more of the id that is meant")
	}
	return err
}

// stopTime is how long a session may take to stop.
const stopTime = 30 * time.Second

// stoppable has the next signal end the process at once when ctx is done: a person who asks again does not want to
// wait. The log is fit to go on with at any time.
func stoppable(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })
}

// interrupt stops all that runs and waits in a session, and leaves its conversations fit to go on with.
func interrupt(ctx context.Context, e *tools.Session) error {
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	var late *session.InputError // it has ended by itself, or is being stopped
	for _, waiting := range e.State().Queue() {
		if err := e.Do(stop, session.Interrupt{Chain: true, Submission: waiting.ID}); err != nil && !errors.As(err, &late) {
			return err
		}
	}
	if err := e.Do(stop, session.Interrupt{Chain: true}); err != nil && !errors.As(err, &late) {
		return err
	}
	return e.Wait(stop)
}

// ask submits what a person says and waits for the answer. When ctx is done it interrupts the session.
func ask(ctx context.Context, e *tools.Session, in session.Submit) (session.Result, error) {
	turn, err := e.Submit(ctx, in)
	if err != nil {
		return session.Result{}, err
	}
	result, err := turn.Wait(ctx)
	if ctx.Err() == nil || err == nil {
		return result, err
	}
	if err := interrupt(ctx, e); err != nil {
		return session.Result{}, err
	}
	return turn.Wait(context.WithoutCancel(ctx))
}
