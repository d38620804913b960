// Package sessioncli is the command line for people who talk to models: convtools query, chat and session.
//
// It prints what happens in a session and passes on what a person says. It must never decide what happens there.
package sessioncli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/sessionhost"
	"github.com/convtools/convtools/runtime/session/sessionlog"
	"github.com/convtools/convtools/runtime/sessionconfig"
	"github.com/convtools/convtools/runtime/toolset"
)

// commands are the commands of one host.
type commands struct {
	host *toolset.Host
	// others are the families whose tools conversations may call.
	others []toolset.Family
}

// Commands returns convtools query and session. others are the families whose tools conversations may call.
func Commands(host *toolset.Host, others ...toolset.Family) []*cobra.Command {
	c := &commands{host: host, others: others}
	return []*cobra.Command{c.query(), c.session()}
}

func (c *commands) session() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Go on with sessions of conversations with models",
		Long: `Goes on with the sessions that convtools query has begun. A session is a
conversation with a model, and the conversations that the model has begun in it.`,
		Example: "  convtools session resume 5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11",
	}
	return cli.Group(cmd, c.resume())
}

// open returns what sessions have here.
func (c *commands) open() (*sessionhost.Sessions, *toolset.Registry, error) {
	registry, err := toolset.NewRegistry(c.others...)
	if err != nil {
		return nil, nil, err
	}
	s, err := sessionhost.Open(sessionhost.Options{
		Host: c.host, Registry: registry,
		Warn: func(sentence string) { cli.Warn(c.host.Stderr, "%s", sentence) },
	})
	return s, registry, err
}

// failure is an error with what a person can do about it.
func failure(err error) error {
	var none *sessionconfig.NoModelError
	var busy *sessionlog.BusyError
	var missing *sessionlog.NotFoundError
	switch {
	case errors.As(err, &none) && len(none.Known) == 0:
		return cli.Hint(err, `a model that needs no network: [model.NAME] with api = "scripted" and script = "file.toml"`)
	case errors.As(err, &busy):
		return cli.Hint(err, "wait for it to end, or stop it")
	case errors.As(err, &missing):
		return cli.Hint(err, "convtools session ls lists sessions")
	}
	return err
}

// printer writes the events of a session, as a program or a person reads them.
type printer struct {
	out  io.Writer
	json bool
	err  error // of the first write that failed
}

// event writes an event in JSON, on one line. A reader gets each line as it is written.
func (p *printer) event(e session.Event) {
	if !p.json || p.err != nil {
		return
	}
	line, err := sessionlog.MarshalEvent(e)
	if err == nil {
		_, err = p.out.Write(append(line, '\n'))
	}
	p.err = err
}

// stopTime is how long a session may take to stop.
const stopTime = 30 * time.Second

// follow waits for the answer to a submission. When ctx is done, the chain of calls is interrupted, and the conversations
// stay fit to go on with.
func follow(ctx context.Context, e *engine.Engine, turn *engine.Turn) (session.Result, error) {
	result, err := turn.Wait(ctx)
	if ctx.Err() == nil || err == nil {
		return result, err
	}
	if err := interrupt(ctx, e); err != nil {
		return session.Result{}, err
	}
	return turn.Wait(context.WithoutCancel(ctx))
}

// finish prints the answer of a session, and returns the error that its end stands for.
func (c *commands) finish(p *printer, r session.Result) error {
	if p.err != nil {
		return p.err
	}
	switch r.Status {
	case session.StatusCompleted, session.StatusNoMessage:
		if !p.json && r.Message != "" {
			return c.printMessage(r.Message)
		}
		return nil
	case session.StatusInterrupted, session.StatusDestroyed:
		return cli.ErrInterrupted
	}
	return errors.New(r.Failure.Message)
}
