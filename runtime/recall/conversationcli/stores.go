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

// Stores returns the command "stores": which stores are read, and from where.
func Stores(host *toolset.Host) *cobra.Command {
	c := &commands{host: host}
	cmd := c.newCommand("stores", "", "Show which programs' conversations are read, and from where",
		`Shows which programs' conversations are read, and from where: how many there are
of this project and of all, and what cannot be read.

To switch a store off, to add directories, such as a backup, and to exclude
projects, write in your own configuration, ~/.config/convtools/convtools.toml:

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
	include := c.newCommand("include DIRECTORY...", "", "Take back that directories are remembered as excluded",
		`Takes back that directories are remembered as excluded, as "stores" shows them:
their conversations are read again. Remove a .convtools-exclude there first.`,
		"stores include ~/clients/acme")
	cmd.AddCommand(c.command(include, c.include))
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
	in := inventory{rows: [][]string{{"STORE", "HERE", "ALL", "PROJECTS", "NEWEST", "PLACE"}}}
	for i := range found.Stores {
		c.addStore(&in, &found.Stores[i])
	}
	remembered := objects(found.Remembered, func(e *project.Exclusion) object {
		gone := either(e.IsThere(), "", ", which is gone; convtools stores include takes it back")
		in.remark("excluded: %s (by %s%s)", c.shortPath(e.Dir), c.shortPath(e.By), gone)
		return object{"directory", e.Dir, "by", e.By, "there", e.IsThere()}
	})
	if found.Unremembered != nil {
		in.remark("what is excluded cannot be remembered: %s", text.Line(found.Unremembered.Error()))
	}
	for _, dir := range found.Exclude {
		in.remark("excluded: %s%s", c.shortPath(dir), either(slices.Contains(found.Missing, dir), " (not there)", ""))
	}
	if !c.out.json {
		c.out.write("Project: " + c.shortPath(found.Project) + "\n")
		if found.Excluded != "" {
			c.out.write("Excluded by " + c.shortPath(found.Excluded) + ": none of its conversations are read.\n")
		}
		c.out.write("\n")
	}
	c.out.inventory(&in, object{
		"project", found.Project, "excluded_by", orNull(found.Excluded), "exclude", found.Exclude, "remembered", remembered,
	}, 1, 2, 3)
	return nil
}

// addStore adds a store to an inventory.
func (c *commands) addStore(in *inventory, s *conversations.StoreReport) {
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
	in.add(object{
		"store", s.Name, "program", s.Program, "place", orNull(s.Place),
		"state", either(s.Off, "off", either(s.Found, "found", "absent")),
		"here", s.Here, "conversations", s.Conversations, "projects", s.Projects,
		"newest", s.Newest, "unknown_records", s.Unknown,
		"problems", objects(s.Problems, func(p *conversations.Problem) object {
			return append(object{}.with("id", p.ID).with("path", p.Path), "reason", p.Err)
		}),
	}.with("remarks", s.Remarks), row...)
	if s.Unknown > 0 {
		in.remark("%s: left out as damaged or of an unknown type: %d records of this project", s.Name, s.Unknown)
	}
	for _, remark := range s.Remarks {
		in.remark("%s: %s", s.Name, remark)
	}
	in.addProblems(s.Name, c.described(s.Problems))
}

// described describes the problems of a store for people.
func (c *commands) described(problems []conversations.Problem) (lines []string) {
	for _, p := range problems {
		lines = append(lines, cmp.Or(string(p.ID), c.shortPath(p.Path))+": "+text.Line(p.Err.Error()))
	}
	return lines
}

// inventory lists stores: each as a row of a table and as JSON, with remarks below the table.
type inventory struct {
	rows    [][]string
	stores  []object
	remarks []string
}

func (in *inventory) add(o object, row ...string) {
	in.stores = append(in.stores, o)
	in.rows = append(in.rows, row)
}

func (in *inventory) remark(format string, args ...any) {
	in.remarks = append(in.remarks, fmt.Sprintf(format, args...))
}

// maxProblems bounds the problems of a store that people are shown.
const maxProblems = 5

// addProblems adds the first problems of a store to the remarks.
func (in *inventory) addProblems(store string, problems []string) {
	for _, p := range problems[:min(len(problems), maxProblems)] {
		in.remark("%s: %s", store, p)
	}
	if more := len(problems) - maxProblems; more > 0 {
		in.remark("%s: %d more problems; --json shows all", store, more)
	}
}

// inventory writes an inventory as a table, or as JSON with other values.
func (o *output) inventory(in *inventory, others object, right ...int) {
	if o.json {
		o.object(append(others, "stores", in.stores))
		return
	}
	o.table(true, in.rows, right...)
	for i, remark := range in.remarks {
		o.write(either(i == 0, "\n", "") + remark + "\n")
	}
}
