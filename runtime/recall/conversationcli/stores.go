package conversationcli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/toolset"
)

// Stores returns the command "stores": which stores are read, and from where.
func Stores(host *toolset.Host) *cobra.Command {
	c := &commands{host: host}
	cmd := c.newCommand("stores", "", "Show which programs' conversations are read, and from where",
		`Shows which programs' conversations are read, and from where: how many there are
of this project and of all, and what cannot be read.

To switch a store off, to add directories, such as a backup, and to exclude
projects, write in ~/.config/convtools/convtools.toml:

  [stores]
  off = ["codex"]
  exclude = ["~/clients/acme", "~/private/*"]
  directories.claude-code = ["~/backup/.claude"]

A file called .convtools-exclude in a project excludes it too. That is
remembered, with the worktrees of the project: once the file is gone, they stay
excluded until "stores include" takes that back.`,
		"stores --json", "stores include ~/clients/acme")
	cmd.Args = cli.NoArgs
	c.addJSON(cmd, "json")
	include := c.newCommand("include DIRECTORY...", "", "Read the conversations of excluded directories again",
		`Forgets that a file .convtools-exclude excluded directories, and reads their
conversations again. Remove the file first.`,
		"stores include ~/clients/acme")
	cmd.AddCommand(c.command(include, c.include))
	return c.command(cmd, func(ctx context.Context, _ []string) error { return c.stores(ctx) })
}

// include takes dirs out of the excluded directories that convtools remembers. For each of dirs it writes that the
// conversations in the directory are read again, or the name of the file that still excludes the directory.
func (c *commands) include(_ context.Context, dirs []string) error {
	if len(dirs) == 0 {
		return cli.Usagef("include needs the directories to read again")
	}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(c.host.Dir, dir)
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		by, err := conversations.Options{Dir: dir, Getenv: c.host.Getenv}.Include()
		if err != nil {
			return err
		}
		shown := c.shortPath(dir)
		if by != "" {
			c.out.write(shown + " is no longer remembered as excluded, and still excluded by " + c.shortPath(by) + "\n")
		} else {
			c.out.write("conversations of " + shown + " are read again\n")
		}
	}
	return nil
}

// stores writes which stores are read, and which directories are excluded.
func (c *commands) stores(ctx context.Context) error {
	found, err := conversations.Options{Dir: c.host.Dir, Getenv: c.host.Getenv, Now: c.host.Now}.Inventory(ctx)
	if err != nil {
		return err
	}
	for _, warning := range found.Warnings {
		c.host.WarnOnce(warning)
	}
	if c.out.json {
		c.out.object(object{
			"project", found.Project, "excluded_by", orNull(found.Excluded), "exclude", found.Exclude,
			"remembered", objects(found.Remembered, func(e *project.Exclusion) object {
				return object{"directory", e.Dir, "by", e.By, "there", e.IsThere()}
			}),
			"stores", objects(found.Stores, storeObject), "not_readable", found.Remote,
		})
		return nil
	}
	c.out.write("Project: " + c.shortPath(found.Project) + "\n")
	if found.Excluded != "" {
		c.out.write("Excluded by " + c.shortPath(found.Excluded) + ": none of its conversations are read.\n")
	}
	rows := [][]string{{"STORE", "HERE", "ALL", "PROJECTS", "NEWEST", "PLACE"}}
	var absent, remarks []string
	for i := range found.Stores {
		s := &found.Stores[i]
		if s.IsAbsent() {
			absent = append(absent, s.Name)
			continue
		}
		rows = append(rows, c.storeRow(s))
		remarks = append(remarks, c.storeRemarks(s)...)
	}
	if len(rows) > 1 {
		c.out.write("\n")
		c.out.table(true, rows, 1, 2, 3)
	}
	if len(absent) > 0 {
		remarks = append(remarks, "nothing recorded: "+strings.Join(absent, ", "))
	}
	for _, program := range found.Remote {
		remarks = append(remarks, program+": not readable, its sessions are on a server")
	}
	remarks = append(remarks, c.exclusions(&found)...)
	if len(remarks) > 0 {
		c.out.write("\n" + strings.Join(remarks, "\n") + "\n")
	}
	return nil
}

