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

func (c *commands) chatCommand() *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk with a model, which can start conversations of its own",
		Long: `Sends each line to a model and prints its answer as it arrives, and the
questions that it asks other conversations. Ctrl-C interrupts the task that
runs, so that its caller continues without an answer; a second Ctrl-C
interrupts everything. /list lists the conversations, /switch N talks in
another one, and /quit or Ctrl-D ends the chat. If standard output is not a
terminal, only answers are printed.`,
		Example: `  convtools chat
  convtools chat --id 5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runChat(cmd.Context(), &t) },
	}
	t.addTo(c, cmd)
	return cmd
}

// dialog is a chat with a person at a terminal, or with a program that writes lines.
type dialog struct {
	*commands
	session *tools.Session
	next    session.Submit // the next submission, without its input
	lines   <-chan line
	signals <-chan os.Signal
	failed  bool // the last line that was submitted has no answer

	mu      sync.Mutex // events come from another goroutine
	midline bool       // the last output was a piece of a message
}

// runChat opens the session that the flags name, and runs the lines of standard input until the input or a signal ends.
func (c *commands) runChat(ctx context.Context, t *target) error {
	ctx = context.WithoutCancel(ctx) // a signal ends the task, not the program
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	p, err := c.open()
	if err != nil {
		return err
	}
	defer p.Close()
	d := &dialog{commands: c, signals: signals}
	s, next, err := c.openTarget(ctx, p, t, d.printEvent)
	if err != nil {
		return withHint(err)
	}
	d.mu.Lock() // a session that continues after a crash calls printEvent already
	d.session, d.next = s, next
	d.mu.Unlock()
	root := d.session.State().Root()
	d.tellPerson("This is the model %s. /help lists the commands; Ctrl-D ends.\n", text.Quote(tools.SettingsOf(root.Context).Model))
	d.lines = readLines(c.host.Stdin)
	err = d.run(ctx)
	closeErr := d.session.Close()
	d.tellPerson("To go on: %s chat --id %s\n", c.host.Name, root.ID)
	switch {
	case err != io.EOF: // not the end of the input
		return err
	case closeErr == nil && d.failed && !c.host.Terminal:
		return cli.ErrFailed // submitLine has printed the error
	}
	return closeErr
}

// tellPerson prints to standard error if a person is at the terminal.
func (d *dialog) tellPerson(format string, args ...any) {
	if d.host.Terminal {
		fmt.Fprintf(d.host.Stderr, format, args...)
	}
}

const help = `/list      lists the conversations
/switch N  talks in the conversation N of the list
/quit      ends, as Ctrl-D does
Ctrl-C     ends the task that runs; a second one ends all that runs
`

// line is a line of input, or an error: [io.EOF] at the end.
type line struct {
	text string
	err  error
}

// readLines returns a channel that gets the lines of in without their spaces around, and then an error.
func readLines(in io.Reader) <-chan line {
	lines := make(chan line)
	go func() { // ends with the input or the program
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxInput)
		for scanner.Scan() {
			lines <- line{text: strings.TrimSpace(strings.ToValidUTF8(scanner.Text(), "\uFFFD"))}
		}
		lines <- line{err: cmp.Or(scanner.Err(), io.EOF)}
	}()
	return lines
}

// run reads and runs lines until an error. [io.EOF] means that the input has ended, or that the person quits.
func (d *dialog) run(ctx context.Context) error {
	if !d.session.State().Idle() { // a crash has left work
		if err := d.waitOrInterrupt(func() error { return d.session.Wait(ctx) }); err != nil {
			return err
		}
		d.endLine()
	}
	for {
		next := d.nextLine()
		if next.err != nil {
			return next.err
		}
		if err := d.runLine(ctx, next.text); err != nil {
			return err
		}
	}
}

// runLine carries out a line: a command, or text for the model. An error ends the chat; it is [io.EOF] for /quit.
func (d *dialog) runLine(ctx context.Context, line string) error {
	switch word, rest, _ := strings.Cut(line, " "); {
	case line == "": // the person only pressed Enter
	case word == "/quit":
		return io.EOF
	case word == "/list":
		return d.printConversations()
	case word == "/switch":
		d.switchTo(strings.TrimSpace(rest))
	case strings.HasPrefix(word, "/"):
		if word != "/help" {
			fmt.Fprintf(d.host.Stderr, "there is no command %s:\n", text.Quote(word))
		}
		fmt.Fprint(d.host.Stderr, help)
	default:
		return d.submitLine(ctx, line)
	}
	return nil
}

// nextLine prompts for the next line and returns it. A signal ends the input, except for the first Ctrl-C at a terminal.
func (d *dialog) nextLine() line {
	isWarned := false
	for {
		d.tellPerson("%s> ", nameOf(d.session.State(), d.next.Conversation))
		select {
		case next := <-d.lines:
			if next.err != nil {
				d.tellPerson("\n")
			}
			return next
		case s := <-d.signals:
			if s == os.Interrupt && d.host.Terminal && !isWarned { // Ctrl-C was probably meant for a task that has just ended
				d.tellPerson("\nnothing runs; a second Ctrl-C ends, as Ctrl-D does\n")
				isWarned = true
				continue
			}
			d.tellPerson("\n")
			return line{err: io.EOF}
		}
	}
}

// submitLine submits a line and prints the answer or its failure. A refusal is only a warning. An error ends the chat;
// it is [io.EOF] if a signal other than Ctrl-C has arrived.
func (d *dialog) submitLine(ctx context.Context, line string) error {
	d.next.Input = []session.Part{{Text: line}}
	turn, err := d.session.Submit(ctx, d.next)
	if _, isRefused := errors.AsType[*session.Refusal](err); isRefused {
		cli.Warn(d.host.Stderr, "%v", err)
		return nil
	}
	if err != nil {
		return err
	}
	d.next.Context = nil // the model has it now
	waitErr := d.waitOrInterrupt(func() error {
		_, err := turn.Wait(ctx)
		return err
	})
	if waitErr != nil && waitErr != io.EOF { // after io.EOF, the turn has ended and its result is printed
		return waitErr
	}
	result, _ := turn.Wait(ctx) // does not wait: the turn has ended
	d.endLine()
	d.failed = result.Status != session.StatusCompleted && result.Status != session.StatusNoMessage
	if result.Status == session.StatusFailed {
		cli.Report(d.host.Stderr, failureOf(result))
	}
	if !d.failed && !d.host.Terminal && result.Message != "" {
		return cmp.Or(d.printMessage(result.Message), waitErr)
	}
	return waitErr
}

// waitOrInterrupt calls f, which waits for the session, and returns its error. Meanwhile, the first Ctrl-C interrupts the
// running task, and the next Ctrl-C all that runs. Any other signal interrupts all too; the error is [io.EOF] then.
func (d *dialog) waitOrInterrupt(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	var quit error // io.EOF after a signal that is not Ctrl-C
	notice := "ending the task that runs; Ctrl-C again ends all"
	for count := 1; ; count++ { // of signals
		select {
		case err := <-done:
			return cmp.Or(err, quit)
		case s := <-d.signals:
			if s != os.Interrupt {
				quit = io.EOF
			}
		}
		if quit == nil {
			d.mu.Lock()
			d.midline = false // the terminal has printed ^C
			d.tellPerson("\n%s\n", notice)
			d.mu.Unlock()
		}
		all := count > 1 || quit != nil
		if err := interrupt(context.Background(), d.session, session.Interrupt{Chain: all}); err != nil {
			return err
		}
		notice = "ending all that runs"
	}
}

// printConversations prints the conversations with their numbers, and a mark at the current one.
func (d *dialog) printConversations() error {
	state := d.session.State()
	var b strings.Builder
	for c := range state.Conversations() {
		mark := " "
		if c.ID == d.next.Conversation {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s %-5s %s  %s  %s  %s\n", mark, nameOf(state, c.ID), c.ID, tools.StateOf(state, c),
			text.Count(c.Messages, "message", "messages"), text.Cell(tools.TitleOf(c)))
	}
	_, err := io.WriteString(d.host.Stdout, b.String())
	return err
}

// switchTo makes the conversation with a number or an id the one that gets the next line.
func (d *dialog) switchTo(name string) {
	wanted, _ := strconv.Atoi(strings.TrimPrefix(name, "#")) // 0 if name is an id
	number := 0
	for c := range d.session.State().Conversations() {
		number++
		isNamed := number == wanted || strings.EqualFold(name, c.ID)
		if isNamed && !c.Destroyed {
			d.next.Conversation = c.ID
			return
		}
	}
	fmt.Fprintf(d.host.Stderr, "there is no conversation %s; /list lists them, and /switch 2 talks in the second one\n", text.Quote(name))
}

// printEvent prints an event at a terminal. Messages of the current conversation are printed in the pieces that arrive.
func (d *dialog) printEvent(e session.Event, s session.State) {
	if !d.host.Terminal {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.Conversation == d.next.Conversation {
		switch e.Kind {
		case session.AgentMessageDelta:
			d.midline = !strings.HasSuffix(e.Text(), "\n")
			_, _ = io.WriteString(d.host.Stdout, text.Visible(e.Text())) // a terminal that is gone ends the input too
			return
		case session.AgentMessage, session.TaskComplete, session.TaskFailed: // submitLine prints the failure
			return
		}
	}
	if line := progressOf(e, s); line != "" {
		d.endLine()
		fmt.Fprintln(d.host.Stderr, line)
	}
}

// endLine ends the line of a message whose last piece did not.
func (d *dialog) endLine() {
	if d.midline {
		d.midline = false
		_, _ = io.WriteString(d.host.Stdout, "\n") // as in printEvent
	}
}
