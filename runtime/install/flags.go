package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/toolset"
)

// Settings returns the flags of families in a registration, as words. ok is false if the registration does not start
// the program as [PlanInstall] does: to serve the tools, and nothing else.
func (r Registration) Settings(o Options) (settings []string, ok bool) {
	if len(r.Command) == 0 {
		return nil, false
	}
	args := r.Command[1:]
	if r.Host == "jp" {
		settings, args = cutSettings(args, o.Flags)
		want, err := process.SplitCommand(o.jpTemplate())
		return settings, err == nil && slices.Equal(args, want[1:])
	}
	if len(args) == 0 || args[0] != "mcp" {
		return nil, false
	}
	args = args[1:]
	if len(args) > 1 && args[0] == "--workspace" && !strings.HasPrefix(args[1], "-") {
		args = args[2:]
	}
	settings, args = cutSettings(args, o.Flags)
	return settings, len(args) == 0
}

// cutSettings splits words after the flags of families at their beginning.
func cutSettings(words []string, flags []toolset.Flag) (settings, rest []string) {
	for at := 0; ; {
		i := slices.IndexFunc(flags, func(f toolset.Flag) bool { return at < len(words) && words[at] == f.Word() })
		switch {
		case i >= 0 && flags[i].Switch:
			at++
		case i >= 0 && at+1 < len(words) && !strings.HasPrefix(words[at+1], "-"):
			at += 2
		default:
			return words[:at], words[at:]
		}
	}
}

// jpTemplate returns the command line in the definitions for JP, which is the same in all of them.
func (o Options) jpTemplate() string {
	for _, f := range o.JPFiles {
		if _, command, ok := definition([]byte(f.Text)); ok {
			return command
		}
	}
	return ""
}

// jpCommand returns the command line with which JP calls a tool. It names the program as it is found in PATH. A
// command line that runs another program, such as a task runner, stays as it is.
func (o Options) jpCommand() (string, error) {
	template := o.jpTemplate()
	arguments, direct := strings.CutPrefix(template, o.Name+" ")
	if !direct && len(o.Settings) > 0 {
		return "", fmt.Errorf("JP is not told to start %s but %q, which no flags can be added to: add them to what that runs", o.Name, template)
	}
	if !direct {
		return template, nil
	}
	for i, word := range o.Settings {
		for _, mark := range []string{"{{", "}}", "{%", "{#"} {
			if strings.Contains(word, mark) {
				return "", fmt.Errorf("%s %q has %s in it, which JP takes for a place to fill in: write it without", o.Settings[max(i-1, 0)], word, mark)
			}
		}
	}
	program := o.Name
	if o.ProgramName == "" {
		program = o.Program
	}
	return process.JoinCommand(append([]string{program}, o.Settings...)...) + " " + arguments, nil
}
