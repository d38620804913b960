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
	tool := contract.Tool{Example: example, Parameters: []contract.Parameter{
		{Name: "limit", Type: "integer", Range: &contract.Range{Least: 1, Most: contract.Unbounded}, Repairs: []contract.Repair{contract.FromString}},
	}}
	even := func(args coerce.Object) []contract.Problem {
		v, _ := args.Get("limit")
		if n, ok := coerce.Int(v); ok && n%2 == 0 {
			return []contract.Problem{contract.Mismatch("limit", "be odd", "even", `"1"`)}
		}
		return nil
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
		{name: "a fix that needs a repair", given: `{"limit": 8}`, notes: []string{"before"}, corrected: example},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			room := append(make([]string, 0, 4), "before", "another's")
			call := contract.Call{Tool: "note_list", Arguments: []byte(tc.given), Notes: room[:1]}
			args, err := coerce.Arguments(&call, &tool, even)
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
