package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/session/tools"
)

func (c *commands) resume() *cobra.Command {
	var json bool
	cmd := c.about("resume", "", "Go on with what a crash left unfinished", `Goes on with a session whose process ended while something ran, and prints the
answer: calls that wait for another conversation get the real one. Of a
session that has finished it prints the last answer.`,
		func(ctx context.Context, sessions *tools.Sessions, at tools.Place) error {
			return c.runResume(ctx, sessions, at, json)
		})
	cmd.Flags().BoolVar(&json, "json", false, "print events, one a line, as they happen")
	return cmd
}

func (c *commands) runResume(ctx context.Context, sessions *tools.Sessions, at tools.Place, json bool) error {
	defer stoppable(ctx)()
	c.relearn(at.Settings)
	p := &printer{commands: c, json: json}
	observed := false
	e, err := sessions.Resume(at.Session, func(event session.Event, _ session.State) {
		observed = true
		p.event(event)
	})
	if err != nil {
		return failure(err)
	}
	c.warnTorn(e)
	err = e.Wait(ctx)
	if err != nil && ctx.Err() != nil {
		err = interrupt(ctx, e)
	}
	if err = errors.Join(err, e.Close()); err != nil {
		return p.finish(ctx, session.Result{}, err)
	}
	last, result, err := ending(sessions.Dir, at.Session)
	switch {
	case err != nil:
		return failure(err)
	case result.Status == "":
		return cli.Hint(errors.New("nothing has been asked in this session"), "convtools query --id "+at.Session+" TEXT asks")
	}
	if !observed && last.Seq > 0 {
		p.event(last)
	}
	return p.finish(ctx, result, nil)
}

// ending returns how the last logical turn of the root of a session ended, and the last message of that, if any.
func ending(dir, id string) (last session.Event, result session.Result, err error) {
	for record, err := range log.Read(dir, id) {
		if err != nil {
			return last, result, err
		}
		for _, e := range record {
			if e.Conversation != id { // the root has the id of its session
				continue
			}
			switch {
			case e.Kind == session.TaskStarted && e.Continues == nil:
				last, result = session.Event{}, session.Result{}
			case e.Kind == session.AgentMessage:
				last = e
			}
			result.Note(e)
		}
	}
	return last, result, nil
}
