package commandline_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/commandline"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
)

// printing is a program that prints a text, a few bytes at a time, and records its command.
type printing struct {
	stdout, stderr string
	exit           int
	endless        bool // it prints its text again and again
	printed        int  // bytes
	ran            process.Command
}

func (p *printing) Run(_ context.Context, c process.Command) (process.Result, error) {
	p.ran = c
	for {
		rest := []byte(p.stdout)
		for len(rest) > 0 {
			n := min(len(rest), 1000)
			if len(p.stdout) < 1000 {
				n = min(len(rest), 7)
			}
			p.printed += n
			if _, err := c.Output.Write(rest[:n]); errors.Is(err, process.ErrEnough) {
				return process.Result{Enough: true}, nil
			} else if err != nil {
				return process.Result{}, err
			}
			rest = rest[n:]
		}
		if !p.endless {
			return process.Result{Stderr: []byte(p.stderr), ExitCode: p.exit}, nil
		}
	}
}

func call(t *testing.T, tool commandline.Tool, program *printing, arguments string) (string, error) {
	t.Helper()
	if tool.Name == "" {
		tool.Name = "log"
	}
	if tool.Effect == "" {
		tool.Effect = "read"
	}
	if tool.MaxChars == 0 {
		tool.MaxChars = 20_000
	}
	if tool.Command.OKExit == nil {
		tool.Command.OKExit = []int{0}
	}
	tool.Command.Line = "git"
	runner := &commandline.Runner{Lines: commandline.Lines{{Name: "git", Command: []string{"git"}}}, Process: program}
	return runner.Call(t.Context(), &tool, contract.Call{Tool: tool.Name, Arguments: []byte(arguments)})
}

func attribute(name, typ string, path ...string) commandline.Attribute {
	if path == nil {
		path = []string{name}
	}
	return commandline.Attribute{Name: name, Type: typ, Presence: "optional", From: path}
}

// commits returns an envelope with a record of every type.
func commits() commandline.Envelope {
	return commandline.Envelope{
		Root: "log",
		Record: commandline.Element{
			Name: "c", Body: "lines", From: []string{"text"},
			Attributes: []commandline.Attribute{attribute("hash", "string"), attribute("at", "time"), attribute("lines", "integer"), attribute("merged", "boolean")},
		},
		Note: commandline.Element{Name: "note", Body: "inline"},
	}
}

// inside returns an answer without its root.
func inside(answer string) string {
	answer = strings.TrimSuffix(strings.TrimPrefix(answer, `<log untrusted="true"`), "</log>")
	answer = strings.TrimSuffix(strings.TrimPrefix(answer, ">"), "/>")
	return strings.ReplaceAll(strings.TrimSpace(answer), "\n  ", "")
}

