package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/convtools/convtools/gen/lock"
	"github.com/convtools/convtools/gen/plan"
)

// breaking compares a contract.lock, such as that of the last release, with
// what the specs say now. It exits with 1 where a change breaks a caller.
func breaking(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("breaking", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("C", ".", "")
	asJSON := flags.Bool("json", false, "")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		fmt.Fprintf(stderr, "convgen breaking: it takes one file, the contract.lock to compare with\nhint: git show v0.1.0:generated/contract.lock > old.lock, then convgen breaking old.lock\n")
		return exitUsage
	}
	changes, err := compareContracts(*dir, flags.Arg(0), stderr)
	if err != nil {
		fmt.Fprintf(stderr, "convgen breaking: %v\n", err)
		return exitWrong
	}
	if *asJSON {
		err = printChangesJSON(stdout, changes)
	} else {
		err = printChanges(stdout, changes)
	}
	if err != nil {
		fmt.Fprintf(stderr, "convgen breaking: %v\n", err)
		return exitWrong
	}
	for _, c := range changes {
		if c.Rule.Class == lock.Breaking {
			return exitWrong
		}
	}
	return exitOK
}

func compareContracts(dir, old string, stderr io.Writer) ([]lock.Change, error) {
	data, err := os.ReadFile(old)
	if err != nil {
		return nil, fmt.Errorf("reading the old contract: %w", err)
	}
	before, err := lock.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", old, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the project: %w", err)
	}
	defer root.Close()
	result, err := plan.Generate(root.FS())
	if err != nil {
		return nil, err
	}
	if result.Diags.HasErrors() {
		if err := printers()["text"](stderr, result.Diags, result.Source); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("the specs have errors")
	}
	changes, err := lock.Compare(before, lock.Facts(result.Contract), time.Now().UTC().Format(time.DateOnly))
	if err != nil {
		return nil, fmt.Errorf("comparing contracts: %w", err)
	}
	return changes, nil
}

func printChanges(w io.Writer, changes []lock.Change) error {
	for _, c := range changes {
		if _, err := fmt.Fprintln(w, c); err != nil {
			return err
		}
	}
	return nil
}

func printChangesJSON(w io.Writer, changes []lock.Change) error {
	type row struct {
		Rule    string     `json:"rule"`
		Class   lock.Class `json:"class"`
		Side    lock.Side  `json:"side"`
		Subject string     `json:"subject"`
		Detail  string     `json:"detail"`
		Because string     `json:"because"`
	}
	rows := []row{}
	for _, c := range changes {
		rows = append(rows, row{c.Rule.ID, c.Rule.Class, c.Rule.Side, c.Subject, c.Detail, c.Rule.Says})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(rows)
}
