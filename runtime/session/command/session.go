package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/session/tools"
)

func (c *commands) sessionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "List, show and continue sessions with models",
		Long: `Lists the sessions of convtools query and chat, and continues them. A session
is a conversation with a model, and the conversations that the model has
started. ID is the id of a session, of one of its conversations, or the id under
which a conversation is recorded.`,
		Example: `  convtools session ls --limit 5
  convtools session show 5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11`,
	}
	return cli.Group(cmd, c.listCommand(), c.showCommand(), c.eventsCommand(), c.resumeCommand(), c.gcCommand())
}

// listed is a session in the JSON of session ls.
type listed struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Model    string    `json:"model"`
	Dir      string    `json:"dir"`
	Started  time.Time `json:"started_at"`
	Modified time.Time `json:"last_active_at"`
	Bytes    int64     `json:"bytes"`
	Problem  string    `json:"problem,omitempty"`
}

// describe returns what session ls shows of a session, from the beginning of its log, or the Problem of reading the log.
func describe(dir string, info log.Info) listed {
	s := listed{ID: info.Session, Modified: info.Modified.UTC(), Bytes: info.Bytes}
	summary, err := log.Summarize(dir, info.Session)
	if err != nil {
		s.Problem = err.Error()
		return s
	}
	settings := tools.SettingsOf(summary.Context)
	s.Title, s.Started = cmp.Or(summary.Context.Title, tools.FirstLine(summary.Input)), summary.Started.UTC()
	s.Model, s.Dir = settings.Model, settings.Dir
	return s
}

func (c *commands) listCommand() *cobra.Command {
	limit, asJSON := 20, false
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"},
		Short:   "List sessions, the last used first",
		Long:    "Lists sessions, the last used first.",
		Example: "  convtools session ls --limit 5",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return cli.Usagef("--limit is 0, for all, or a number of sessions, not %d", limit)
			}
			return c.runList(cmd.Context(), limit, asJSON)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "show at most `N` sessions; 0 shows all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// runList prints the sessions used last, as lines or as JSON. It prints at most limit sessions, or all if limit is 0.
func (c *commands) runList(ctx context.Context, limit int, asJSON bool) error {
	// Only the error matters: wrong settings could exclude conversations whose titles are in the list.
	if _, err := (conversations.Options{Dir: c.host.Dir, Getenv: c.host.Getenv}).SearchSources(); err != nil {
		return withHint(err)
	}
	dir, err := tools.LogDir(c.host.Getenv)
	if err != nil {
		return err
	}
	all, err := log.List(dir)
	if err != nil {
		return err
	}
	total := len(all)
	if limit > 0 && total > limit { // 0 is no limit
		all = all[:limit]
	}
	sessions := make([]listed, len(all))
	var lines strings.Builder
	for i, info := range all {
		if ctx.Err() != nil {
			return cli.ErrInterrupted
		}
		s := describe(dir, info)
		sessions[i] = s
		if s.Problem != "" {
			s.Title = "cannot be read"
			if !asJSON {
				cli.Warn(c.host.Stderr, "%s", s.Problem)
			}
		}
		fmt.Fprintf(&lines, "%s  %s  %s\n", s.ID, s.Modified.Local().Format("2006-01-02 15:04"), text.Truncate(text.Cell(s.Title), max(c.width()-56, 20)))
	}
	if asJSON {
		return cli.PrintJSON(c.host.Stdout, c.host.Terminal, sessions)
	}
	if _, err := io.WriteString(c.host.Stdout, lines.String()); err != nil {
		return err
	}
	switch {
	case total == 0:
		fmt.Fprintln(c.host.Stderr, "note: there is no session yet: convtools query TEXT begins one")
	case total > len(all):
		fmt.Fprintf(c.host.Stderr, "note: %d of %s; --limit 0 shows all\n", len(all), text.Count(total, "session", "sessions"))
	}
	return nil
}

// width returns the columns of the terminal, or 120 if there is none.
func (c *commands) width() int { return cmp.Or(c.host.Width, 120) }

// shown is a conversation in the JSON of session show.
type shown struct {
	ID       string        `json:"id"`
	Title    string        `json:"title,omitempty"`
	State    string        `json:"state"`
	Messages int           `json:"message_count"`
	Active   time.Time     `json:"last_active_at"`
	Usage    session.Usage `json:"usage"`       // its own
	Total    session.Usage `json:"total_usage"` // with the conversations below it
	Children []*shown      `json:"conversations,omitempty"`
}

