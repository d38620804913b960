package command

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/tools"
)

func (c *commands) chat() *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk with a model, which may begin conversations of its own",
		Long: `Talks with a model: each line is said to it, and its answer is printed as it
arrives. When it asks another conversation, that is shown. Ctrl-C ends the task
that runs, so that whoever waits for it goes on without; a second one ends all
that runs. /list lists the conversations, /switch N talks in another one, and
/quit, or Ctrl-D, ends. Where standard output is no terminal, only answers are
printed.`,
		Example: `  convtools chat
  convtools chat --id 5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runChat(cmd.Context(), &t) },
	}
	t.addTo(c, cmd)
	return cmd
}

// dialog is a conversation with a person at a terminal, or with a program that writes lines.
type dialog struct {
	*commands
	session *tools.Session
	next    session.Submit // but for what is said
	lines   <-chan line
	signals <-chan os.Signal
	failed  bool // what was said last has no answer

	mu       sync.Mutex // events come from elsewhere
	progress *progress
	midline  bool // a piece of a message was printed last
}

func (c *commands) runChat(ctx context.Context, t *target) error {
	if err := t.check(); err != nil {
		return err
	}
	// A signal ends what runs, and not the program: what its context says does not count.
	ctx = context.WithoutCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	sessions, err := c.open()
	if err != nil {
		return err
	}
	defer sessions.Close()
	d := &dialog{commands: c, progress: &progress{out: c.host.Stderr}, signals: signals}
	d.progress.before = d.endLine
	if d.session, d.next, err = c.begin(ctx, sessions, t, d.event); err != nil {
		return failure(err)
	}
	d.turnTo(d.next.Conversation)
	d.tell("This is the model %s. /help lists what else can be typed; Ctrl-D ends.\n", text.Quote(tools.SettingsOf(d.session.State().Root().Context).Model))
	d.lines = readLines(c.host.Stdin)
	err = d.run(ctx)
	closed := d.session.Close()
	d.tell("To go on: %s chat --id %s\n", c.host.Name, d.session.State().ID())
	switch {
	case err != nil:
		return err
	case closed == nil && d.failed && !c.host.Terminal:
		return cli.ErrFailed // which has been said
	}
	return closed
}

// tell says something to a person at a terminal.
func (d *dialog) tell(format string, args ...any) {
	if d.host.Terminal {
		fmt.Fprintf(d.host.Stderr, format, args...)
	}
}

// help is what can be typed.
const help = `/list      lists the conversations
/switch N  talks in the conversation N of the list
/quit      ends, as Ctrl-D does
Ctrl-C     ends the task that runs; a second one ends all that runs
`

// line is a line of a person, or why there is none: [io.EOF] at the end.
type line struct {
	text string
	err  error
}

func readLines(in io.Reader) <-chan line {
	lines := make(chan line)
	go func() { // until the input ends, or the program does
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxInput)
		for scanner.Scan() {
			lines <- line{text: scanner.Text()}
		}
		err := cmp.Or(scanner.Err(), io.EOF)
		if errors.Is(err, bufio.ErrTooLong) {
			err = cli.Usagef("a line is longer than %d bytes", maxInput)
		}
		lines <- line{err: err}
	}()
	return lines
}

// run talks until the person, or the input, ends it.
func (d *dialog) run(ctx context.Context) error {
	if !d.session.State().Idle() { // what a crash has left goes on first
		if quit, err := d.wait(func() error { return d.session.Wait(ctx) }); quit || err != nil {
			return err
		}
		d.endLine()
	}
	for {
		said, err := d.read()
		word, rest, _ := strings.Cut(said, " ")
		switch {
		case err == io.EOF || word == "/quit":
			return nil
		case err != nil:
			return err
		case said == "":
		case word == "/list":
			err = d.list()
		case word == "/switch":
			d.switchTo(strings.TrimSpace(rest))
		case strings.HasPrefix(word, "/"):
			if word != "/help" {
				fmt.Fprintf(d.host.Stderr, "there is no command %s:\n", text.Quote(word))
			}
			fmt.Fprint(d.host.Stderr, help)
		default:
			quit := false
			if quit, err = d.say(ctx, said); quit {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// read returns the next line of the person.
func (d *dialog) read() (said string, err error) {
	for leaving := false; ; leaving = true {
		d.tell("%s> ", nameOf(d.session.State(), d.next.Conversation))
		select {
		case next := <-d.lines:
			said, err = strings.TrimSpace(strings.ToValidUTF8(next.text, "\uFFFD")), next.err
		case asked := <-d.signals:
			// A Ctrl-C that comes a moment after the answer is not meant to end the chat.
			if asked == os.Interrupt && d.host.Terminal && !leaving {
				d.tell("\nnothing runs; a second Ctrl-C ends, as Ctrl-D does\n")
				continue
			}
			err = io.EOF
		}
		if err != nil {
			d.tell("\n")
		}
		return said, err
	}
}

// say submits a line and waits for the answer. It reports whether the program is to end.
func (d *dialog) say(ctx context.Context, line string) (quit bool, err error) {
	d.next.Input = []session.Part{{Text: line}}
	turn, err := d.session.Submit(ctx, d.next)
	var refused *session.Refusal
	if errors.As(err, &refused) {
		cli.Warn(d.host.Stderr, "%v", err)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d.next.Context = nil
	var result session.Result
	quit, err = d.wait(func() (err error) {
		result, err = turn.Wait(ctx)
		return err
	})
	if err != nil {
		return quit, err
	}
	d.endLine()
	d.failed = result.Status != session.StatusCompleted && result.Status != session.StatusNoMessage
	switch {
	case !d.failed && !d.host.Terminal && result.Message != "":
		err = d.printMessage(result.Message)
	case result.Status == session.StatusFailed:
		if !d.host.Terminal { // otherwise it has been shown
			fmt.Fprintf(d.host.Stderr, "error: %s\n", text.Line(result.Failure.Message))
		}
		if hint := hintFor(result.Failure.Code); hint != "" {
			fmt.Fprintf(d.host.Stderr, "hint: %s\n", hint)
		}
	}
	return quit, err
}

// wait waits for f, and takes the wishes of a person meanwhile: first to end the task that runs, then all that does. It
// reports whether the program is to end.
func (d *dialog) wait(f func() error) (quit bool, err error) {
	done := make(chan error, 1)
	go func() { done <- f() }()
	for again := false; ; again = true {
		select {
		case err := <-done:
			return quit, err
		case asked := <-d.signals:
			quit = quit || asked != os.Interrupt
		}
		if !quit {
			d.acknowledge(again)
		}
		var late *session.InputError // it has ended by itself, or is being stopped
		if err := d.session.Do(context.Background(), session.Interrupt{Chain: quit || again}); err != nil && !errors.As(err, &late) {
			return quit, err
		}
	}
}

// acknowledge ends the line on which a terminal shows ^C.
func (d *dialog) acknowledge(again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.midline = false
	if again {
		d.tell("\nending all that runs\n")
	} else {
		d.tell("\nending the task that runs; Ctrl-C again ends all\n")
	}
}

// list prints the conversations.
func (d *dialog) list() error {
	var b strings.Builder
	for c := range d.session.State().Conversations() {
		mark := " "
		if c.ID == d.next.Conversation {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s %-5s %s  %s  %s  %s\n", mark, nameOf(d.session.State(), c.ID), c.ID, stateOf(d.session.State(), c),
			text.Count(c.Messages, "message", "messages"), text.Cell(tools.TitleOf(c)))
	}
	_, err := io.WriteString(d.host.Stdout, b.String())
	return err
}

// switchTo talks in another conversation, which is named by its number or its id.
func (d *dialog) switchTo(name string) {
	i := 0
	for c := range d.session.State().Conversations() {
		i++
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "#")); err == nil && n == i || strings.EqualFold(name, c.ID) {
			if c.Destroyed {
				break
			}
			d.turnTo(c.ID)
			return
		}
	}
	fmt.Fprintf(d.host.Stderr, "there is no conversation %s; /list lists them, and /switch 2 talks in the second one\n", text.Quote(name))
}

func (d *dialog) turnTo(conversation string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next.Conversation, d.progress.streamed = conversation, conversation
}

// event shows what happens, at a terminal.
func (d *dialog) event(e session.Event, s session.State) {
	if !d.host.Terminal {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case e.Kind == session.AgentMessageDelta && e.Conversation == d.progress.streamed:
		d.midline = !strings.HasSuffix(e.Text(), "\n")
		_, _ = io.WriteString(d.host.Stdout, text.Visible(e.Text())) // a terminal that is gone ends the input too
	default:
		d.progress.event(e, s)
	}
}

// endLine ends the line of a message.
func (d *dialog) endLine() {
	if d.midline {
		d.midline = false
		_, _ = io.WriteString(d.host.Stdout, "\n") // as above
	}
}