func TestRecords(t *testing.T) {
	t.Parallel()
	fields := []string{"hash", "at", "lines", "merged", "text"}
	log := commandline.Output{Form: commandline.Delimited, Fields: fields, Separator: "\x1f", End: "\x00"}
	column := commandline.Output{Form: commandline.Delimited, Fields: fields[:1], Separator: "\t", End: "\n"}
	status := commandline.Output{Form: commandline.Regexp, Pattern: `^\s*(?P<lines>[0-9]*) (?P<text>.*)$`}
	lines := commandline.Output{Form: commandline.JSONLines}
	nested := commandline.Output{Form: commandline.JSON, Path: []string{"data", "items"}}
	sparse := commandline.Output{Form: commandline.JSON, Path: []string{"data", "items"}, MayBeAbsent: true}
	pages := commandline.Output{Form: commandline.JSON, Path: []string{"[]", "items"}}
	object := commandline.Output{Form: commandline.JSONObject, Path: []string{"1", "commit"}}
	skipping := column
	skipping.Skip = "^(HASH|total [0-9]+|)$"
	skippingLines := status
	skippingLines.Skip = "^#"
	for _, tc := range []struct {
		name   string
		output commandline.Output
		stdout string
		want   string
		fails  string
	}{
		{"separators nobody types", log, "a\x1f2026-11-22T09:30:00Z\x1f12\x1ftrue\x1fone\ntwo \"x\"\x00b\x1f\x1f\x1f\x1f", "<c hash=\"a\" at=\"2026-11-22T09:30:00Z\" lines=\"12\" merged=\"true\">one\ntwo \"x\"</c><c hash=\"b\"></c>", ""},
		{"an end behind the last record", log, "a\x1f\x1f\x1f\x1f\x00", `<c hash="a"></c>`, ""},
		{"the last field has the rest", log, "a\x1f\x1f\x1f\x1fb\tc\x1fd", "<c hash=\"a\">b\tc␟d</c>", ""},
		{"nothing", log, "", "", ""},
		{"lines of Windows", column, "a\r\nb\r\n", `<c hash="a"></c><c hash="b"></c>`, ""},
		{"an empty line is a record", column, "a\n\nb\n", `<c hash="a"></c><c></c><c hash="b"></c>`, ""},
		{"too few fields", log, "a\x1f\x1f\x1f\x1f\x00a\x1fb\x00", "", "record 2 has 2 fields and not 5"},
		{"no integer", log, "a\x1f\x1fmany\x1f\x1f", "", `record 1: lines is "many", which is no integer`},
		{"no boolean", log, "a\x1f\x1f\x1fperhaps\x1f", "", `record 1: merged is "perhaps", which is neither true nor false`},
		{"no time", log, "a\x1fnow\x1f\x1f\x1f", "", `record 1: at is "now", which is no time in RFC 3339`},
		{"a pattern", status, "  12 a b\n c\n", `<c lines="12">a b</c><c>c</c>`, ""},
		{"a line of another form", status, "12 a\nerror\n", "", `line 2 is "error", which does not match the pattern`},
		{"lines of JSON", lines, "{\"hash\":\"a\"}\n\n{\"hash\":\"b\"}", `<c hash="a"></c><c hash="b"></c>`, ""},
		{"a line that is no JSON", lines, "{\"hash\":\"a\"}\n{\"hash\":", "", "line 2 is no JSON"},
		{"two values on a line", lines, `{} {}`, "", "line 1 is no JSON"},
		{"within JSON", nested, `{"x":[{"items":[]}],"data":{"y":1,"items":[{"hash":"a"}]}}`, `<c hash="a"></c>`, ""},
		{"not within JSON", nested, `{"data":{}}`, "", "there is no data.items in it"},
		{"no array", nested, `{"data":{"items":{}}}`, "", "it is no array"},
		{"half of JSON", nested, `{"data":`, "", "the JSON text ends too early"},
		{"more than JSON", nested, `{"data":{"items":[]}} x`, "", "invalid character 'x'"},
		{"no JSON", nested, " ", "", "it printed nothing"},
		{"null in place of the array", nested, `{"data":{"items":null}}`, "", "there is no data.items in it"},
		{"a text in place of an object", nested, `{"data":"items"}`, "", "items is looked for in a value that is no object"},
		{"an array in place of an object", nested, `{"data":[{"items":[]}]}`, "", "items is looked for in an array"},
		{"nothing where there may be nothing", sparse, " \n", "", ""},
		{"no member where there may be none", sparse, `{"data":{}}`, "", ""},
		{"null where there may be nothing", sparse, `{"data":null}`, "", ""},
		{"records where there may be none", sparse, `{"data":{"items":[{"hash":"a"}]}}`, `<c hash="a"></c>`, ""},
		{"half of JSON where there may be nothing", sparse, `{"data":`, "", "the JSON text ends too early"},
		{"a text where there may be nothing", sparse, `{"data":{"items":"none"}}`, "", "it is no array"},
		{"records of every page", pages, `[{"items":[{"hash":"a"}]},{"items":[]},{},{"items":[{"hash":"b"},{"hash":"c"}]}]`, `<c hash="a"></c><c hash="b"></c><c hash="c"></c>`, ""},
		{"one object", object, `[0, {"commit":{"hash":"a"}}]`, `<c hash="a"></c>`, ""},
		{"an object that is not there", object, `[0]`, "", "there is no 1.commit in it"},
		{"an array in place of one object", object, `[0, {"commit":[]}]`, "", "it is no object"},
		{"a heading and a sum", skipping, "HASH\na\n\nb\ntotal 2\n", `<c hash="a"></c><c hash="b"></c>`, ""},
		{"nothing but what is skipped", skipping, "HASH\n", "", ""},
		{"lines that are skipped", skippingLines, "# a\n12 a\n#\n", `<c lines="12">a</c>`, ""},
		{"a line behind skipped ones", skippingLines, "# a\n12 a\n#\nerror", "", `line 4 is "error", which does not match the pattern`},
		{"an array", commandline.Output{}, `[{"hash":"a","lines":2,"merged":true,"more":{}}]`, `<c hash="a" lines="2" merged="true"></c>`, ""},
		{"null is absence", commandline.Output{}, `[{"hash":null,"lines":null}]`, `<c></c>`, ""},
		{"a document", commandline.Output{}, `{"format":"x","version":2,"data":[{"hash":"a"}]}`, `<c hash="a"></c>`, ""},
		{"no text", commandline.Output{}, "", "", "it printed nothing"},
		{"half an array", commandline.Output{}, `[{"hash":"a"`, "", "the JSON text ends too early"},
		{"no JSON at all", commandline.Output{}, `usage: x`, "", "invalid character 'u'"},
		{"more JSON", commandline.Output{}, "[]\n[]", "", "there is more text after the JSON value, from byte 2"},
		{"no array in the document", commandline.Output{}, `{"data":null}`, "", `an object without an array named "data"`},
		{"not objects", commandline.Output{}, `[[]]`, "", "record 1: hash is looked for in an array"},
		{"null among them", commandline.Output{}, `[{},null]`, "", "record 2: it is null"},
		{"wrong integer", commandline.Output{}, `[{"lines":"2"}]`, "", `lines is a JSON string where an integer is expected`},
		{"wrong string", commandline.Output{}, `[{"hash":2}]`, "", `hash is a JSON number where a string is expected`},
		{"wrong boolean", commandline.Output{}, `[{"merged":[]}]`, "", `merged is a JSON array where a boolean is expected`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			answer, err := call(t, commandline.Tool{Output: tc.output, Envelope: commits()}, &printing{stdout: tc.stdout}, "")
			if tc.fails != "" {
				var failure *contract.Error
				if !errors.As(err, &failure) || !strings.Contains(err.Error(), tc.fails) || !strings.HasPrefix(err.Error(), `The command line "git" that log runs did not print the records it should: `) {
					t.Errorf("answer %s, error %v, want %q", answer, err, tc.fails)
				}
				return
			}
			if err != nil || inside(answer) != tc.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, inside(answer), tc.want)
			}
		})
	}
}

