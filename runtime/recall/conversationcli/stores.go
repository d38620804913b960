package conversationcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/toolset"
)

// Stores returns the command "stores": what is read, and from where.
func Stores(host *toolset.Host) *cobra.Command {
	c := &commands{host: host}
	cmd := &cobra.Command{
		Use:   "stores",
		Short: "Show which programs' conversations are read, and from where",
		Long: `Shows which programs' conversations are read, and from where: how many there are
of this project and of all, and what cannot be read.

To switch a store off, to add directories, such as a backup, and to exclude
projects, write in your own configuration, ~/.config/convtools/convtools.toml:

  [stores]
  off = ["codex"]
  exclude = ["~/clients/acme", "~/private/*"]
  directories.claude-code = ["~/backup/.claude"]

A file called .convtools-exclude in a project excludes it too. That is
remembered, with the worktrees that the project has: once the file is gone,
with its directory or alone, they stay excluded until "stores include" takes
that back.`,
		Example: "  convtools stores --json\n  convtools stores include ~/clients/acme",
		Args:    cli.NoArgs,
	}
	c.addJSON(cmd, "json")
	cmd.AddCommand(c.command(&cobra.Command{
		Use:   "include DIRECTORY...",
		Short: "Take back that directories are remembered as excluded",
		Long: `Takes back that directories are remembered as excluded, as "stores" shows them:
their conversations are read again. A .convtools-exclude that is there has to be
removed first.`,
		Example: "  convtools stores include ~/clients/acme",
	}, c.include))
	return c.command(cmd, func(ctx context.Context, _ []string) error { return c.stores(ctx) })
}

// include takes back that directories are excluded.
func (c *commands) include(_ context.Context, dirs []string) error {
	if len(dirs) == 0 {
		return cli.Usagef("include takes the directories that are to be read again")
	}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(c.host.Dir, dir)
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		shown := c.shortPath(dir)
		by, err := conversations.Options{Dir: dir, Getenv: c.host.Getenv}.Include()
		var missing *project.NotRememberedError
		var still *project.StillError
		switch {
		case errors.As(err, &still):
			return failed("remove that file first", "%s is excluded by %s", shown, c.shortPath(still.By))
		case errors.As(err, &missing) && missing.By != "":
			return failed("to take back that: convtools stores include "+missing.By, "%s is excluded with %s", shown, c.shortPath(missing.By))
		case errors.As(err, &missing):
			return failed("convtools stores shows what is", "%s is not remembered as excluded", shown)
		case err != nil:
			return err
		case by != "":
			c.out.write(shown + " is no longer remembered as excluded, and still excluded by " + c.shortPath(by) + "\n")
		default:
			c.out.write("conversations of " + shown + " are read again\n")
		}
	}
	return nil
}

// stores writes which stores are read, and what is left out.
func (c *commands) stores(ctx context.Context) error {
	found, err := conversations.Options{Dir: c.host.Dir, Getenv: c.host.Getenv, Now: c.host.Now}.Inventory(ctx)
	if err != nil {
		return err
	}
	for _, warning := range found.Warnings {
		c.host.WarnOnce(warning)
	}
	rows := [][]string{{"STORE", "HERE", "ALL", "PROJECTS", "NEWEST", "PLACE"}}
	var remarks []string
	stores := objects(found.Stores, func(s *conversations.StoreReport) object {
		rows = append(rows, c.storeRow(s))
		remarks = append(remarks, c.remarks(s)...)
		return storeObject(s)
	})
	remembered := objects(found.Remembered, func(e *project.Exclusion) object {
		gone := either(e.IsThere(), "", ", which is gone; convtools stores include takes it back")
		remarks = append(remarks, "excluded: "+c.shortPath(e.Dir)+" (by "+c.shortPath(e.By)+gone+")")
		return object{"directory", e.Dir, "by", e.By, "there", e.IsThere()}
	})
	if found.Unremembered != nil {
		remarks = append(remarks, "what is excluded cannot be remembered: "+text.Line(found.Unremembered.Error()))
	}
	for _, dir := range found.Exclude {
		remarks = append(remarks, "excluded: "+c.shortPath(dir)+either(slices.Contains(found.Missing, dir), " (not there)", ""))
	}
	head := "Project: " + c.shortPath(found.Project) + "\n"
	if found.Excluded != "" {
		head += "Excluded by " + c.shortPath(found.Excluded) + ": none of its conversations are read.\n"
	}
	c.out.inventory(head+"\n", rows, remarks, object{
		"project", found.Project, "excluded_by", orNull(found.Excluded), "exclude", found.Exclude,
		"remembered", remembered, "stores", stores,
	}, 1, 2, 3)
	return nil
}

// storeObject is what there is in a place of a kind of store, as JSON has it.
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

// storeRow is the same in a table.
func (c *commands) storeRow(s *conversations.StoreReport) []string {
	row := []string{s.Name, "-", "-", "-", "-", c.shortPath(s.Place)}
	switch {
	case s.Off:
		row[5] = "off"
	case s.Found:
		row[1], row[2], row[3] = strconv.Itoa(s.Here), strconv.Itoa(s.Conversations), strconv.Itoa(s.Projects)
		row[4] = either(s.Conversations > 0, c.age(s.Newest), "-")
	default:
		row[5] = either(s.Place == "", "nothing", row[5]+" (nothing there)")
	}
	return row
}

// remarks are lines about what of a store is not read.
func (c *commands) remarks(s *conversations.StoreReport) (lines []string) {
	if s.Unknown > 0 {
		lines = append(lines, fmt.Sprintf("%s: left out as damaged or of an unknown type: %d records of this project", s.Name, s.Unknown))
	}
	for _, remark := range s.Remarks {
		lines = append(lines, s.Name+": "+remark)
	}
	var problems []string
	for i := range s.Problems {
		problems = append(problems, c.describe(&s.Problems[i]))
	}
	return append(lines, firstOf(s.Name, problems)...)
}

// describe describes a problem of a store for people.
func (c *commands) describe(p *conversations.Problem) string {
	return cmp.Or(string(p.ID), c.shortPath(p.Path)) + ": " + text.Line(p.Err.Error())
}

// maxProblems is how many problems of a store are shown to people.
const maxProblems = 5

// firstOf are lines about the first problems of a store.
func firstOf(store string, problems []string) (lines []string) {
	for _, p := range problems[:min(len(problems), maxProblems)] {
		lines = append(lines, store+": "+p)
	}
	if more := len(problems) - maxProblems; more > 0 {
		lines = append(lines, fmt.Sprintf("%s: %d more problems; --json shows all", store, more))
	}
	return lines
}
