package conversationcli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// changeFlags are the flags of all commands that change conversations.
type changeFlags struct {
	yes, dryRun bool
	wait        string
}

// changeHelp is what their help says of them.
const changeHelp = `What is about several conversations, the active one or a pinned one asks first;
where nobody can be asked it needs --yes.`

func (o *changeFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&o.yes, "yes", "y", false, "change without asking")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only show what would be changed")
	flags.StringVar(&o.wait, "wait", "", "wait up to this `time`, such as 30s, while a conversation is locked")
}

// change is a change of conversations.
type change struct {
	flags *changeFlags
	// verb and done name the change: "archive", "archived".
	verb, done string
	// dangerous is what to know before it is made; it asks whatever it is about then.
	dangerous string
	// reasons are why it asks, beside those that any change has.
	reasons []string
	// harmless reports whether it may be about the active one, or a pinned one.
	harmless bool
	// would describes what it would do to one, as the end of a line; nil for nothing
	// but the verb.
	would func(*conversations.Listed) string
	// each makes the change to one conversation.
	each func(context.Context, *jp.Writer, *conversations.Listed) (outcome, error)
	// together makes the change to several, or to none of them, in place of each.
	together func(context.Context, *jp.Writer, []conversations.Listed) error
}

// outcome is what a change did.
type outcome struct {
	id      transcript.ID // where it is not that of the conversation: of a new one
	nothing string        // why nothing was to be done; empty where something was
	edited  jp.Edited     // where its metadata was changed
}

// writer returns what changes conversations.
func (c *commands) writer(o *changeFlags) (*jp.Writer, error) {
	var wait time.Duration
	if o.wait != "" {
		var ok bool
		if wait, ok = parseAge(o.wait); !ok {
			return nil, usageError("use a time such as 30s or 5m", "--wait cannot be %q", o.wait)
		}
	}
	w, err := c.workspace()
	if err != nil {
		return nil, sourceFailure(err, nil)
	}
	return w.Writer(jp.WriterOptions{Now: c.host.Now, Wait: wait}), nil
}

// maxTogether bounds how many conversations are locked at once: each lock is an
// open file.
const maxTogether = 200

// make makes a change to conversations, once the person who has to be asked has agreed.
func (c *commands) make(ctx context.Context, ch change, list []conversations.Listed) error {
	out, err := c.results()
	if err != nil {
		return err
	}
	w, err := c.writer(ch.flags)
	if err != nil {
		return err
	}
	if ch.flags.dryRun {
		return c.rehearse(out, ch, list)
	}
	if err := c.agree(ctx, ch, list); err != nil {
		return err
	}
	alone, failed := len(list) == 1, false
	// failing reports an error of one of several, after which the others go on.
	failing := func(err error, last bool) error {
		if err = changeFailure(err); err == nil || last {
			return err
		}
		failed = true
		cli.Report(c.host.Stderr, err)
		return nil
	}
	var edits []jp.Edited
	for some := range slices.Chunk(list, maxTogether) {
		if ch.together != nil {
			if err := ch.together(ctx, w, some); err != nil {
				if err := failing(err, len(list) <= maxTogether); err != nil {
					return err
				}
				break // those before are done
			}
		}
		for i := range some {
			var result outcome
			var err error
			if ch.each != nil {
				result, err = ch.each(ctx, w, &some[i])
			}
			if err == nil {
				edits = append(edits, result.edited)
				c.report(out, ch, &some[i], result)
			} else if err := failing(err, alone || ctx.Err() != nil); err != nil {
				return err
			}
		}
	}
	if err := failing(w.Keep(ctx, edits...), alone || ctx.Err() != nil); err != nil {
		return err
	}
	if err := out.close(); err != nil || !failed {
		return err
	}
	return cli.ErrFailed
}

// report writes what was done to a conversation.
func (c *commands) report(out *results, ch change, l *conversations.Listed, result outcome) {
	action, text := ch.done, acted(ch.done, l)+"\n"
	switch {
	case result.nothing != "":
		action, text = "unchanged", ""
		if !out.format.json {
			c.note("%s: %s", l.ID, result.nothing)
		}
	case result.id != "":
		text = string(result.id) + "\n"
	}
	out.add(text, append(about(l.ID, l.Title, "action", action), given("new_id", string(result.id))...))
}

// acted is a line about what is done to a conversation.
func acted(action string, l *conversations.Listed) string {
	return strings.TrimRight(fmt.Sprintf("%s %s  %s", action, l.ID, shortTitle(l.Title)), " ")
}

// rehearse writes what would be done.
func (c *commands) rehearse(out *results, ch change, list []conversations.Listed) error {
	action := "would " + ch.verb
	for i := range list {
		line, how := acted(action, &list[i]), ""
		if ch.would != nil {
			how = ch.would(&list[i])
		}
		if how != "" {
			line = strings.TrimRight(line+": "+text.Line(how), " ")
		}
		out.add(line+"\n", about(list[i].ID, list[i].Title, "action", action, "change", orNull(how)))
	}
	return out.close()
}

// maxShown bounds how many conversations a question names.
const maxShown = 20

