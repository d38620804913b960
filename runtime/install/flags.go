package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/toolset"
)

// Settings returns the flags of families in the command of a registration, as words. ok is false if the command has
// arguments that [PlanInstall] does not write: such a command may do something else than serve the tools.
func (r Registration) Settings(o Options) (settings []string, ok bool) {
	if len(r.Command) == 0 {
		return nil, false
	}
	args := r.Command[1:]
	if r.Host == "jp" {
		settings, args = cutSettings(args, o.Flags)
		want, err := process.SplitCommand(o.jpTemplate())
		return settings, err == nil && slices.Equal(args, want[1:]) // want[0] is the program
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

// cutSettings splits words in two: settings are the flags at the beginning of words, with their values, and rest are
// the words after them. Only flags in the parameter flags count. A flag that lacks its value is in rest.
func cutSettings(words []string, flags []toolset.Flag) (settings, rest []string) {
	end := 0 // the number of words in settings
	for end < len(words) {
		i := slices.IndexFunc(flags, func(f toolset.Flag) bool { return f.Word() == words[end] })
		hasValue := end+1 < len(words) && !strings.HasPrefix(words[end+1], "-")
		switch {
		case i >= 0 && flags[i].Switch: // a flag without a value
			end++
		case i >= 0 && hasValue:
			end += 2
		default:
			return words[:end], words[end:]
		}
	}
	return words, nil
}

// jpTemplate returns the command line that all definitions for JP have, or "" if there are none.
func (o Options) jpTemplate() string {
	for _, f := range o.JPFiles {
		if _, command, ok := definition([]byte(f.Text)); ok {
			return command
		}
	}
	return ""
}

// jpCommand returns the command line with which JP calls a tool. If the command line of [Options.jpTemplate] starts
// this program, jpCommand adds o.Settings after the program, and uses the path of the program if PATH does not lead to
// it. Any other command line, such as that of a task runner, stays as it is, and then settings are an error. A mark of
// JP's templates in settings is an error too.
func (o Options) jpCommand() (string, error) {
	template := o.jpTemplate()
	arguments, startsThis := strings.CutPrefix(template, o.Name+" ")
	if !startsThis && len(o.Settings) > 0 { // the user has to add the flags to what the task runner runs
		return "", fmt.Errorf("JP is not told to start %s but %q, which no flags can be added to: add them to what that runs", o.Name, template)
	}
	if !startsThis {
		return template, nil
	}
	for i, word := range o.Settings {
		for _, mark := range []string{"{{", "}}", "{%", "{#"} {
			if strings.Contains(word, mark) {
				flag := o.Settings[max(i-1, 0)] // word is a value, and the word before it is the flag
				return "", fmt.Errorf("%s %q has %s in it, which JP takes for a place to fill in: write it without", flag, word, mark)
			}
		}
	}
	return process.JoinCommand(append([]string{o.programIn(Project)}, o.Settings...)...) + " " + arguments, nil
}
