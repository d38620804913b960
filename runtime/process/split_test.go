package process_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/process"
)

// splitCases are lines that a shell splits in the same way; see
// TestSplitCommandLikeShell.
var splitCases = []struct {
	line string
	want []string
}{
	{"jp", []string{"jp"}},
	{"  jp \t conversation\n", []string{"jp", "conversation"}},
	{`'/opt/my tools/jp' --flag="a b"c`, []string{"/opt/my tools/jp", "--flag=a bc"}},
	{`jp '' "" x''`, []string{"jp", "", "", "x"}},
	{`jp a\ b \"q\" \\ \'`, []string{"jp", "a b", `"q"`, `\`, "'"}},
	{`jp "a\"b" "a\\b" "a\b" "\$x" "a'b"`, []string{"jp", `a"b`, `a\b`, `a\b`, "$x", "a'b"}},
	{`jp '$HOME' 'a\b' '*' '"'`, []string{"jp", "$HOME", `a\b`, "*", `"`}},
	{"jp a\\\nb \"c\\\nd\" \\\n e", []string{"jp", "ab", "cd", "e"}},
	{`jp a~b a#b {{context}} --x=~`, []string{"jp", "a~b", "a#b", "{{context}}", "--x=~"}},
	{`jp \* \~ \# \; \|`, []string{"jp", "*", "~", "#", ";", "|"}},
	{"jp 日本語 'é è'", []string{"jp", "日本語", "é è"}},
	{`it"'"s`, []string{"it's"}},
}

func TestSplitCommand(t *testing.T) {
	t.Parallel()
	for _, test := range splitCases {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			got, err := process.SplitCommand(test.line)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSplitCommandErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ line, want string }{
		{"", "command line: names no program; write the program's name or path, then its arguments"},
		{" \t\n", "command line: names no program"},
		{"'' x", "command line: names no program"},
		{"jp é'x", "character 5 opens a single quote that is never closed"},
		{`jp "x\"`, "character 4 opens a double quote that is never closed"},
		{`jp x\`, `character 5 is a backslash with nothing after it`},
		{"jp | head", "character 4 is an unquoted |"},
		{"jp; id", "character 3 is an unquoted ;"},
		{"jp && id", "unquoted &"},
		{"jp > f", "unquoted >"},
		{"jp < f", "unquoted <"},
		{"(jp)", "character 1 is an unquoted ("},
		{"$HOME/bin/jp", "character 1 is an unquoted $"},
		{`"$HOME/bin/jp"`, "character 2 is a $ within double quotes"},
		{"jp `id`", "unquoted `"},
		{"jp \"`id`\"", "is a ` within double quotes"},
		{"~/bin/jp", "character 1 is an unquoted ~"},
		{"jp *.toml", "unquoted *"},
		{"jp a?", "unquoted ?"},
		{"jp [a]", "unquoted ["},
		{"jp # comment", "unquoted #"},
		{"jp a\x00", "command line jp a␀: character 5 is a NUL byte"},
	} {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			words, err := process.SplitCommand(test.line)
			if words != nil {
				t.Errorf("words %q next to an error", words)
			}
			wantContains(t, wantKind(t, err, process.BadArgument).Error(), test.want, "; ")
		})
	}
}

// A shell splits every line above in the same way.
func TestSplitCommandLikeShell(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a POSIX shell")
	}
	for _, test := range splitCases {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			// A line end between words would end the shell's command.
			line := strings.TrimSuffix(test.line, "\n")
			out, err := exec.CommandContext(testContext(t), sh, "-c", `printf '%s\0' `+line).Output()
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the shell's words (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzSplitCommand compares with a grammar written as regular expressions.
func FuzzSplitCommand(f *testing.F) {
	for _, test := range splitCases {
		f.Add(test.line)
	}
	f.Add("jp | head")
	f.Add(`a"b\`)
	part := `[^ \t\r\n'"\\|&;<>()$` + "`" + `*?[\x00]|\\[^\x00]|'[^'\x00]*'|"(?:[^"\\$` + "`" + `\x00]|\\[^\x00])*"`
	parts := regexp.MustCompile(`(?s)` + part)
	valid := regexp.MustCompile(`(?s)^(?:[ \t\r\n]|` + part + `)*$`)
	single := regexp.MustCompile(`(?s)\\(.)`)
	double := regexp.MustCompile("\\\\(?:\n|([$`\"\\\\]))")

	oracle := func(line string) (words []string, ok bool) {
		if !valid.MatchString(line) {
			return nil, false
		}
		const none = "\x00" // marks where a word has not begun
		word := none
		for line != "" {
			if strings.ContainsAny(line[:1], " \t\r\n") {
				if word != none {
					words = append(words, word)
				}
				word, line = none, line[1:]
				continue
			}
			token := parts.FindString(line)
			line = line[len(token):]
			if token == "\\\n" {
				continue
			}
			if word == none {
				if token == "~" || token == "#" {
					return nil, false
				}
				word = ""
			}
			switch token[0] {
			case '\'':
				word += token[1 : len(token)-1]
			case '"':
				word += double.ReplaceAllString(token[1:len(token)-1], "$1")
			default:
				word += single.ReplaceAllString(token, "$1")
			}
		}
		if word != none {
			words = append(words, word)
		}
		return words, len(words) > 0 && words[0] != ""
	}

	f.Fuzz(func(t *testing.T, line string) {
		got, err := process.SplitCommand(line)
		if strings.ToValidUTF8(line, "") != line {
			return // the oracle's expressions work on characters
		}
		want, ok := oracle(line)
		if ok != (err == nil) {
			t.Fatalf("SplitCommand(%q) = %q, %v; the grammar accepts it: %v", line, got, err, ok)
		}
		if diff := cmp.Diff(want, got); ok && diff != "" {
			t.Fatalf("SplitCommand(%q) (-want +got):\n%s", line, diff)
		}
	})
}
