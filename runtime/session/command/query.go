package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/session/tools"
)

// target is the flags that describe a new conversation, or name one to continue.
type target struct {
	model, id, title string
	knowledge        []string
	new, hidden      bool
}

// addTo defines the flags for a command.
func (t *target) addTo(c *commands, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&t.model, "model", "", "ask the configured model `NAME`")
	flags.BoolVar(&t.new, "new", false, "start a new session, as without --id")
	flags.StringVar(&t.id, "id", "", "continue the session or conversation with this `ID`")
	flags.BoolVar(&t.hidden, "hidden", false, "hide the recorded conversation from lists and searches")
	flags.StringVar(&t.title, "title", "", "set the title of the new conversation to `TEXT`")
	if flag := c.flag; flag.Set != nil { // flag is --knowledge; Set is nil if no family has it
		flag.Set = func(pattern string) error {
			t.knowledge = append(t.knowledge, pattern)
			return nil // openTarget passes t.knowledge to c.flag.Set
		}
		flag.AddToCommand(cmd)
	}
	_ = cmd.RegisterFlagCompletionFunc("id", c.completeID) // fails only for an undefined flag
	_ = cmd.RegisterFlagCompletionFunc("model", c.completeModel)
}

func (c *commands) queryCommand() *cobra.Command {
	var t target
	out := &printer{commands: c}
	cmd := &cobra.Command{
		Use:   "query TEXT",
		Short: "Ask a model, which can start conversations of its own",
		Long: `Asks a model and prints its answer. The model has the tools of convtools, and
it can hand work to other conversations and continue with their answers. Models
are configured in convtools.toml:

  [model.local]
  api      = "chat"
  base_url = "http://127.0.0.1:8080/v1"
  model    = "name-of-the-model"

TEXT may be -, for standard input. With --json, each event is printed as a line
of JSON when it happens. After a crash, session resume continues.`,
		Example: `  convtools query "What did we decide about the retry policy?"
  convtools query --id 5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11 "And why?"`,
		Args: cli.OneArg("TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.runQuery(cmd.Context(), &t, args[0], out) },
	}
	t.addTo(c, cmd)
	cmd.Flags().BoolVar(&out.json, "json", false, "print each event as a line of JSON")
	cmd.Flags().BoolVar(&out.progress, "progress", false, "print progress on standard error")
	return cmd
}

// runQuery submits the text of an argument to the session that the flags name, waits for the answer and prints it.
func (c *commands) runQuery(ctx context.Context, t *target, argument string, out *printer) error {
	text, err := c.inputText(argument)
	if err != nil {
		return err
	}
	defer killOnNextSignal(ctx)()
	p, err := c.open()
	if err != nil {
		return err
	}
	defer p.Close()
	s, in, err := c.openTarget(ctx, p, t, out.printEvent)
	if err != nil {
		return out.finish(ctx, session.Result{}, err)
	}
	in.Input = []session.Part{{Text: text}}
	result, err := submitAndWait(ctx, s, in)
	closeErr := s.Close()
	err = out.finish(ctx, result, err)
	if err == nil && closeErr != nil {
		err = withHint(closeErr)
	}
	if _, terminal := cli.Terminal(c.host.Stderr); !out.json && (terminal || out.progress) {
		fmt.Fprintf(c.host.Stderr, "To go on: %s query --id %s TEXT\n", c.host.Name, in.Conversation)
	}
	return err
}

// submitAndWait submits an input and returns the result of its turn. If ctx ends meanwhile, the turn is interrupted.
func submitAndWait(ctx context.Context, s *tools.Session, in session.Submit) (result session.Result, err error) {
	turn, err := s.Submit(ctx, in)
	if err != nil {
		return result, err
	}
	err = waitOrInterrupt(ctx, s, func(waiting context.Context) (err error) {
		result, err = turn.Wait(waiting)
		return err
	})
	return result, err
}

// openTarget returns the session that the flags name: the session of --id or, without --id, a new session. If --id names
// a fork, the new session continues the fork. in is a submission to the conversation, without its input.
func (c *commands) openTarget(ctx context.Context, p *tools.Project, t *target, observe tools.Observer) (s *tools.Session, in session.Submit, err error) {
	for name, given := range map[string]bool{"new": t.new, "title": t.title != "", "hidden": t.hidden} {
		if given && t.id != "" {
			return nil, in, cli.Usagef("--%s is for a new session and cannot be combined with --id", name)
		}
	}
	if err := c.setKnowledge(t.knowledge); err != nil {
		return nil, in, err
	}
	p.Named = t.model
	n := tools.New{Title: t.title, Settings: tools.Settings{Hidden: t.hidden}}
	if t.id != "" {
		found, err := p.Find(ctx, t.id)
		fork, isFork := errors.AsType[*tools.ForkError](err)
		switch {
		case err == nil:
			return c.openExisting(ctx, p, t, found, observe)
		case isFork:
			n, err = p.FromFork(ctx, fork.ID)
		}
		if err != nil {
			return nil, in, err
		}
	}
	n.Model, n.Knowledge = t.model, t.knowledge
	if s, err = p.Begin(ctx, n, observe); err == nil {
		in.Conversation = s.State().Root().ID
	}
	return s, in, err
}

// openExisting opens the session of an existing conversation. It returns the session, and a submission to the
// conversation that has no input yet. It is an error if the flags do not fit the conversation.
func (c *commands) openExisting(ctx context.Context, p *tools.Project, t *target, found tools.Conversation, observe tools.Observer) (*tools.Session, session.Submit, error) {
	in := session.Submit{Conversation: found.ID}
	switch settings := found.Settings; {
	case t.model != "" && t.model != settings.Model:
		return nil, in, cli.Usagef("the conversation has the model %q; a new one, without --id, can have another", settings.Model)
	case settings.Outside && found.ID == found.Session: // the root, which has the id of its session
		return nil, in, cli.Usagef("this conversation belongs to another program and has no model; the conversations that it has started can be asked")
	}
	if len(t.knowledge) > 0 && c.knowledge.Prompt != nil { // the documents are new to the conversation
		if prompt := c.knowledge.Prompt(ctx, contract.Context{Dir: c.host.Dir}); prompt != "" {
			in.Context = []session.Part{{Text: prompt}}
		}
	}
	s, err := c.resumeSession(p, found, observe)
	if err == nil && s.State().Conversation(found.ID) == nil { // a record has an id that the log does not have
		_ = s.Close() // the session has got no input, so an error loses nothing
		err = &log.NotFoundError{Session: found.ID, Dir: p.Logs}
	}
	return s, in, err
}

// maxInput limits the bytes of the text that a person asks, and of a line of a chat.
const maxInput = 4 << 20

// inputText returns the text to ask: the argument, or standard input for "-". Empty or too long, it is an error.
func (c *commands) inputText(text string) (string, error) {
	if text == "-" {
		data, err := io.ReadAll(io.LimitReader(c.host.Stdin, maxInput+1))
		if err != nil {
			return "", err
		}
		text = string(data)
	}
	switch text = strings.ToValidUTF8(text, "\uFFFD"); {
	case strings.TrimSpace(text) == "":
		return "", cli.Usagef("the text is empty")
	case len(text) > maxInput:
		return "", cli.Usagef("the text is longer than %d bytes", maxInput)
	}
	return text, nil
}

func (c *commands) resumeCommand() *cobra.Command {
	out := &printer{commands: c}
	cmd := c.idCommand("resume", "", "Continue a session after a crash", `Continues a session whose process ended while it worked, and prints the answer.
Calls that waited for another conversation get its answer. For a session that
has finished, it prints the last answer.`,
		func(ctx context.Context, p *tools.Project, found tools.Conversation) error {
			return c.runResume(ctx, p, found, out)
		})
	cmd.Flags().BoolVar(&out.json, "json", false, "print each event as a line of JSON")
	return cmd
}

// runResume continues a session until nothing runs in it, and prints the last answer of its root.
func (c *commands) runResume(ctx context.Context, p *tools.Project, found tools.Conversation, out *printer) error {
	defer killOnNextSignal(ctx)()
	s, err := c.resumeSession(p, found, out.printEvent)
	if err != nil {
		return withHint(err)
	}
	if err = errors.Join(waitOrInterrupt(ctx, s, s.Wait), s.Close()); err != nil {
		return out.finish(ctx, session.Result{}, err)
	}
	last, result, err := lastAnswer(p.Logs, found.Session)
	switch {
	case err != nil:
		return withHint(err)
	case result.Status == "": // no turn of the root has ended
		return cli.Hint(errors.New("nothing has been asked in this session"), "convtools query --id "+found.Session+" TEXT asks")
	}
	if out.events == 0 && last.Seq > 0 { // the session had finished
		out.printEvent(last, s.State())
	}
	return out.finish(ctx, result, nil)
}

// lastAnswer returns the result of the last logical turn of a session's root, and the event of the last message of the
// model in this turn. The event is zero if there is no such message. id is the id of the session.
func lastAnswer(dir, id string) (last session.Event, result session.Result, err error) {
	for e, err := range log.Events(dir, id) {
		switch {
		case err != nil:
			return last, result, err
		case e.Conversation != id: // the root has the id of its session
			continue
		case e.Kind == session.TaskStarted && e.Continues == nil:
			last, result = session.Event{}, session.Result{}
		case e.Kind == session.AgentMessage:
			last = e
		}
		result.Apply(e)
	}
	return last, result, nil
}
