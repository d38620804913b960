package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/toolset"
)

// everyCommand returns all commands that can be called, with those for help and completion.
func everyCommand(t *testing.T) []*cobra.Command {
	t.Helper()
	host := testHost(io.Discard, io.Discard)
	line, err := convtools().CommandLine(host)
	if err != nil {
		t.Fatal(err)
	}
	root := line.Root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var commands []*cobra.Command
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		commands = append(commands, c)
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(root)
	if len(commands) < 15 {
		t.Fatalf("only %d commands", len(commands))
	}
	return commands
}

// testHost is a process without an environment and with nothing to read.
func testHost(stdout, stderr io.Writer) *toolset.Host {
	return &toolset.Host{
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr,
		Getenv: func(string) string { return "" }, Now: time.Now,
	}
}

// words returns the words after the program's name that call a command.
func words(c *cobra.Command) []string { return strings.Fields(c.CommandPath())[1:] }

// helpOf runs the program with arguments that ask for help, and returns what it prints.
func helpOf(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := convtools().Run(testHost(&stdout, &stderr), args); code != cli.ExitOK || stderr.Len() > 0 {
		t.Errorf("convtools %q: exit code %d, standard error %q", args, code, &stderr)
	}
	return stdout.String()
}

// The help of every command has an example and all flags, and its lines of prose fit a screen.
func TestHelp(t *testing.T) {
	t.Parallel()
	for _, cmd := range everyCommand(t) {
		cmd.InheritedFlags() // merges them into Flags, of the parents too: not in parallel
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			t.Parallel()
			if cmd.Hidden {
				t.Errorf("the command is hidden: nobody will find it")
			}
			help := helpOf(t, append(words(cmd), "--help")...)
			if again := helpOf(t, append([]string{"help"}, words(cmd)...)...); again != help {
				t.Errorf("help and --help differ:\n%s\n%s", help, again)
			}
			for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("%d columns, want at most 80: %s", n, line)
				}
			}
			_, examples, ok := strings.Cut(help, "\nExamples:\n")
			if !ok || !strings.Contains(strings.SplitN(examples, "\n", 2)[0], "convtools") {
				t.Errorf("no example of the program:\n%s", help)
			}
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if !f.Hidden && !strings.Contains(help, "--"+f.Name) {
					t.Errorf("no flag --%s:\n%s", f.Name, help)
				}
			})
		})
	}
}
