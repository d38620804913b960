package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/gen/diagprint"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lock"
	"github.com/convtools/convtools/runtime/base/diag"
)

// breaking compares the specs with an older contract.lock, such as the one of the last release. It prints the changes and
// the acceptances without a change. It returns [errReported] if a change without an acceptance breaks callers or readers.
func breaking(args []string, stdout, stderr io.Writer) error {
	const hint = "convgen breaking -against git:v0.1.0, or with the file of a contract.lock"
	flags, dir := flagsOf("breaking")
	format := flags.String("format", "text", "")
	asJSON := flags.Bool("json", false, "")
	against := flags.String("against", "", "")
	if err := parse(flags, args, 1); err != nil {
		return err
	}
	*against = cmp.Or(*against, flags.Arg(0))
	if *asJSON {
		*format = "json"
	}
	printers := map[string]func(io.Writer, []lock.Change) error{"text": printChangesText, "json": printChangesJSON, "github": annotateChanges}
	printChanges := printers[*format]
	switch {
	case *against == "":
		return misuse{"it takes one contract to compare with", hint}
	case printChanges == nil:
		return misuse{fmt.Sprintf("-format cannot be %q", *format), hint}
	}
	changes, unused, err := compareContracts(*dir, *against, stderr)
	if err == nil {
		err = printChanges(stdout, changes)
	}
	if err != nil {
		return err
	}
	for _, a := range unused { // an acceptance in tools.toml that matches none of the changes
		fmt.Fprintf(stderr, "nothing breaks that is accepted: %s [%s]\n", a.Subject, a.Rule)
	}
	if slices.ContainsFunc(changes, lock.Change.Breaks) {
		return errReported
	}
	return nil
}

// compareContracts returns the changes between an old contract and the specs in dir. against is the file of the old
// contract, or git: and a revision. compareContracts also returns the acceptances of breaking changes, from tools.toml,
// that match none of the changes. If the specs have errors, it prints them to stderr and returns an error.
func compareContracts(dir, against string, stderr io.Writer) ([]lock.Change, []ir.Accepted, error) {
	result, err := generateSound(dir, stderr)
	switch {
	case errors.Is(err, errReported):
		return nil, nil, errors.New("the specs have errors")
	case err != nil:
		return nil, nil, err
	}
	data, err := oldContract(dir, against, result.Contract.Targets.Generated)
	if err != nil {
		return nil, nil, err
	}
	changes, unused, err := result.Changes(data, today())
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", against, err)
	}
	return changes, unused, nil
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// noContract returns the error of a command that cannot read the old contract. The command then exits as after a mistake
// in its arguments, because the exit code 1 means that there is a breaking change.
func noContract(err error, hint string) misuse {
	return misuse{fmt.Sprintf("reading the old contract: %v", err), hint}
}

// oldContract returns the contract.lock that against names: a file, or git: and a revision. generated is the folder of
// the lock in the project dir.
func oldContract(dir, against, generated string) ([]byte, error) {
	revision, isGit := strings.CutPrefix(against, "git:")
	if !isGit {
		data, err := os.ReadFile(against)
		if err != nil {
			return nil, noContract(err, "-against takes the file of a contract.lock, or git: and a revision that has one")
		}
		return data, nil
	}
	if revision == "" || strings.HasPrefix(revision, "-") || strings.Contains(revision, ":") {
		return nil, noContract(fmt.Errorf("%q is not a revision", revision), "such as git:v0.1.0, git:main or git:HEAD~1")
	}
	cmd := exec.Command("git", "show", revision+":./"+path.Join(generated, lock.File))
	cmd.Dir = dir
	var failure bytes.Buffer
	cmd.Stderr = &failure
	data, err := cmd.Output()
	if err != nil {
		reason := strings.TrimPrefix(strings.TrimSpace(failure.String()), "fatal: ")
		if reason == "" {
			reason = err.Error() // git did not run
		}
		return nil, noContract(fmt.Errorf("git show %s: %s", revision, reason), "commit generated/contract.lock; a clone that is shallow has to fetch the revision first")
	}
	return data, nil
}

func printChangesText(w io.Writer, changes []lock.Change) error {
	for _, c := range changes {
		if _, err := fmt.Fprintln(w, c); err != nil {
			return err
		}
	}
	if summary := lock.Summary(changes); summary != "" {
		_, err := fmt.Fprintf(w, "\n%s.\n", summary)
		return err
	}
	return nil
}

// printChangesJSON prints all changes as a JSON array.
func printChangesJSON(w io.Writer, changes []lock.Change) error {
	type row struct {
		Rule     string     `json:"rule"`
		Class    lock.Class `json:"class"`
		Side     lock.Side  `json:"side"`
		Subject  string     `json:"subject"`
		Detail   string     `json:"detail"`
		Because  string     `json:"because"`
		Accepted string     `json:"accepted,omitempty"` // the reason
	}
	rows := []row{}
	for _, c := range changes {
		r := row{Rule: c.Rule.ID, Class: c.Rule.Class, Side: c.Rule.Side, Subject: c.Subject, Detail: c.Detail, Because: c.Rule.Says}
		if c.Accepted != nil {
			r.Accepted = c.Accepted.Reason
		}
		rows = append(rows, r)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(rows)
}

// annotateChanges prints changes as GitHub annotations: a breaking change is an error, and a change that is neither
// breaking nor safe is a warning.
func annotateChanges(w io.Writer, changes []lock.Change) error {
	var list diag.List
	for _, c := range changes {
		severity := diag.Warning
		switch {
		case c.Breaks():
			severity = diag.Error
		case c.Rule.Class == lock.Safe:
			continue
		}
		list = append(list, diag.Diagnostic{Rule: c.Rule.ID, Severity: severity, Message: c.Subject + ": " + c.Detail, Hint: c.Rule.Says})
	}
	return diagprint.GitHub(w, list)
}
