// Command convgen generates Go code, schemas, configurations and documentation from tool specs.
//
// Results go to standard output, everything else to standard error. The exit code is 0 on success, 1 if the specs or
// the generated files have a problem, and 2 for wrong usage.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/gen/check"
	"github.com/convtools/convtools/gen/diagprint"
	"github.com/convtools/convtools/gen/emit/editor"
	"github.com/convtools/convtools/gen/explain"
	"github.com/convtools/convtools/gen/lock"
	"github.com/convtools/convtools/gen/plan"
	"github.com/convtools/convtools/gen/spec"
	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/safefile"
)

const usage = `convgen turns the specs that tools.toml names into code, schemas, configurations and docs.

usage:
  convgen generate [-C DIR] [-check] [-format text|json|github|sarif] [-v]
        write what is missing or stale, remove what is orphaned
        -C       the project, where tools.toml is (default: the working directory)
        -check   write nothing; exit 1 and name the files if anything differs
        -format  problems, as text on standard error, or as a JSON array,
                 annotations of GitHub or a SARIF log on standard output
        -v       also say what each target could not express, and where it went
  convgen breaking [-C DIR] [-format text|json|github] -against FILE|git:REVISION
        list the changes since another contract.lock and whom they break;
        exit 1 for a break that no [[accepted]] in tools.toml gives a reason for
  convgen try [TOOL]
        run the examples of all reading tools, or of one tool, and show the answers;
        exit 1 if one has no answer
  convgen call TOOL key=value …
  convgen tools
  convgen serve [--workspace DIR] [--http ADDR]
  convgen jp-tool, install HOST, uninstall HOST, doctor
        the commands of a program made of the specs, without Go;
        serve is an MCP server that reads the specs again when they change; mcp is the same
  convgen approve
        approve the commands that the tools of this folder run; until then assistants are
        told that a new or changed tool writes
  convgen init [-C DIR]
        write a first project: tools.toml and a spec, for convgen serve;
        beside a go.mod also a main with the same tools, and its generated code
  convgen new [-C DIR] TOOL [--go | --from-help 'PROGRAM WORDS']
        write a commented spec, specs/FAMILY/NAME.toml: of a command that runs, of one with
        the options in the help of a program, or of a handler in Go
  convgen fmt [-C DIR] [-check] [FILE]…
        format tools.toml and the specs, or the files given, with their comments;
        -check only names the files that are not formatted, and exits with 1 if there are any
  convgen targets [-C DIR]
        show the name of each tool in each target, the length of its definition, and the share
        of the definition that is prose
  convgen explain [RULE]
        explain a rule, with an example that breaks it and the correction, or explain
        a kind of change of the contract; without RULE, list all
  convgen schema tool|project|reference
        print a JSON Schema of specs or of tools.toml, for editors, or a reference
        of all keys in Markdown
  convgen help [COMMAND]

examples:
  convgen generate
  convgen generate -check -format github
  convgen explain CT016
`

func main() {
	debug.SetGCPercent(400) // the process is short-lived, so trade memory for speed
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

const (
	exitOK    = 0
	exitWrong = 1
	exitUsage = 2
)

// command is a command of convgen. If run is nil, programs built from specs have it too, and [runHosted] runs it.
type command struct {
	name string
	run  func(args []string, stdout, stderr io.Writer) error
}

// commands returns the commands of convgen, in the order in which errors list them. [runHosted] runs those with nil.
func commands() []command {
	return []command{
		{"new", newSpec},
		{"try", try},
		{"call", nil},
		{"tools", nil},
		{"serve", nil},
		{"approve", approve},
		{"install", nil},
		{"uninstall", nil},
		{"jp-tool", nil},
		{"doctor", nil},
		{"mcp", nil},
		{"init", initProject},
		{"generate", generate},
		{"breaking", breaking},
		{"fmt", formatFiles},
		{"targets", targets},
		{"explain", explainRule},
		{"schema", editorFiles},
	}
}

// misuse is the error for wrong usage.
type misuse struct{ message, hint string }

func (m misuse) Error() string { return m.message }

// errReported is returned after the problem was printed: convgen only has to exit with 1.
var errReported = errors.New("something is wrong")

// help prints the help of the hosted command that args name, or else the help of convgen, and returns the exit code.
func help(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && slices.ContainsFunc(commands(), func(c command) bool { return c.name == args[0] && c.run == nil }) {
		return runHosted([]string{args[0], "--help"}, stdout, stderr)
	}
	fmt.Fprint(stdout, usage)
	return exitOK
}

// run runs the command that the first argument names, prints its error, and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		return help(nil, stdout, stderr)
	}
	name := args[0]
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, name) {
		return help(args[1:], stdout, stderr)
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	i := slices.Index(names, name)
	if i < 0 {
		fmt.Fprintf(stderr, "convgen: unknown command %q\nhint: commands are %s and help\n", name, strings.Join(names, ", "))
		return exitUsage
	}
	runCommand := commands()[i].run
	if runCommand == nil {
		return runHosted(args, stdout, stderr)
	}
	err := runCommand(args[1:], stdout, stderr)
	var wrongUse misuse
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return exitOK
	case errors.As(err, &wrongUse):
		fmt.Fprintf(stderr, "convgen %s: %v\nhint: %s\n", name, err, cmp.Or(wrongUse.hint, "see convgen help"))
		return exitUsage
	case !errors.Is(err, errReported):
		fmt.Fprintf(stderr, "convgen %s: %v\n", name, err)
	}
	return exitWrong
}

