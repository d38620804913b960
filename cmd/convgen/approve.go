package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/commandline"
	"github.com/convtools/convtools/runtime/process"
)

// maxApprovals is the maximum size in bytes of the file of approvals.
const maxApprovals = 4 << 20

// approve records that the user approves the commands that the tools of this folder run now.
func approve(args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		return misuse{message: fmt.Sprintf("unexpected argument %q", args[0])}
	}
	dir, err := findProject("")
	if err != nil {
		return err
	}
	s := &served{dir: dir, stderr: stderr}
	s.load()
	return s.approve(stdout)
}

// approve records and prints the commands of the tools as approved, in place of those approved before in this folder.
func (s *served) approve(w io.Writer) error {
	approvals := readApprovals()
	before := approvals[s.dir]
	var fingerprints []string
	for _, t := range s.sorted() {
		fmt.Fprintf(w, "%s (%s%s) runs %s\n", t.Name, t.Effect, t.changeSince(before), t.commandLine())
		fingerprints = append(fingerprints, t.fingerprint())
	}
	approvals[s.dir] = fingerprints
	data, err := json.MarshalIndent(approvals, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(approvedFile()), 0o700)
	}
	if err == nil {
		err = safefile.Write(approvedFile(), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the approval: %w", err)
	}
	return nil
}

// changeSince returns "" if the tool is among the approved fingerprints, ", changed" if a tool of its name is, and
// ", new" otherwise.
func (t *servedTool) changeSince(approved []string) string {
	switch {
	case slices.Contains(approved, t.fingerprint()):
		return ""
	case slices.ContainsFunc(approved, func(fingerprint string) bool { return strings.HasPrefix(fingerprint, t.Name+" ") }):
		return ", changed"
	}
	return ", new"
}

// commandLine returns the command of a tool on one line, with its variables and its standard input. Names of
// parameters in braces replace their values.
func (t *servedTool) commandLine() string {
	var words []string
	for _, v := range t.Command.Env {
		words = append(words, v.Name+"="+template(v.Value))
	}
	line, _ := t.runner.Lines.Lookup(t.Command.Line)
	words = append(words, line.Command...)
	for _, arg := range t.Command.Args {
		words = append(words, arg.Option...)
		if len(arg.Value) > 0 {
			words = append(words, template(arg.Value))
		}
	}
	command := quoted(words...)
	if t.Command.Stdin != nil {
		command += " with standard input " + quoted(template(t.Command.Stdin))
	}
	if t.Command.Dir != "" {
		command += " in " + quoted(t.Command.Dir)
	}
	return command
}

// quoted returns words quoted for a shell, with control characters made visible.
func quoted(words ...string) string { return text.Line(process.JoinCommand(words...)) }

// template returns parts as one text, with the names of parameters in braces.
func template(parts []commandline.Part) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(part.Text)
		if part.Value != "" {
			b.WriteString("{" + part.Value + "}")
		}
	}
	return b.String()
}

// approvedFile returns the path of the file of approvals. The file is in the user's state folder, never in a project,
// because anyone can have written a project.
func approvedFile() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if runtime.GOOS == "windows" {
		dir = os.Getenv("LOCALAPPDATA")
	}
	if !filepath.IsAbs(dir) {
		home, _ := os.UserHomeDir() // without a home, nothing is approved
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "convtools", "approved.json")
}

// readApprovals returns the approved fingerprints by folder. It returns an empty map if the file cannot be read.
func readApprovals() map[string][]string {
	approvals := map[string][]string{}
	data, err := safefile.Read(approvedFile(), maxApprovals)
	if err != nil || json.Unmarshal(data, &approvals) != nil {
		return map[string][]string{}
	}
	return approvals
}
