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
	const calls, shown = 400, 4
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
			outcome := fmt.Sprintf("%s\n  %s\n", arguments, strings.ReplaceAll(called(tool.Name, arguments), "\n", "\n  "))
			fmt.Fprint(sum, outcome)
			fmt.Fprintf(&all, "%s %s", tool.Name, outcome)
			if i < shown {
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

// called returns the result of a call.
func called(tool, arguments string) string {
	_, err := generated.NewHandlers(convs{}, conversations{}, lessons{}).
		Call(context.Background(), contract.Call{Tool: tool, Arguments: []byte(arguments)})
	return err.Error()
}

// got returns an error that contains a handler's parameters.
func got(call contract.Call, params any) error {
	return errors.New(shown(reflect.ValueOf(params)) + "\n" + strings.Join(call.Notes, "\n"))
}

// shown returns a value in words, with pointers followed.
func shown(v reflect.Value) string {
	var parts []string
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		return "&" + shown(v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return "nil"
		}
		for i := range v.Len() {
			parts = append(parts, shown(v.Index(i)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.Struct:
		for i := range v.NumField() {
			parts = append(parts, v.Type().Field(i).Name+":"+shown(v.Field(i)))
		}
		return "{" + strings.Join(parts, " ") + "}"
	default:
		return fmt.Sprintf("%#v", v.Interface())
	}
}

type (
	conversations struct{}
	convs         struct{}
	lessons       struct{}
)

func (conversations) Grep(_ context.Context, call contract.Call, p conversation.GrepParams) (*conversation.GrepEnvelope, error) {
	return nil, got(call, p)
}

func (conversations) List(_ context.Context, call contract.Call, p conversation.ListParams) (*conversation.ListEnvelope, error) {
	return nil, got(call, p)
}

func (conversations) Read(_ context.Context, call contract.Call, p conversation.ReadParams) (*conversation.ReadEnvelope, error) {
	return nil, got(call, p)
}

func (conversations) Recall(_ context.Context, call contract.Call, p conversation.RecallParams) (*conversation.RecallEnvelope, error) {
	return nil, got(call, p)
}

func (conversations) Search(_ context.Context, call contract.Call, p conversation.SearchParams) (string, error) {
	return "", got(call, p)
}

func (lessons) Learn(_ context.Context, call contract.Call, p knowledge.LearnParams) (string, error) {
	return "", got(call, p)
}

func (convs) Create(_ context.Context, call contract.Call, p conv.CreateParams) (conv.CreateResult, error) {
	return conv.CreateResult{}, got(call, p)
}

func (convs) Destroy(_ context.Context, call contract.Call, p conv.DestroyParams) (conv.DestroyResult, error) {
	return conv.DestroyResult{}, got(call, p)
}

func (convs) History(_ context.Context, call contract.Call, p conv.HistoryParams) (conv.HistoryResult, error) {
	return conv.HistoryResult{}, got(call, p)
}

func (convs) List(_ context.Context, call contract.Call, p conv.ListParams) (conv.ListResult, error) {
	return conv.ListResult{}, got(call, p)
}

func (convs) Send(_ context.Context, call contract.Call, p conv.SendParams) (conv.SendResult, error) {
	return conv.SendResult{}, got(call, p)
}

func (convs) Wait(_ context.Context, call contract.Call, p conv.WaitParams) (conv.WaitResult, error) {
	return conv.WaitResult{}, got(call, p)
}