func TestPathsInRecords(t *testing.T) {
	t.Parallel()
	envelope := commandline.Envelope{Root: "log", Note: commandline.Element{Name: "note", Body: "inline"}, Record: commandline.Element{
		Name: "i",
		Attributes: []commandline.Attribute{
			attribute("author", "string", "author", "name"), attribute("first", "string", "commits", "0", "hash"),
			{Name: "lines", Type: "integer", Presence: "nullable", From: []string{"size", "lines"}},
		},
		Children: []commandline.Element{{Name: "label", Body: "inline", From: []string{"labels", "[]", "name"}, Many: true}},
	}}
	for stdout, want := range map[string]string{
		`[]`: "",
		`[{"author":{"name":"A"},"labels":[{"name":"x"},{},null,{"name":"y"}],"commits":[{"hash":"h"}],"size":{"lines":0}}]`: `<i author="A" first="h" lines="0">  <label>x</label>  <label>y</label></i>`,
		`[{"author":null,"labels":[],"commits":[],"size":{"lines":null}}]`:                                                   `<i/>`,
		`[{"author":"A"}]`:                  "record 1: name is looked for in a value that is no object",
		`[{},{"commits":{"0":{"hash":1}}}]`: "commits.0.hash is a JSON number where a string is expected",
		`[{"labels":{"name":"x"}}]`:         "record 1: items are looked for in a value that is no array",
	} {
		answer, err := call(t, commandline.Tool{Envelope: envelope}, &printing{stdout: stdout}, "")
		if err != nil {
			answer = err.Error()
		}
		if got := inside(answer); got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s:\ngot  %s\nwant %s", stdout, got, want)
		}
	}
}

