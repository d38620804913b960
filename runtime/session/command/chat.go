package command

import (
	"bufio"
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
	var t talk
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
	context []session.Part // what goes with the next input
	lines   <-chan string
	// interrupts ask for the end of a task or of all, and ends for the end of the process.
	interrupts, ends <-chan os.Signal

	mu       sync.Mutex // events come from elsewhere
	current  string     // the conversation that is talked in
	progress *progress
	midline  bool // a piece of a message was printed last
	failed   bool // what was said last has no answer
}

func (c *commands) runChat(ctx context.Context, t *talk) error {
	if err := t.check(); err != nil {
		return err
	}
	// A signal ends what runs, and not the program: what its context says does not count.
	ctx = context.WithoutCancel(ctx)
	interrupts, ends := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(interrupts)
	defer signal.Stop(ends)
	sessions, err := c.open()
	if err != nil {
		return err
	}
	defer sessions.Close()
	d := &dialog{commands: c, progress: newProgress(c.host.Stderr), interrupts: interrupts, ends: ends}
	d.progress.before = d.endLine
	c.introduce(ctx, sessions, t.id, d.progress)
	var in session.Submit
	d.session, in, err = c.begin(ctx, sessions, t, d.event)
	if err != nil {
		return failure(err)
	}
	d.turnTo(in.Conversation)
	d.context = in.Context
	if c.host.Terminal {
		d.welcome()
	}
	lines, readErr := readLines(c.host.Stdin)
	d.lines = lines
	err = d.run(ctx)
	if closed := d.session.Close(); err == nil {
		err = closed
	}
	if c.host.Terminal {
		fmt.Fprintf(c.host.Stderr, "convtools chat --id %s goes on.\n", d.session.State().ID())
	}
	select {
	case read := <-readErr:
		err = errors.Join(err, read)
	default:
	}
	if err == nil && d.failed && !c.host.Terminal {
		return cli.ErrFailed // which has been said
	}
	return err
}

// welcome prints who is talked with, and how to end.
func (d *dialog) welcome() {
	with := "a model"
	root := d.session.State().Root()
	if settings, err := tools.ParseSettings(root.Settings); err == nil && settings.Model != "" {
		with = "the model " + text.Quote(settings.Model)
	}
	fmt.Fprintf(d.host.Stderr, "This is %s. /help lists what else can be typed; Ctrl-D ends.\n", with)
}

// help is what can be typed.
const help = `/list      lists the conversations
/switch N  talks in the conversation N of the list
/quit      ends, as Ctrl-D does
Ctrl-C     ends the task that runs; a second one ends all that runs
`

// readLines reads lines of a person. The channel of errors has one where reading ended before the end of the input.
func readLines(in io.Reader) (<-chan string, <-chan error) {
	lines, failed := make(chan string), make(chan error, 1)
	go func() { // until the input ends, or the program does
		defer close(lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxInput)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
		if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
			failed <- cli.Usagef("a line is longer than %d bytes", maxInput)
		} else if err != nil {
			failed <- err
		}
	}()
	return lines, failed
}

// run talks until the person, or the input, ends it.
func (d *dialog) run(ctx context.Context) error {
	if !d.session.State().Idle() { // what a crash has left goes on first
		if quit, err := d.wait(func() error { return d.session.Wait(ctx) }); quit || err != nil {
			return err
		}
		d.endLine()
	}
	for leaving := false; ; {
		if d.host.Terminal {
			fmt.Fprintf(d.host.Stderr, "%s> ", d.progress.name(d.current))
		}
		var line string
		more := false
		select {
		case line, more = <-d.lines:
			leaving = false
		case <-d.interrupts:
			// One that comes a moment after the answer is not meant to end the chat.
			if d.host.Terminal && !leaving {
				leaving = true
				fmt.Fprintln(d.host.Stderr, "\nnothing runs; a second Ctrl-C ends, as Ctrl-D does")
				continue
			}
		case <-d.ends:
		}
		if !more {
			if d.host.Terminal {
				fmt.Fprintln(d.host.Stderr)
			}
			return nil
		}
		line = strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))
		switch word, rest, _ := strings.Cut(line, " "); {
		case line == "":
		case word == "/quit":
			return nil
		case word == "/list":
			if err := d.list(); err != nil {
				return err
			}
		case word == "/switch":
			d.switchTo(strings.TrimSpace(rest))
		case strings.HasPrefix(word, "/"):
			if word != "/help" {
				fmt.Fprintf(d.host.Stderr, "there is no command %s:\n", text.Quote(word))
			}
			fmt.Fprint(d.host.Stderr, help)
		default:
			if quit, err := d.say(ctx, line); quit || err != nil {
				return err
			}
		}
	}
}

