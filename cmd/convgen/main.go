// Command convgen turns tool specs into Go code, schemas, configurations and
// documentation.
//
// Results go to standard output, everything else to standard error. It exits
// with 0 when all is well, with 1 when something is wrong with the specs or the
// generated files, and with 2 when it is called wrongly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
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
        -format  what is wrong, as text on standard error, or as a JSON array,
                 annotations of GitHub or a SARIF log on standard output
        -v       also say what each target could not express, and where it went
  convgen breaking [-C DIR] [-format text|json|github] -against FILE|git:REVISION
        say what changed since another contract.lock, and for whom it breaks;
        exit 1 if it breaks anyone, and no [[accepted]] in tools.toml says why
  convgen try [TOOL]
        run the examples of all tools that read, or of one tool, and show the answers;
        exit 1 if one gave none
  convgen call TOOL key=value …
  convgen tools
  convgen serve [--workspace DIR] [--http ADDR]
  convgen jp-tool, install HOST, uninstall HOST, doctor
        what a program made of the specs has, over the specs as they are, without Go;
        serve is an MCP server that reads them again when they change
  convgen approve
        approve what the tools of this folder run: until then a tool that is new, or runs
        something else, is offered to assistants as writing
  convgen init [-C DIR]
        write a project to begin with: tools.toml and a spec, which convgen serve serves;
        beside a go.mod also a main with the same tools, generated
  convgen new [-C DIR] TOOL [--go | --from-help 'PROGRAM WORDS']
        write a commented spec to begin with, specs/FAMILY/NAME.toml, of a command that runs,
        with the options that a program's help lists, or of a handler in Go
  convgen fmt [-C DIR] [-check] [FILE]…
        write tools.toml and the specs, or the files named, as they are best written,
        with their comments; -check only names those that are not, and exits with 1
  convgen targets [-C DIR]
        say what each target calls the tools, how long their definitions are, and how much
        of them it has in words
  convgen explain [RULE]
        say what a rule demands and why, with an example that breaks it and what
        puts it right, or what a change of the contract does; without RULE, list all
  convgen schema tool|project|reference
        print a JSON Schema of specs or of tools.toml, for editors, or a reference
        of all keys in Markdown
  convgen help

examples:
  convgen generate
  convgen generate -check -format github
  convgen explain CT016