// agree asks whether to make a change that is dangerous.
func (c *commands) agree(ctx context.Context, ch change, list []conversations.Listed) error {
	if ch.flags.yes {
		return nil
	}
	active, err := c.active(ctx)
	if err != nil {
		c.warn("which conversation is active is not known: %v", err)
	}
	one := "one"
	var reasons []string
	if len(list) == 1 {
		one = "it"
	} else if len(list) > 1 {
		reasons = append(reasons, fmt.Sprintf("%d conversations", len(list)))
	}
	reasons = append(reasons, ch.reasons...)
	for i := range list {
		if ch.harmless {
			break
		}
		if list[i].ID == active {
			reasons = append(reasons, one+" is active")
		}
		if !list[i].PinnedAt.IsZero() && !slices.Contains(reasons, one+" is pinned") {
			reasons = append(reasons, one+" is pinned")
		}
	}
	if len(reasons) == 0 && (ch.dangerous == "" || len(list) == 0) {
		return nil
	}
	for i := range list[:min(len(list), maxShown)] {
		c.note("%s %s  %s", ch.verb, list[i].ID, shortTitle(list[i].Title))
	}
	if more := len(list) - maxShown; more > 0 {
		c.note("… and %d more", more)
	}
	if len(reasons) > 0 {
		c.note("this needs a yes: %s", strings.Join(reasons, ", "))
	}
	if ch.dangerous != "" {
		c.note("%s", ch.dangerous)
	}
	return cli.Ask(ctx, c.host.Stdin, c.host.Stderr, "Make this change?")
}

// changeFailure words an error of changing a conversation.
func changeFailure(err error) error {
	var (
		busy    *jp.LockedError
		store   *jp.StoreError
		none    *jp.NoUserStoreError
		exists  *jp.ExistsError
		label   *jp.BadLabelError
		missing *conversations.NotFoundError
	)
	switch {
	case errors.As(err, &busy):
		hint := "try again when it is done, or wait for it with --wait=30s"
		if busy.Waited > 0 {
			hint = "try again when it is done, or wait longer than " + busy.Waited.String()
		}
		return cli.Hint(err, hint)
	case errors.As(err, &store):
		return cli.Hint(store, "nothing that was there is lost; the command can be given again")
	case errors.As(err, &none):
		return failedHint("run jp once in the project: it makes that store", "the user has no store of this workspace, so nothing can be only in it")
	case errors.As(err, &exists):
		return failedHint("conversation ls --hidden shows it, with --archived too", "%s is there already; what is in the trash stays there", exists.ID)
	case errors.As(err, &label):
		return usageError("a key begins with a letter, and has letters, digits, '_' and '-'", "a label cannot have the key %q", label.Key)
	case errors.As(err, &missing):
		return notFound(missing)
	}
	return err
}

// below returns the conversations below some others, parents first; none twice,
// whatever is recorded.
func below(all, roots []conversations.Listed) []conversations.Listed {
	children := map[transcript.ID][]int{}
	for i := range all {
		if parent := all[i].Parent; parent != "" {
			children[parent] = append(children[parent], i)
		}
	}
	seen := map[transcript.ID]bool{}
	var queue []transcript.ID
	for i := range roots {
		seen[roots[i].ID] = true
		queue = append(queue, roots[i].ID)
	}
	var found []conversations.Listed
	for ; len(queue) > 0; queue = queue[1:] {
		for _, i := range children[queue[0]] {
			if id := all[i].ID; !seen[id] {
				seen[id] = true
				queue = append(queue, id)
				found = append(found, all[i])
			}
		}
	}
	return found
}

func (c *commands) archiveCommand() *cobra.Command {
	return c.moveCommand(&cobra.Command{
		Use:     "archive ID…",
		Aliases: []string{"a"},
		Short:   "Move conversations to the archive",
		Long: `Moves conversations to the archive: ls --archived lists them, unarchive brings
them back.`,
		Example: "  convtools conversation archive jp-c17737387251\n  convtools conversation archive --inactive-since=8w --dry-run",
	}, true, change{verb: "archive", done: "archived"}, (*jp.Writer).Archive, "it is archived already")
}

func (c *commands) unarchiveCommand() *cobra.Command {
	return c.moveCommand(&cobra.Command{
		Use:     "unarchive ID…",
		Aliases: []string{"ua"},
		Short:   "Bring conversations back from the archive",
		Long:    "Brings conversations back from the archive.",
		Example: "  convtools conversation unarchive jp-c17737387251",
	}, false, change{verb: "unarchive", done: "unarchived"}, (*jp.Writer).Unarchive, "it is not archived")
}

// moveCommand completes a command that moves conversations; with times they can be
// chosen by time.
func (c *commands) moveCommand(cmd *cobra.Command, times bool, ch change, move func(*jp.Writer, context.Context, transcript.ID) (bool, error), nothing string) *cobra.Command {
	var opts changeFlags
	var when span
	cmd.Long += "\n\n" + targetsHelp + "\n\n" + changeHelp
	ch.flags = &opts
	ch.each = func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
		moved, err := move(w, ctx, l.ID)
		if err == nil && !moved {
			return outcome{nothing: nothing}, nil
		}
		return outcome{}, err
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		list, err := c.chosen(cmd, args, when)
		if err != nil {
			return err
		}
		return c.make(cmd.Context(), ch, list)
	}
	opts.addFlags(cmd)
	if times {
		when.addFlags(cmd, true)
	}
	return cmd
}
