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

// mostApproved is the maximum size in bytes of the file of approvals.
const mostApproved = 4 << 20

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

// approve records the current commands of the tools, and prints them.
func (s *served) approve(w io.Writer) error {
	all := readAllApproved()
	before := all[s.dir]
	var prints []string
	for _, t := range s.sorted() {
		fmt.Fprintf(w, "%s (%s%s) runs %s\n", t.Name, t.Effect, t.news(before), t.commandLine())
		prints = append(prints, t.fingerprint())
	}
	all[s.dir] = prints
	data, err := json.MarshalIndent(all, "", "  ")
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

// news returns "" if the tool is approved already, and ", changed" or ", new" otherwise.
func (t *servedTool) news(before []string) string {
	switch {
	case slices.Contains(before, t.fingerprint()):
		return ""
	case slices.ContainsFunc(before, func(print string) bool { return strings.HasPrefix(print, t.Name+" ") }):
		return ", changed"
	}
	return ", new"
}

// commandLine returns the command of a tool on one line, with its variables and its standard input. Names of
// parameters in braces replace their values.
func (t *servedTool) commandLine() string {
	var words []string
	for _, v := range t.Command.Env {
		words = append(words, v.Name+"="+written(v.Value))
	}
	line, _ := t.runner.Lines.Lookup(t.Command.Line)
	words = append(words, line.Command...)
	for _, arg := range t.Command.Args {
		words = append(words, arg.Option...)
		if len(arg.Value) > 0 {
			words = append(words, written(arg.Value))
		}
	}
	shown := quoted(words...)
	if t.Command.Stdin != nil {
		shown += " with standard input " + quoted(written(t.Command.Stdin))
	}
	if t.Command.Dir != "" {
		shown += " in " + quoted(t.Command.Dir)
	}
	return shown
}

// quoted returns words quoted for a shell, with control characters made visible.
func quoted(words ...string) string { return text.Line(process.JoinCommand(words...)) }

func written(parts []commandline.Part) string {
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

// readAllApproved returns the approved fingerprints by folder. It returns no approvals if the file cannot be read.
func readAllApproved() map[string][]string {
	all := map[string][]string{}
	data, err := safefile.Read(approvedFile(), mostApproved)
	if err != nil || json.Unmarshal(data, &all) != nil {
		return map[string][]string{}
	}
	return all
}

func readApproved(dir string) []string { return readAllApproved()[dir] }
