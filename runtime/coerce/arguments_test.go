package coerce_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
)

func TestArguments(t *testing.T) {
	t.Parallel()
	const example = `{"limit": 5}`
	repair := func(args *coerce.Args) { args.IntegerFromString("limit") }
	validate := func(args coerce.Object) []contract.Problem {
		var problems []contract.Problem
		for _, f := range args {
			if n, ok := coerce.Int(f.Value); f.Name == "limit" && (!ok || n < 1) {
				problems = append(problems, contract.Limit("limit", contract.CodeMinimum, "at least 1", f.Value, `"1"`))
			} else if f.Name != "limit" {
				problems = append(problems, contract.Unknown(f.Name, []string{"limit"}))
			}
		}
		return problems
	}
	for _, tc := range []struct {
		name, given string
		notes       []string
		corrected   string // of a refusal
	}{
		{name: "valid", given: `{"limit": 7}`, notes: []string{"before"}},
		{name: "repaired", given: `{"limit": "7"}`, notes: []string{"before", `Read limit="7" as the integer 7.`}},
		{name: "no object", given: `[`, notes: []string{"before"}, corrected: example},
		{name: "a fix that works", given: `{"limti": 7}`, notes: []string{"before"}, corrected: `{"limit": 7}`},
		{name: "a fix that needs a repair", given: `{"limit": 0}`, notes: []string{"before"}, corrected: example},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			room := append(make([]string, 0, 4), "before", "another's")
			call := contract.Call{Tool: "note_list", Arguments: []byte(tc.given), Notes: room[:1]}
			args, err := coerce.Arguments(&call, repair, validate, example)
			if diff := cmp.Diff(tc.notes, call.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if room[1] != "another's" {
				t.Errorf("the room behind the caller's notes holds %q", room[1])
			}
			if tc.corrected == "" {
				if n, ok := args.Get("limit"); err != nil || !ok {
					t.Errorf("limit is %v, %v", n, err)
				}
				return
			}
			var refused *contract.InvalidArguments
			if !errors.As(err, &refused) || refused.Tool != "note_list" || refused.Corrected != tc.corrected {
				t.Errorf("error %#v, want one of note_list with the call %s", err, tc.corrected)
			}
		})
	}
}
