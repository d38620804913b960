package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

// printer prints the events of a session, and its answer at the end.
type printer struct {
	*commands
	json     bool // events as JSON on standard output, instead of the answer
	progress bool // lines for people on standard error
	events   int
	err      error // of the first write that failed
}

// event prints an event. It may be an [engine.Options].Observe.
func (p *printer) event(e session.Event, s session.State) {
	p.events++
	if p.json && p.err == nil {
		line, err := model.JSON(e)
		if err == nil {
			err = cli.WriteJSON(p.host.Stdout, p.host.Terminal, append(line, '\n'))
		}
		p.err = err
	}
	if line := progressOf(e, s); p.progress && line != "" {
		fmt.Fprintln(p.host.Stderr, line)
	}
}

// finish prints the answer, or returns the error why there is none. err is an error of the session.
func (p *printer) finish(ctx context.Context, r session.Result, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		if !errors.Is(err, context.Cause(ctx)) {
			cli.Warn(p.host.Stderr, "%v", err)
		}
		return cli.ErrInterrupted
	case err != nil:
		return failure(err)
	}
	switch r.Status {
	case session.StatusCompleted, session.StatusNoMessage:
		if !p.json && r.Message != "" {
			return p.printMessage(r.Message)
		}
		return p.err
	case session.StatusInterrupted, session.StatusDestroyed:
		return cli.ErrInterrupted
	}
	err = errors.New(r.Failure.Message)
	if hint := hintFor(r.Failure.Code); hint != "" {
		return cli.Hint(err, hint)
	}
	return err
}

// hintFor returns what a person can do about a failure of a model, or "".
func hintFor(code session.Code) string {
	switch model.Code(code) {
	case model.CodeConfiguration, model.CodeUnknownModel:
		return "models are configured in convtools.toml, see convtools help query"
	case model.CodeUnauthorized:
		return "the key comes from key_env or key_command of the model in convtools.toml"
	case model.CodeRateLimited, model.CodeOverloaded, model.CodeServer, model.CodeStalled, model.CodeCut:
		return "ask again later with --id: nothing of the conversation is lost"
	case model.CodeUnreachable, model.CodeInvalidResponse:
		return "see that base_url of the model in convtools.toml is right, and that something listens there"
	case model.CodeScript:
		return "the script is a file of the model in convtools.toml: add what it is to answer"
	case model.Code(session.CodeBudget), model.Code(session.CodeSamples):
		return "go on with --id: the limit is for one answer"
	}
	return ""
}

// printMessage prints a message of a model. It cannot drive a terminal.
func (c *commands) printMessage(message string) error {
	if c.host.Terminal {
		message = text.Visible(message)
	}
	_, err := io.WriteString(c.host.Stdout, strings.TrimRight(message, "\n")+"\n")
	return err
}