// A record of JSON with unknown columns is shown unchanged.
func TestJSONAnswers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ stdout, want string }{
		{`[{"a": 1}, {"b": "<x>"}]`, `{"records":[{"a":1},{"b":"<x>"}]}`},
		{`[]`, `{"records":[]}`},
		{`{"a": 1}`, `{"value":{"a":1}}`},
		{"{\"a\": 1}\n{\"a\": 2}\n", `{"records":[{"a":1},{"a":2}]}`},
		{"3", `{"value":3}`},
		{"\"a\u200bb\"", `{"value":"a\u200bb"}`},
	} {
		if got, err := call(t, commandline.Tool{Output: commandline.Output{Form: commandline.JSONAny}}, &printing{stdout: tc.stdout}, ""); err != nil || got != tc.want {
			t.Errorf("%s: %s, %v, want %s", tc.stdout, got, err, tc.want)
		}
	}
	for _, stdout := range []string{"", "x", `[{"a":1}`, `{"a":`, "[] []"} {
		if got, err := call(t, commandline.Tool{Output: commandline.Output{Form: commandline.JSONAny}}, &printing{stdout: stdout}, ""); err == nil {
			t.Errorf("%q: %s", stdout, got)
		}
	}
	bare := commandline.Envelope{Root: "log", Record: commandline.Element{Name: "row", Body: "json"}, Note: commandline.Element{Name: "note", Body: "inline"}}
	if got, err := call(t, commandline.Tool{Envelope: bare}, &printing{stdout: `[{"a":1}]`}, ""); err != nil || !strings.Contains(got, "```json\n{\"a\":1}\n```") {
		t.Errorf("a record as JSON: %s, %v", got, err)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	command := commandline.Command{OKExit: []int{0, 1}, EmptyExit: []int{1}, Failures: []commandline.ExitFailure{
		{Exit: []int{4, 6}, Reason: "The store is locked. Try again.", Transient: true},
		{Exit: []int{5}, Reason: "There is no such shelf?", Caller: true},
	}}
	const ended = `The command line "git" that log runs ended with exit code `
	for _, tc := range []struct {
		program printing
		want    contract.Error
	}{
		{printing{exit: 3}, contract.Error{Message: ended + "3 and said nothing about why."}},
		{printing{exit: 6}, contract.Error{Message: "The store is locked. Try again. " + ended + "6 and said nothing about why.", Transient: true}},
		{printing{exit: 5}, contract.Error{Message: "There is no such shelf? " + ended + "5 and said nothing about why.", Caller: true}},
		{printing{exit: 3, stdout: "no\nshelf\r\n", stderr: " \n"}, contract.Error{Message: ended + "3 and said:\nno\nshelf"}},
		{printing{exit: 3, stdout: "x", stderr: "a\u200b\x1b"}, contract.Error{Message: ended + "3 and said:\na\\u{200B}␛"}},
	} {
		_, err := call(t, commandline.Tool{Command: command, Envelope: commits()}, &tc.program, "")
		var got *contract.Error
		if !errors.As(err, &got) || *got != tc.want {
			t.Errorf("%+v, want %+v", got, tc.want)
		}
	}
	if got, err := call(t, commandline.Tool{Command: command, Envelope: commits()}, &printing{exit: 1, stdout: "nothing found"}, ""); err != nil || got != `<log untrusted="true"/>` {
		t.Errorf("an exit code without records: %s, %v", got, err)
	}
	_, err := call(t, commandline.Tool{Command: command, Envelope: commits()}, &printing{exit: 3, stderr: "begin" + strings.Repeat("日", 100_000) + "end"}, "")
	if n := utf8.RuneCountInString(err.Error()); n > 2200 || !strings.Contains(err.Error(), "begin") || !strings.HasSuffix(err.Error(), "end") {
		t.Errorf("a complaint of %d characters: %.100q", n, err)
	}
}

