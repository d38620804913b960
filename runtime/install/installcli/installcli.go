// Package installcli has the commands install and uninstall: they show a change that package install has planned,
// ask, and apply it.
//
// It never changes anything without a yes from a person or --yes, and knows no family of tools.
package installcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/toolset"
)

// Install returns the command that registers this program with a host.
func Install(host *toolset.Host, registry *toolset.Registry) *cobra.Command {
	c := &command{host: host, registry: registry, plan: install.PlanInstall, reads: registry.Reads}
	c.reportNothing = c.reportInstalled
	cmd := c.setUp(&cobra.Command{
		Use:   "install HOST",
		Short: "Register with a host: Claude Code, Codex, Cursor, JP, …",
		Long: `Registers this program with a host, so that its assistant gets the tools. The
change to the host's configuration file is shown, and made after a yes; the rest
of the file stays as it is, and a copy of the file as it was is kept. Hosts and
their scopes:

` + hostTable(),
		Example: cli.Examples(host.Name, "install claude-code", "install codex --scope project --yes", "install claude-desktop --workspace ~/src/project"),
	})
	cmd.Flags().BoolVar(&c.hook, "hook", false, "also have the host print the project's last conversations\nwhen a session starts (claude-code)")
	registry.AddFlags(cmd)
	return cmd
}

// Uninstall returns the command that undoes [Install].
func Uninstall(host *toolset.Host, registry *toolset.Registry) *cobra.Command {
	c := &command{host: host, registry: registry, plan: install.PlanUninstall}
	c.reportNothing = c.reportMissing
	return c.setUp(&cobra.Command{
		Use:   "uninstall HOST",
		Short: "Undo install",
		Long: `Takes the entry that install made out of the host's configuration file, and the
hook of install --hook out of the host's settings. A file with nothing else in
it is removed. All other entries stay as they are, and a copy of a file as it
was is kept.

` + hostTable(),
		Example: cli.Examples(host.Name, "uninstall claude-code", "uninstall codex --scope project --yes"),
	})
}

// command is install or uninstall.
type command struct {
	host     *toolset.Host
	registry *toolset.Registry
	plan     func(install.Host, install.Options) (*install.Change, error)
	reads    func(context.Context) []string // returns sentences about the data that the tools read, for the user to agree to; may be nil

	reportNothing     func(install.Host, install.Options, *install.Change) error // prints why a change without files has nothing to do
	scope             string
	yes, dryRun, hook bool
}

// setUp adds to cmd what both commands have, and returns cmd.
func (c *command) setUp(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.ValidArgsFunction = completeHosts
	cmd.RunE = c.run
	cmd.Flags().StringVar(&c.scope, "scope", "", "`SCOPE` is user or project (default: the first listed)")
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "make the change without asking")
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "only show the change")
	_ = cmd.RegisterFlagCompletionFunc("scope", completeScopes) // fails only for a flag that is not there
	return cmd
}

