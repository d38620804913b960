package command

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

// printer writes the events of a session for a program, or nothing.
type printer struct {
	*commands
	json bool
	err  error // of the first write that failed
}

// event writes an event in JSON, on one line. A reader gets each line as it is written.
func (p *printer) event(e session.Event) {
	if !p.json || p.err != nil {
		return
	}
	line, err := model.JSON(e)
	if err == nil {
		err = cli.WriteJSON(p.host.Stdout, p.host.Terminal, append(line, '\n'))
	}
	p.err = err
}

// finish prints the answer of a session, or returns why there is none. err is the error that ended the session, or nil.
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

// hintFor returns what a person can do about a failure, as the end of a line; empty where that is not known.
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
	}
	switch code {
	case session.CodeBudget, session.CodeSamples:
		return "go on with --id: the limit is for one answer"
	}
	return ""
}

// printMessage prints what a model has said. It cannot drive a terminal.
func (c *commands) printMessage(message string) error {
	if c.host.Terminal {
		message = text.Visible(message)
	}
	_, err := io.WriteString(c.host.Stdout, strings.TrimRight(message, "\n")+"\n")
	return err
}