// No form of argument lets a value become an option.
func TestArguments(t *testing.T) {
	t.Parallel()
	value := func(name string) []commandline.Part { return []commandline.Part{{Value: name}} }
	tool := func(args ...commandline.Arg) commandline.Tool {
		text := contract.Parameter{Type: "string"}
		return commandline.Tool{
			Envelope: commits(), Output: commandline.Output{Form: commandline.JSONLines}, Command: commandline.Command{Args: args},
			Tool: contract.Tool{Example: `{}`, Parameters: []contract.Parameter{
				{Name: "a", Type: "string"},
				{Name: "b", Type: "string"},
				{Name: "n", Type: "integer"},
				{Name: "x", Type: "number"},
				{Name: "yes", Type: "boolean", Default: "true"},
				{Name: "list", Type: "array", Items: &text},
				{Name: "d", Type: "string", Default: `"v"`},
			}},
		}
	}
	alone := tool(commandline.Arg{Value: value("a")})
	for _, tc := range []struct {
		name, arguments string
		tool            commandline.Tool
		want            string // the arguments, in quotes, or the error
	}{
		{"a value alone", `{"a": "x y"}`, alone, `["x y"]`},
		{"an option in its place", `{"a": "-delete"}`, alone, `a must not begin with "-", got "-delete".`},
		{"a hyphen", `{"a": "-"}`, alone, `a must not begin with "-", got "-".`},
		{"nothing", `{"a": ""}`, alone, `a must not be empty, got "".`},
		{"no value", `{}`, alone, `[]`},
		{"a NUL", `{"a": "x\u0000"}`, alone, `a must not hold a NUL character`},
		{"below zero", `{"n": -5}`, tool(commandline.Arg{Value: value("n")}), `n must not begin with "-", got "-5".`},
		{"numbers", `{"n": 5.0, "x": 1e3}`, tool(commandline.Arg{Value: value("n")}, commandline.Arg{Value: value("x")}), `["5" "1000"]`},
		{"behind an end of options", `{"a": "-x"}`, tool(commandline.Arg{Value: value("a"), Free: true}), `["-x"]`},
		{"behind a prefix", `{"a": "-x", "n": 5}`, tool(commandline.Arg{Value: []commandline.Part{{Text: "-L"}, {Value: "n"}, {Text: ","}, {Value: "a"}}}), `["-L5,-x"]`},
		{"a prefix without all its values", `{"n": 5}`, tool(commandline.Arg{Value: []commandline.Part{{Text: "-L"}, {Value: "n"}, {Text: ","}, {Value: "a"}}}), `[]`},
		{"behind an option", `{"a": "-x"}`, tool(commandline.Arg{Option: []string{"--arg", "name"}, Value: value("a")}), `["--arg" "name" "-x"]`},
		{"an option without its value", `{}`, tool(commandline.Arg{Option: []string{"-e"}, Value: value("a")}), `[]`},
		{"an option for each", `{"list": ["x", "-y"]}`, tool(commandline.Arg{Option: []string{"-e"}, Value: value("list")}), `["-e" "x" "-e" "-y"]`},
		{"an argument for each", `{"list": ["x", "y"]}`, tool(commandline.Arg{Value: value("list")}), `["x" "y"]`},
		{"one that is an option", `{"list": ["x", "--y"]}`, tool(commandline.Arg{Value: value("list")}), `list[1] must not begin with "-", got "--y".`},
		{"a list of nothing", `{"list": []}`, tool(commandline.Arg{Option: []string{"-e"}, Value: value("list")}), `[]`},
		{"an empty one that may be", `{"a": ""}`, tool(commandline.Arg{Value: value("a"), Empty: true}), `[""]`},
		{"one behind an empty one", `{"a": "", "b": "-x"}`, tool(commandline.Arg{Value: []commandline.Part{{Value: "a"}, {Value: "b"}}, Empty: true}), `b must not begin with "-", got "-x".`},
		{"conditions", `{}`, tool(commandline.Arg{Option: []string{"-y"}, When: "yes"}, commandline.Arg{Option: []string{"-n"}, Unless: "yes"}), `["-y"]`},
		{"a default", `{}`, tool(commandline.Arg{Value: value("d")}), `["v"]`},
	} {
		program := &printing{}
		_, err := call(t, tc.tool, program, tc.arguments)
		got := fmt.Sprintf("%q", program.ran.Args)
		if err != nil {
			got = err.Error()
		}
		if got != tc.want && (err == nil || !strings.Contains(got, tc.want)) {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
		if err != nil && program.ran.Path != "" {
			t.Errorf("%s: it was run with %q", tc.name, program.ran.Args)
		}
	}
}

func TestStandardInput(t *testing.T) {
	t.Parallel()
	text := contract.Parameter{Type: "string"}
	takes := contract.Tool{Parameters: []contract.Parameter{
		{Name: "o", Type: "object", Shape: &contract.Shape{Members: []contract.Parameter{{Name: "a", Type: "string"}, {Name: "n", Type: "integer", Default: "3"}}}},
		{Name: "t", Type: "string"},
		{Name: "l", Type: "array", Items: &text},
	}}
	for _, tc := range []struct {
		arguments string
		stdin     []commandline.Part
		want      string
	}{
		{`{"o": {"a": "<x>"}}`, []commandline.Part{{Value: "o"}}, `{"a":"\u003cx\u003e","n":3}`},
		{`{"l": ["a", "b"]}`, []commandline.Part{{Value: "l"}}, `["a","b"]`},
		{`{"t": "-x\u0000"}`, []commandline.Part{{Text: "in: "}, {Value: "t"}}, "in: -x\x00"},
		{`{}`, []commandline.Part{{Value: "t"}}, ""},
	} {
		program := &printing{}
		if _, err := call(t, commandline.Tool{Tool: takes, Envelope: commits(), Output: commandline.Output{Form: commandline.JSONLines}, Command: commandline.Command{Stdin: tc.stdin}}, program, tc.arguments); err != nil || string(program.ran.Stdin) != tc.want {
			t.Errorf("%s: %q, %v", tc.arguments, program.ran.Stdin, err)
		}
	}
}

// For any output, an answer is bounded, says what is missing, and costs little; a program that only reads is stopped.
func TestBounds(t *testing.T) {
	plain := commandline.Envelope{Root: "log", Record: commandline.Element{Name: "output", Body: "block", From: []string{commandline.Text}}, Note: commandline.Element{Name: "note", Body: "inline"}}
	bare := plain
	bare.Record = commandline.Element{Name: "row", Body: "json"}
	for _, tc := range []struct {
		name   string
		tool   commandline.Tool
		stdout string
		most   int    // bytes until it is stopped
		notes  string // a part of them
	}{
		{"a text", commandline.Tool{Output: commandline.Output{Form: commandline.Text}, Envelope: plain}, "0123456789abcde\n", 20 << 20, "until the program was stopped"},
		{"lines", commandline.Tool{Output: commandline.Output{Form: commandline.JSONLines}, Envelope: bare}, `{"a":1}` + "\n", 4 << 20, "so the program was stopped before it had printed all. Ask for less with limit to see more of it."},
		{"a JSON answer", commandline.Tool{Output: commandline.Output{Form: commandline.JSONAny}}, `{"a":1}` + "\n", 4 << 20, "so the program was stopped"},
		{"one line", commandline.Tool{Output: commandline.Output{Form: commandline.Delimited, End: "\n"}, Envelope: bare}, strings.Repeat("x", 1000), 4 << 20, "Showing the first 0 records"},
	} {
		tc.tool.Narrow = "limit"
		program := &printing{stdout: strings.Repeat(tc.stdout, 1000), endless: true}
		answer, err := call(t, tc.tool, program, "")
		if err != nil || utf8.RuneCountInString(answer) > 20_000 || !strings.Contains(answer, tc.notes) {
			t.Errorf("%s: %v, %d characters: %.300s", tc.name, err, utf8.RuneCountInString(answer), answer)
		}
		if program.printed > tc.most {
			t.Errorf("%s: it was stopped after %d bytes", tc.name, program.printed)
		}
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		if memory.HeapInuse > 64<<20 {
			t.Errorf("%s: %d MB are in use", tc.name, memory.HeapInuse>>20)
		}
	}
	garbage := &printing{stdout: strings.Repeat("[", 1000), endless: true}
	if answer, err := call(t, commandline.Tool{Output: commandline.Output{Form: commandline.JSONAny}}, garbage, ""); err == nil || garbage.printed > 4<<20 {
		t.Errorf("no JSON without end: %s after %d bytes", answer, garbage.printed)
	}
	// A program that writes runs to its end, and all its output is counted.
	writing := commandline.Tool{Output: commandline.Output{Form: commandline.Text}, Envelope: plain, Tool: contract.Tool{Effect: "write"}}
	program := &printing{stdout: strings.Repeat("0123456789", 3<<20)}
	answer, err := call(t, writing, program, "")
	if err != nil || program.printed != len(program.stdout) || !strings.Contains(answer, "of 31457280 characters, from the beginning and the end") {
		t.Errorf("%v: %d bytes: %.300s", err, program.printed, answer[max(0, len(answer)-300):])
	}
}

// If counting all records would be slow or large, the answer does not say how many there are.
func TestUncounted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		output commandline.Output
		stdout string
		note   string
	}{
		"many":       {commandline.Output{Form: commandline.JSONLines}, strings.Repeat(`{"text":"x"}`+"\n", 1_000_000), " of more than "},
		"a long one": {commandline.Output{Form: commandline.JSONLines}, strings.Repeat(`{"text":"x"}`+"\n", 10) + `{"text":"` + strings.Repeat("x", 2<<20) + "\"}\n{}\n{}\n", "Showing the first 10 of more than 10 records: "},
	} {
		program := &printing{stdout: tc.stdout}
		answer, err := call(t, commandline.Tool{Tool: contract.Tool{Effect: "write", MaxChars: 1000}, Output: tc.output, Envelope: commits()}, program, "")
		if err != nil || !strings.Contains(answer, tc.note) || program.printed != len(tc.stdout) {
			t.Errorf("%s: %v: %.2000s", name, err, answer)
		}
	}
}

