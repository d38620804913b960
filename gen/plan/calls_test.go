package plan_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/generated/knowledge"
	"github.com/convtools/convtools/runtime/contract"
)

// TestCalls makes random calls of this repository's tools, and compares the results with testdata/calls.golden: the
// handler's parameters, the notes, and the error with its corrected call. The golden file has the first calls of each
// tool in full and a hash of all of them. UPDATE_GOLDEN=1 writes it again; CALLS=FILE writes all calls to a file, to
// find one that differs.
func TestCalls(t *testing.T) {
	t.Parallel()
	const calls, inFull = 400, 4
	var golden, all strings.Builder
	for _, tool := range generated.Tools() {
		source, err := newSource(tool.InputSchema, 7)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.New()
		fmt.Fprintf(&golden, "# %s\n", tool.Name)
		for i := range calls {
			arguments := string(source.arguments())
			outcome := fmt.Sprintf("%s\n  %s\n", arguments, strings.ReplaceAll(resultOf(tool.Name, arguments), "\n", "\n  "))
			fmt.Fprint(sum, outcome)
			fmt.Fprintf(&all, "%s %s", tool.Name, outcome)
			if i < inFull {
				golden.WriteString(outcome)
			}
		}
		fmt.Fprintf(&golden, "%d calls: %x\n\n", calls, sum.Sum(nil))
	}
	const file = "testdata/calls.golden"
	if name := os.Getenv("CALLS"); name != "" {
		if err := os.WriteFile(name, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(file, []byte(golden.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), golden.String()); diff != "" {
		t.Errorf("calls come to something else (-want +got):\n%s", diff)
	}
}

// resultOf returns what became of a call: the parameters that the handler got, or the error about the arguments.
func resultOf(tool, arguments string) string {
	_, err := generated.NewHandlers(convs{}, conversations{}, lessons{}).
		Call(context.Background(), contract.Call{Tool: tool, Arguments: []byte(arguments)})
	return err.Error()
}

// parametersError returns an error with the parameters that a handler got, and the notes of the call. It carries them
// to the caller, because every handler can return an error.
func parametersError(call contract.Call, params any) error {
	return errors.New(goString(reflect.ValueOf(params)) + "\n" + strings.Join(call.Notes, "\n"))
}

// goString returns a value as Go prints it, but with what pointers point to.
func goString(v reflect.Value) string {
	var parts []string
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		return "&" + goString(v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return "nil"
		}
		for i := range v.Len() {
			parts = append(parts, goString(v.Index(i)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.Struct:
		for i := range v.NumField() {
			parts = append(parts, v.Type().Field(i).Name+":"+goString(v.Field(i)))
		}
		return "{" + strings.Join(parts, " ") + "}"
	default:
		return fmt.Sprintf("%#v", v.Interface())
	}
}

// The handlers of all families. They answer every call with a [parametersError].
type (
	conversations struct{}
	convs         struct{}
	lessons       struct{}
)

func (conversations) Grep(_ context.Context, call contract.Call, p conversation.GrepParams) (*conversation.GrepEnvelope, error) {
	return nil, parametersError(call, p)
}

func (conversations) List(_ context.Context, call contract.Call, p conversation.ListParams) (*conversation.ListEnvelope, error) {
	return nil, parametersError(call, p)
}

func (conversations) Read(_ context.Context, call contract.Call, p conversation.ReadParams) (*conversation.ReadEnvelope, error) {
	return nil, parametersError(call, p)
}

func (conversations) Recall(_ context.Context, call contract.Call, p conversation.RecallParams) (*conversation.RecallEnvelope, error) {
	return nil, parametersError(call, p)
}

func (conversations) Search(_ context.Context, call contract.Call, p conversation.SearchParams) (string, error) {
	return "", parametersError(call, p)
}

func (lessons) Learn(_ context.Context, call contract.Call, p knowledge.LearnParams) (string, error) {
	return "", parametersError(call, p)
}

func (convs) Create(_ context.Context, call contract.Call, p conv.CreateParams) (conv.CreateResult, error) {
	return conv.CreateResult{}, parametersError(call, p)
}

func (convs) Destroy(_ context.Context, call contract.Call, p conv.DestroyParams) (conv.DestroyResult, error) {
	return conv.DestroyResult{}, parametersError(call, p)
}

func (convs) History(_ context.Context, call contract.Call, p conv.HistoryParams) (conv.HistoryResult, error) {
	return conv.HistoryResult{}, parametersError(call, p)
}

func (convs) List(_ context.Context, call contract.Call, p conv.ListParams) (conv.ListResult, error) {
	return conv.ListResult{}, parametersError(call, p)
}

func (convs) Send(_ context.Context, call contract.Call, p conv.SendParams) (conv.SendResult, error) {
	return conv.SendResult{}, parametersError(call, p)
}

func (convs) Wait(_ context.Context, call contract.Call, p conv.WaitParams) (conv.WaitResult, error) {
	return conv.WaitResult{}, parametersError(call, p)
}