// hostTable lists the hosts and their scopes, the default first, in two columns.
func hostTable() string {
	hosts := install.Hosts()
	cell := func(h install.Host) string { return fmt.Sprintf("%-15s %s", h.Name, h.ScopeNames()) }
	var b strings.Builder
	rows := (len(hosts) + 1) / 2
	for i := range rows {
		left, right := cell(hosts[i]), ""
		if i+rows < len(hosts) {
			right = cell(hosts[i+rows])
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-33s %s", left, right), " ") + "\n")
	}
	return b.String()
}

// run plans a change, prints it, asks whether to make it, applies it, and prints what is left to do. With --dry-run it
// ends after printing the change. A file that cannot be edited is [cli.ErrFailed]; run has printed the reason then.
func (c *command) run(cmd *cobra.Command, args []string) error {
	host, err := hostOf(args)
	if err != nil {
		return err
	}
	opts, err := c.options(cmd, host)
	if err != nil {
		return err
	}
	change, err := c.plan(host, opts)
	var manual *install.ManualError
	if errors.As(err, &manual) {
		return c.reportManual(manual)
	}
	if err != nil {
		return err
	}
	if len(change.Files) == 0 {
		return c.reportNothing(host, opts, change)
	}
	if _, err := io.WriteString(c.host.Stdout, text.Visible(change.Diff())); err != nil {
		return err
	}
	notes := change.Notes
	if c.reads != nil {
		notes = append(slices.Clip(notes), c.reads(cmd.Context())...)
	}
	if err := c.say(notes...); err != nil || c.dryRun {
		return err
	}
	if !c.yes {
		if err := cli.Ask(cmd.Context(), c.host.Stdin, c.host.Stderr, "Make this change?"); err != nil {
			return err
		}
	}
	if err := change.Apply(cmd.Context()); err != nil {
		return err
	}
	for i := range change.Files {
		f := &change.Files[i]
		done := "Wrote " + f.Path
		if f.After == nil {
			done = "Removed " + f.Path
		}
		if backup := f.Backup(); backup != "" {
			done += "; what it was is in " + backup
		}
		if err := c.say(done); err != nil {
			return err
		}
	}
	return c.say(change.Advice...)
}

// hostOf returns the host that the only argument names. Other arguments are a usage error.
func hostOf(args []string) (install.Host, error) {
	var names []string
	for _, h := range install.Hosts() {
		names = append(names, h.Name)
	}
	if len(args) != 1 {
		return install.Host{}, cli.Usagef("name one host: %s", strings.Join(names, ", "))
	}
	host, ok := install.Lookup(args[0])
	if ok {
		return host, nil
	}
	if meant := near.Name(args[0], names); meant != "" {
		return host, cli.Usagef("there is no host %s; did you mean %s?", text.Quote(args[0]), meant)
	}
	return host, cli.Usagef("there is no host %s; name one of: %s", text.Quote(args[0]), strings.Join(names, ", "))
}

// options returns the options of the plan, from this program, the project and the flags of the command. A scope or a
// hook that the host does not have is an error, and so is a flag about one project in an entry for all projects.
func (c *command) options(cmd *cobra.Command, host install.Host) (install.Options, error) {
	opts, err := install.NewOptions(c.host, c.registry)
	if err != nil {
		return opts, err
	}
	opts.Scope, opts.Hook = install.Scope(c.scope), c.hook
	if !slices.Contains([]install.Scope{"", install.User, install.Project}, opts.Scope) {
		return opts, cli.Usagef("--scope is user or project, not %q", c.scope)
	}
	scope := cmp.Or(opts.Scope, host.Scopes[0])
	if err := host.CheckScope(scope); err != nil {
		return opts, cli.Usage(err)
	}
	if c.hook && !host.HasHook() {
		return opts, cli.Usagef("%s has no hook for the start of a session that install knows", host.Title)
	}
	flags := cmd.Flags()
	isForAll := scope == install.User && !opts.Bind // the entry is for all projects
	for _, f := range c.registry.Flags() {
		isForOne := flags.Changed(f.Name) && f.OneProject != ""
		if isForOne && isForAll {
			return opts, cli.Usagef("%s is about %s of one project, and this registers for all: add --scope project or --workspace DIR", f.Word(), f.OneProject)
		}
	}
	opts.Settings, opts.Advice = c.registry.Given(flags), c.registry.Advice(flags, host.Name == "jp")
	return opts, c.registry.CheckFlags(flags, "")
}

// reportInstalled prints that the entry is already as it should be, and the notes and the advice of the change.
func (c *command) reportInstalled(host install.Host, _ install.Options, change *install.Change) error {
	return c.say(slices.Concat([]string{c.nothingToDo("is registered", host, change)}, change.Notes, change.Advice)...)
}

// reportMissing prints why uninstall has nothing to do: the notes of the change; or, without notes, that there is no
// entry, and which other scopes have one.
func (c *command) reportMissing(host install.Host, opts install.Options, change *install.Change) error {
	if len(change.Notes) > 0 {
		return c.say(slices.Concat(change.Notes, change.Advice)...)
	}
	sentences := []string{c.nothingToDo("is not registered", host, change)}
	for _, r := range install.Registrations(host, opts) {
		if r.Scope != change.Scope {
			sentences = append(sentences, fmt.Sprintf("It is for scope %s, in %s: add --scope %s.", r.Scope, r.Path, r.Scope))
		}
	}
	return c.say(slices.Concat(sentences, change.Advice)...)
}

func (c *command) nothingToDo(state string, host install.Host, change *install.Change) string {
	return fmt.Sprintf("Nothing to do: %s %s with %s (%s, %s)", c.host.Name, state, host.Title, change.Scope, change.Path)
}

// say prints sentences, one in a line.
func (c *command) say(sentences ...string) error {
	for _, sentence := range sentences {
		if _, err := fmt.Fprintln(c.host.Stdout, text.Line(sentence)); err != nil {
			return err
		}
	}
	return nil
}

// reportManual prints why a file was not changed, the fix, and the text that a person can write into the file. It
// returns [cli.ErrFailed].
func (c *command) reportManual(e *install.ManualError) error {
	fmt.Fprintf(c.host.Stderr, "error: %s\n", text.Line(e.Error()))
	if e.Fix != "" {
		fmt.Fprintf(c.host.Stderr, "hint: %s; then run this again\n", text.Line(e.Fix))
	}
	if e.Snippet != "" {
		fmt.Fprintf(c.host.Stderr, "hint: or do it yourself: %s:\n\n%s", text.Line(e.Where), text.Visible(e.Snippet))
	}
	return cli.ErrFailed
}

func completeHosts(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, h := range install.Hosts() {
		if len(args) == 0 {
			names = append(names, cobra.CompletionWithDesc(h.Name, h.Title))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeScopes completes the scopes of the host, or all scopes before a host is given.
func completeScopes(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	scopes := []install.Scope{install.User, install.Project}
	if len(args) > 0 {
		if host, ok := install.Lookup(args[0]); ok {
			scopes = host.Scopes
		}
	}
	var names []cobra.Completion
	for _, s := range scopes {
		names = append(names, string(s))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
