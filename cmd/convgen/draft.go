package main

import (
	"context"
	_ "embed" // for the templates of drafts
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/process"
)

// Templates of drafts. The arguments of a command's template are the name of the tool, its command line, the
// parameters, the name of the command line in tools.toml and the command's arguments. The argument of a handler's
// template is the name of the tool.
var (
	//go:embed draft/command.toml.txt
	commandDraft string
	//go:embed draft/handler.toml.txt
	handlerDraft string
	//go:embed draft/parameter.toml.txt
	parameterDraft string
)

// draft is a first version of a spec: for a handler in Go, or for a command that already works.
type draft struct {
	tool    string
	handler bool
	words   []string // the command line whose help was read; empty if none
	options []option
}

// option describes an option or operand of a program, as read from its help text.
type option struct {
	flag      string // with its hyphens; empty for an operand
	name      string // the name of the parameter
	value     string // the placeholder of its value; empty if it takes none
	says      string
	enum      []string
	many      bool
	separator string // between an option and its value: = or a space
	doubtful  bool   // the help does not show clearly whether it takes a value, or its meaning
}

// lineName returns the name of the draft's command line in tools.toml. It is the name of the program whose help was
// read, or the family if no help was read.
func (d *draft) lineName(family string) string {
	if len(d.words) == 0 {
		return family
	}
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(d.words[0]), "_")
	return strings.Trim(name, "_")
}

// declaration returns the table [cli.NAME] for tools.toml, which declares a program under the given name. The program is
// the one whose help was read. Without help, the program has the same name; if no such program is installed, the table
// declares echo, which prints the command that would run.
func (d *draft) declaration(name string) string {
	program, remark := strings.ReplaceAll(name, "_", "-"), "" // names in tools.toml have no hyphens
	command := strconv.Quote(program)
	if helpWasRead := len(d.words) > 0; helpWasRead {
		command = strconv.Quote(d.words[0])
	} else if _, err := exec.LookPath(program); err != nil {
		command = `"echo", ` + command
		remark = " # this program is not installed: use it instead of echo"
	}
	return fmt.Sprintf("[cli.%s]\ncommand = [%s]%s\n", name, command, remark)
}

// text returns the text of the spec, for a handler or for a command. line is the name of the command's program in
// tools.toml. The command has the words after the program in d.words, whose help was read. If no help was read, the
// command has the word short, the name of the tool without its family.
func (d *draft) text(line, short string) string {
	if d.handler {
		return fmt.Sprintf(handlerDraft, d.tool)
	}
	words := []string{strings.ReplaceAll(short, "_", "-")}
	if len(d.words) > 0 {
		words = d.words[1:] // without the program
	}
	var args, parameters strings.Builder
	for _, word := range words {
		fmt.Fprintf(&args, "  %q,\n", word)
	}
	for _, o := range d.options {
		o.write(&args, &parameters)
	}
	if len(d.options) == 0 {
		parameters.WriteString(parameterDraft) // an example of a parameter, as a comment
		args.WriteString("  # \"--match={text}\", # omitted if not given\n")
	}
	return fmt.Sprintf(commandDraft, d.tool, strings.TrimSpace(line+" "+strings.Join(words, " ")), parameters.String(), line, args.String())
}

// write writes the parameter and the argument of an option, as comments if the option is doubtful.
func (o *option) write(args, parameters *strings.Builder) {
	comment := ""
	if o.doubtful {
		comment = "# "
	}
	says := text.Cut(strings.TrimRight(text.Line(o.says), ". "), 150)
	if says == "" {
		says = "The option " + o.flag
	}
	writeLine := func(format string, values ...any) { fmt.Fprintf(parameters, comment+format+"\n", values...) }
	writeArg := func(format string, values ...any) { fmt.Fprintf(args, "  "+comment+format+",\n", values...) }
	writeLine("[parameters.%s]", o.name)
	switch {
	case o.many:
		writeLine("type    = \"array\"")
	case o.value == "": // an option without a value
		writeLine("type    = \"boolean\"")
		writeLine("default = false")
	case regexp.MustCompile(`(?i)^(n|num|number|count|int|integer|port|depth|lines)$`).MatchString(o.value):
		writeLine("type    = \"integer\"")
	default:
		writeLine("type    = \"string\"")
	}
	switch {
	case o.flag == "": // an operand
		writeArg(`"{%s}"`, o.name)
	case o.value == "": // an option without a value
		writeArg(`{ option = %q, when = %q }`, o.flag, o.name)
	case o.separator == "=":
		writeArg(`"%s={%s}"`, o.flag, o.name)
	default:
		writeArg(`{ option = %q, value = "{%s}" }`, o.flag, o.name)
	}
	if len(o.enum) > 0 {
		writeLine("enum    = [\"%s\"]", strings.Join(o.enum, `", "`))
	}
	writeLine("summary = %s", strconv.Quote(says))
	parameters.WriteString("\n")
}

