package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/process"
)

// draft is a spec to begin with: of a handler in Go, or of a command that runs.
type draft struct {
	tool    string
	handler bool
	words   []string // of the command line that the help is of; empty where there is none
	options []option
}

// option is what the help of a program says of one of its options.
type option struct {
	name, value, says string
	enum              []string
	doubtful          bool // whether it takes a value, or what it is for, is not clear
}

// line is the name of the command line of a draft in tools.toml.
func (d *draft) line(family string) string {
	if len(d.words) == 0 {
		return family
	}
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(d.words[0]), "_")
	return strings.Trim(name, "_")
}

// declaration is the table of the command line for tools.toml. Of a program that is not
// there, it is one that shows how it would be run.
func (d *draft) declaration(line string) string {
	command := strconv.Quote(strings.ReplaceAll(line, "_", "-"))
	if len(d.words) > 0 {
		command = strconv.Quote(d.words[0])
	} else if _, err := exec.LookPath(strings.ReplaceAll(line, "_", "-")); err != nil {
		command = `"echo", ` + command + `] # there is no such program here: put it in the place of echo`
		return "[cli." + line + "]\ncommand = [" + command + "\n"
	}
	return "[cli." + line + "]\ncommand = [" + command + "]\n"
}

// text is the spec.
func (d *draft) text(line, short string) string {
	if d.handler {
		return fmt.Sprintf(handlerTemplate, d.tool)
	}
	words := []string{strings.ReplaceAll(short, "_", "-")}
	if len(d.words) > 0 {
		words = d.words[1:]
	}
	var args, parameters strings.Builder
	for _, word := range words {
		fmt.Fprintf(&args, "  %q,\n", word)
	}
	for _, o := range d.options {
		o.write(&args, &parameters)
	}
	if len(d.options) == 0 {
		parameters.WriteString(exampleParameter)
		args.WriteString("  # \"--match={text}\", # left out where it is not given\n")
	}
	return fmt.Sprintf(commandTemplate, d.tool, strings.TrimSpace(line+" "+strings.Join(words, " ")), parameters.String(), line, args.String())
}

// write writes the parameter and the argument of an option.
func (o *option) write(args, parameters *strings.Builder) {
	name := strings.ReplaceAll(o.name, "-", "_")
	mark := ""
	if o.doubtful {
		mark = "# "
	}
	says := text.Cut(strings.TrimRight(text.Line(o.says), ". "), 150)
	if says == "" {
		says = "The option --" + o.name
	}
	line := func(format string, values ...any) { fmt.Fprintf(parameters, mark+format+"\n", values...) }
	line("[parameters.%s]", name)
	switch {
	case o.value == "":
		line("type    = \"boolean\"")
		line("default = false")
		fmt.Fprintf(args, "  %s{ option = \"--%s\", when = %q },\n", mark, o.name, name)
	case regexp.MustCompile(`(?i)^(n|num|number|count|int|integer|port|depth|lines)$`).MatchString(o.value):
		line("type    = \"integer\"")
	default:
		line("type    = \"string\"")
	}
	if o.value != "" {
		fmt.Fprintf(args, "  %s\"--%s={%s}\",\n", mark, o.name, name)
	}
	if len(o.enum) > 0 {
		line("enum    = [\"%s\"]", strings.Join(o.enum, `", "`))
	}
	line("summary = %s", strconv.Quote(says))
	parameters.WriteString("\n")
}

// mostOptions is how many options a draft has: a model reads all of them.
const mostOptions = 40

