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

func (c *commands) resumeCommand() *cobra.Command {
	out := &printer{commands: c}
	cmd := c.about("resume", "", "Go on with what a crash left unfinished", `Goes on with a session whose process ended while something ran, and prints the
answer: calls that wait for another conversation get the real one. Of a
session that has finished it prints the last answer.`,
		func(ctx context.Context, p *tools.Project, found tools.Conversation) error {
			return c.runResume(ctx, p, found, out)
		})
	cmd.Flags().BoolVar(&out.json, "json", false, "print events, one a line, as they happen")
	return cmd
}

func (c *commands) runResume(ctx context.Context, p *tools.Project, found tools.Conversation, out *printer) error {
	defer stoppable(ctx)()
	s, err := c.resume(p, found, out.event)
	if err != nil {
		return failure(err)
	}
	if err = errors.Join(wait(ctx, s, s.Wait), s.Close()); err != nil {
		return out.finish(ctx, session.Result{}, err)
	}
	last, result, err := lastAnswer(p.Logs, found.Session)
	switch {
	case err != nil:
		return failure(err)
	case result.Status == "":
		return cli.Hint(errors.New("nothing has been asked in this session"), "convtools query --id "+found.Session+" TEXT asks")
	}
	if out.events == 0 && last.Seq > 0 {
		out.event(last, s.State())
	}
	return out.finish(ctx, result, nil)
}

// lastAnswer returns the last message of the root's last logical turn, if it has one, and the result of that turn.
func lastAnswer(dir, id string) (last session.Event, result session.Result, err error) {
	for record, err := range log.Read(dir, id) {
		if err != nil {
			return last, result, err
		}
		for _, e := range record {
			switch {
			case e.Conversation != id: // the root has the id of its session
				continue
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