// maxOptions is the maximum number of options in a draft, because a model reads all of them.
const maxOptions = 40

// readHelp sets the words and the options of the draft from the help of a command: the output with -h and with --help
// and, if that names no options, the manual page. It returns an error if there is no such program or no option.
func (d *draft) readHelp(command string) error {
	words, err := process.SplitCommand(command)
	if err != nil {
		return fmt.Errorf("%q is no command line: %w", command, err)
	}
	d.words = words
	help := ""
	for _, flag := range []string{"-h", "--help"} {
		output, err := outputOf(append(slices.Clone(words), flag))
		var failed *process.Error
		if errors.As(err, &failed) && failed.Kind == process.NotFound {
			return err
		}
		help += output
	}
	d.options = parseHelp(words, help)
	if len(d.options) == 0 {
		page := strings.Join(append([]string{filepath.Base(words[0])}, words[1:]...), "-") // such as git-log
		manual, _ := outputOf([]string{"man", page})                                       // "" if there is no such page
		d.options = parseHelp(words, help+manual)
	}
	if len(d.options) == 0 {
		return fmt.Errorf("the help of %s names no options", process.JoinCommand(words...))
	}
	return nil
}

// outputOf runs a command and returns its standard output and its standard error. With an error it returns "".
func outputOf(command []string) (string, error) {
	result, err := process.Exec{}.Run(context.Background(), process.Command{
		Path: command[0], Args: command[1:], Limits: process.Limits{Stdout: 1 << 20},
		Env: append(process.DefaultEnv(), "MANPAGER=cat", "PAGER=cat", "GIT_PAGER=cat"),
	})
	if err != nil {
		return "", err
	}
	return string(result.Stdout) + "\n" + string(result.Stderr) + "\n", nil
}

// parseHelp returns the options and operands in a help text. words are those of the command that the help is about.
// Options are on lines of their own; several options on one line are doubtful. Operands are in the usage line.
func parseHelp(words []string, help string) []option {
	onOneLine := regexp.MustCompile(`\s(-[a-z][\w-]*)(?: ([A-Z]+)\b)?`)          // the option, and its value
	help = regexp.MustCompile(`\x1b\[[0-9;]*m|.\x08`).ReplaceAllString(help, "") // without colors and bold type
	operands := parseOperands(words, help)
	taken := map[string]bool{"ctx": true, "action": true, "answers": true, "options": true} // hosts use these names
	for _, o := range operands {
		taken[o.name] = true
	}
	seen, certain := map[string]bool{"help": true, "version": true}, len(operands) // certain counts what is not doubtful
	var found []option
	add := func(o option) { // leaves out a second option of the same name, and options over the maximum
		o.name = parameterName(o.flag)
		if seen[o.name] || certain >= maxOptions {
			return
		}
		seen[o.name] = true
		if taken[o.name] {
			o.name += "_option"
		}
		o.doubtful = o.doubtful || o.says == "" || len(o.name) > 40
		if !o.doubtful {
			certain++
		}
		found = append(found, o)
	}
	lines := strings.Split(help, "\n")
	for i, line := range lines {
		if o, ok := parseOption(line); ok {
			// The meaning can be on the next line, which is indented further.
			if o.says == "" && i+1 < len(lines) && strings.HasPrefix(strings.ReplaceAll(lines[i+1], "\t", "      "), "      ") {
				o.says = strings.TrimSpace(lines[i+1])
			}
			add(o)
		} else if matches := onOneLine.FindAllStringSubmatch(line, -1); len(matches) > 1 && strings.HasPrefix(strings.TrimSpace(line), "-") {
			for _, m := range matches {
				add(option{flag: m[1], value: m[2], doubtful: true})
			}
		}
	}
	return append(found, operands...)
}

