package sessioncli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/sessionlog"
)

func (c *commands) resume() *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "resume ID",
		Short: "Go on with what a crash left unfinished",
		Long: `Goes on with a session whose process ended while something ran, and prints the
answer: calls that wait for another conversation get the real one. Of a
session that has finished it prints the last answer.`,
		Example: "  convtools session resume 5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11",
		Args:    cli.OneArg("ID"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.runResume(cmd.Context(), args[0], json) },
	}
	cmd.Flags().BoolVar(&json, "json", false, "print events, one a line, as they happen")
	return cmd
}

func (c *commands) runResume(ctx context.Context, id string, json bool) error {
	sessions, _, err := c.open()
	if err != nil {
		return failure(err)
	}
	defer sessions.Close()
	p := &printer{out: c.host.Stdout, json: json}
	observed := false
	e, err := engine.Resume(sessions.Dir(), id, sessions.Engine(func(event session.Event) {
		observed = true
		p.event(event)
	}))
	if err != nil {
		return failure(err)
	}
	if torn := e.Torn(); torn != nil {
		cli.Warn(c.host.Stderr, "the end of the log was written in part and has been removed: %d bytes", torn.Bytes)
	}
	err = e.Wait(ctx)
	if err != nil && ctx.Err() != nil {
		err = interrupt(ctx, e)
	}
	if err = errors.Join(err, e.Close()); err != nil {
		return failure(err)
	}
	message, result, err := ending(sessions.Dir(), id)
	if err != nil {
		return failure(err)
	}
	if message == nil && result.Status == "" {
		return cli.Hint(errors.New("nothing has been asked in this session"), "convtools query --id "+id+" TEXT asks")
	}
	if !observed && message != nil {
		p.event(*message)
	}
	return c.finish(p, result)
}

// interrupt stops a session that a person does not want to wait for.
func interrupt(ctx context.Context, e *engine.Engine) error {
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	var late *session.InputError // nothing runs any more, or it is being stopped
	if err := e.Interrupt(stop, session.Interrupt{Chain: true}); err != nil && !errors.As(err, &late) {
		return err
	}
	return e.Wait(stop)
}

// ending returns how the last task of the root of a session ended, and the last message of that; nil where there is
// none.
func ending(dir, id string) (message *session.Event, result session.Result, err error) {
	root := ""
	for record, err := range sessionlog.Read(dir, id) {
		if err != nil {
			return nil, result, err
		}
		for _, e := range record.Events {
			if _, ok := e.Body.(session.ConversationOpened); ok && root == "" {
				root = e.Conversation
			}
			if e.Conversation != root {
				continue
			}
			switch body := e.Body.(type) {
			case session.TaskStarted:
				if result = (session.Result{}); body.Continues == nil {
					message = nil
				}
			case session.ItemRecorded:
				if body.Item.Kind == session.AgentMessage {
					message = &e
				}
			case session.TaskComplete:
				result = session.Result{Status: session.StatusCompleted, Message: body.LastAssistantMessage}
			case session.TaskFailed:
				result = session.Result{Status: session.StatusFailed, Failure: body.Failure}
			case session.TurnAborted, session.CallsClosed:
				result = session.Result{Status: session.StatusInterrupted}
			}
		}
	}
	return message, result, nil
}
