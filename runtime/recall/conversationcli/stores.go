package conversationcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

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

func (c *commands) indexCommand() *cobra.Command {
	cmd := c.newCommand("index", "", "Bring the index of all messages up to date",
		`Brings the index of the messages of all stores up to date, removes the index of
stores that are gone, and shows what search status shows. The index is in the
user's cache directory, takes a little more room than the texts, and can be
removed at any time: answers are the same without it.

A search does this by itself. To keep no index, write in convtools.toml:

  [index]
  off = true`,
		"search index", "search index --clear")
	cmd.Args = cli.NoArgs
	remove := cmd.Flags().Bool("clear", false, "remove the index of every store")
	c.addJSON(cmd, "json")
	return c.command(cmd, func(ctx context.Context, _ []string) error {
		if *remove {
			return conversations.OpenIndexes(c.host.Getenv).Clear()
		}
		return c.status(ctx, true)
	})
}

func (c *commands) statusCommand() *cobra.Command {
	cmd := c.newCommand("status", "", "Show what is searched, and how much there is",
		`Shows the stores that are searched, with the conversations and messages in each,
the newest of them, and their index. A store without an index is read for that.`,
		"search status")
	cmd.Args = cli.NoArgs
	c.addJSON(cmd, "json")
	return c.command(cmd, func(ctx context.Context, _ []string) error { return c.status(ctx, false) })
}

// status writes what is searched, after it has brought the indexes up to date if isRefreshing.
// Stores without conversations and problems are left out.
func (c *commands) status(ctx context.Context, isRefreshing bool) error {
	options := c.options()
	options.Once = true
	names, err := options.SearchSources()
	if err != nil {
		return err
	}
	library, err := conversations.Open(options)
	if err != nil {
		return err
	}
	defer library.Close()
	if isRefreshing {
		reports, err := library.RefreshIndexes(ctx)
		if err != nil {
			return err
		}
		for _, r := range reports {
			if r.Err != nil {
				c.warn("%s: %v", r.Store, r.Err)
			}
		}
	}
	in := inventory{rows: [][]string{{"STORE", "CONVERSATIONS", "MESSAGES", "NEWEST", "INDEX"}}}
	for _, name := range names {
		if err := c.addStatus(ctx, &in, library, name); err != nil && (ctx.Err() != nil || len(names) == 1) {
			return err
		}
	}
	if dir := options.Indexes.Foreign(); dir != "" {
		in.remark("%s belongs to another user: set XDG_CACHE_HOME to a directory of your own", text.Line(dir))
	}
	c.out.inventory(&in, nil, 1, 2)
	return nil
}

// addStatus adds the stores of a kind to an inventory. An error is a problem in it too.
func (c *commands) addStatus(ctx context.Context, in *inventory, library *conversations.Library, store string) error {
	filter := conversations.Filter{Sources: []string{store}, Both: true}
	found, err := library.Search(ctx, conversations.SearchQuery{Filter: filter, Order: conversations.Newest, Limit: 1, CountAll: true})
	var all conversations.Listing
	if err == nil {
		all, err = library.List(ctx, conversations.ListQuery{Filter: filter, NoEvents: true, Sort: conversations.ByID})
	}
	problems := c.described(found.Problems)
	if err != nil {
		problems = []string{text.Line(explained(err).Error())}
	}
	if all.Total == 0 && len(problems) == 0 {
		return err
	}
	newest, age := time.Time{}, "-"
	for _, hit := range found.Hits {
		newest, age = hit.Time, c.age(hit.Time)
	}
	bytes, indexed, index := int64(0), time.Time{}, "-"
	for _, r := range library.IndexReports() {
		if r.Store == store && r.Bytes > 0 {
			bytes += r.Bytes
			indexed = time.Unix(max(r.Updated, indexed.Unix()), 0)
			index = fmt.Sprintf("%.1f MB, ", float64(bytes)/1e6) + c.age(indexed)
		}
	}
	in.add(object{
		"store", store, "conversations", all.Total, "messages", found.Total, "newest", newest,
		"problems", problems, "index_bytes", bytes, "indexed_at", indexed,
	}, store, text.Number(all.Total), text.Number(found.Total), age, index)
	in.addProblems(store, problems)
	return err
}
