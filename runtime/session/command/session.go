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

func (c *commands) session() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "List sessions with models, look into them, go on with them",
		Long: `Lists the sessions that convtools query and chat have begun, and goes on with
them. A session is a conversation with a model, and the conversations that the
model has begun in it. An ID is that of a session, of a conversation in one, or
the id under which a conversation is recorded.`,
		Example: `  convtools session ls --limit 5
  convtools session show 5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11`,
	}
	return cli.Group(cmd, c.list(), c.show(), c.events(), c.resume(), c.collect())
}

// listed is a session, as ls prints it as JSON.
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

func (c *commands) list() *cobra.Command {
	limit, asJSON := 20, false
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"},
		Short:   "List sessions, the one used last first",
		Long:    "Lists sessions, the one used last first.",
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

func (c *commands) runList(ctx context.Context, limit int, asJSON bool) error {
	// Titles are read of conversations: where the settings about them cannot be used, nothing is.
	if _, err := (conversations.Options{Dir: c.host.Dir, Getenv: c.host.Getenv}).SearchSources(); err != nil {
		return failure(err)
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
	if limit > 0 && total > limit {
		all = all[:limit]
	}
	sessions := make([]listed, len(all))
	for i, info := range all {
		if ctx.Err() != nil {
			return cli.ErrInterrupted
		}
		sessions[i] = describe(dir, info)
	}
	if asJSON {
		return cli.PrintJSON(c.host.Stdout, c.host.Terminal, sessions)
	}
	var b strings.Builder
	for _, s := range sessions {
		title := s.Title
		if s.Problem != "" {
			title = "cannot be read"
			cli.Warn(c.host.Stderr, "%s", s.Problem)
		}
		fmt.Fprintf(&b, "%s  %s  %s\n", s.ID, s.Modified.Local().Format("2006-01-02 15:04"), text.Truncate(text.Cell(title), max(c.width()-56, 20)))
	}
	if _, err := io.WriteString(c.host.Stdout, b.String()); err != nil {
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

// describe reads the beginning of the log of a session.
func describe(dir string, info log.Info) listed {
	s := listed{ID: info.Session, Modified: info.Modified.UTC(), Bytes: info.Bytes}
	summary, err := log.Summarize(dir, info.Session)
	if err != nil {
		s.Problem = err.Error()
		return s
	}
	s.Title, s.Started = cmp.Or(summary.Context.Title, tools.FirstLine(summary.Input)), summary.Started.UTC()
	settings := tools.SettingsOf(summary.Context)
	s.Model, s.Dir = settings.Model, settings.Dir
	return s
}

func (c *commands) width() int {
	const usual = 120
	return cmp.Or(c.host.Width, usual)
}

// shown is a conversation of a session, as show prints it as JSON.
type shown struct {
	ID       string        `json:"id"`
	Title    string        `json:"title,omitempty"`
	State    string        `json:"state"`
	Messages int           `json:"message_count"`
	Active   time.Time     `json:"last_active_at"`
	Usage    session.Usage `json:"usage"` // its own
	// Total is the usage of it and of all below it.
	Total    session.Usage `json:"total_usage"`
	Children []*shown      `json:"conversations,omitempty"`
}

func (c *commands) show() *cobra.Command {
	asJSON := false
	cmd := c.about("show", "", "Show the conversations of a session, and what they have used", `Shows the conversations of a session as a tree: what state each is in, how many
messages it has, and the tokens that it and all below it have used.`,
		func(_ context.Context, sessions *tools.Sessions, at tools.Place) error {
			state, torn, err := log.Load(sessions.Dir, at.Session)
			if err != nil {
				return failure(err)
			}
			if torn != nil {
				fmt.Fprintf(c.host.Stderr, "note: the last %d bytes of the log are not a whole record: it is being written, or a crash left them\n", torn.Bytes)
			}
			root := tree(state)
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

// tree returns the conversations of a session below its root.
func tree(s session.State) *shown {
	all := map[string]*shown{}
	for c := range s.Conversations() { // a parent comes before its children
		all[c.ID] = &shown{ID: c.ID, Title: tools.TitleOf(c), State: stateOf(s, c), Messages: c.Messages, Active: c.LastActive, Usage: c.Usage, Total: c.Usage}
		if parent := all[c.Parent]; parent != nil {
			parent.Children = append(parent.Children, all[c.ID])
		}
	}
	root := all[s.Root().ID]
	root.add()
	return root
}

// add adds up what is used below a conversation.
func (s *shown) add() {
	for _, child := range s.Children {
		child.add()
		s.Total.Add(child.Total)
	}
}

// stateOf returns what a conversation does, as people are told.
func stateOf(s session.State, c *session.Conversation) string {
	doing := s.Doing(c.ID)
	switch {
	case c.Destroyed:
		return "destroyed"
	case doing == "suspended":
		return "waiting"
	case doing == "queued":
		return "idle"
	}
	return doing
}

func (s *shown) print(b *strings.Builder, first, rest string, width int) {
	fmt.Fprintf(b, "%s%s  %s  %s  %s in, %s out", first, s.ID, s.State, text.Count(s.Messages, "message", "messages"),
		text.Number(int(s.Total.InputTokens)), text.Number(int(s.Total.OutputTokens)))
	if s.Title != "" {
		b.WriteString("  " + text.Truncate(text.Cell(s.Title), max(width/2, 20)))
	}
	b.WriteByte('\n')
	for i, child := range s.Children {
		if i == len(s.Children)-1 {
			child.print(b, rest+"└ ", rest+"  ", width)
		} else {
			child.print(b, rest+"├ ", rest+"│ ", width)
		}
	}
}

func (c *commands) events() *cobra.Command {
	follow := false
	cmd := c.about("events", " --follow", "Print what has happened in a session, an event a line", `Prints the events of a session, in JSON, one a line, as query --json does. With
--follow it goes on with what happens, as long as a process works in the
session.`,
		func(ctx context.Context, sessions *tools.Sessions, at tools.Place) error {
			records := log.Read(sessions.Dir, at.Session)
			if follow {
				records = log.Follow(ctx, sessions.Dir, at.Session)
			}
			p := &printer{commands: c, json: true}
			for record, err := range records {
				if err != nil {
					return failure(err)
				}
				for _, e := range record {
					p.event(e)
				}
				if p.err != nil || !follow && ctx.Err() != nil {
					break
				}
			}
			if p.err == nil && ctx.Err() != nil {
				return cli.ErrInterrupted
			}
			return p.err
		})
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with what happens")
	return cmd
}

func (c *commands) collect() *cobra.Command {
	days, dry := 0, false
	cmd := &cobra.Command{
		Use:   "gc --older-than DAYS",
		Short: "Remove the logs of sessions that were not used for long",
		Long: `Removes the logs of sessions that have finished and were not used for a number
of days, with all their conversations. What is recorded in a JP workspace stays
there. Sessions that have something to go on with are kept.`,
		Example: "  convtools session gc --older-than 90 --dry-run",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("older-than") || days < 0 {
				return cli.Usagef("--older-than takes a number of days")
			}
			dir, err := tools.LogDir(c.host.Getenv)
			if err != nil {
				return err
			}
			now := time.Now()
			if c.host.Now != nil {
				now = c.host.Now()
			}
			done, err := log.GC(dir, now.AddDate(0, 0, -days), dry)
			if err != nil {
				return err
			}
			var bytes int64
			for _, info := range done.Removed {
				bytes += info.Bytes
				if _, err := fmt.Fprintln(c.host.Stdout, info.Session); err != nil {
					return err
				}
			}
			for _, kept := range done.Kept {
				fmt.Fprintf(c.host.Stderr, "note: kept: %s\n", text.Line(kept.Error()))
			}
			verb := "removed"
			if dry {
				verb = "would be removed"
			}
			fmt.Fprintf(c.host.Stderr, "note: %s %s, %s bytes\n", text.Count(len(done.Removed), "session", "sessions"), verb, fmt.Sprint(bytes))
			return nil
		},
	}
	cmd.Flags().IntVar(&days, "older-than", 0, "that were not used for `DAYS` days")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "remove nothing, and print what would be")
	return cmd
}
