package output_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/output"
)

type record struct {
	ID    string `json:"id"`
	Count int    `json:"count"`
	On    bool   `json:"on"`
}

func TestDecodeRecords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, stdout string
		want         []record
		err          string
	}{
		{name: "array", stdout: `[{"id":"a","count":2,"on":true,"more":{}}]` + "\n", want: []record{{"a", 2, true}}},
		{name: "no records", stdout: " [] ", want: []record{}},
		{name: "null is absence", stdout: `[{"id":null,"count":null}]`, want: []record{{}}},
		{name: "document", stdout: `{"format":"x","version":2,"data":[{"id":"a"}]}`, want: []record{{ID: "a"}}},
		{name: "nothing", stdout: "", err: "it printed nothing"},
		{name: "half", stdout: `[{"id":"a"`, err: "the JSON text ends too early"},
		{name: "no JSON", stdout: `usage: x`, err: "invalid character 'u'"},
		{name: "more", stdout: `[] x`, err: "there is more text after the JSON value, from byte 2"},
		{name: "more JSON", stdout: "[]\n[]", err: "there is more text after the JSON value"},
		{name: "no array in the document", stdout: `{"data":null}`, err: `an object without an array named "data"`},
		{name: "number", stdout: `3`, err: "a single value and no array"},
		{name: "not objects", stdout: `[[]]`, err: "a record is a JSON array"},
		{name: "wrong integer", stdout: `[{"count":"2"}]`, err: `"count" is a JSON string where an integer is expected`},
		{name: "wrong string", stdout: `[{"id":2}]`, err: `"id" is a JSON number where a string is expected`},
		{name: "wrong boolean", stdout: `[{"on":[]}]`, err: `"on" is a JSON array where a boolean is expected`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got []record
			err := output.Decode("tool_x", "cli", output.Shape{}, []byte(tc.stdout), &got)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.HasPrefix(err.Error(), `The command line "cli" that tool_x runs did not print`) {
					t.Fatalf("error %v, want one with %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeRecordsKeepsTheCause(t *testing.T) {
	t.Parallel()
	var got []record
	err := output.Decode("t", "c", output.Shape{}, []byte(`[{"count":"2"}]`), &got)
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		t.Errorf("the cause of %v is not found", err)
	}
}

func TestCommandFailed(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"":              `The command line "cli" that tool_x runs ended with exit code 3 and said nothing about why.`,
		"a\u200b\x1b":   "The command line \"cli\" that tool_x runs ended with exit code 3 and said:\na\\u{200B}␛",
		"no\nshelf\r\n": "The command line \"cli\" that tool_x runs ended with exit code 3 and said:\nno\nshelf",
		"no shelf":      "The command line \"cli\" that tool_x runs ended with exit code 3 and said:\nno shelf",
	} {
		for _, result := range []contract.CommandResult{
			{Exit: 3, Stderr: []byte(said), Stdout: []byte("\n")},
			{Exit: 3, Stderr: []byte(" \n"), Stdout: []byte(said)}, // programs complain there too
		} {
			if got := output.CommandFailed("tool_x", "cli", result).Error(); got != want {
				t.Errorf("error %q, want %q", got, want)
			}
		}
	}
	long := contract.CommandResult{Exit: 3, Stderr: []byte("begin" + strings.Repeat("日", 100_000) + "end"), Stdout: []byte("[]")}
	got := output.CommandFailed("tool_x", "cli", long).Error()
	if n := utf8.RuneCountInString(got); n > 2200 || !strings.Contains(got, "begin") || !strings.HasSuffix(got, "end") || !strings.Contains(got, "98008 characters omitted") {
		t.Errorf("error of %d characters: %.100q", n, got)
	}
}

func TestExitFailures(t *testing.T) {
	t.Parallel()
	failures := []output.ExitFailure{
		{Exit: 4, Reason: "The store is locked. Try again.", Transient: true},
		{Exit: 5, Reason: "There is no such shelf. List them first.", Caller: true},
	}
	for exit, want := range map[int]contract.Error{
		3: {Message: `The command line "cli" that tool_x runs ended with exit code 3 and said nothing about why.`},
		4: {Message: `The store is locked. Try again. The command line "cli" that tool_x runs ended with exit code 4 and said nothing about why.`, Transient: true},
		5: {Message: `There is no such shelf. List them first. The command line "cli" that tool_x runs ended with exit code 5 and said nothing about why.`, Caller: true},
	} {
		var got *contract.Error
		if err := output.CommandFailed("tool_x", "cli", contract.CommandResult{Exit: exit}, failures...); !errors.As(err, &got) || *got != want {
			t.Errorf("exit code %d: %+v, want %+v", exit, got, want)
		}
	}
}
