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
		Long: cli.Fill(`Shows which programs' conversations are read, and from where: how many there are of this
project and of all, and what cannot be read.`) + `

To switch a store off, to add directories, such as a backup, and to exclude
projects, write in your own configuration, ` + "~/.config/convtools/convtools.toml" + `:

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
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.stores(cmd.Context()) },
	}
	addJSON(cmd, "print everything that is known of them as JSON")
	cmd.AddCommand(c.includeCommand())
	return c.ready(cmd)
}

func (c *commands) includeCommand() *cobra.Command {
	return c.ready(&cobra.Command{
		Use:   "include DIRECTORY...",
		Short: "Take back that directories are remembered as excluded",
		Long: cli.Fill(`Takes back that directories are remembered as excluded, as "stores" shows them: their
conversations are read again. A .convtools-exclude that is there has to be removed first.`),
		Example: "  convtools stores include ~/clients/acme",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("%s takes the directories that are to be read again", cmd.Name())
			}
			for _, dir := range args {
				if err := c.include(dir); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

func (c *commands) include(dir string) error {
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
		return failedHint("remove that file first", "%s is excluded by %s", shown, c.shortPath(still.By))
	case errors.As(err, &missing) && missing.By != "":
		return failedHint("to take back that: convtools stores include "+missing.By, "%s is excluded with %s", shown, c.shortPath(missing.By))
	case errors.As(err, &missing):
		return failedHint("convtools stores shows what is", "%s is not remembered as excluded", shown)
	case err != nil:
		return err
	case by != "":
		c.out.write(shown + " is no longer remembered as excluded, and still excluded by " + c.shortPath(by) + "\n")
	default:
		c.out.write("conversations of " + shown + " are read again\n")
	}
	return nil
}

func (c *commands) stores(ctx context.Context) error {
	inventory, err := conversations.Options{Dir: c.host.Dir, Getenv: c.host.Getenv, Now: c.host.Now}.Inventory(ctx)
	if err != nil {
		return err
	}
	for _, warning := range inventory.Warnings {
		c.host.WarnOnce(warning)
	}
	if !c.out.format.json {
		c.writeInventory(&inventory)
		return nil
	}
	return c.out.object(object{
		"project", inventory.Project, "excluded_by", orNull(inventory.Excluded), "exclude", inventory.Exclude,
		"remembered", objects(inventory.Remembered, func(e project.Exclusion) object {
			return object{"directory", e.Dir, "by", e.By, "there", e.IsThere()}
		}),
		"stores", objects(inventory.Stores, storeObject),
	})
}

// storeObject is what there is in a place of a kind of store.
func storeObject(s conversations.StoreReport) object {
	state := either(s.Off, "off", either(s.Found, "found", "absent"))
	o := object{
		"store", s.Name, "program", s.Program, "place", orNull(s.Place), "state", state,
		"here", s.Here, "conversations", s.Conversations, "projects", s.Projects,
		"newest", s.Newest, "unknown_records", s.Unknown,
		"problems", objects(s.Problems, func(p conversations.Problem) object {
			return slices.Concat(given("id", string(p.ID)), given("path", p.Path), object{"reason", p.Err})
		}),
	}
	if len(s.Remarks) > 0 {
		o = append(o, "remarks", s.Remarks)
	}
	return o
}

func (c *commands) writeInventory(inventory *conversations.Inventory) {
	rows := [][]string{{"STORE", "HERE", "ALL", "PROJECTS", "NEWEST", "PLACE"}}
	var remarks []string
	for i := range inventory.Stores {
		rows = append(rows, c.storeRow(&inventory.Stores[i]))
		remarks = append(remarks, c.remarks(&inventory.Stores[i])...)
	}
	head := fmt.Sprintf("Project: %s\n", c.shortPath(inventory.Project))
	if inventory.Excluded != "" {
		head += fmt.Sprintf("Excluded by %s: none of its conversations are read.\n", c.shortPath(inventory.Excluded))
	}
	for _, e := range inventory.Remembered {
		gone := either(e.IsThere(), "", ", which is gone; convtools stores include takes it back")
		remarks = append(remarks, fmt.Sprintf("excluded: %s (by %s%s)", c.shortPath(e.Dir), c.shortPath(e.By), gone))
	}
	if inventory.Unremembered != nil {
		remarks = append(remarks, "what is excluded cannot be remembered: "+text.Line(inventory.Unremembered.Error()))
	}
	for _, dir := range inventory.Exclude {
		missing := either(slices.Contains(inventory.Missing, dir), " (not there)", "")
		remarks = append(remarks, "excluded: "+c.shortPath(dir)+missing)
	}
	c.printTable(head+"\n", rows, remarks, 1, 2, 3)
}

// storeRow is a place of a kind of store in a table.
func (c *commands) storeRow(s *conversations.StoreReport) []string {
	row := []string{s.Name, "-", "-", "-", "-", c.shortPath(s.Place)}
	switch {
	case s.Off:
		row[5] = "off"
	case s.Found:
		row[1], row[2], row[3] = strconv.Itoa(s.Here), strconv.Itoa(s.Conversations), strconv.Itoa(s.Projects)
		if s.Conversations > 0 {
			row[4] = c.when(s.Newest, false)
		}
	case s.Place != "":
		row[5] += " (nothing there)"
	default:
		row[5] = "nothing"
	}
	return row
}

// remarks are lines about what of a store is not read.
func (c *commands) remarks(s *conversations.StoreReport) []string {
	var lines, problems []string
	if s.Unknown > 0 {
		lines = append(lines, fmt.Sprintf("%s: left out as damaged or of an unknown type: %d records of this project", s.Name, s.Unknown))
	}
	for _, remark := range s.Remarks {
		lines = append(lines, s.Name+": "+remark)
	}
	for i := range s.Problems {
		problems = append(problems, c.describe(&s.Problems[i]))
	}
	return append(lines, problemsOf(s.Name, problems)...)
}

// describe describes a problem of a store for people.
func (c *commands) describe(p *conversations.Problem) string {
	return cmp.Or(string(p.ID), c.shortPath(p.Path)) + ": " + text.Line(p.Err.Error())
}

// maxProblems is how many problems of a store are shown to people.
const maxProblems = 5

// problemsOf are lines about the first problems of a store.
func problemsOf(store string, problems []string) []string {
	var lines []string
	for _, p := range problems[:min(len(problems), maxProblems)] {
		lines = append(lines, store+": "+p)
	}
	if more := len(problems) - maxProblems; more > 0 {
		lines = append(lines, fmt.Sprintf("%s: %d more problems; --json shows all", store, more))
	}
	return lines
}