// say submits a line and waits for the answer. It reports whether the program is to end.
func (d *dialog) say(ctx context.Context, line string) (quit bool, err error) {
	turn, err := d.session.Submit(ctx, session.Submit{Conversation: d.current, Context: d.context, Input: []session.Part{{Text: line}}})
	var refused *session.Refusal
	if errors.As(err, &refused) {
		cli.Warn(d.host.Stderr, "%v", err)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d.context = nil
	var result session.Result
	quit, err = d.wait(func() (err error) {
		result, err = turn.Wait(ctx)
		return err
	})
	if err != nil {
		return quit, err
	}
	d.endLine()
	d.failed = true
	switch result.Status {
	case session.StatusCompleted, session.StatusNoMessage:
		d.failed = false
		if !d.host.Terminal && result.Message != "" {
			err = d.printMessage(result.Message)
		}
	case session.StatusFailed:
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
	for asked := false; ; {
		chain := asked
		select {
		case err := <-done:
			return quit, err
		case <-d.interrupts:
			d.acknowledge(asked)
			asked = true
		case <-d.ends:
			quit, chain = true, true
		}
		var late *session.InputError // it has ended by itself, or is being stopped
		if err := d.session.Do(context.Background(), session.Interrupt{Chain: chain}); err != nil && !errors.As(err, &late) {
			return quit, err
		}
	}
}

// acknowledge ends the line on which a terminal shows ^C.
func (d *dialog) acknowledge(again bool) {
	if !d.host.Terminal {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.midline = false
	if again {
		fmt.Fprintln(d.host.Stderr, "\nending all that runs")
	} else {
		fmt.Fprintln(d.host.Stderr, "\nending the task that runs; Ctrl-C again ends all")
	}
}

// list prints the conversations.
func (d *dialog) list() error {
	var b strings.Builder
	for c := range d.session.State().Conversations() {
		mark := " "
		if c.ID == d.current {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s %-5s %s  %s  %s  %s\n", mark, d.progress.name(c.ID), c.ID, stateOf(d.session.State(), c),
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
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "#")); err == nil && n == i || name == d.progress.name(c.ID) || strings.EqualFold(name, c.ID) {
			if c.Destroyed {
				break
			}
			d.turnTo(c.ID)
			return
		}
	}
	if name == "" {
		fmt.Fprintln(d.host.Stderr, "/switch takes the number of a conversation, as in /switch 2; /list lists them")
		return
	}
	fmt.Fprintf(d.host.Stderr, "there is no conversation %s; /list lists them\n", text.Quote(name))
}

func (d *dialog) turnTo(conversation string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.current = conversation
	if d.host.Terminal {
		d.progress.streamed = conversation
	}
}

// event shows what happens, at a terminal.
func (d *dialog) event(e session.Event, _ session.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.host.Terminal {
		if e.Conversation != "" {
			d.progress.name(e.Conversation)
		}
		return
	}
	if e.Kind == session.AgentMessageDelta && e.Conversation == d.current {
		d.midline = !strings.HasSuffix(e.Text(), "\n")
		_, _ = io.WriteString(d.host.Stdout, text.Visible(e.Text())) // a terminal that is gone ends the input too
		return
	}
	d.progress.event(e)
}

// endLine ends the line of a message.
func (d *dialog) endLine() {
	if d.midline {
		d.midline = false
		_, _ = io.WriteString(d.host.Stdout, "\n") // as above
	}
}
