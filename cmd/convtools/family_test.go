package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/app"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

// paintFamily returns a family that no front knows, with everything that a family can
// have. Its tool answers with its arguments and the values of its flags.
func paintFamily(host *toolset.Host) toolset.Family {
	var coats []string
	tool := contract.Tool{
		Name: "paint", Summary: "Paint a wall", Description: "In one coat or more.", Effect: "read",
		InputSchema: `{"type":"object","properties":{"color":{"type":"string","enum":["red","blue"]},"glossy":{"type":"boolean"},"walls":{"type":"array","items":{"type":"string"}},"rooms":{"anyOf":[{"type":"string"},{"type":"array"}]}}}`,
		Parameters: []contract.Parameter{
			{Name: "color", Type: "string", Required: true, Enum: []string{"red", "blue"}},
			{Name: "glossy", Type: "boolean"},
			{Name: "walls", Type: "array"},
			{Name: "rooms", Type: "array", OneOrMany: true},
		},
	}
	return toolset.Family{
		Name: "paint",
		Declared: func() []contract.Tool {
			return []contract.Tool{tool, {Name: "varnish", InputSchema: `{"type":"object"}`}}
		},
		Offered: func(context.Context) []contract.Tool {
			now := tool
			now.Description = "There is red at the moment."
			return []contract.Tool{now}
		},
		Call: func(_ context.Context, call contract.Call) (string, error) {
			if call.Tool == "varnish" {
				return "", contract.Fixable("Nothing is to be varnished.")
			}
			answer, err := json.Marshal(map[string]any{"arguments": json.RawMessage(call.Arguments), "coats": coats})
			return string(answer), err
		},
		Instructions: func(context.Context, contract.Context) string { return "Paint only dry walls." },
		Arguments: func(_ context.Context, tool, argument, prefix string, given map[string]string) []string {
			if tool == "paint" && argument == "walls" && given["color"] == "red" {
				return []string{prefix + "orth\ncolor=black"}
			}
			return nil
		},
		Examples:            []string{"paint color=red walls=north"},
		CheckConversationID: func(id string) error { return nil },
		Resources: []toolset.Resources{{
			Name: "walls", Title: "Walls", Description: "What walls look like", MIMEType: "text/plain", Template: "wall://{name}",
			List: func(context.Context, string, int) ([]toolset.Resource, string, error) {
				return []toolset.Resource{{URI: "wall://north", Name: "north"}}, "", nil
			},
			Read: func(_ context.Context, _ contract.Context, uri string) (toolset.Contents, error) {
				if uri != "wall://north" {
					return toolset.Contents{}, &toolset.NotFoundError{URI: uri, Reason: "There is one wall, north."}
				}
				return toolset.Contents{Text: "It is bare.", MIMEType: "text/plain"}, nil
			},
			Complete: func(context.Context, string, string, map[string]string) ([]string, error) {
				return []string{"north"}, nil
			},
		}},
		Prompts: []toolset.Prompt{{
			Name: "redecorate", Title: "Redecorate", Description: "Paint everything",
			Arguments: []toolset.PromptArgument{{Name: "color", Description: "Which color", Required: true}},
			Write:     func(arguments map[string]string) (string, error) { return "Make it " + arguments["color"] + ".", nil },
		}},
		Checks: func(context.Context) []toolset.Check {
			return []toolset.Check{{Name: "brushes", Status: toolset.Warning, Detail: "there is one brush", Fix: "buy another"}}
		},
		Flags: []toolset.Flag{{
			Name: "coat", Shorthand: "c", Usage: "put `COLOR` below", Tools: []string{"paint"}, OneProject: "a wall",
			Set: func(value string) error {
				coats = append(coats, value)
				return nil
			},
			Check: func() error {
				if slices.Contains(coats, "tar") {
					return errors.New("tar is no color")
				}
				return nil
			},
			Complete: func(_ context.Context, prefix string) []string { return []string{prefix + "hite\nblack"} },
			Advice:   func(bool) []string { return []string{"Let the coat dry."} },
		}, {
			Name: "fast", Usage: "paint fast", Switch: true, Tools: []string{"paint"},
			Set: func(value string) error {
				coats = append(coats, "fast="+value)
				return nil
			},
		}},
		Commands: func() []*cobra.Command {
			return []*cobra.Command{{
				Use: "easel", Short: "Put up an easel", Example: "  convtools easel",
				RunE: func(cmd *cobra.Command, _ []string) error {
					cmd.Println("It is up in " + host.Dir + ".")
					return nil
				},
			}}
		},
	}
}

