package conversationcli

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// Values of flags that were given without one, in the words in which the help has
// what can be given.
const (
	toggle       = "true|false"
	toggleExpiry = "time"
)

// toggleValue is the value of a flag that need not have one.
type toggleValue string

// Set implements [pflag.Value].
func (v *toggleValue) Set(text string) error { *v = toggleValue(text); return nil }

// String implements [pflag.Value].
func (v *toggleValue) String() string { return string(*v) }

// Type implements [pflag.Value].
func (v *toggleValue) Type() string { return "toggle" }

// editFlags is the command line of edit.
type editFlags struct {
	changeFlags
	title                        string
	pin, local, tmp              toggleValue
	noTitle, noTmp, hide, unhide bool
}

func (c *commands) editCommand() *cobra.Command {
	var opts editFlags
	cmd := &cobra.Command{
		Use:   "edit ID…",
		Short: "Change the title, the pin or the place of conversations",
		Long: `Changes the title, the pin, the expiry or the place of conversations, or hides
them: they are left out of lists and searches then, and can still be read.

` + targetsHelp + `

` + changeHelp,
		Example: `  convtools conversation edit jp-c17737387251 --title "Retry policy"
  convtools conversation edit . --hide`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.edit(cmd, &opts, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.title, "title", "", "give it this `title`")
	flags.BoolVar(&opts.noTitle, "no-title", false, "remove its title")
	flags.Var(&opts.pin, "pin", "pin it, or not; bare: the other of what it is``")
	flags.BoolVar(&opts.hide, "hide", false, "hide it from lists and searches")
	flags.BoolVar(&opts.unhide, "unhide", false, "show it again")
	flags.Var(&opts.tmp, "tmp", "have JP delete it after a time such as 2d, or now; bare: now, or keep it if it expires``")
	flags.BoolVar(&opts.noTmp, "no-tmp", false, "keep it")
	flags.Var(&opts.local, "local", "keep it out of the project, or not; bare: the other of what it is``")
	for name, bare := range map[string]string{"pin": toggle, "tmp": toggleExpiry, "local": toggle} {
		flags.Lookup(name).NoOptDefVal = bare
	}
	opts.addFlags(cmd)
	cli.Rare(flags, "no-title", "unhide", "no-tmp", "dry-run", "wait")
	return cmd
}

// toggled reads the value of a flag that takes true, false or nothing; nil where it is
// not given.
func toggled(flags *pflag.FlagSet, name string, value toggleValue) (func(bool) bool, error) {
	if !flags.Changed(name) {
		return nil, nil
	}
	if value == toggle {
		return func(now bool) bool { return !now }, nil
	}
	to, err := strconv.ParseBool(string(value))
	if err != nil {
		return nil, usageError("write --"+name+", --"+name+"=true or --"+name+"=false", "--%s must be true or false, not %q", name, value)
	}
	return func(bool) bool { return to }, nil
}

// expiry reads when a conversation expires by --tmp and --no-tmp, from when it does.
// now is the time that it counts from.
func (o *editFlags) expiry(flags *pflag.FlagSet, now time.Time) (func(time.Time) time.Time, error) {
	switch {
	case o.noTmp:
		return func(time.Time) time.Time { return time.Time{} }, nil
	case !flags.Changed("tmp"):
		return func(at time.Time) time.Time { return at }, nil
	case o.tmp == toggleExpiry:
		return func(at time.Time) time.Time {
			if at.IsZero() {
				return now
			}
			return time.Time{}
		}, nil
	}
	age, ok := parseAge(string(o.tmp))
	if !ok && o.tmp != "now" {
		return nil, usageError("write --tmp=2d, --tmp=1h or --tmp=now", "--tmp cannot be %q", o.tmp)
	}
	return func(time.Time) time.Time { return now.Add(age) }, nil
}

// editing is what edit was asked for.
type editing struct {
	change func(transcript.Conversation) jp.Change
	local  func(bool) bool // nil where that was not asked for
}

// parse reads the flags.
func (o *editFlags) parse(flags *pflag.FlagSet, now time.Time) (editing, error) {
	var e editing
	err := excluded(flags, [2]string{"title", "no-title"}, [2]string{"hide", "unhide"}, [2]string{"tmp", "no-tmp"})
	if err != nil {
		return e, err
	}
	if flags.Changed("title") && strings.TrimSpace(o.title) == "" {
		return e, usageError("--no-title removes it", "a title cannot be blank")
	}
	pin, err := toggled(flags, "pin", o.pin)
	if err != nil {
		return e, err
	}
	if e.local, err = toggled(flags, "local", o.local); err != nil {
		return e, err
	}
	expires, err := o.expiry(flags, now)
	if err != nil {
		return e, err
	}
	e.change = func(c transcript.Conversation) jp.Change {
		var change jp.Change
		if o.noTitle || flags.Changed("title") {
			change.Title = &o.title
		}
		if pin != nil {
			to := pin(!c.PinnedAt.IsZero())
			change.Pinned = &to
		}
		if o.hide || o.unhide {
			change.Hidden = &o.hide
		}
		if at := expires(c.ExpiresAt); !at.Equal(c.ExpiresAt) {
			change.Expires = &at
		}
		return change
	}
	if slices.ContainsFunc([]string{"title", "no-title", "pin", "hide", "unhide", "tmp", "no-tmp", "local"}, flags.Changed) {
		return e, nil
	}
	return e, usageError("--title, --pin, --hide, --tmp and --local change something; --help lists all", "edit was not told what to change")
}

func (c *commands) edit(cmd *cobra.Command, opts *editFlags, args []string) error {
	editing, err := opts.parse(cmd.Flags(), c.host.Now())
	if err != nil {
		return err
	}
	list, err := c.named(cmd, args, "")
	if err != nil {
		return err
	}
	return c.make(cmd.Context(), change{
		flags: &opts.changeFlags, verb: "edit", done: "edited",
		would: func(l *conversations.Listed) string { return describeEdit(editing, l) },
		each: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
			return editOne(ctx, w, l, editing)
		},
	}, list)
}

