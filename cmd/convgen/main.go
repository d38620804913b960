// Command convgen turns tool specs into Go code, schemas, configurations and
// documentation.
//
// Results go to standard output, everything else to standard error. It exits
// with 0 when all is well, with 1 when something is wrong with the specs or the
// generated files, and with 2 when it is called wrongly.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/convtools/convtools/gen/check"
	"github.com/convtools/convtools/gen/diag"
	"github.com/convtools/convtools/gen/plan"
)

const usage = `convgen turns the specs that tools.toml names into code, schemas, configurations and docs.

usage:
  convgen generate [-C DIR] [-check] [-format text|json|github] [-v]
        write what is missing or stale, remove what is orphaned
        -check   write nothing; exit 1 and name the files if anything differs
        -v       also say what each target could not express, and where it went
  convgen explain [RULE]
        say what a rule demands and why; without RULE, list all
  convgen help

examples:
  convgen generate
  convgen generate -check -format github
  convgen explain CT016
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

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
	case "explain":
		return explain(args, stdout, stderr)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return exitOK
	default:
		fmt.Fprintf(stderr, "convgen: unknown command %q\nhint: commands are generate, explain and help\n", command)
		return exitUsage
	}
}

func generate(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("C", ".", "")
	checkOnly := flags.Bool("check", false, "")
	format := flags.String("format", "text", "")
	verbose := flags.Bool("v", false, "")
	printers := map[string]func(io.Writer, *plan.Result) error{
		"text":   func(w io.Writer, r *plan.Result) error { return diag.Text(w, r.Diags, r.Source) },
		"json":   func(w io.Writer, r *plan.Result) error { return diag.JSON(w, r.Diags) },
		"github": func(w io.Writer, r *plan.Result) error { return diag.GitHub(w, r.Diags) },
	}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return exitOK
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case err == nil && printers[*format] == nil:
		err = fmt.Errorf("-format cannot be %q", *format)
	}
	if err != nil {
		fmt.Fprintf(stderr, "convgen generate: %v\nhint: see convgen help\n", err)
		return exitUsage
	}
	fail := func(err error) int {
		fmt.Fprintf(stderr, "convgen generate: %v\n", err)
		return exitWrong
	}

	fsys := os.DirFS(*dir)
	result, err := plan.Generate(fsys)
	if err != nil {
		return fail(err)
	}
	if len(result.Diags) > 0 || *format == "json" {
		// Annotations are read from standard output; text is for people.
		w := stderr
		if *format != "text" {
			w = stdout
		}
		if err := printers[*format](w, result); err != nil {
			return fail(err)
		}
	}
	if result.Diags.HasErrors() {
		return exitWrong
	}
	if *verbose {
		for _, line := range result.Lowered {
			fmt.Fprintln(stderr, line)
		}
	}
	differences, err := plan.Compare(fsys, result)
	if err != nil {
		return fail(err)
	}
	for _, d := range differences {
		fmt.Fprintf(stderr, "%s: %s\n", d.Kind, d.Path)
	}
	if *checkOnly {
		if len(differences) > 0 {
			fmt.Fprintln(stderr, "hint: run go generate ./... and commit what it changes")
			return exitWrong
		}
		return exitOK
	}
	if err := plan.Write(*dir, result, differences); err != nil {
		return fail(err)
	}
	return exitOK
}

func explain(args []string, stdout, stderr io.Writer) int {
	if len(args) > 1 {
		fmt.Fprintln(stderr, "convgen explain: one rule at a time")
		return exitUsage
	}
	for _, rule := range check.Rules() {
		switch {
		case len(args) == 0:
			fmt.Fprintf(stdout, "%s  %s\n", rule.ID, rule.Doc)
		case strings.EqualFold(args[0], rule.ID):
			fmt.Fprintln(stdout, rule.Doc)
			return exitOK
		}
	}
	if len(args) == 0 {
		return exitOK
	}
	fmt.Fprintf(stderr, "convgen explain: there is no rule %q\nhint: convgen explain lists all\n", args[0])
	return exitUsage
}