// flagsOf returns the flags of a command, with -C for the project's folder, which it puts in dir.
func flagsOf(name string) (flags *flag.FlagSet, dir *string) {
	flags = flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags, flags.String("C", ".", "")
}

// parse parses flags followed by at most maxArgs arguments. It returns [flag.ErrHelp] or a misuse.
func parse(flags *flag.FlagSet, args []string, maxArgs int) error {
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return misuse{message: err.Error()}
	case flags.NArg() > maxArgs:
		return misuse{message: fmt.Sprintf("unexpected argument %q", flags.Arg(maxArgs))}
	}
	return nil
}

// openProject opens the folder with tools.toml. An [os.Root] keeps specs and outputs inside the project, even with
// symbolic links.
func openProject(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the project: %w", err)
	}
	return root, nil
}

// options are the flags of convgen generate.
type options struct {
	dir     string
	check   bool
	format  string
	verbose bool
	wait    time.Duration // how long to wait for another run in the project
}

// printers returns the printer for each value of -format.
func printers() map[string]func(io.Writer, diag.List, func(string) []byte) error {
	return map[string]func(io.Writer, diag.List, func(string) []byte) error{
		"text":   diagprint.Text,
		"json":   func(w io.Writer, l diag.List, _ func(string) []byte) error { return diagprint.JSON(w, l) },
		"github": func(w io.Writer, l diag.List, _ func(string) []byte) error { return diagprint.GitHub(w, l) },
		"sarif":  func(w io.Writer, l diag.List, _ func(string) []byte) error { return diagprint.SARIF(w, "convgen", l) },
	}
}

// generate writes the generated files of a project or, with -check, compares them with the files that are there.
func generate(args []string, stdout, stderr io.Writer) error {
	flags, dir := flagsOf("generate")
	o := options{wait: time.Minute}
	flags.BoolVar(&o.check, "check", false, "")
	flags.StringVar(&o.format, "format", "text", "")
	flags.BoolVar(&o.verbose, "v", false, "")
	if err := parse(flags, args, 0); err != nil {
		return err
	}
	if printers()[o.format] == nil {
		return misuse{message: fmt.Sprintf("-format cannot be %q", o.format)}
	}
	o.dir = *dir
	upToDate, err := o.run(stdout, stderr)
	if err == nil && !upToDate {
		return errReported
	}
	return err
}

// run writes the generated files or, with -check, compares them, and prints what it did or found. It returns false if
// the specs have errors or, with -check, if a file differs.
func (o *options) run(stdout, stderr io.Writer) (bool, error) {
	root, err := openProject(o.dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return false, fmt.Errorf("finding the project: %w", err)
	}
	if !o.check {
		unlock, err := lockProject(dir, o.wait)
		if err != nil {
			return false, err
		}
		defer unlock()
	}
	result, err := plan.Generate(root.FS())
	if err != nil {
		return false, err
	}
	wrong := result.Diags.HasErrors()
	var differences []plan.Difference
	if !wrong {
		if result.Contract.Targets.Generated == "" {
			fmt.Fprintln(stderr, "tools.toml has no [targets.go]: there is nothing to generate, and convgen serve serves the specs as they are")
			return true, nil
		}
		if differences, err = plan.Compare(root.FS(), result); err != nil {
			return false, err
		}
	}
	if err := o.print(stdout, stderr, result, differences); err != nil {
		return false, fmt.Errorf("printing the problems: %w", err)
	}
	if wrong {
		return false, nil
	}
	if o.check {
		return len(differences) == 0, nil
	}
	err = o.write(root, stderr, result, differences)
	return err == nil, err
}

// write brings the project up to date, and prints the changes that break callers and the names of the changed files.
func (o *options) write(root *os.Root, stderr io.Writer, result *plan.Result, differences []plan.Difference) error {
	o.warn(root, stderr, result, differences)
	if err := plan.Write(root, result, differences); err != nil {
		return err
	}
	var report strings.Builder
	for _, d := range differences {
		action := "wrote "
		if d.Kind == plan.Orphan {
			action = "removed "
		}
		report.WriteString(action + d.Path + "\n")
	}
	_, _ = io.WriteString(stderr, report.String())
	return nil
}

// lockProject locks a project until unlock is called: concurrent runs could mix the output of different specs. On
// systems without file locks it does nothing.
func lockProject(dir string, wait time.Duration) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), wait, errors.New("another convgen is at work in it"))
	defer cancel()
	unlock, err = safefile.Lock(ctx, dir)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return func() {}, nil
	case err != nil:
		return nil, fmt.Errorf("locking the project: %w", err)
	}
	return unlock, nil
}

