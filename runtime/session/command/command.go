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

// Commands returns convtools query, chat and session. Conversations may call the tools of others.
func Commands(host *toolset.Host, others ...toolset.Family) []*cobra.Command {
	c := &commands{host: host, others: others}
	for _, f := range others {
		for _, flag := range f.Flags {
			if flag.Name == "knowledge" {
				c.knowledge, c.flag = f, flag
			}
		}
	}
	return []*cobra.Command{c.query(), c.chat(), c.session()}
}

// open opens the project of the working directory.
func (c *commands) open() (*tools.Project, error) {
	registry, err := toolset.NewRegistry(c.others...)
	if err != nil {
		return nil, err
	}
	p, err := tools.Open(c.host, c.host.Dir, registry)
	if err != nil {
		return nil, failure(err)
	}
	p.Warn()
	for _, warning := range (conversations.Options{Dir: c.host.Dir, Getenv: c.host.Getenv}).Warnings() {
		c.host.WarnOnce(warning)
	}
	return p, nil
}

// about returns a command about the session of the conversation ID. flags are those of its example.
func (c *commands) about(name, flags, short, long string, run func(context.Context, *tools.Project, tools.Conversation) error) *cobra.Command {
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
				return failure(err)
			}
			return run(cmd.Context(), p, found)
		},
	}
}

// resume opens the session of a conversation, with the knowledge of its beginning.
func (c *commands) resume(p *tools.Project, of tools.Conversation, observe tools.Observer) (*tools.Session, error) {
	if err := c.learn(of.Settings.Knowledge); err != nil {
		cli.Warn(c.host.Stderr, "the documents of --knowledge cannot be learned again: %v", err)
	}
	s, err := p.Resume(of.Session, observe)
	if err == nil && s.Torn() != nil {
		cli.Warn(c.host.Stderr, "an incomplete record at the end of the log has been removed: %d bytes", s.Torn().Bytes)
	}
	return s, err
}

// learn sets --knowledge.
func (c *commands) learn(patterns []string) error {
	if c.flag.Set == nil || len(patterns) == 0 {
		return nil
	}
	for _, pattern := range patterns {
		if err := c.flag.Set(pattern); err != nil {
			return err
		}
	}
	return c.flag.Check()
}

// failure returns an error with a hint for a person.
func failure(err error) error {
	var none *configured.NoModelError
	var busy *log.BusyError
	var missing *log.NotFoundError
	switch {
	case errors.As(err, &none) && len(none.Known) == 0:
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

// stoppable makes the next signal after ctx ends kill the process: a person who interrupts twice does not want to wait.
func stoppable(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })
}

// wait calls f, which waits for a session. If ctx ends, wait interrupts the session and calls f again.
func wait(ctx context.Context, s *tools.Session, f func(context.Context) error) error {
	err := f(ctx)
	if err == nil || ctx.Err() == nil {
		return err
	}
	const stopTime = 30 * time.Second
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	for _, queued := range s.State().Queue() {
		if err := interrupt(stopping, s, session.Interrupt{Chain: true, Submission: queued.ID}); err != nil {
			return err
		}
	}
	if err := interrupt(stopping, s, session.Interrupt{Chain: true}); err != nil {
		return err
	}
	return f(stopping)
}

// interrupt interrupts a session, unless the work has ended.
func interrupt(ctx context.Context, s *tools.Session, in session.Interrupt) error {
	err := s.Do(ctx, in)
	if session.CodeOf(err) == session.CodeLate {
		return nil
	}
	return err
}

// completeID completes the id of a session, the last used first, with its title.
func (c *commands) completeID(_ *cobra.Command, args []string, word string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	dir, err := tools.LogDir(c.host.Getenv)
	if err != nil || len(args) > 0 {
		return nil, directive
	}
	all, _ := log.List(dir) // a completion cannot show errors
	const most = 20
	for _, info := range all {
		if len(found) < most && strings.HasPrefix(info.Session, strings.ToLower(word)) {
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
