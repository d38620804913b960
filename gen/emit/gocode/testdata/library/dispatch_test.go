package fixture

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/fixture/library"
	"github.com/convtools/convtools/runtime/commandline"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
)

type hands struct{}

func (hands) Find(context.Context, contract.Call, library.FindParams) (*library.FindEnvelope, error) {
	return &library.FindEnvelope{}, nil
}

func (hands) Ping(context.Context, contract.Call, library.PingParams) (*library.PingEnvelope, error) {
	return &library.PingEnvelope{}, nil
}

func (hands) Study(_ context.Context, _ contract.Call, p library.StudyParams) (string, error) {
	return "<study " + strings.Join(p.Subjects, " "), nil
}

// shelves is a program that prints no records.
type shelves struct{}

func (shelves) Run(_ context.Context, c process.Command) (process.Result, error) {
	_, err := c.Output.Write([]byte("[]"))
	return process.Result{}, err
}

func runner() *commandline.Runner {
	return &commandline.Runner{Lines: CommandLines(), Getenv: func(string) string { return "" }, Process: shelves{}}
}

func TestCall(t *testing.T) {
	t.Parallel()
	h := NewHandlers(hands{}, runner())
	for tool, arguments := range map[string]string{"library_find": `{"word":"x"}`, "library_ls": `{"shelf":"maps"}`, "library_ping": ``, "study": `{"subjects":"tides"}`} {
		got, err := h.Call(t.Context(), contract.Call{Tool: tool, Arguments: []byte(arguments)})
		if err != nil || !strings.HasPrefix(got, "<"+tool+" ") {
			t.Errorf("%s: %s, %v", tool, got, err)
		}
	}
	_, err := h.Call(t.Context(), contract.Call{Tool: "library_lst"})
	if err == nil || !strings.Contains(err.Error(), "Did you mean library_ls?") {
		t.Errorf("unknown tool: %v", err)
	}
}

// TestCallWithoutHands calls tools without a handler.
func TestCallWithoutHands(t *testing.T) {
	t.Parallel()
	for _, tool := range Tools() {
		got, err := (Handlers{}).Call(t.Context(), contract.Call{Tool: tool.Name, Arguments: []byte(`{"word":"x"}`)})
		var failure *contract.Error
		if !errors.As(err, &failure) || failure.Caller || !strings.HasPrefix(failure.Message, tool.Name+" cannot be used here") || got != "" {
			t.Errorf("%s: %q, %v", tool.Name, got, err)
		}
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	var names []string
	for _, tool := range Tools() {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"library_find", "library_ls", "library_ping", "study"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestCommandLines(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]commandline.Line{
		"catalogue": {Name: "catalogue", Command: []string{"catalogue"}, Env: "LIBRARY_CLI"},
		"shelves":   {Name: "shelves", Command: []string{"shelves", "--quiet"}},
	} {
		got, ok := CommandLines().Lookup(name)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("the command line %q (-want +got):\n%s", name, diff)
		}
	}
	if _, ok := CommandLines().Lookup("sh"); ok {
		t.Error("there is a command line that nobody declared")
	}
}