// painting is the program with one more family.
func painting() app.Program {
	p := convtools()
	p.Families = func(host *toolset.Host) []toolset.Family { return append(families(host), paintFamily(host)) }
	return p
}

// paint runs the program with one more family.
func paint(t *testing.T, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	var out, errs bytes.Buffer
	host := testHost(&out, &errs)
	home := t.TempDir()
	host.Getenv = func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] }
	exit = painting().Run(host, args)
	return out.String(), errs.String(), exit
}

// TestFamilyOfItsOwn adds a family and finds it on every front.
func TestFamilyOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		args   []string
		exit   int
		stdout []string // parts of standard output
		stderr string   // the beginning of standard error; "" if nothing is printed there
	}{
		{"call", []string{"call", "paint", "color=red", "glossy=true", "walls=north,west", "rooms=a,b", "rooms=c"}, 0, []string{`"arguments":{"color":"red","glossy":true,"rooms":["a,b","c"],"walls":["north","west"]}`}, ""},
		{"call with its flag", []string{"-c", "white", "call", "paint", "--coat=blue", "color=red"}, 0, []string{`"coats":["white","blue"]`}, ""},
		{"call with its switch", []string{"--fast", "call", "paint", "color=red"}, 0, []string{`"coats":["fast=true"]`}, ""},
		{"call with its switch off", []string{"call", "--fast=false", "paint", "color=red"}, 0, []string{`"coats":["fast=false"]`}, ""},
		{"its flag without a command", []string{"-c", "white"}, 2, nil, "error: unknown flag: --coat\nhint: see convtools help\n"},
		{"its flag before a command without it", []string{"-c", "white", "version"}, 2, nil, "error: unknown shorthand flag: 'c' in -c\nhint: see convtools help version\n"},
		{"its switch before a command without it", []string{"--fast", "version"}, 2, nil, "error: unknown flag: --fast\nhint: see convtools help version\n"},
		{"call with a flag that is wrong", []string{"call", "paint", "-c", "tar"}, 1, nil, "error: tar is no color\n"},
		{"call of another tool with its flag", []string{"call", "-c", "white", "varnish"}, 2, nil, "error: --coat only counts for paint\n"},
		{"call of a tool that is not offered", []string{"call", "varnish"}, 1, nil, "error: Nothing is to be varnished.\n"},
		{"a name that is near", []string{"call", "pain"}, 2, nil, `error: There is no tool named "pain". Did you mean paint?`},
		{"a tool for a command", []string{"paint"}, 2, nil, `error: unknown command "paint"; it is a tool: did you mean convtools call paint?`},
		{"tools", []string{"tools"}, 0, []string{"paint                read  Paint a wall\n"}, ""},
		{"tools as JSON", []string{"tools", "--json"}, 0, []string{`"description": "There is red at the moment."`}, ""},
		{"jp-tool", []string{"-c", "white", "jp-tool", "{}", `{"name":"paint","arguments":{"color":"red"}}`}, 0, []string{`{"type":"success","content":"{\"arguments\":{\"color\":\"red\"},\"coats\":[\"white\"]}"}`}, ""},
		{"jp-tool of a tool that fails", []string{"jp-tool", "{}", `{"name":"varnish"}`}, 0, []string{`"message":"Nothing is to be varnished."`}, ""},
		{"doctor", []string{"doctor", "-w", "nowhere"}, 1, []string{"\nwarning  brushes         there is one brush\n", "buy another"}, ""},
		{"doctor as JSON", []string{"doctor", "--json", "-w", "nowhere"}, 1, []string{`"name": "brushes"`}, ""},
		{"install for all with a flag of one project", []string{"install", "cursor", "--dry-run", "--scope", "user", "-c", "white"}, 2, nil, "error: -c is about a wall of one project"},
		{"install with a flag that is wrong", []string{"install", "cursor", "--dry-run", "--scope", "project", "-c", "tar"}, 1, nil, "error: tar is no color\n"},
		{"its command", []string{"easel", "-w", "here"}, 0, []string{"It is up in here.\n"}, ""},
		{"help", []string{"help"}, 0, []string{"  easel        Put up an easel\n"}, ""},
		{"help of call", []string{"help", "call"}, 0, []string{"-c, --coat COLOR", "  convtools call paint color=red walls=north\n"}, ""},
		{"help of mcp", []string{"help", "mcp"}, 0, []string{"-c, --coat COLOR"}, ""},
		{"help of install", []string{"help", "install"}, 0, []string{"-c, --coat COLOR"}, ""},
		{"help of jp-tool", []string{"help", "jp-tool"}, 0, []string{"-c, --fast."}, ""},
		{"completion of a tool", []string{"__complete", "call", ""}, 0, []string{"paint\tPaint a wall\n", "varnish\n"}, "Completion ended"},
		{"completion of a parameter", []string{"__complete", "call", "paint", ""}, 0, []string{"color=\nglossy=\nrooms=\nwalls=\n"}, "Completion ended"},
		{"completion of a value", []string{"__complete", "call", "paint", "color="}, 0, []string{"color=red\ncolor=blue\n"}, "Completion ended"},
		{"completion of a value that the family knows", []string{"__complete", "call", "paint", "color=red", "walls=n"}, 0, []string{"walls=north color=black\n"}, "Completion ended"},
		{"completion of a flag's value", []string{"__complete", "mcp", "--coat", "w"}, 0, []string{"white black\n"}, "Completion ended"},
		{"completion of a command", []string{"__complete", "ea"}, 0, []string{"easel\tPut up an easel\n"}, "Completion ended"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, exit := paint(t, tc.args...)
			if exit != tc.exit || !strings.HasPrefix(stderr, tc.stderr) || tc.stderr == "" && stderr != "" {
				t.Errorf("exit code %d, want %d, and standard error %q, want %q", exit, tc.exit, stderr, tc.stderr)
			}
			for _, want := range tc.stdout {
				// A sentence is filled into lines.
				if !strings.Contains(stdout, want) && !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
					t.Errorf("%q is not in:\n%s", want, stdout)
				}
			}
		})
	}
}

