package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

// printer prints the events of a session, and the answer at the end.
type printer struct {
	*commands
	json     bool  // events as JSON on standard output, instead of the answer
	progress bool  // lines for people on standard error
	events   int   // how many there have been
	err      error // of the first write that failed
}

// printEvent counts an event and prints it as p says: as JSON up to the first error, which stays in p.err, and as progress.
func (p *printer) printEvent(e session.Event, s session.State) {
	p.events++
	if p.json && p.err == nil {
		line, _ := model.JSON(e) // cannot fail: the log has the event as JSON
		p.err = cli.WriteJSON(p.host.Stdout, p.host.Terminal, append(line, '\n'))
	}
	if line := progressOf(e, s); p.progress && line != "" {
		fmt.Fprintln(p.host.Stderr, line)
	}
}

// finish prints the message of a result, unless events are printed as JSON. err is the error of the session. The error of
// finish says why there is no answer: err, the failure of the result or [cli.ErrInterrupted].
func (p *printer) finish(ctx context.Context, r session.Result, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		if !errors.Is(err, context.Cause(ctx)) { // the interruption failed as well
			cli.Warn(p.host.Stderr, "%v", err)
		}
		return cli.ErrInterrupted
	case err != nil:
		return withHint(err)
	case r.Status == session.StatusFailed:
		return failureOf(r)
	case r.Status == session.StatusInterrupted, r.Status == session.StatusDestroyed:
		return cli.ErrInterrupted
	case p.json || r.Message == "":
		return p.err
	}
	return p.printMessage(r.Message)
}

// failureOf returns the error of a turn that failed, with what a person can do about it.
func failureOf(r session.Result) error {
	err := errors.New(r.Failure.Message)
	switch model.Code(r.Failure.Code) {
	case model.CodeConfiguration, model.CodeUnknownModel:
		return cli.Hint(err, "models are configured in convtools.toml, see convtools help query")
	case model.CodeUnauthorized:
		return cli.Hint(err, "the key comes from key_env or key_command of the model in convtools.toml")
	case model.CodeRateLimited, model.CodeOverloaded, model.CodeServer, model.CodeStalled, model.CodeCut:
		return cli.Hint(err, "ask again later with --id: nothing of the conversation is lost")
	case model.CodeUnreachable, model.CodeInvalidResponse:
		return cli.Hint(err, "check base_url of the model in convtools.toml, and that a server listens there")
	case model.CodeScript:
		return cli.Hint(err, "the script is a file of the model in convtools.toml: add an answer to it")
	case model.Code(session.CodeBudget), model.Code(session.CodeSamples):
		return cli.Hint(err, "go on with --id: the limit is for one answer")
	}
	return err
}

// printMessage prints a message of a model. What could drive a terminal is made visible.
func (c *commands) printMessage(message string) error {
	if c.host.Terminal {
		message = text.Visible(message)
	}
	_, err := io.WriteString(c.host.Stdout, strings.TrimRight(message, "\n")+"\n")
	return err
}

// nameOf returns the name of a conversation for people: root, or #N for the Nth of the session.
func nameOf(s session.State, id string) string {
	number := 0
	for c := range s.Conversations() {
		number++
		if c.ID == id && number > 1 {
			return fmt.Sprintf("#%d", number)
		}
	}
	return "root"
}

// progressOf returns the line that shows an event to people, or "" for none. s is the state after the event's step.
func progressOf(e session.Event, s session.State) string {
	c := s.Conversation(e.Conversation)
	if c == nil {
		return ""
	}
	name, about := nameOf(s, c.ID), "" // about is the name at the beginning of a line, where the root needs none
	if c.Parent != "" {
		if c.Title != "" {
			name += " (" + c.Title + ")"
		}
		about = name + " "
	}
	line := ""
	switch kind := e.Kind; {
	case kind == session.UserMessage && e.Origin == session.FromConv:
		line = "asking " + name + ": " + e.Text()
	case kind == session.AgentMessage:
		line = name + ": " + e.Text()
	case kind == session.ToolCall && e.Name != session.ConvCreate && e.Name != session.ConvSend: // "asking" is the line for those
		line = about + "calling " + e.Name
	case kind == session.ToolOutput && e.Failed:
		line = about + e.Name + " failed: " + reasonIn(e.Output)
	case kind == session.TaskStarted && e.Continues != nil:
		line = about + "going on"
	case kind == session.TaskComplete:
		line = about + "done"
	case kind == session.TaskFailed:
		line = about + "failed: " + e.Failure.Message
	case kind == session.TurnAborted && e.Reason == session.Interrupted:
		line = about + "interrupted"
	case kind == session.CallsClosed:
		line = about + "stopped: the conversation it waited for was interrupted"
	case kind == session.ConversationDestroyed:
		line = about + "destroyed"
	case kind == session.Recovered:
		line = about + "going on where the last process ended"
	}
	const maxLine = 160 // characters
	return text.Cut(text.Line(line), maxLine)
}

// reasonIn returns the reason in the output of a call that was refused, or else the output.
func reasonIn(output string) string {
	var refused struct{ Reason string }
	if json.Unmarshal([]byte(output), &refused) == nil && refused.Reason != "" {
		return refused.Reason
	}
	return output
}
