package sessioncli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/sessionhost"
)

type queryFlags struct {
	model, id, title string
	json, new        bool
	hidden           bool
}

func (c *commands) query() *cobra.Command {
	var f queryFlags
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
		RunE: func(cmd *cobra.Command, args []string) error { return c.runQuery(cmd, &f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.model, "model", "", "ask the model that is configured as `NAME`")
	flags.BoolVar(&f.json, "json", false, "print events, one a line, as they happen")
	flags.BoolVar(&f.new, "new", false, "begin a new session, as without --id")
	flags.StringVar(&f.id, "id", "", "go on in the conversation with this `ID`")
	flags.BoolVar(&f.hidden, "hidden", false, "hide what is recorded from lists and searches")
	flags.StringVar(&f.title, "title", "", "give the new conversation the title `TEXT`")
	cmd.MarkFlagsMutuallyExclusive("new", "id")
	cmd.MarkFlagsMutuallyExclusive("title", "id")
	return cmd
}

// maxInput is the size in bytes of the largest input of a person.
const maxInput = 4 << 20

func (c *commands) runQuery(cmd *cobra.Command, f *queryFlags, words string) error {
	input, err := c.input(words)
	if err != nil {
		return err
	}
	sessions, _, err := c.open()
	if err != nil {
		return failure(err)
	}
	defer sessions.Close()
	ctx := cmd.Context()
	p := &printer{out: c.host.Stdout, json: f.json}
	e, conversation, err := c.begin(ctx, sessions, f, p)
	if err != nil {
		return failure(err)
	}
	turn, err := e.Submit(ctx, session.Submit{Conversation: conversation, Input: []session.Part{{Text: input}}})
	var result session.Result
	if err == nil {
		result, err = follow(ctx, e, turn)
	}
	if closed := e.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return failure(err)
	}
	return c.finish(p, result)
}

// begin starts a session, or opens the one that a conversation belongs to.
func (c *commands) begin(ctx context.Context, sessions *sessionhost.Sessions, f *queryFlags, p *printer) (*engine.Engine, string, error) {
	if f.id == "" {
		start, err := sessions.Start(ctx, sessionhost.New{Model: f.model, Title: f.title})
		if err != nil {
			return nil, "", err
		}
		e, err := engine.Start(sessions.Dir(), start, sessions.Engine(p.event))
		return e, start.Root, err
	}
	e, err := engine.Resume(sessions.Dir(), f.id, sessions.Engine(p.event))
	if err != nil {
		return nil, "", err
	}
	return e, e.State().Root().ID, nil
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

// printMessage prints what a model has said. It cannot drive a terminal.
func (c *commands) printMessage(message string) error {
	if c.host.Terminal {
		message = text.Visible(message)
	}
	_, err := io.WriteString(c.host.Stdout, strings.TrimRight(message, "\n")+"\n")
	return err
}