// editOne edits a conversation, and gives l the title that it has then.
func editOne(ctx context.Context, w *jp.Writer, l *conversations.Listed, e editing) (outcome, error) {
	edited, err := w.Edit(ctx, l.ID, e.change)
	if err != nil {
		return outcome{}, err
	}
	l.Title = edited.After.Title
	changed := edited.Changed
	if e.local != nil {
		was, is, err := w.SetLocal(ctx, l.ID, e.local)
		if err != nil {
			return outcome{}, err
		}
		changed = changed || was != is
	}
	if !changed {
		return outcome{nothing: "it is like that already"}, nil
	}
	return outcome{edited: edited}, nil
}

// describeEdit describes what an edit would change.
func describeEdit(e editing, l *conversations.Listed) string {
	var parts []string
	change := e.change(l.Conversation)
	if t := change.Title; t != nil && *t != l.Title {
		parts = append(parts, "title "+text.Quote(*t))
		if *t == "" {
			parts[len(parts)-1] = "no title"
		}
	}
	state := func(to *bool, was bool, yes, no string) {
		switch {
		case to == nil || *to == was:
		case *to:
			parts = append(parts, yes)
		default:
			parts = append(parts, no)
		}
	}
	state(change.Pinned, !l.PinnedAt.IsZero(), "pinned", "not pinned")
	state(change.Hidden, l.Hidden, "hidden", "not hidden")
	if at := change.Expires; at != nil {
		if at.IsZero() {
			parts = append(parts, "kept")
		} else {
			parts = append(parts, "deleted by JP from "+at.UTC().Format("2006-01-02 15:04:05Z")+" on")
		}
	}
	if e.local != nil {
		to := e.local(l.UserOnly)
		state(&to, l.UserOnly, "only in the user's store", "in the project too")
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
