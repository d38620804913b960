package shapes

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/contract"
)

func (h handler) History(_ context.Context, _ contract.Call, p HistoryParams) (HistoryResult, error) {
	switch p.Limit {
	case 1:
		return HistoryResult{}, &contract.Failure{Code: "torn_up", Reason: "The paper is gone. Draw again."}
	case 2:
		return HistoryResult{}, &contract.Error{Message: "The drawer is locked. Try again.", Transient: true}
	case 3:
		return HistoryResult{Entries: []HistoryResultEntry{{Text: &HistoryResultEntryText{Text: strings.Repeat("a", 1000)}}}}, nil
	case 4:
		return HistoryResult{}, nil
	}
	folded, title, owner, mark := false, "a \"b\"\\\n\x00\xff</x>\u2028", "me", 0.5
	return HistoryResult{
		Title: &title, Owner: &owner, Size: HistoryResultSize{Width: 1e21, Folded: &folded},
		Entries: []HistoryResultEntry{
			{Text: &HistoryResultEntryText{Text: "x"}},
			{Line: &HistoryResultEntryLine{Points: [][]int{{0, -1}, {}}}},
		},
		Marks: []*float64{&mark, nil}, Count: 2,
	}, nil
}

func TestResults(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, arguments, want string }{
		{
			"everything", `{"id": "` + id + `", "limit": "9"}`,
			`{"ok":true,"title":"a \"b\"\\\n\u0000\ufffd</x>\u2028","owner":"me","size":{"width":1e+21,"folded":false},` +
				`"entries":[{"kind":"text","text":"x"},{"kind":"line","points":[[0,-1],[]]}],"marks":[0.5,null],"count":2,` +
				`"notes":["Read limit=\"9\" as the integer 9."]}`,
		},
		{
			"nothing", `{"id": "` + id + `", "limit": 4}`,
			`{"ok":true,"owner":null,"size":{"width":0},"entries":[],"marks":null,"count":0}`,
		},
		{
			"a declared failure", `{"id": "` + id + `", "limit": 1}`,
			`{"ok":false,"code":"torn_up","reason":"The paper is gone. Draw again."}`,
		},
		{
			"any other failure", `{"id": "` + id + `", "limit": "2"}`,
			`{"ok":false,"code":"failed","reason":"The drawer is locked. Try again.","notes":["Read limit=\"2\" as the integer 2."]}`,
		},
		{
			"too much", `{"id": "` + id + `", "limit": 3}`,
			`{"ok":false,"code":"too_large","reason":"The answer has 1104 characters, and at most 1000 are allowed: ask for less."}`,
		},
		{
			"wrong arguments", `{"id": "x"}`,
			`{"ok":false,"code":"invalid_arguments","reason":"Invalid arguments for shapes.history: id must be a UUID such as 123e4567-e89b-12d3-a456-426614174000, got \"x\".\nA call in the right form: shapes.history {\"id\": \"` + id + `\"}"}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, "shapes.history", tc.arguments)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if !json.Valid([]byte(got)) {
				t.Error("it is no JSON")
			}
		})
	}
}

// A failure is an error for hosts, with what they need to know of it.
func TestFailuresAreErrors(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]struct{ caller, transient bool }{"1": {true, false}, "2": {false, true}, `"x"`: {true, false}} {
		_, err := Call(t.Context(), handler{}, contract.Call{Tool: "shapes.history", Arguments: []byte(`{"id": "` + id + `", "limit": ` + limit + `}`)})
		var failure *contract.Error
		if !errors.As(err, &failure) || failure.Caller != want.caller || failure.Transient != want.transient {
			t.Errorf("limit %s: %#v", limit, err)
		}
	}
}