// exclusions returns lines about the excluded directories: those that are remembered, with the file that excluded each,
// and those of the configuration.
func (c *commands) exclusions(found *conversations.Inventory) (lines []string) {
	for _, e := range found.Remembered {
		gone := either(e.IsThere(), "", ", which is gone; convtools stores include takes it back")
		lines = append(lines, fmt.Sprintf("excluded: %s (by %s%s)", c.shortPath(e.Dir), c.shortPath(e.By), gone))
	}
	if found.Unremembered != nil {
		lines = append(lines, "exclusions cannot be remembered: "+text.Line(found.Unremembered.Error()))
	}
	for _, dir := range found.Exclude {
		missing := either(slices.Contains(found.Missing, dir), " (not there)", "")
		lines = append(lines, "excluded: "+c.shortPath(dir)+missing)
	}
	return lines
}

// storeRow returns a store as a row of the table.
func (c *commands) storeRow(s *conversations.StoreReport) []string {
	if s.Found {
		newest := either(s.Conversations > 0, c.age(s.Newest), "-")
		return []string{s.Name, strconv.Itoa(s.Here), strconv.Itoa(s.Conversations), strconv.Itoa(s.Projects), newest, c.shortPath(s.Place)}
	}
	return []string{s.Name, "-", "-", "-", "-", either(s.Off, "off", c.shortPath(s.Place)+" (nothing there)")}
}

// storeObject returns a store as JSON has it.
func storeObject(s *conversations.StoreReport) object {
	return object{
		"store", s.Name, "program", s.Program, "place", orNull(s.Place),
		"state", either(s.Off, "off", either(s.Found, "found", "absent")),
		"here", s.Here, "conversations", s.Conversations, "projects", s.Projects,
		"newest", s.Newest, "unknown_records", s.Unknown,
		"problems", objects(s.Problems, func(p *conversations.Problem) object {
			return append(object{}.with("id", p.ID).with("path", p.Path), "reason", p.Err)
		}),
	}.with("remarks", s.Remarks)
}

// maxProblems bounds the problems of a store that people are shown.
const maxProblems = 5

// storeRemarks returns lines about what cannot be read in a store. Each line begins with the name of the store.
func (c *commands) storeRemarks(s *conversations.StoreReport) (lines []string) {
	if s.Unknown > 0 {
		lines = append(lines, fmt.Sprintf("left out as damaged or of an unknown type: %d records of this project", s.Unknown))
	}
	lines = append(lines, s.Remarks...)
	for i, p := range s.Problems {
		if i == maxProblems {
			lines = append(lines, fmt.Sprintf("%d more problems; --json shows all", len(s.Problems)-i))
			break
		}
		lines = append(lines, cmp.Or(string(p.ID), c.shortPath(p.Path))+": "+text.Line(p.Err.Error()))
	}
	for i := range lines {
		lines[i] = s.Name + ": " + lines[i]
	}
	return lines
}

func (c *commands) indexCommand() *cobra.Command {
	cmd := c.newCommand("index", "", "Bring the index of all messages up to date",
		`Brings the index of the messages of all stores up to date, removes the index of
stores that are gone, and shows what is in it. The index is in the user's cache
directory, takes a little more room than the texts, and can be removed at any
time: answers are the same without it.

A search does this by itself. To keep no index, write in convtools.toml:

  [index]
  off = true`,
		"search index", "search index --clear")
	cmd.Args = cli.NoArgs
	isClearing := cmd.Flags().Bool("clear", false, "remove the index of every store")
	c.addJSON(cmd, "json")
	return c.command(cmd, func(ctx context.Context, _ []string) error {
		if *isClearing {
			return conversations.OpenIndexes(c.host.Getenv).Clear()
		}
		return c.index(ctx)
	})
}

// index brings the indexes of all stores up to date, and writes how much is in each. It warns of failures.
func (c *commands) index(ctx context.Context) error {
	library, err := c.open()
	if err != nil {
		return err
	}
	reports, err := library.RefreshIndexes(ctx)
	if err != nil {
		return err
	}
	rows := [][]string{{"STORE", "CONVERSATIONS", "MESSAGES", "SIZE", "PLACE"}}
	stores := objects(reports, func(r *conversations.IndexReport) object {
		if r.Err != nil {
			c.warn("%s: %v", r.Store, r.Err)
		}
		size := fmt.Sprintf("%.1f MB", float64(r.Bytes)/1e6)
		rows = append(rows, []string{r.Store, text.Number(r.Conversations), text.Number(r.Messages), size, c.shortPath(r.Place)})
		return object{
			"store", r.Store, "place", r.Place, "conversations", r.Conversations, "messages", r.Messages, "index_bytes", r.Bytes,
		}.with("error", r.Err)
	})
	switch {
	case c.out.json:
		c.out.object(object{"stores", stores})
	case len(reports) == 0:
		c.note("no index is kept: it is off, or its directory belongs to another user: doctor names it")
	default:
		c.out.table(true, rows, 1, 2, 3)
	}
	return nil
}
