package contract_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/contract"
)

func TestInvalidArgumentsText(t *testing.T) {
	t.Parallel()
	known := []string{"pattern", "limit", "sort"}
	for _, tc := range []struct {
		name     string
		given    []contract.Argument
		problems []contract.Problem
		want     string
	}{
		{
			"one problem", nil,
			[]contract.Problem{contract.Missing("pattern", "text to look for", `"retry"`)},
			"Invalid arguments for grep: pattern is required: text to look for.\nA call in the right form: grep {\"pattern\": \"retry\"}",
		},
		{
			"a misspelt name keeps its value",
			[]contract.Argument{{Name: "patern", Value: `"x"`}, {Name: "limit", Value: `0`}, {Name: "sort", Value: `"uo"`}},
			[]contract.Problem{
				contract.Missing("pattern", "text to look for", `"retry"`),
				contract.Limit("limit", contract.CodeMinimum, "at least 1", json.Number("0"), "1"),
				contract.Enum("sort", "uo", []string{"up", "down"}, `"down"`),
				contract.Unknown("patern", known),
			},
			"Invalid arguments for grep, 4 problems:\n" +
				"- pattern is required: text to look for.\n" +
				"- limit must be at least 1, got 0.\n" +
				"- sort: \"uo\" is not allowed. Allowed: up, down.\n" +
				"- unknown parameter \"patern\"; did you mean \"pattern\"? Parameters: pattern, limit, sort.\n" +
				"A call in the right form: grep {\"pattern\": \"x\", \"limit\": 1, \"sort\": \"down\"}",
		},
		{
			"the second of two exclusive parameters goes",
			[]contract.Argument{{Name: "turn", Value: "1"}, {Name: "last", Value: "2"}},
			[]contract.Problem{contract.Exclusive([]string{"turn", "last"})},
			"Invalid arguments for grep: turn and last cannot be combined: give one of them.\nA call in the right form: grep {\"turn\": 1}",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := contract.Unmet("grep", tc.given, tc.problems).Error()
			if got != tc.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tc.want)
			}
		})
	}
}

func TestMessagesAreBoundedAndPrintable(t *testing.T) {
	t.Parallel()
	hostile := "\x1b[2J\n" + strings.Repeat("<x>", 10_000)
	for _, p := range []contract.Problem{
		contract.Unknown(hostile, []string{"a"}),
		contract.Enum("a", hostile, []string{"b"}, ""),
		contract.Type("a", "an integer", hostile, ""),
		contract.Type("a", "an integer", []any{hostile}, ""),
		contract.Limit("a", contract.CodeMaxLength, "shorter", hostile, ""),
	} {
		if len(p.Message) > 600 || strings.ContainsAny(p.Message, "\x1b\n") {
			t.Errorf("%s: message of %d bytes: %.100q", p.Code, len(p.Message), p.Message)
		}
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		want string
	}{
		{nil, `{"type":"success","content":"<x/>"}`},
		{contract.Fixable("no such turn"), `{"type":"error","message":"no such turn","trace":[],"transient":false}`},
		{fmt.Errorf("reading: %w", fs.ErrNotExist), `{"type":"error","message":"reading: file does not exist","trace":[],"transient":false}`},
		{&contract.Error{Message: "m", Transient: true}, `{"type":"error","message":"m","trace":[],"transient":true}`},
	} {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(contract.OutcomeOf("<x/>", tc.err)); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(b.String()); got != tc.want {
			t.Errorf("outcome %s, want %s", got, tc.want)
		}
	}
}

func TestErrorUnwraps(t *testing.T) {
	t.Parallel()
	err := error(&contract.Error{Message: "m", Err: fs.ErrNotExist})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("the cause is not found")
	}
	var e *contract.Error
	if !errors.As(contract.UnknownTool("conversation_gerp", []string{"conversation_grep"}), &e) || !e.Caller || !strings.Contains(e.Message, "Did you mean conversation_grep?") {
		t.Errorf("unknown tool: %v", e)
	}
	if !errors.As(contract.Unserved("learn"), &e) || e.Caller || e.Transient || !strings.HasPrefix(e.Message, "learn cannot be used here: ") {
		t.Errorf("tool without anybody to do its work: %v", e)
	}
}
