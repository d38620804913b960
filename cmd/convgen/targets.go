package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/schema"
	all "github.com/convtools/convtools/gen/emit/targets"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
	"github.com/convtools/convtools/gen/plan"
)

// targets prints the name of each tool for every target, and the features that a target cannot express.
func targets(args []string, stdout, stderr io.Writer) error {
	flags, dir := flagsOf("targets")
	if err := parse(flags, args, 0); err != nil {
		return err
	}
	root, err := openProject(*dir)
	if err != nil {
		return err
	}
	defer root.Close()
	result, err := plan.Generate(root.FS())
	switch {
	case err != nil:
		return err
	case result.Diags.HasErrors():
		return cmp.Or(printers()["text"](stderr, result.Diags, result.Source), errReported)
	}
	return printTargets(stdout, result)
}

func printTargets(w io.Writer, result *plan.Result) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TOOL\tTARGET\tCALLED\tDEFINITION\tDESCRIPTION\tPARTS IN WORDS")
	for _, tool := range result.Contract.Tools() {
		for _, target := range all.All() {
			if target.Lower == nil || !result.Contract.Targets.Makes(target.Name) {
				continue
			}
			text := lower.For(*target.Lower, tool)
			called := text.Name
			if text.Group != "" {
				called = text.Group + " / " + text.Name
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%d bytes\t%d characters\t%d\n",
				tool.Name, target.Name, called, size(result.Contract, tool, target), len([]rune(text.Description)), len(text.Reports))
		}
		for _, a := range tool.Aliases {
			fmt.Fprintf(table, "%s\t\t%s\tuntil %s\t\t\n", tool.Name, a.Name, a.Until)
		}
	}
	return table.Flush()
}

// size returns the number of bytes of a tool's definition for a target, without white space between JSON values. A
// model pays for them with every request.
func size(c *ir.Contract, tool *ir.Tool, target emit.Target) int {
	definition := target.Define(c, tool, schema.Of)
	var b bytes.Buffer
	if json.Compact(&b, definition) == nil {
		return b.Len()
	}
	return len(definition)
}