const optionValue = `[<{[]?[A-Za-z0-9_|,.:'"-]*[>}\]]?:?` // such as FILE, <file> or {yes,no}

// optionLine matches a line such as "  -o, --output=FILE  the file to write". Its groups are the hyphens, [no-], the
// name, [ before an optional value, the separator, the value and the meaning.
var optionLine = regexp.MustCompile(`^\s{1,12}(?:-\w(?:[ =]?` + optionValue + `)?, +)?(--?)(\[no-\])?([A-Za-z][\w-]*)(\[?)([= ]?)(` + optionValue + `)\]?(?:(?:\s{2,}|\t)(.*))?$`)

// parseOption returns the option on a line such as "  -o, --output=FILE  the file to write". It returns false if the
// line has another form. An option whose value may be left out, or whose name may begin with no-, is doubtful.
func parseOption(line string) (o option, ok bool) {
	match := optionLine.FindStringSubmatch(line)
	if match == nil {
		return option{}, false
	}
	hyphens, no, name, bracket, separator, value, says := match[1], match[2], match[3], match[4], match[5], match[6], match[7]
	o = option{flag: hyphens + name, separator: separator, value: strings.Trim(value, `<>[]'":`), says: says, doubtful: no != "" || bracket != ""}
	if hyphens == "--" {
		o.separator = "="
	}
	if inside, ok := strings.CutPrefix(o.value, "{"); ok {
		o.enum = strings.FieldsFunc(strings.TrimSuffix(inside, "}"), func(r rune) bool { return r == ',' || r == '|' })
		o.value = "choice"
	}
	if isDefault := strings.HasSuffix(value, ":"); isDefault { // as in "--all=false:", where it shows the type
		switch _, err := strconv.Atoi(o.value); {
		case o.value == "false": // an option without a value
			o.value = ""
		case err == nil: // a number
			o.value = "n"
		default:
			o.doubtful = o.value == "true" // such an option may be given without a value
			o.value = "text"
		}
	}
	return o, true
}

// parameterName converts a name in a help text to the name of a parameter.
func parameterName(s string) string {
	return strings.Trim(regexp.MustCompile(`[_-]+`).ReplaceAllString(strings.ToLower(s), "_"), "_")
}

// parseOperands returns the operands in the usage line of a help text, such as FILE in "usage: sort [-r] FILE". It leaves
// out the words of the command, options, placeholders such as OPTION, and all that follows a parenthesis.
func parseOperands(words []string, help string) []option {
	usage := regexp.MustCompile(`(?i)usage:\s*(.*)`).FindStringSubmatch(help)
	if usage == nil {
		return nil
	}
	var found []option
	groups := regexp.MustCompile(`\[[^\[\]]*\s[^\[\]]*\]|\(.*`)                   // [-n NUMBER], or ( and the rest of the line
	operand := regexp.MustCompile(`^[[<]*([A-Za-z][\w-]*)[>\]]*(\.\.\.)?[>\]]*$`) // FILE, <file>, [FILE] or [FILE...]
	placeholder := regexp.MustCompile(`(?i)^(option|flag|arg|command)`)
	// An operand such as <file name> is one word.
	line := regexp.MustCompile(`<[^<>]*>`).ReplaceAllStringFunc(usage[1], func(name string) string { return strings.ReplaceAll(name, " ", "_") })
	for i, word := range strings.Fields(groups.ReplaceAllString(line, "")) {
		isOfCommand := i < len(words) && strings.HasSuffix(words[i], word) // words[0] may be a path: /usr/bin/sort
		match := operand.FindStringSubmatch(word)
		if isOfCommand || match == nil || placeholder.MatchString(match[1]) {
			continue
		}
		name := parameterName(match[1])
		if !slices.ContainsFunc(found, func(o option) bool { return o.name == name }) {
			found = append(found, option{name: name, value: match[1], says: "The operand " + match[1], many: match[2] != ""})
		}
	}
	return found
}
