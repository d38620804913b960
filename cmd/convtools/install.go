package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/toolset"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
	"github.com/convtools/convtools/runtime/workspace"
)

// installFlags are the flags of install and uninstall.
type installFlags struct {
	scope       string
	yes, dryRun bool
}

func (a *app) installCommand(registry *toolset.Registry) *cobra.Command {
	var flags installFlags
	cmd := &cobra.Command{
		Use:   "install HOST",
		Short: "Register with a host: Claude Code, Codex, Cursor, JP, …",
		Long: `Registers this program with a host, so that its assistant gets the tools. The
change to the host's configuration file is shown, and made after a yes; the rest
of the file stays as it is, and a copy of it is kept with a record for undoing
the change. Hosts and their scopes:

` + hostTable(),
		Example: `  convtools install claude-code
  convtools install codex --scope project --yes
  convtools install claude-desktop --workspace ~/src/project`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeHost(cmd.Context(), args, flags, install.PlanInstall, a.alreadyThere)
		},
	}
	flags.add(cmd)
	registry.AddFlags(cmd)
	return cmd
}

func (a *app) uninstallCommand() *cobra.Command {
	var flags installFlags
	cmd := &cobra.Command{
		Use:   "uninstall HOST",
		Short: "Undo install",
		Long: `Undoes install: where nothing else has changed since, the host's configuration
file gets back the bytes it had, and a file that install made is removed. Else
the entry is made what it was. What install did not write is left alone.

` + hostTable(),
		Example: `  convtools uninstall claude-code
  convtools uninstall codex --scope project --yes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeHost(cmd.Context(), args, flags, install.PlanUninstall, a.notThere)
		},
	}
	flags.add(cmd)
	return cmd
}

func (f *installFlags) add(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.ValidArgsFunction = completeHosts
	cmd.Flags().StringVar(&f.scope, "scope", "", "`SCOPE` is user or project (default: the first listed)")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "make the change without asking")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only show the change")
	_ = cmd.RegisterFlagCompletionFunc("scope", completeScopes) // fails only for a flag that is not there
}

// hostTable lists the hosts and the scopes they know, the default first, in two
// columns.
func hostTable() string {
	hosts := install.Hosts()
	cell := func(h install.Host) string {
		return fmt.Sprintf("%-15s %s", h.Name, scopeNames(h))
	}
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

// scopeNames lists the scopes that a host knows, its default first.
func scopeNames(h install.Host) string {
	var names []string
	for _, s := range h.Scopes {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// changeHost plans a change, shows it, asks, and makes it. nothing says that there
// is nothing to do.
func (a *app) changeHost(
	ctx context.Context, args []string, flags installFlags,
	plan func(install.Host, install.Options) (*install.Change, error),
	nothing func(install.Host, install.Options, *install.Change) error,
) error {
	var names []string
	for _, h := range install.Hosts() {
		names = append(names, h.Name)
	}
	if len(args) != 1 {
		return cli.Usagef("name one host: %s", strings.Join(names, ", "))
	}
	host, ok := install.Lookup(args[0])
	if !ok {
		if near := contract.Nearest(args[0], names); near != "" {
			return cli.Usagef("there is no host %s; did you mean %s?", contract.Quote(args[0]), near)
		}
		return cli.Usagef("there is no host %s; name one of: %s", contract.Quote(args[0]), strings.Join(names, ", "))
	}
	opts, err := a.installOptions()
	if err != nil {
		return err
	}
	if opts.Scope = install.Scope(flags.scope); opts.Scope != "" && opts.Scope != install.User && opts.Scope != install.Project {
		return cli.Usagef("--scope is user or project, not %q", flags.scope)
	}
	if opts.Scope != "" && !slices.Contains(host.Scopes, opts.Scope) {
		return cli.Usagef("%s cannot be registered with for scope %s, only for: %s", host.Title, opts.Scope, scopeNames(host))
	}
	if err := a.addKnowledge(&opts, host); err != nil {
		return err
	}
	change, err := plan(host, opts)
	var manual *install.ManualError
	if errors.As(err, &manual) {
		return a.leftAlone(manual)
	}
	if err != nil {
		return err
	}
	if len(change.Files) == 0 {
		return nothing(host, opts, change)
	}
	if _, err := io.WriteString(a.host.Stdout, envelope.Sanitize(change.Diff())); err != nil {
		return err
	}
	if err := a.say(change.Notes); err != nil {
		return err
	}
	if flags.dryRun {
		return nil
	}
	if !flags.yes {
		if err := a.ask(ctx); err != nil {
			return err
		}
	}
	if err := change.Apply(); err != nil {
		return err
	}
	for i := range change.Files {
		f := &change.Files[i]
		said := "Wrote " + f.Path
		switch {
		case f.Before == nil && f.After == nil:
			said = "Forgot " + f.Path
		case f.After == nil:
			said = "Removed " + f.Path
		}
		if kept := f.Backup(); kept != "" {
			said += "; what it was is in " + kept
		}
		fmt.Fprintln(a.host.Stdout, envelope.SanitizeLine(said))
	}
	return a.say(change.Advice)
}

func (a *app) alreadyThere(host install.Host, _ install.Options, change *install.Change) error {
	a.sayNothingToDo("is registered", host, change)
	if err := a.say(change.Notes); err != nil {
		return err
	}
	return a.say(change.Advice)
}

// notThere also names the scopes that the user may have meant.
func (a *app) notThere(host install.Host, opts install.Options, change *install.Change) error {
	if len(change.Notes) > 0 {
		return a.say(change.Notes)
	}
	a.sayNothingToDo("is not registered", host, change)
	for _, r := range install.Registrations(host, opts) {
		if r.Scope != change.Scope {
			fmt.Fprintf(a.host.Stdout, "It is for scope %s, in %s: add --scope %s.\n", r.Scope, envelope.SanitizeLine(r.Path), r.Scope)
		}
	}
	return nil
}

func (a *app) sayNothingToDo(state string, host install.Host, change *install.Change) {
	fmt.Fprintf(a.host.Stdout, "Nothing to do: convtools %s with %s (%s, %s)\n", state, host.Title, change.Scope, envelope.SanitizeLine(change.Path))
}

func (a *app) say(sentences []string) error {
	for _, sentence := range sentences {
		if _, err := fmt.Fprintln(a.host.Stdout, envelope.SanitizeLine(sentence)); err != nil {
			return err
		}
	}
	return nil
}

// leftAlone says why a file was not changed, what to do about it, and what can be
// written into it by hand.
func (a *app) leftAlone(e *install.ManualError) error {
	fmt.Fprintf(a.host.Stderr, "error: %s\n", envelope.SanitizeLine(e.Error()))
	if e.Fix != "" {
		fmt.Fprintf(a.host.Stderr, "hint: %s; then run this again\n", envelope.SanitizeLine(e.Fix))
	}
	if e.Snippet != "" {
		fmt.Fprintf(a.host.Stderr, "hint: or do it yourself: %s:\n\n%s", envelope.SanitizeLine(e.Where), envelope.Sanitize(e.Snippet))
	}
	return cli.ErrFailed
}

// signalDelay is how long a signal that was sent already may take to get here:
// many times what it takes, and too short to be noticed by whoever said yes.
const signalDelay = 100 * time.Millisecond

// ask asks whether to make the change that has been shown. Only a person can
// say yes, and one who interrupts does not.
func (a *app) ask(ctx context.Context) error {
	stdin, ok := a.host.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(stdin.Fd())) {
		return errors.New("nothing was changed, because nobody can be asked here; add --yes to make the change")
	}
	fmt.Fprint(a.host.Stderr, "\nMake this change? [y/N] ")
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	// A signal does not end the read, which goes on until the program is over.
	go func() {
		text, err := bufio.NewReader(io.LimitReader(stdin, 1024)).ReadString('\n')
		answered <- answer{text, err}
	}()
	var got answer
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.host.Stderr)
	case got = <-answered:
	}
	if got.err != nil && !errors.Is(got.err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", got.err)
	}
	switch strings.ToLower(strings.TrimSpace(got.text)) {
	case "y", "yes":
		// An interrupt that was typed just before the yes takes longer to get
		// here: it is a signal, and what was read is not.
		select {
		case <-ctx.Done():
		case <-time.After(signalDelay):
			return nil
		}
	}
	fmt.Fprintln(a.host.Stderr, "Nothing was changed.")
	return cli.ErrFailed
}

// installOptions says where this program is and which project is meant: the
// workspace, or the project that has knowledge. Without either it is the working
// directory.
func (a *app) installOptions() (install.Options, error) {
	opts := install.Options{GOOS: runtime.GOOS, Getenv: a.host.Getenv}
	program, err := os.Executable()
	if err != nil {
		return opts, fmt.Errorf("finding this program: %w", err)
	}
	opts.Program = program
	if found, err := exec.LookPath("convtools"); err == nil && sameFile(found, program) {
		if found, err = filepath.Abs(found); err == nil {
			// A link in PATH outlives the version it points to.
			opts.Program, opts.ProgramName = found, "convtools"
		}
	}
	opts.Project, err = filepath.Abs(a.host.Dir)
	if err != nil {
		return opts, fmt.Errorf("finding the project: %w", err)
	}
	root, ok := kbconfig.FindRoot(opts.Project)
	if _, err := os.Stat(opts.Project); err != nil {
		ok = false // what is above a directory that does not exist was not meant
	}
	w, err := workspace.Open(workspace.Options{Dir: a.host.Dir, Getenv: a.host.Getenv})
	switch {
	case err == nil:
		root = w.Root()
	case ok: // a project that has knowledge and no conversations
	case a.host.Dir != "":
		return opts, err
	default:
		return opts, nil
	}
	opts.Project, opts.Workspace, opts.Bind = root, root, a.host.Dir != ""
	return opts, nil
}

// addKnowledge adds the flags that say how knowledge is used. A pattern is about
// a topic of one project: where there is no such topic, nothing could be learned.
func (a *app) addKnowledge(opts *install.Options, host install.Host) error {
	opts.Knowledge, opts.PromptInjected = a.knowledge.Patterns, a.knowledge.Injected
	if len(opts.Knowledge) == 0 {
		return nil
	}
	scope := cmp.Or(opts.Scope, host.Scopes[0])
	if scope == install.User && !opts.Bind {
		return cli.Usage(errors.New("-k is about a topic of one project, and this registers for all: add --scope project or --workspace DIR"))
	}
	_, err := a.openKnowledge()
	return err
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
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

// completeScopes completes the scopes that the host knows, or all before one is
// named.
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
