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

// target is the flags that begin a conversation or name one to continue.
type target struct {
	model, id, title string
	knowledge        []string
	new, hidden      bool
}

// addTo defines the flags of a command that talks.
func (t *target) addTo(c *commands, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&t.model, "model", "", "ask the model that is configured as `NAME`")
	flags.BoolVar(&t.new, "new", false, "begin a new session, as without --id")
	flags.StringVar(&t.id, "id", "", "go on in the session, or the conversation, with this `ID`")
	flags.BoolVar(&t.hidden, "hidden", false, "hide what is recorded from lists and searches")
	flags.StringVar(&t.title, "title", "", "give the new conversation the title `TEXT`")
	if learning, _ := c.learning(); learning.Set != nil {
		flags.StringArrayVarP(&t.knowledge, learning.Name, learning.Shorthand, nil, learning.Usage)
		_ = cmd.RegisterFlagCompletionFunc(learning.Name, func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return learning.Complete(cmd.Context(), word), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		}) // fails only for a flag that is not there
	}
	_ = cmd.RegisterFlagCompletionFunc("id", c.completeID)       // as above
	_ = cmd.RegisterFlagCompletionFunc("model", c.completeModel) // as above
}

func (c *commands) query() *cobra.Command {
	var t target
	var o output
	cmd := &cobra.Command{
		Use:   "query TEXT",
		Short: "Ask a model, which may begin conversations of its own",
		Long: `Asks a model and prints its answer. The model has the tools of convtools, and
those for conversations: it can hand work to another conversation and go on
with its answer. Models are configured in convtools.toml:

  [model.local]
  api      = "chat"
  base_url = "http://127.0.0.1:8080/v1"
  model    = "name-of-the-model"

TEXT may be -, for standard input. With --json, what happens is printed as it
happens, an event a line. What a crash interrupts, session resume goes on with.`,
		Example: `  convtools query "What did we decide about the retry policy?"
  convtools query --id 5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11 "And why?"`,
		Args: cli.OneArg("TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.runQuery(cmd.Context(), &t, args[0], o)
		},
	}
	t.addTo(c, cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print events, one a line, as they happen")
	cmd.Flags().BoolVar(&o.progress, "progress", false, "print on standard error what happens, in short")
	return cmd
}

// check returns what is wrong with the flags together.
func (t *target) check() error {
	for _, f := range []struct {
		name  string
		given bool
	}{{"new", t.new}, {"title", t.title != ""}, {"hidden", t.hidden}} {
		if f.given && t.id != "" {
			return cli.Usagef("--%s is for a new session, and --id names one that is there", f.name)
		}
	}
	return nil
}

// output is what is printed besides the answer.
type output struct{ json, progress bool }

// maxInput is the size in bytes of the largest input of a person.
const maxInput = 4 << 20

func (c *commands) runQuery(ctx context.Context, t *target, words string, o output) error {
	if err := t.check(); err != nil {
		return err
	}
	words, err := c.input(words)
	if err != nil {
		return err
	}
	defer stoppable(ctx)()
	sessions, err := c.open()
	if err != nil {
		return err
	}
	defer sessions.Close()
	p := &printer{commands: c, json: o.json}
	shown := &progress{out: c.host.Stderr}
	e, in, err := c.begin(ctx, sessions, t, func(e session.Event, s session.State) {
		p.event(e)
		if o.progress {
			shown.event(e, s)
		}
	})
	if err != nil {
		return p.finish(ctx, session.Result{}, err)
	}
	in.Input = []session.Part{{Text: words}}
	result, err := ask(ctx, e, in)
	closed := e.Close()
	if err = p.finish(ctx, result, err); err == nil && closed != nil {
		err = failure(closed)
	}
	if _, isTerminal := cli.Terminal(c.host.Stderr); !o.json && (isTerminal || o.progress) {
		fmt.Fprintf(c.host.Stderr, "To go on: %s query --id %s TEXT\n", c.host.Name, in.Conversation)
	}
	return err
}

// begin starts a session, or opens the one that a conversation belongs to. It returns what is to be submitted, but for
// the input.
func (c *commands) begin(ctx context.Context, sessions *tools.Sessions, t *target, observe func(session.Event, session.State)) (*tools.Session, session.Submit, error) {
	var in session.Submit
	if err := c.learn(t.knowledge); err != nil {
		return nil, in, err
	}
	if t.id == "" {
		return start(ctx, sessions, tools.New{Settings: tools.Settings{Model: t.model, Knowledge: t.knowledge, Hidden: t.hidden}, Title: t.title}, observe)
	}
	at, err := sessions.Find(ctx, t.id)
	var copied *tools.CopyError
	switch {
	case errors.As(err, &copied):
		n, err := sessions.Copied(ctx, copied.ID)
		if err != nil {
			return nil, in, err
		}
		n.Model, n.Knowledge = t.model, t.knowledge
		return start(ctx, sessions, n, observe)
	case err != nil:
		return nil, in, err
	case t.model != "" && t.model != at.Settings.Model:
		return nil, in, cli.Usagef("the conversation has the model %q and keeps it; without --id a new one has another", at.Settings.Model)
	case at.Settings.Outside && at.Conversation == at.Session:
		return nil, in, cli.Usagef("a program outside has the place of the model in this conversation; those that it has begun can be asked")
	}
	if _, family := c.learning(); len(t.knowledge) > 0 && family.Prompt != nil { // what the conversation began with stays: this is new to it
		if section := family.Prompt(ctx, contract.Context{Dir: c.host.Dir}); section != "" {
			in.Context = []session.Part{{Text: section}}
		}
	}
	c.relearn(at.Settings)
	sessions.Named(t.model)
	e, err := sessions.Resume(at.Session, observe)
	if err != nil {
		return nil, in, err
	}
	c.warnTorn(e)
	if e.State().Conversation(at.Conversation) == nil {
		_ = e.Close() // nothing was asked of it
		return nil, in, &log.NotFoundError{Session: at.Conversation, Dir: sessions.Dir}
	}
	in.Conversation = at.Conversation
	return e, in, nil
}

// start starts a session, as begin does.
func start(ctx context.Context, sessions *tools.Sessions, n tools.New, observe func(session.Event, session.State)) (*tools.Session, session.Submit, error) {
	e, err := sessions.Begin(ctx, n, observe)
	if err != nil {
		return nil, session.Submit{}, err
	}
	return e, session.Submit{Conversation: e.State().Root().ID}, nil
}

// warnTorn reports what a crash had left in the log.
func (c *commands) warnTorn(e *tools.Session) {
	if torn := e.Torn(); torn != nil {
		cli.Warn(c.host.Stderr, "the end of the log was written in part and has been removed: %d bytes", torn.Bytes)
	}
}

// input returns what a person says: the words, or standard input for "-".
func (c *commands) input(words string) (string, error) {
	if words == "-" {
		data, err := io.ReadAll(io.LimitReader(c.host.Stdin, maxInput+1))
		if err != nil {
			return "", err
		}
		words = string(data)
	}
	switch words = strings.ToValidUTF8(words, "\uFFFD"); {
	case strings.TrimSpace(words) == "":
		return "", cli.Usagef("there is nothing to ask")
	case len(words) > maxInput:
		return "", cli.Usagef("the text is longer than %d bytes", maxInput)
	}
	return words, nil
}