func TestFewerRecords(t *testing.T) {
	t.Parallel()
	rows := strings.Repeat(`{"text":"`+strings.Repeat("x", 90)+`"},`, 12)
	answer, err := call(t, commandline.Tool{Envelope: commits(), Tool: contract.Tool{MaxChars: 1000}}, &printing{stdout: "[" + strings.TrimSuffix(rows, ",") + "]"}, "")
	if err != nil || utf8.RuneCountInString(answer) > 1000 || !strings.Contains(answer, "<note>Showing 8 of 12 records: ") {
		t.Errorf("%v: %s", err, answer)
	}
}

// The error names the key for programs that print nothing for no records.
func TestPrintsNothing(t *testing.T) {
	t.Parallel()
	_, err := call(t, commandline.Tool{Output: commandline.Output{Form: commandline.JSONAny}}, &printing{}, "")
	var failure *contract.Error
	if !errors.As(err, &failure) || !strings.Contains(failure.ForPerson(), "may_be_absent = true in [command.output]") || strings.Contains(failure.Message, "may_be_absent") {
		t.Errorf("error %+v", failure)
	}
}

// late is a program that prints a text and does not end.
type late struct{ prints, complains string }

func (l late) Run(_ context.Context, c process.Command) (process.Result, error) {
	if _, err := c.Output.Write([]byte(l.prints)); err != nil {
		return process.Result{}, err
	}
	return process.Result{}, &process.Error{Kind: process.Timeout, Name: "git", Detail: "stopped", Hint: "raise the time limit", Stderr: []byte(l.complains)}
}

