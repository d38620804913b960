package jptool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/jptool"
	"github.com/convtools/convtools/runtime/toolset"
)

// outcome is an outcome as JP decodes it.
type outcome struct {
	Type, Content, Message string
	Trace                  []string
	Transient              bool
}

// answer runs a command line with one tool, which answers with its context and flags.
func answer(t *testing.T, args ...string) (o outcome, answered bool) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	var colors []string
	bright := false
	registry, err := toolset.NewRegistry(toolset.Family{
		Name:     "paint",
		Declared: func() []contract.Tool { return []contract.Tool{{Name: "paint"}} },
		Call: func(_ context.Context, call contract.Call) (string, error) {
			said, err := json.Marshal([]any{call.Context.Dir, call.Context.ConversationID, colors, bright, json.RawMessage(call.Arguments)})
			return string(said), err
		},
		Flags: []toolset.Flag{
			{Name: "color", Shorthand: "c", Usage: "use `COLOR`", Tools: []string{"paint"}, Set: func(v string) error {
				if v == "none" {
					return errors.New("none is no color")
				}
				colors = append(colors, v)
				return nil
			}},
			{Name: "bright", Usage: "brightly", Switch: true, Tools: []string{"paint"}, Set: func(v string) error {
				bright = v == "true"
				return nil
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	host := &toolset.Host{Stdout: &stdout, Stderr: &stderr}
	answered = jptool.Run(t.Context(), host, registry, args)
	if !answered {
		if stdout.Len() > 0 || host.Dir != "" || colors != nil || bright {
			t.Errorf("%q is not for jp-tool, and it printed %q or took flags: %q %q %v", args, &stdout, host.Dir, colors, bright)
		}
		return o, false
	}
	dec := json.NewDecoder(&stdout)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&o); err != nil || dec.More() {
		t.Fatalf("%q: not one outcome: %v", args, err)
	}
	if stderr.Len() > 0 {
		t.Errorf("%q: standard error %q", args, &stderr)
	}
	return o, true
}

func TestFlagsBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tc := range []struct {
		flags string
		want  string
	}{
		{"", `["","",null,false,{"a":1}]`},
		{"-w DIR", `["DIR","",null,false,{"a":1}]`},
		{"-wDIR", `["DIR","",null,false,{"a":1}]`},
		{"--workspace=DIR --conversation-id jp-c1", `["DIR","jp-c1",null,false,{"a":1}]`},
		{"-c red --bright -c=blue --color green", `["","",["red","blue","green"],true,{"a":1}]`},
		{"--bright=false", `["","",null,false,{"a":1}]`},
	} {
		args := strings.Fields(strings.ReplaceAll(tc.flags, "DIR", dir))
		o, ok := answer(t, append(args, "jp-tool", "{}", `{"name":"paint","arguments":{"a":1}}`)...)
		want := strings.ReplaceAll(tc.want, "DIR", dir)
		if !ok || o.Content != want {
			t.Errorf("%s: %v, %+v, want %s", tc.flags, ok, o, want)
		}
	}
}

// The context wins over the flags.
func TestContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	where, err := json.Marshal(map[string]string{"root": dir, "conversation_id": "jp-c2", "access": "more"})
	if err != nil {
		t.Fatal(err)
	}
	o, _ := answer(t, "-w", "elsewhere", "--conversation-id", "jp-c1", "jp-tool", string(where), `{"name":"paint"}`)
	if want := `["` + dir + `","jp-c2",null,false,null]`; o.Content != want {
		t.Errorf("%+v, want %s", o, want)
	}
}

func TestOtherCommandLines(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", "version", "call paint jp-tool", "-c red call jp-tool", "--nonsense jp-tool {} {}", "-w", "-w jp-tool",
		"--bright=perhaps jp-tool {} {}", "--help jp-tool", "jp-tool --help", "-w / jp-tool -h",
	} {
		if _, ok := answer(t, strings.Fields(line)...); ok {
			t.Errorf("%q was answered", line)
		}
	}
}

// Every command line of jp-tool has one outcome.
func TestErrorsAreOutcomes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{}, "takes two arguments"},
		{[]string{"--help", "{}"}, "first argument of jp-tool is not the JSON of a context: it is no object"},
		{[]string{"{}", "{}", "{}"}, "got 3"},
		{[]string{`{"root":7}`, "{}"}, "its root cannot be a number"},
		{[]string{"{}", `{"name":[]}`}, "its name cannot be an array"},
		{[]string{"{}", `{"name":"pain"}`}, "Did you mean paint?"},
		{[]string{`{"action":"dance"}`, `{"name":"paint"}`}, `cannot do action "dance"`},
	} {
		o, ok := answer(t, append([]string{"jp-tool"}, tc.args...)...)
		if !ok || o.Type != "error" || !strings.Contains(o.Message, tc.want) {
			t.Errorf("%q: %v, %+v, want %q", tc.args, ok, o, tc.want)
		}
	}
	if o, ok := answer(t, "-c", "none", "jp-tool", "{}", `{"name":"paint"}`); !ok || !strings.Contains(o.Message, "none is no color") {
		t.Errorf("a flag that a family refuses: %v, %+v", ok, o)
	}
}

func TestFormatArguments(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		`{"b":"x y","a":[1,2]}`:         `b="x y" a=[1,2]`,
		`"nonsense"`:                    ``,
		`{"a":"\u001b[31m","<":"</x>"}`: `a="\u001b[31m" <="</x>"`,
	} {
		o, _ := answer(t, "jp-tool", `{"action":"format_arguments","root":"/nowhere"}`, `{"name":"paint","arguments":`+arguments+`}`)
		if diff := cmp.Diff(outcome{Type: "success", Content: want}, o); diff != "" {
			t.Errorf("%s (-want +got):\n%s", arguments, diff)
		}
	}
}

// A root that cannot be read must not be replaced by the working directory or a directory above it.
func TestRootThatCannotBeLookedAt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a directory cannot be locked by its mode, and what is below a file does not exist")
	}
	dir := t.TempDir()
	file, loop, locked := filepath.Join(dir, "file"), filepath.Join(dir, "loop"), filepath.Join(dir, "locked")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(loop, loop), os.Mkdir(locked, 0)); err != nil {
		t.Fatal(err)
	}
	roots := map[string]string{
		"below a file": filepath.Join(file, "below"), "a link to itself": loop,
		"too long a name": strings.Repeat("x", 300), "a NUL character": "a\x00b",
	}
	if _, err := os.ReadDir(locked); err != nil { // the superuser can look at everything
		roots["a locked directory"] = locked
	}
	for name, root := range roots {
		where, err := json.Marshal(map[string]string{"root": root})
		if err != nil {
			t.Fatal(err)
		}
		o, ok := answer(t, "jp-tool", string(where), `{"name":"paint"}`)
		if !ok || o.Type != "error" || !strings.Contains(o.Message, "cannot be looked at") {
			t.Errorf("%s: %v, %+v", name, ok, o)
		}
		if strings.Contains(o.Message, dir) {
			t.Errorf("%s: a model is told a whole path: %s", name, o.Message)
		}
	}
	for name, root := range map[string]string{"a directory": dir, "a workspace's id": "hb7k2", "a file": file} {
		where, err := json.Marshal(map[string]string{"root": root})
		if err != nil {
			t.Fatal(err)
		}
		if o, _ := answer(t, "jp-tool", string(where), `{"name":"paint"}`); o.Type != "success" {
			t.Errorf("%s: %+v", name, o)
		}
	}
}
