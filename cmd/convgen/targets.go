package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/convtools/convtools/gen/diagprint"
	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/schema"
	all "github.com/convtools/convtools/gen/emit/targets"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
	"github.com/convtools/convtools/gen/plan"
)

// targets prints how each target presents each tool. If the specs have errors, it prints them to stderr instead.
func targets(args []string, stdout, stderr io.Writer) error {
	flags, dir := flagsOf("targets")
	if err := parse(flags, args, 0); err != nil {
		return err
	}
	result, err := generateSound(*dir, stderr)
	if err != nil {
		return err
	}
	return printTargets(stdout, result)
}

// generateSound makes the generated files of the project in dir in memory. If the specs have errors, it prints them to
// stderr and returns [errReported].
func generateSound(dir string, stderr io.Writer) (*plan.Result, error) {
	root, err := openProject(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	result, err := plan.Generate(root.FS())
	if err == nil && result.Diags.HasErrors() {
		err = cmp.Or(diagprint.Text(stderr, result.Diags, result.Source), errReported)
	}
	return result, err
}

// printTargets prints a table with a line for each tool in each target that is generated, and for each former name of a
// tool. A line has the tool's name for the target, sizes, and the number of features that became words.
func printTargets(w io.Writer, result *plan.Result) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TOOL\tTARGET\tCALLED\tDEFINITION\tDESCRIPTION\tPARTS IN WORDS")
	for _, tool := range result.Contract.Tools() {
		for _, target := range all.All() {
			if target.Lower == nil || !result.Contract.Targets.Makes(target.Name) { // Lower is nil if the target takes all as it is
				continue
			}
			text := lower.For(*target.Lower, tool)
			name := text.Name
			if text.Group != "" {
				name = text.Group + " / " + text.Name
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%d bytes\t%d characters\t%d\n",
				tool.Name, target.Name, name, size(result.Contract, tool, target), len([]rune(text.Description)), len(text.Reports))
		}
		for _, a := range tool.Aliases {
			fmt.Fprintf(table, "%s\t\t%s\tuntil %s\t\t\n", tool.Name, a.Name, a.Until)
		}
	}
	return table.Flush()
}

// size returns the number of bytes of a tool's definition for a target, without white space between JSON values. A
// model pays for these bytes with every request.
func size(c *ir.Contract, tool *ir.Tool, target emit.Target) int {
	definition := target.Define(c, tool, schema.Of)
	var b bytes.Buffer
	if json.Compact(&b, definition) == nil {
		return b.Len()
	}
	return len(definition)
}