// A model cannot raise a time limit, and gets the program's last output: it may have asked something.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	const stopped = "The command line git failed: git: stopped"
	for _, tc := range []struct {
		form string
		late late
		want string
	}{
		{commandline.Text, late{}, stopped + "; ask it for less; its spec sets the time limit."},
		{commandline.Text, late{prints: strings.Repeat("x", 20_000) + strings.Repeat("y", 480) + "\nOverwrite? \x1b[1m[y/N] "}, "sets the time limit.\nThe last that it printed: " + strings.Repeat("y", 479) + "\nOverwrite? ␛[1m[y/N]"},
		{"", late{prints: `[{"hash":"a"}, `}, "\nThe last that it printed: " + `[{"hash":"a"},`},
		{commandline.Text, late{complains: "Password:\n"}, "\nThe last that it printed: Password:"},
	} {
		tool := commandline.Tool{Tool: contract.Tool{MaxChars: 1000}, Command: commandline.Command{Line: "git"}, Output: commandline.Output{Form: tc.form}, Envelope: commits()}
		runner := &commandline.Runner{Lines: commandline.Lines{{Name: "git", Command: []string{"git"}}}, Process: tc.late}
		_, err := runner.Call(t.Context(), &tool, contract.Call{})
		if err == nil || !strings.HasPrefix(err.Error(), stopped) || !strings.HasSuffix(err.Error(), tc.want) {
			t.Errorf("%q: error %v, want %s", tc.late, err, tc.want)
		}
	}
}

// The count of omitted characters is right even if the middle of a text was never kept.
func TestOmitted(t *testing.T) {
	t.Parallel()
	tool := commandline.Tool{Tool: contract.Tool{MaxChars: 1000}, Output: commandline.Output{Form: commandline.Text}, Envelope: commits()}
	tool.Envelope.Record = commandline.Element{Name: "c", Body: "lines", From: []string{commandline.Text}}
	const printed = 200_000
	answer, err := call(t, tool, &printing{stdout: strings.Repeat("é", printed)}, "")
	var omitted, shown, all int
	_, mark, _ := strings.Cut(answer, "… ")
	_, note, _ := strings.Cut(answer, "Showing ")
	_, _ = fmt.Sscanf(mark, "%d", &omitted)
	_, _ = fmt.Sscanf(note, "%d of %d", &shown, &all)
	if err != nil || omitted+shown != printed || all != printed || strings.Count(answer, "é") != shown {
		t.Errorf("%v: %d characters shown, of %d, and %d omitted: %s", err, shown, all, omitted, answer)
	}
}
