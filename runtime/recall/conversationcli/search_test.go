package conversationcli_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
	"github.com/convtools/convtools/runtime/toolset"
)

// answering is a family whose tools answer what they are called with.
type answering struct {
	calls   []string
	around  []string
	answers map[string]string // by the beginning of a call
}

func (a *answering) call(_ context.Context, call contract.Call) (string, error) {
	text := call.Tool + " " + string(call.Arguments)
	a.calls = append(a.calls, text)
	for begin, answer := range a.answers {
		if strings.HasPrefix(text, begin) {
			return answer, nil
		}
	}
	return "No matching messages.", nil
}

func (a *answering) messages(_ context.Context, _ conversations.Source, id string, before, after int) (string, error) {
	text := fmt.Sprintf("around %s -%d +%d", id, before, after)
	a.around = append(a.around, text)
	return a.answers[text], nil
}

// search runs the command "search" for a terminal or none.
func (a *answering) search(t *testing.T, terminal bool, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	zone := time.FixedZone("", 5*3600+1800)
	host := &toolset.Host{
		Stdout: &out, Stderr: &out, Terminal: terminal, Getenv: func(string) string { return "" }, Name: "convtools",
		Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, zone) },
	}
	cmd := conversationcli.Search(&toolset.Family{Call: a.call, CallStructured: a.call}, a.messages)(host)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestSearchCallsTheTool(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args []string
		want []string
	}{
		{[]string{"retry", "policy"}, []string{`conversation_search {"query":"retry policy","limit":50,"ids":false}`}},
		{[]string{"--", "status"}, []string{`conversation_search {"query":"status","limit":50,"ids":false}`}},
		{[]string{"--", "--x"}, []string{`conversation_search {"query":"--x","limit":50,"ids":false}`}},
		{
			[]string{"--role", "user,tool", "--since", "2024-01-15", "--until=2024-W05", "--limit", "3", "--source", "jp", "--cursor", "abc", "--ids"},
			[]string{`conversation_search {"roles":["user","tool"],"start_date":"2024-01-15","end_date":"2024-W05","limit":3,"cursor":"abc","ids":true,"sources":["jp"]}`},
		},
		{[]string{"--order", "relevance", "retry"}, []string{`conversation_search {"query":"retry","limit":50,"order":"relevance","ids":false}`}},
		{[]string{"show", "jp-c1", "2"}, []string{"around jp-c1:2 -0 +0"}},
		{[]string{"show", "jp-c1:2", "--before", "3", "--after=4"}, []string{"around jp-c1:2 -3 +4"}},
	}
	for _, tc := range tests {
		a := &answering{}
		if _, err := a.search(t, false, tc.args...); err != nil && !errors.Is(err, cli.ErrFailed) {
			t.Errorf("%q: %v", tc.args, err)
		}
		if diff := cmp.Diff(tc.want, append(a.calls, a.around...)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.args, diff)
		}
	}
}

const answer = `[2023-11-14 22:31] user (conv: Kelvin and Tide)
300 ` + "\u212aELVIN" + ` and kelvin

---

[(no time)] tool (conv: b)
no more kelvin

---

[note] 2 messages match.`

func TestSearchOnATerminal(t *testing.T) {
	t.Parallel()
	a := &answering{answers: map[string]string{"": answer}}
	got, err := a.search(t, false, "kelvin")
	if err != nil || got != answer+"\n" {
		t.Errorf("%v, %q", err, got)
	}
	got, err = a.search(t, true, "kelvin")
	const bold, match, dim, reset = "\x1b[1m", "\x1b[1;31m", "\x1b[2m", "\x1b[0m"
	want := bold + "[2023-11-15 04:01] user (conv: " + match + "Kelvin" + reset + bold + " and Tide)" + reset + "\n" +
		"300 " + match + "\u212aELVIN" + reset + " and " + match + "kelvin" + reset + "\n\n" +
		bold + "[(no time)] tool (conv: b)" + reset + "\nno more " + match + "kelvin" + reset + "\n\n" +
		dim + "[note] 2 messages match." + reset + "\n"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestSearchFindsNothing(t *testing.T) {
	t.Parallel()
	a := &answering{answers: map[string]string{}}
	if got, err := a.search(t, true, "x"); !errors.Is(err, cli.ErrFailed) || !strings.HasSuffix(got, "\nNo matching messages.\n") || !strings.HasPrefix(got, "occurs nowhere: \"x\"\nhint: try fewer words, ") {
		t.Errorf("%q, %v", got, err)
	}
	a.answers["conversation_search"] = `{"message":"No results found.","results":[]}`
	if got, err := a.search(t, true, "--json", "x"); !errors.Is(err, cli.ErrFailed) || got != a.answers["conversation_search"]+"\n" {
		t.Errorf("%q, %v", got, err)
	}
	for _, args := range [][]string{{"show"}, {"status", "x"}} {
		if _, err := a.search(t, true, args...); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
