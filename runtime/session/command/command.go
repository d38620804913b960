// Package command is the command line for people who talk to models: convtools query, chat and session.
//
// It prints what happens in a session and passes on what a person says. It decides nothing in a session.
package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/session/tools"
	"github.com/convtools/convtools/runtime/toolset"
)

type commands struct {
	host      *toolset.Host
	others    []toolset.Family // whose tools conversations may call
	knowledge toolset.Family   // with the flag --knowledge; zero if no family has it
	flag      toolset.Flag     // --knowledge
}

// Commands returns convtools query, chat and session. Conversations may call the tools of the other families.
func Commands(host *toolset.Host, others ...toolset.Family) []*cobra.Command {
	c := &commands{host: host, others: others}
	for _, f := range others {
		for _, flag := range f.Flags {
			if flag.Name == "knowledge" { // query and chat have this flag, too, and set it for the family f
				c.knowledge, c.flag = f, flag
			}
		}
	}
	return []*cobra.Command{c.queryCommand(), c.chatCommand(), c.sessionCommand()}
}

// open opens the project of the working directory, and warns of what is wrong with its configuration.
func (c *commands) open() (*tools.Project, error) {
	registry, _ := toolset.NewRegistry(c.others...) // no error: the program starts only if its families can be registered
	p, err := tools.Open(c.host, c.host.Dir, registry)
	if err != nil {
		return nil, withHint(err)
	}
	p.Warn()
	for _, warning := range (conversations.Options{Dir: c.host.Dir, Getenv: c.host.Getenv}).Warnings() {
		c.host.WarnOnce(warning)
	}
	return p, nil
}

// idCommand returns a command that finds the conversation of its argument ID, and calls run. flags are for the example.
func (c *commands) idCommand(name, flags, short, long string, run func(context.Context, *tools.Project, tools.Conversation) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: short, Long: long,
		Example: "  convtools session " + name + flags + " 5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11",
		Args:    cli.OneArg("ID"), ValidArgsFunction: c.completeID,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := c.open()
			if err != nil {
				return err
			}
			defer p.Close()
			found, err := p.Find(cmd.Context(), args[0])
			if err != nil {
				return withHint(err)
			}
			return run(cmd.Context(), p, found)
		},
	}
}

// resumeSession opens the session of a conversation, and sets the documents of --knowledge that the session began with.
func (c *commands) resumeSession(p *tools.Project, conversation tools.Conversation, observe tools.Observer) (*tools.Session, error) {
	if err := c.setKnowledge(conversation.Settings.Knowledge); err != nil {
		cli.Warn(c.host.Stderr, "the documents of --knowledge cannot be learned again: %v", err)
	}
	s, err := p.Resume(conversation.Session, observe)
	if err == nil && s.Torn() != nil {
		cli.Warn(c.host.Stderr, "an incomplete record at the end of the log has been removed: %d bytes", s.Torn().Bytes)
	}
	return s, err
}

// setKnowledge sets the flag --knowledge to patterns, if there are any, and checks it.
func (c *commands) setKnowledge(patterns []string) error {
	if c.flag.Set == nil || len(patterns) == 0 { // Set is nil if no family has the flag
		return nil
	}
	for _, pattern := range patterns {
		if err := c.flag.Set(pattern); err != nil {
			return err
		}
	}
	return c.flag.Check()
}

// withHint returns an error with a hint for a person, if there is one for it.
func withHint(err error) error {
	var none *configured.NoModelError
	var busy *log.BusyError
	var missing *log.NotFoundError
	switch {
	case errors.As(err, &none) && len(none.Known) == 0: // no model is configured
		return cli.Hint(err, `a model that needs no network: [model.NAME] with api = "scripted" and script = "file.toml"`)
	case errors.As(err, &busy):
		return cli.Hint(err, "wait for it to end, or stop it")
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG):
		return cli.Hint(err, "make room; convtools session resume then continues")
	case errors.As(err, &missing):
		return cli.Hint(err, "convtools session ls lists sessions")
	}
	return err
}

// killOnNextSignal lets the first signal after the end of ctx kill the process: a person who interrupts twice does not
// want to wait. A call of stop before the end of ctx prevents this, as for [context.AfterFunc].
func killOnNextSignal(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) }) // from now on a signal kills
}

// waitOrInterrupt calls f, which waits for a session. If ctx ends meanwhile, waitOrInterrupt empties the queue of the
// session, interrupts the running task and its callers, and calls f again. All this takes at most 30 seconds.
func waitOrInterrupt(ctx context.Context, s *tools.Session, f func(context.Context) error) error {
	err := f(ctx)
	if err == nil || ctx.Err() == nil {
		return err
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	// The queue is emptied first: otherwise its next submission would start when the running task ends.
	running := session.Submission{} // an interrupt with the ID 0 is for the running task
	for _, submission := range append(s.State().Queue(), running) {
		if err := interrupt(stopping, s, session.Interrupt{Chain: true, Submission: submission.ID}); err != nil {
			return err
		}
	}
	return f(stopping)
}

// interrupt interrupts work of a session. It is no error if the work has ended.
func interrupt(ctx context.Context, s *tools.Session, in session.Interrupt) error {
	err := s.Do(ctx, in)
	if session.CodeOf(err) == session.CodeLate {
		return nil
	}
	return err
}

// completeID completes the id of a session. It returns the sessions last used first, with their titles.
func (c *commands) completeID(_ *cobra.Command, args []string, word string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	dir, err := tools.LogDir(c.host.Getenv)
	if err != nil || len(args) > 0 {
		return nil, directive
	}
	all, _ := log.List(dir) // a completion cannot show errors
	const maxFound = 20     // describe reads a log for each
	for _, info := range all {
		if len(found) < maxFound && strings.HasPrefix(info.Session, strings.ToLower(word)) {
			if s := describe(dir, info); s.Problem == "" {
				found = append(found, cobra.CompletionWithDesc(s.ID, text.Cell(s.Title)))
			}
		}
	}
	return found, directive
}

// completeModel completes the name of a model.
func (c *commands) completeModel(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names := configured.Names(config.Read(c.host.Dir, c.host.Getenv))
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, word) }), cobra.ShellCompDirectiveNoFileComp
}