func (c *commands) showCommand() *cobra.Command {
	asJSON := false
	cmd := c.idCommand("show", "", "Show the conversations of a session", `Shows the conversations of a session as a tree: the state and the number of
messages of each, and the tokens used by it and the conversations below it.`,
		func(_ context.Context, p *tools.Project, found tools.Conversation) error {
			state, torn, err := log.Load(p.Logs, found.Session)
			if err != nil {
				return withHint(err)
			}
			if torn != nil {
				fmt.Fprintf(c.host.Stderr, "note: the last %d bytes of the log are an incomplete record: it is being written, or a crash left it\n", torn.Bytes)
			}
			root := treeOf(state, state.Root())
			if asJSON {
				return cli.PrintJSON(c.host.Stdout, c.host.Terminal, root)
			}
			var b strings.Builder
			root.print(&b, "", "", c.width())
			_, err = io.WriteString(c.host.Stdout, b.String())
			return err
		})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// treeOf returns a conversation with those below it, for session show.
func treeOf(s session.State, c *session.Conversation) *shown {
	t := &shown{ID: c.ID, Title: tools.TitleOf(c), State: tools.StateOf(s, c), Messages: c.Messages}
	t.Active, t.Usage, t.Total = c.LastActive, c.Usage, c.Usage
	for child := range s.Conversations() {
		if child.Parent == c.ID {
			below := treeOf(s, child)
			t.Children = append(t.Children, below)
			t.Total.Add(below.Total)
		}
	}
	return t
}

// print writes a conversation and the conversations below it, one a line. Its line begins with first, the others with rest.
func (s *shown) print(b *strings.Builder, first, rest string, width int) {
	fmt.Fprintf(b, "%s%s  %s  %s  %s in, %s out", first, s.ID, s.State, text.Count(s.Messages, "message", "messages"),
		text.Number(int(s.Total.InputTokens)), text.Number(int(s.Total.OutputTokens)))
	if s.Title != "" {
		b.WriteString("  " + text.Truncate(text.Cell(s.Title), max(width/2, 20)))
	}
	b.WriteByte('\n')
	for i, child := range s.Children {
		branch, below := "├ ", "│ "
		if i == len(s.Children)-1 {
			branch, below = "└ ", "  "
		}
		child.print(b, rest+branch, rest+below, width)
	}
}

func (c *commands) eventsCommand() *cobra.Command {
	follow := false
	cmd := c.idCommand("events", " --follow", "Print the events of a session, one a line", `Prints the events of a session as lines of JSON, as query --json does. With
--follow, it also prints new events while a process works in the session.`,
		func(ctx context.Context, p *tools.Project, found tools.Conversation) error {
			events := log.Events(p.Logs, found.Session)
			if follow {
				events = log.Follow(ctx, p.Logs, found.Session)
			}
			out := &printer{commands: c, json: true}
			for e, err := range events {
				if err != nil {
					return withHint(err)
				}
				out.printEvent(e, session.State{}) // only progress needs the state
				if out.err != nil || ctx.Err() != nil {
					break
				}
			}
			if out.err == nil && ctx.Err() != nil {
				return cli.ErrInterrupted
			}
			return out.err
		})
	cmd.Flags().BoolVar(&follow, "follow", false, "also print new events")
	return cmd
}

func (c *commands) gcCommand() *cobra.Command {
	days, dry := 0, false
	cmd := &cobra.Command{
		Use:   "gc --older-than DAYS",
		Short: "Remove the logs of old sessions",
		Long: `Removes the logs of finished sessions that were not used for a number of days,
with all their conversations. Conversations recorded in a JP workspace stay
there. Sessions with unfinished work are kept.`,
		Example: "  convtools session gc --older-than 90 --dry-run",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("older-than") || days < 0 {
				return cli.Usagef("--older-than takes a number of days")
			}
			return c.runGC(days, dry)
		},
	}
	cmd.Flags().IntVar(&days, "older-than", 0, "remove sessions that were not used for `DAYS` days")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only print what would be removed")
	return cmd
}

func (c *commands) runGC(days int, dry bool) error {
	dir, err := tools.LogDir(c.host.Getenv)
	if err != nil {
		return err
	}
	removed, kept, err := log.GC(dir, c.host.Now().AddDate(0, 0, -days), dry)
	if err != nil {
		return err
	}
	var bytes int64
	for _, info := range removed {
		bytes += info.Bytes
		if _, err := fmt.Fprintln(c.host.Stdout, info.Session); err != nil {
			return err
		}
	}
	for _, err := range kept {
		fmt.Fprintf(c.host.Stderr, "note: kept: %s\n", text.Line(err.Error()))
	}
	verb := "removed"
	if dry {
		verb = "would be removed"
	}
	fmt.Fprintf(c.host.Stderr, "note: %s %s, %d bytes\n", text.Count(len(removed), "session", "sessions"), verb, bytes)
	return nil
}
