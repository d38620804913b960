package conversationcli

import (
	"context"
	"errors"
	"fmt"
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
	together func(context.Context, *jp.Writer, []transcript.ID) error
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

// named finds the conversations that arguments name, of which there has to be one.
func (c *commands) named(ctx context.Context, cmd *cobra.Command, source conversations.Source, words []string, flag string) ([]conversations.Listed, error) {
	if len(words) == 0 {
		hint := "name conversations by their ids; . is the active one"
		return nil, usageError(hint, "%s needs a conversation", cmd.CommandPath())
	}
	ids, err := c.targets(ctx, words, flag)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, failedHint("one id on a line", "standard input holds no ids")
	}
	listing, err := source.List(ctx, conversations.ListQuery{Filter: conversations.Filter{IDs: ids}, Sort: conversations.ByID, Ascending: true, NoEvents: true})
	if err != nil {
		return nil, sourceFailure(err, ids)
	}
	return listing.Conversations, nil
}

// maxTogether bounds how many conversations are locked at once: each lock is an
// open file.
const maxTogether = 200

// make makes a change to conversations, once whoever has to be asked has agreed.
func (c *commands) make(ctx context.Context, source conversations.Source, ch change, list []conversations.Listed) error {
	f, err := c.resolveFormat()
	if err != nil {
		return err
	}
	w, err := c.writer(ch.flags)
	if err != nil {
		return err
	}
	if ch.flags.dryRun {
		return c.show(f, ch, list)
	}
	if err := c.agree(ctx, source, ch, list); err != nil {
		return err
	}
	out := c.newResults(f)
	failed := false
	var edits []jp.Edited
	for i := range list {
		l := &list[i]
		if ch.together != nil && i%maxTogether == 0 {
			var ids []transcript.ID
			for _, l := range list[i:min(i+maxTogether, len(list))] {
				ids = append(ids, l.ID)
			}
			if err := ch.together(ctx, w, ids); err != nil {
				if len(list) <= maxTogether {
					return changeFailure(err)
				}
				failed = true // those before are done
				c.reportFailure(err)
				break
			}
		}
		var result outcome
		var err error
		if ch.each != nil {
			result, err = ch.each(ctx, w, l)
		}
		if err != nil {
			if ctx.Err() != nil || len(list) == 1 {
				return changeFailure(err)
			}
			failed = true
			c.reportFailure(err)
			continue
		}
		edits = append(edits, result.edited)
		if err := c.report(out, ch, l, result); err != nil {
			return err
		}
	}
	if err := w.Keep(ctx, edits...); err != nil {
		if ctx.Err() != nil || len(list) == 1 {
			return changeFailure(err)
		}
		failed = true
		c.reportFailure(err)
	}
	if err := out.close(); err != nil || !failed {
		return err
	}
	return cli.ErrFailed
}

// report writes what was done to a conversation.
func (c *commands) report(out *results, ch change, l *conversations.Listed, result outcome) error {
	action, text := ch.done, c.acted(ch.done, l)+"\n"
	switch {
	case result.nothing != "":
		action, text = "unchanged", ""
		if out.array == nil {
			c.note("%s: %s", l.ID, result.nothing)
		}
	case result.id != "":
		text = string(result.id) + "\n"
	}
	return out.add(text, func(r *record) {
		r.about(string(l.ID), l.Title)
		r.string("action", action)
		if result.id != "" {
			r.string("new_id", string(result.id))
		}
	})
}

// acted is a line about what is done to a conversation.
func (c *commands) acted(action string, l *conversations.Listed) string {
	return strings.TrimRight(fmt.Sprintf("%s %s  %s", action, l.ID, c.title(l)), " ")
}

// title is a title in a line for people.
func (c *commands) title(l *conversations.Listed) string {
	return text.Truncate(text.Cell(l.Title), completionColumn)
}

// show writes what would be done.
func (c *commands) show(f format, ch change, list []conversations.Listed) error {
	out := c.newResults(f)
	for i := range list {
		l, action, how := &list[i], "would "+ch.verb, ""
		line := c.acted(action, l)
		if ch.would != nil {
			how = ch.would(l)
		}
		if how != "" {
			line += ": " + text.Line(how)
		}
		err := out.add(strings.TrimRight(line, " ")+"\n", func(r *record) {
			r.about(string(l.ID), l.Title)
			r.string("action", action)
			r.optional("change", how)
		})
		if err != nil {
			return err
		}
	}
	return out.close()
}

// maxShown bounds how many conversations a question names.
const maxShown = 20

// agree asks whether to make a change that is dangerous.
func (c *commands) agree(ctx context.Context, source conversations.Source, ch change, list []conversations.Listed) error {
	if ch.flags.yes {
		return nil
	}
	active, err := c.active(ctx, source)
	if err != nil {
		c.warn("which conversation is active is not known: %v", err)
	}
	reasons := map[string]bool{}
	var order []string
	add := func(reason string) {
		if reason != "" && !reasons[reason] {
			reasons[reason] = true
			order = append(order, reason)
		}
	}
	if len(list) > 1 {
		add(fmt.Sprintf("%d conversations", len(list)))
	}
	for _, reason := range ch.reasons {
		add(reason)
	}
	for i := range list {
		if ch.harmless {
			break
		}
		if list[i].ID == active && active != "" {
			add("one is active")
		}
		if !list[i].PinnedAt.IsZero() {
			add("one is pinned")
		}
	}
	if len(list) == 1 {
		for i := range order {
			order[i] = strings.Replace(order[i], "one is", "it is", 1)
		}
	}
	if len(order) == 0 && (ch.dangerous == "" || len(list) == 0) {
		return nil
	}
	for i := range list[:min(len(list), maxShown)] {
		c.note("%s %s  %s", ch.verb, list[i].ID, c.title(&list[i]))
	}
	if more := len(list) - maxShown; more > 0 {
		c.note("… and %d more", more)
	}
	if len(order) > 0 {
		c.note("this needs a yes: %s", strings.Join(order, ", "))
	}
	if ch.dangerous != "" {
		c.note("%s", ch.dangerous)
	}
	return cli.Ask(ctx, c.host.Stdin, c.host.Stderr, "Make this change?")
}

// reportFailure reports an error of one of several changes.
func (c *commands) reportFailure(err error) { cli.Report(c.host.Stderr, changeFailure(err)) }

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

// findAll returns all conversations, live and archived, hidden or not.
func (c *commands) findAll(ctx context.Context, source conversations.Source) ([]conversations.Listed, error) {
	return c.all(ctx, source, conversations.Filter{Both: true, Hidden: true})
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