`

func main() {
	debug.SetGCPercent(400) // it lives for a moment: memory is cheaper than collecting it
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

const (
	exitOK    = 0
	exitWrong = 1
	exitUsage = 2
)

func run(args []string, stdout, stderr io.Writer) int {
	command := "help"
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	switch command {
	case "generate":
		return generate(args, stdout, stderr)
	case "breaking":
		return breaking(args, stdout, stderr)
	case "targets":
		return targets(args, stdout, stderr)
	case "init":
		return initProject(args, stdout, stderr)
	case "fmt":
		return formatFiles(args, stdout, stderr)
	case "new":
		return newSpec(args, stdout, stderr)
	case "schema":
		return editorFiles(args, stdout, stderr)
	case "explain":
		return explainRule(args, stdout, stderr)
	case "call", "tools", "serve", "mcp", "jp-tool", "install", "uninstall", "doctor":
		return hosted(append([]string{command}, args...), stdout, stderr)
	case "try":
		return try(args, stdout, stderr)
	case "approve":
		return approve(args, stdout, stderr)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return exitOK
	default:
		fmt.Fprintf(stderr, "convgen: unknown command %q\nhint: commands are new, try, call, tools, serve, approve, install, jp-tool, doctor, init, generate, breaking, fmt, targets, explain, schema and help\n", command)
		return exitUsage
	}
}

type options struct {
	dir     string
	check   bool
	format  string
	verbose bool
	wait    time.Duration // for another run in the project
}

// printers are the values of -format.
func printers() map[string]func(io.Writer, diag.List, func(string) []byte) error {
	return map[string]func(io.Writer, diag.List, func(string) []byte) error{
		"text":   diagprint.Text,
		"json":   func(w io.Writer, l diag.List, _ func(string) []byte) error { return diagprint.JSON(w, l) },
		"github": func(w io.Writer, l diag.List, _ func(string) []byte) error { return diagprint.GitHub(w, l) },
		"sarif":  func(w io.Writer, l diag.List, _ func(string) []byte) error { return diagprint.SARIF(w, "convgen", l) },
	}
}

func generate(args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.dir, "C", ".", "")
	flags.BoolVar(&o.check, "check", false, "")
	flags.StringVar(&o.format, "format", "text", "")
	flags.BoolVar(&o.verbose, "v", false, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return exitOK
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case err == nil && printers()[o.format] == nil:
		err = fmt.Errorf("-format cannot be %q", o.format)
	}
	if err != nil {
		fmt.Fprintf(stderr, "convgen generate: %v\nhint: see convgen help\n", err)
		return exitUsage
	}
	o.wait = time.Minute
	ok, err := o.run(stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "convgen generate: %v\n", err)
	}
	if err != nil || !ok {
		return exitWrong
	}
	return exitOK
}

// run generates or checks, and reports whether all is well.
func (o *options) run(stdout, stderr io.Writer) (bool, error) {
	// Through a root, neither a spec nor an output can be outside the project,
	// whatever links there are in it.
	root, err := os.OpenRoot(o.dir)
	if err != nil {
		return false, fmt.Errorf("opening the project: %w", err)
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
	var differences []plan.Difference
	if !result.Diags.HasErrors() && result.Contract.Targets.Generated == "" {
		fmt.Fprintln(stderr, "tools.toml has no [targets.go]: there is nothing to generate, and convgen serve serves the specs as they are")
		return true, nil
	}
	if !result.Diags.HasErrors() {
		if differences, err = plan.Compare(root.FS(), result); err != nil {
			return false, err
		}
	}
	if err := o.print(stdout, stderr, result, differences); err != nil {
		return false, fmt.Errorf("printing what was found: %w", err)
	}
	switch {
	case result.Diags.HasErrors():
		return false, nil
	case o.check:
		return len(differences) == 0, nil
	}
	o.warn(root, stderr, result)
	if err := plan.Write(root, result, differences); err != nil {
		return false, err
	}
	var said strings.Builder
	for _, d := range differences {
		done := "wrote "
		if d.Kind == plan.Orphan {
			done = "removed "
		}
		said.WriteString(done + d.Path + "\n")
	}
	_, _ = io.WriteString(stderr, said.String())
	return true, nil
}

// lockProject keeps other runs away from a project until unlock: two that write at
// once, from specs that changed in between, would mix what they make. Where there are
// no locks, nobody is kept away.
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

// longestLock is the most bytes of a contract.lock that are compared.
const longestLock = 64 << 20

// warn tells which changes since the contract.lock that is there break callers. One
// that cannot be read is about to be replaced, and no reason to stop.
func (o *options) warn(root *os.Root, stderr io.Writer, result *plan.Result) {
	old, err := safefile.ReadIn(root, path.Join(result.Contract.Targets.Generated, lock.File), longestLock)
	if err != nil {
		return
	}
	changes, _, err := result.Changes(old, today())
	if err != nil {
		return
	}
	for _, c := range changes {
		if c.Breaks() {
			fmt.Fprintf(stderr, "warning: %s\n", c)
		}
	}
}

// print shows what was found. Text is for people; the other formats are read by
// programs, from standard output.
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
	hints := map[string]bool{}
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
	const regenerate = "run convgen generate, and commit what it changes"
	switch kind {
	case plan.Missing:
		return "the file is missing: the specs make it", regenerate
	case plan.Orphan:
		return "the file was generated, and no spec makes it any more", regenerate
	case plan.Foreign:
		return "the file was not generated, and stands where one is to be", "move or delete what is foreign, then run convgen generate"
	default:
		return "the file is not what the specs make", regenerate
	}
}

// editorFiles prints what helps to write specs.
func editorFiles(args []string, stdout, stderr io.Writer) int {
	var data []byte
	switch {
	case len(args) == 1 && (args[0] == spec.ToolKind || args[0] == spec.ProjectKind):
		data = editor.Schema(args[0])
	case len(args) == 1 && args[0] == "reference":
		data = editor.Reference()
	default:
		fmt.Fprintf(stderr, "convgen schema: it takes one of tool, project and reference\nhint: see convgen help\n")
		return exitUsage
	}
	if _, err := stdout.Write(data); err != nil {
		fmt.Fprintf(stderr, "convgen schema: %v\n", err)
		return exitWrong
	}
	return exitOK
}

func explainRule(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		for _, rule := range check.Rules() {
			fmt.Fprintf(stdout, "%s  %s\n", rule.ID, rule.Doc)
		}
		for _, rule := range lock.Rules() {
			fmt.Fprintf(stdout, "%s  %s\n", rule.ID, explain.Change(rule))
		}
		return exitOK
	}
	if slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		fmt.Fprint(stdout, usage)
		return exitOK
	}
	if len(args) > 1 {
		fmt.Fprintln(stderr, "convgen explain: one rule at a time")
		return exitUsage
	}
	said, known, err := explain.Rule(args[0])
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "convgen explain: %v\n", err)
		return exitWrong
	case !known:
		hint := "convgen explain lists all"
		if meant := explain.Nearest(args[0]); meant != "" {
			hint = fmt.Sprintf("did you mean %s? %s", meant, hint)
		}
		fmt.Fprintf(stderr, "convgen explain: there is no rule %q\nhint: %s\n", args[0], hint)
		return exitUsage
	}
	fmt.Fprint(stdout, said)
	return exitOK
}