// fromHelp has a program say what options it has.
func (d *draft) fromHelp(command string) error {
	words, err := process.SplitCommand(command)
	if err != nil {
		return fmt.Errorf("%q is no command line: %w", command, err)
	}
	d.words = words
	for _, ask := range [][]string{append(words[1:len(words):len(words)], "-h"), append(words[1:len(words):len(words)], "--help")} {
		result, err := process.Exec{}.Run(context.Background(), process.Command{Path: words[0], Args: ask, Env: append(process.DefaultEnv(), "MANPAGER=cat", "PAGER=cat", "GIT_PAGER=cat"), Limits: process.Limits{Stdout: 1 << 20}})
		if err != nil {
			var failed *process.Error
			if errors.As(err, &failed) && failed.Kind == process.NotFound {
				return err
			}
			continue
		}
		if found := listed(string(result.Stdout) + "\n" + string(result.Stderr)); len(found) > len(d.options) {
			d.options = found
		}
	}
	if len(d.options) == 0 {
		return fmt.Errorf("the help of %s names no options", process.JoinCommand(words...))
	}
	return nil
}

// listed reads the options that a help text lists, one a line, each with its value and
// what it is for.
func listed(help string) []option {
	pattern := regexp.MustCompile(`^\s{1,12}(?:-\w(?:[ =]?[<\[]?[\w-]+[>\]]?)?, +)?--(\[no-\])?([a-z][a-z0-9-]*)(\[?)[= ]?([<{]?[A-Za-z0-9_|,.:-]*[>}]?)\]?(?:\s{2,}(.*))?$`)
	bare := regexp.MustCompile(`\x1b\[[0-9;]*m|.\x08`)
	var found []option
	seen := map[string]bool{"help": true, "version": true}
	lines := strings.Split(bare.ReplaceAllString(help, ""), "\n")
	for i, line := range lines {
		match := pattern.FindStringSubmatch(line)
		if match == nil || seen[match[2]] || len(found) == mostOptions {
			continue
		}
		seen[match[2]] = true
		value := strings.Trim(match[4], "<>")
		o := option{name: match[2], value: value, says: match[5], doubtful: match[1] != "" || match[3] != "" || len(match[2]) > 40}
		if o.says == "" && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "      ") {
			o.says = strings.TrimSpace(lines[i+1])
		}
		if inside, ok := strings.CutPrefix(value, "{"); ok {
			o.enum = strings.FieldsFunc(strings.TrimSuffix(inside, "}"), func(r rune) bool { return r == ',' || r == '|' })
			o.value = "choice"
		}
		o.doubtful = o.doubtful || o.says == "" || strings.HasSuffix(o.name, "-")
		found = append(found, o)
	}
	return found
}

// replace writes a file of a project that is there.
func replace(root *os.Root, name, text string) error { return writeNew(root, name, text) }

const exampleParameter = `# [parameters.text]
# type       = "string" # integer, number, boolean, array, object
# max_length = 200
# summary    = "Say in one line what it is"

`

// commandTemplate is a spec of a command. It takes the name, the command line, the
// parameters, the name of the command line and the arguments.
const commandTemplate = `# What the tool is to a model, and how it works. Every key: convgen schema reference.
# convgen try %[1]s runs the example below.
name    = %[1]q
summary = "Run %[2]s"
effect  = "write" # read, where it changes nothing
description = """
Say what the tool does, when to use it, and what it returns. A model reads this before each call.
"""

%[3]s[command]
cli  = %[4]q
args = [
%[5]s]

[[examples]]
summary   = "Say what this call is for"
arguments = {}
`

// handlerTemplate is a spec of a tool whose work is Go. It takes the name.
const handlerTemplate = `# What the tool is to a model. Every key: convgen schema reference.
name    = %q
summary = "Say in one line what the tool does, without a full stop"
effect  = "write" # read, where it changes nothing
handler = "go"    # a method of the generated Handler
answer  = "text"  # or json with a [result], or an [envelope]
description = """
Say what the tool does, when to use it, and what it returns. A model reads this before each call.
"""

[parameters.text]
type       = "string" # integer, number, boolean, array, object
required   = true
max_length = 2000
summary    = "Say in one line what the parameter is"

[parameters.limit]
type    = "integer"
default = 20
minimum = 1
maximum = 100
repairs = ["from_string", "clamp"] # what is put right in a call, and told
summary = "Most results to return"

[[examples]]
summary   = "Say what this call is for"
arguments = { text = "a text", limit = 5 }
`