// maxLock is the maximum size in bytes of a contract.lock that is compared.
const maxLock = 64 << 20

// warn prints a warning for each change that breaks callers, if contract.lock is about to change. The old contract is
// the contract.lock of the last commit or, if git cannot show this file, the one in the project. Without an old
// contract, warn prints nothing.
func (o *options) warn(root *os.Root, stderr io.Writer, result *plan.Result, differences []plan.Difference) {
	name := path.Join(result.Contract.Targets.Generated, lock.File)
	if !slices.Contains(differences, plan.Difference{Path: name, Kind: plan.Stale}) {
		return
	}
	old, err := oldContract(o.dir, "git:HEAD", result.Contract.Targets.Generated)
	if err != nil {
		if o.uncommitted(name) {
			return // nobody depends on a contract that was never committed
		}
		if old, err = safefile.ReadIn(root, name, maxLock); err != nil {
			return
		}
	}
	changes, _, _ := result.Changes(old, today())
	for _, c := range changes {
		if c.Breaks() {
			fmt.Fprintf(stderr, "warning: %s\n", c)
		}
	}
}

// uncommitted reports whether git runs and does not track a file. Then nobody else depends on the contract in it.
func (o *options) uncommitted(name string) bool {
	cmd := exec.Command("git", "ls-files", "--error-unmatch", "--", name)
	cmd.Dir = o.dir
	var exit *exec.ExitError
	return errors.As(cmd.Run(), &exit) && exit.ExitCode() == 1 // outside a repository the exit code differs
}

// print prints the diagnostics and, with -check, the differences: text for people to stderr, the other formats for
// programs to stdout. With -v it also prints what targets could not express.
func (o *options) print(stdout, stderr io.Writer, result *plan.Result, differences []plan.Difference) error {
	if o.verbose {
		for _, line := range result.Lowered() {
			fmt.Fprintln(stderr, line)
		}
	}
	if o.format != "text" {
		list := result.Diags
		if o.check {
			for _, d := range differences {
				message, hint := describe(d.Kind)
				list = append(list, diag.Diagnostic{File: d.Path, Message: message, Hint: hint})
			}
		}
		return printers()[o.format](stdout, list, result.Source)
	}
	if err := diagprint.Text(stderr, result.Diags, result.Source); err != nil {
		return err
	}
	if !o.check || len(differences) == 0 {
		return nil
	}
	hints := map[string]bool{} // the hints for all differences, each once
	for _, d := range differences {
		fmt.Fprintf(stderr, "%s: %s\n", d.Kind, d.Path)
		_, hint := describe(d.Kind)
		hints[hint] = true
	}
	for _, hint := range slices.Sorted(maps.Keys(hints)) {
		fmt.Fprintln(stderr, "hint:", hint)
	}
	return nil
}

func describe(kind plan.Kind) (message, hint string) {
	const regenerate = "run convgen generate, and commit its changes"
	switch kind {
	case plan.Missing:
		return "the file is missing: the specs make it", regenerate
	case plan.Orphan:
		return "the file was generated, and no spec makes it any more", regenerate
	case plan.Foreign:
		return "a file that was not generated has the name of a generated one", "move or delete what is foreign, then run convgen generate"
	default:
		return "the file is not what the specs make", regenerate
	}
}

// editorFiles prints a schema for editors or the reference of keys.
func editorFiles(args []string, stdout, _ io.Writer) error {
	var data []byte
	switch {
	case len(args) == 1 && (args[0] == spec.ToolKind || args[0] == spec.ProjectKind):
		data = editor.Schema(args[0])
	case len(args) == 1 && args[0] == "reference":
		data = editor.Reference()
	default:
		return misuse{message: "it takes one of tool, project and reference"}
	}
	_, err := stdout.Write(data)
	return err
}

// explainRule prints the explanation of a rule or, without an argument, a list of all rules.
func explainRule(args []string, stdout, _ io.Writer) error {
	flags, _ := flagsOf("explain")
	if err := parse(flags, args, 1); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		for _, rule := range check.Rules() {
			fmt.Fprintf(stdout, "%s  %s\n", rule.ID, rule.Doc)
		}
		for _, rule := range lock.Rules() {
			fmt.Fprintf(stdout, "%s  %s\n", rule.ID, explain.Change(rule))
		}
		return nil
	}
	explanation, known, err := explain.Rule(flags.Arg(0))
	if err != nil {
		return err
	}
	if !known {
		hint := "convgen explain lists all"
		if meant := explain.Nearest(flags.Arg(0)); meant != "" {
			hint = fmt.Sprintf("did you mean %s? %s", meant, hint)
		}
		return misuse{fmt.Sprintf("there is no rule %q", flags.Arg(0)), hint}
	}
	_, err = fmt.Fprint(stdout, explanation)
	return err
}
