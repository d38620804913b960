package program_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/program"
	"github.com/convtools/convtools/runtime/process"
)

// runner answers without running anything.
type runner struct {
	got    process.Command
	result process.Result
	err    error
}

func (r *runner) Run(_ context.Context, cmd process.Command) (process.Result, error) {
	r.got = cmd
	return r.result, r.err
}

func user(text string) model.Item { return model.Text(model.UserMessage, text) }

func TestInput(t *testing.T) {
	t.Parallel()
	instructions := "Be brief."
	several := []model.Item{
		user("Hello\n"),
		{Kind: model.Reasoning, Raw: "x"},
		model.Text(model.AgentMessage, "Hi."),
		{Kind: model.ToolCall, CallID: "c", Name: "fetch", Arguments: "{}"},
		{Kind: model.ToolOutput, CallID: "c", Output: "out"},
		{Kind: model.UserMessage, Parts: []model.Part{{Text: "And?"}, {ImageURL: "data:x"}}},
	}
	for name, test := range map[string]struct {
		request model.Request
		input   string
		want    string
	}{
		"one message":      {model.Request{Items: []model.Item{user("Hello")}}, "text", "Hello\n"},
		"with instruction": {model.Request{Instructions: &instructions, Items: []model.Item{user("Hello")}}, "text", "Be brief.\n\nHello\n"},
		"several": {
			model.Request{Instructions: &instructions, Items: several},
			"",
			"Be brief.\n\n# user\nHello\n\n# assistant\nHi.\n\n# assistant\n(calls fetch with {})\n\n# tool\nout\n\n# user\nAnd?\n",
		},
		"JSON of one": {model.Request{Items: []model.Item{user("Hello")}}, "json", `{"model":"test","messages":[{"role":"user","text":"Hello"}]}` + "\n"},
		"JSON of several": {
			model.Request{Instructions: &instructions, Items: several, MaxOutputTokens: 10},
			"json",
			`{"model":"test","instructions":"Be brief.","messages":[{"role":"user","text":"Hello\n"},{"role":"assistant","text":"Hi."},{"role":"assistant","text":"(calls fetch with {})"},{"role":"tool","text":"out"},{"role":"user","text":"And?","images":["data:x"]}],"max_output_tokens":10}` + "\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &runner{result: process.Result{Stdout: []byte("Hi\nthere\xff\r\n\n")}}
			m := program.Model{Name: "test", Config: config.Model{Command: []string{"agent", "-p"}, Input: test.input, PassEnv: []string{"PATH"}}, Runner: r}
			streamed := ""
			got, err := m.Sample(t.Context(), test.request, func(text string) { streamed += text })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(model.Response{Items: []model.Item{model.Text(model.AgentMessage, "Hi\nthere\ufffd")}}, got); diff != "" || streamed != "Hi\nthere\ufffd" {
				t.Errorf("streamed %q (-want +got):\n%s", streamed, diff)
			}
			want := process.Command{Path: "agent", Args: []string{"-p"}, Env: process.DefaultEnv("PATH"), Stdin: []byte(test.want), Limits: process.Limits{Timeout: 30 * time.Minute, Stdout: 16 << 20}}
			if diff := cmp.Diff(want, r.got); diff != "" {
				t.Errorf("the command (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		result process.Result
		err    error
		code   model.Code
		want   string
	}{
		"exit code":      {process.Result{ExitCode: 3, Stdout: []byte("x"), Stderr: []byte("a\nno \x1b[1mlogin\n")}, nil, model.CodeProgram, "the command ended with exit code 3 (on stderr: a no ␛[1mlogin)"},
		"a long story":   {process.Result{ExitCode: 1, Stderr: []byte(strings.Repeat("x ", 300) + "no quota is left\n")}, nil, model.CodeProgram, "x x no quota is left)"},
		"without reason": {process.Result{ExitCode: 1}, nil, model.CodeProgram, "the command ended with exit code 1"},
		"no program":     {process.Result{}, &process.Error{Kind: process.NotFound, Name: "agent", Detail: "no such program in PATH"}, model.CodeConfiguration, "no such program in PATH"},
		"too slow":       {process.Result{}, &process.Error{Kind: process.Timeout, Detail: "it took too long"}, model.CodeStalled, "it took too long"},
		"too much":       {process.Result{}, &process.Error{Kind: process.OutputTooLarge, Detail: "too much"}, model.CodeTooLarge, "too much"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := program.Model{Name: "test", Config: config.Model{Command: []string{"agent"}}, Runner: &runner{result: test.result, err: test.err}}
			_, err := m.Sample(t.Context(), model.Request{Items: []model.Item{user("x")}}, func(string) {})
			failure := (*model.Error)(nil)
			if !errors.As(err, &failure) || failure.Code != test.code || !strings.Contains(failure.Message, test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	m := program.Model{Name: "test", Config: config.Model{Command: []string{"agent"}}, Runner: &runner{}}
	if got, err := m.Sample(t.Context(), model.Request{Items: []model.Item{user("x")}}, func(string) {}); err != nil || len(got.Items) > 0 {
		t.Errorf("an empty answer is %+v, %v", got, err)
	}
}

// TestRun runs a real program, which is this one.
func TestRun(t *testing.T) {
	t.Parallel()
	switch os.Args[len(os.Args)-1] {
	case "answer":
		_, _ = os.Stdout.WriteString("an answer")
		os.Exit(0)
	case "wait":
		_, _ = os.Stdout.WriteString("begun")
		time.Sleep(time.Hour) // an empty select would be a deadlock
	}
	running := make(chan struct{})
	run := func(how string) program.Model {
		command := []string{os.Args[0], "-test.run=^TestRun$", how}
		return program.Model{Name: "test", Config: config.Model{Command: command}, Runner: started{running}}
	}
	m := run("answer")
	m.Runner = process.Exec{}
	got, err := m.Sample(t.Context(), model.Request{Items: []model.Item{user("x")}}, func(string) {})
	if err != nil || len(got.Items) != 1 || got.Items[0].Text() != "an answer" {
		t.Errorf("got %+v, %v", got, err)
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-running
		cancel(gone)
	}()
	if _, err := run("wait").Sample(ctx, model.Request{Items: []model.Item{user("x")}}, func(string) {}); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

// started runs commands, and reports when it begins to.
type started struct{ running chan struct{} }

func (s started) Run(ctx context.Context, cmd process.Command) (process.Result, error) {
	close(s.running)
	return process.Exec{}.Run(ctx, cmd)
}