// The command that install registers has the flag of the family. The process has an environment of its own, because
// the test binary may be in a folder for temporary files, which install refuses.
func TestFamilyInstalled(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "painter", "install", "cursor", "--dry-run", "--scope", "project", "-c", "white")
	cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "USERPROFILE=" + home, "TMPDIR=" + filepath.Join(home, "tmp")}
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte(`"-c", "white"`)) {
		t.Errorf("%v: %s", err, out)
	}
}

// painter is the program with one more family, as a process of its own.
func painter() {
	host := testHost(os.Stdout, os.Stderr)
	host.Stdin, host.Getenv = os.Stdin, os.Getenv
	os.Exit(painting().Run(host, os.Args[1:]))
}

// TestFamilyOfItsOwnOverMCP finds the family among what an MCP client is offered.
func TestFamilyOfItsOwnOverMCP(t *testing.T) {
	t.Parallel()
	session := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"paint","arguments":{"color":"red"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"resources/list"}`,
		`{"jsonrpc":"2.0","id":5,"method":"resources/templates/list"}`,
		`{"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"wall://north"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"wall://south"}}`,
		`{"jsonrpc":"2.0","id":8,"method":"prompts/list"}`,
		`{"jsonrpc":"2.0","id":9,"method":"prompts/get","params":{"name":"redecorate","arguments":{"color":"blue"}}}`,
		`{"jsonrpc":"2.0","id":10,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"wall://{name}"},"argument":{"name":"name","value":"n"}}}`,
	}, "\n") + "\n"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "painter", "mcp", "-c", "white") // the test binary, see TestMain
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader(session)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%v: standard error %q", err, &stderr)
	}
	answers := map[string]string{}
	for line := range strings.Lines(string(out)) {
		var answer struct {
			ID json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		answers[string(answer.ID)] = line
	}
	for id, wants := range map[string][]string{
		"1":  {"Paint only dry walls."},
		"2":  {`"name":"paint"`, "There is red at the moment.", `"readOnlyHint":true`, `"name":"conversation_list"`},
		"3":  {`\"color\":\"red\"`, `\"coats\":[\"white\"]`},
		"4":  {`"uri":"wall://north"`},
		"5":  {`"uriTemplate":"wall://{name}"`, `"title":"Walls"`},
		"6":  {"It is bare."},
		"7":  {`"error":`, "There is one wall, north."},
		"8":  {`"name":"redecorate"`, `"description":"Paint everything"`},
		"9":  {"Make it blue."},
		"10": {`"values":["north"]`},
	} {
		for _, want := range wants {
			if !strings.Contains(answers[id], want) {
				t.Errorf("answer %s lacks %q: %s", id, want, answers[id])
			}
		}
	}
	if strings.Contains(answers["2"], "varnish") {
		t.Errorf("a tool that is not offered is listed: %s", answers["2"])
	}
}
