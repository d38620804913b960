package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/generated/jpfiles"
	"github.com/convtools/convtools/runtime/process"
)

// The flags of this program that say how knowledge is used.
const (
	patternFlag  = "-k"
	injectedFlag = "--prompt-injected"
)

// patternFlags are the flags that add to what is learned, as words.
func (o Options) patternFlags() []string {
	var words []string
	for _, pattern := range o.Knowledge {
		words = append(words, patternFlag, pattern)
	}
	return words
}

// knowledgeFlags are the flags that say how knowledge is used, as words.
func (o Options) knowledgeFlags() []string {
	words := o.patternFlags()
	if o.PromptInjected {
		words = append(words, injectedFlag)
	}
	return words
}

// cutKnowledgeFlags takes the flags that say how knowledge is used from the
// beginning of words.
func cutKnowledgeFlags(words []string) (flags, rest []string) {
	rest = words
	for {
		switch {
		case len(rest) > 0 && rest[0] == injectedFlag:
			rest = rest[1:]
		case len(rest) > 1 && rest[0] == patternFlag && !strings.HasPrefix(rest[1], "-"):
			rest = rest[2:]
		default:
			return words[:len(words)-len(rest)], rest
		}
	}
}

// takeApart divides the arguments of a registered command into what install has
// every server started with, and the flags it was told to add. ok is false for
// arguments that install does not write.
func takeApart(r Registration) (flags []string, ok bool) {
	if len(r.Command) == 0 {
		return nil, false
	}
	args := r.Command[1:]
	if r.Host == "jp" {
		flags, args = cutKnowledgeFlags(args)
		want, err := process.SplitCommand(jpfiles.Command)
		return flags, err == nil && slices.Equal(args, want[1:])
	}
	if len(args) == 0 || args[0] != "mcp" {
		return nil, false
	}
	args = args[1:]
	if len(args) > 1 && args[0] == "--workspace" && !strings.HasPrefix(args[1], "-") {
		args = args[2:]
	}
	flags, args = cutKnowledgeFlags(args)
	return flags, len(args) == 0
}

// KnowledgeFlags returns the flags of install that a registration was made with
// and that say how knowledge is used, as words.
func KnowledgeFlags(r Registration) []string {
	flags, ok := takeApart(r)
	if !ok {
		return nil
	}
	return flags
}

// jpCommand is the command line with which JP calls a tool. It names the program
// the way it is found. One that has JP go through something else, such as a task
// runner, stays as it is.
func (o Options) jpCommand() (string, error) {
	arguments, direct := strings.CutPrefix(jpfiles.Command, entryName+" ")
	flags := o.knowledgeFlags()
	if !direct && len(flags) > 0 {
		return "", fmt.Errorf("JP is not told to start convtools but %q, which no flags can be added to: add them to what that runs", jpfiles.Command)
	}
	if !direct {
		return jpfiles.Command, nil
	}
	program := entryName
	if o.ProgramName == "" {
		program = shellWord(o.Program)
	}
	for _, word := range flags {
		for _, mark := range []string{"{{", "}}", "{%", "{#"} {
			if strings.Contains(word, mark) {
				return "", fmt.Errorf("%s %q has %s in it, which JP takes for a place to fill in: write the pattern without it", patternFlag, word, mark)
			}
		}
	}
	return strings.Join([]string{program + shellWords(flags), arguments}, " "), nil
}

// shellWords writes words to stand behind others on a command line.
func shellWords(words []string) string {
	var line strings.Builder
	for _, word := range words {
		line.WriteString(" " + shellWord(word))
	}
	return line.String()
}

// injectedAdvice says what a host that is told of a section in its system prompt
// needs beside that.
func (h Host) injectedAdvice(o Options) []string {
	if !o.PromptInjected {
		return nil
	}
	prompt := "convtools knowledge prompt" + shellWords(o.patternFlags())
	if h.format == 0 {
		return []string{
			"Write the section, now and after every change of what is learned: " + prompt + " --format jp > .jp/config/knowledge-section.json",
			"Use it: jp query --cfg knowledge-section --cfg skill/knowledge …",
		}
	}
	return []string{"Put what this prints into the system prompt, now and after every change of what is learned: " + prompt}
}
