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

// mostApproved is the most bytes of the file with what was approved.
const mostApproved = 4 << 20

// approve has the user approve what the tools of this folder run now.
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

// approve keeps what the tools run now, and shows it.
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
		return fmt.Errorf("writing what was approved: %w", err)
	}
	return nil
}

// news says what a tool is beside what was approved before.
func (t *servedTool) news(before []string) string {
	switch {
	case slices.Contains(before, t.fingerprint()):
		return ""
	case slices.ContainsFunc(before, func(print string) bool { return strings.HasPrefix(print, t.Name+" ") }):
		return ", changed"
	}
	return ", new"
}

// commandLine is what a tool runs, on one line: with its variables and its standard
// input, and the names of parameters in braces for their values.
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

// quoted is words as a shell has them, with what a terminal would heed made visible.
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

// approvedFile is where it is kept what the user has approved: in the user's state
// folder, and never in a project, which may come from anybody.
func approvedFile() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if runtime.GOOS == "windows" {
		dir = os.Getenv("LOCALAPPDATA")
	}
	if !filepath.IsAbs(dir) {
		home, _ := os.UserHomeDir() // without one, nothing is approved
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "convtools", "approved.json")
}

// readAllApproved returns what was approved, by folder. What cannot be read approves
// nothing.
func readAllApproved() map[string][]string {
	all := map[string][]string{}
	data, err := safefile.Read(approvedFile(), mostApproved)
	if err != nil || json.Unmarshal(data, &all) != nil {
		return map[string][]string{}
	}
	return all
}

func readApproved(dir string) []string { return readAllApproved()[dir] }
