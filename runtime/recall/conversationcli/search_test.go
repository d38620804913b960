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
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/toolset"
)

// answering is a family whose tools answer what they are called with.
type answering struct {
	calls   []string
	answers map[string]string // by the beginning of a call
	dir     string            // of the project that is searched without --json
}

func (a *answering) call(_ context.Context, call contract.Call) (string, error) {
	return a.answer(call.Tool + " " + string(call.Arguments))
}

func (a *answering) messages(_ context.Context, _ conversations.Source, id string, before, after int) (string, error) {
	return a.answer(fmt.Sprintf("around %s -%d +%d", id, before, after))
}

func (a *answering) answer(text string) (string, error) {
	a.calls = append(a.calls, text)
	for begin, answer := range a.answers {
		if strings.HasPrefix(text, begin) {
			return answer, nil
		}
	}
	return "{}", nil
}

func (a *answering) everywhere() (*conversations.Library, []string, error) {
	library, err := conversations.Open(conversations.Options{Dir: a.dir, Getenv: func(string) string { return "" }})
	return library, nil, err
}

// search runs the command "search" for a terminal or none.
func (a *answering) search(t *testing.T, terminal bool, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	zone := time.FixedZone("", 5*3600+1800)
	host := &toolset.Host{
		Stdout: &out, Stderr: &out, Terminal: terminal, Height: 14, Getenv: func(string) string { return "" }, Name: "convtools",
		Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, zone) },
	}
	family := &toolset.Family{CallStructured: a.call, Declared: func() []contract.Tool { return nil }}
	cmd := conversationcli.Search(family, a.messages, a.everywhere)(host)
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
		{[]string{"--json", "retry", "policy"}, []string{`conversation_search {"query":"retry policy","limit":50}`}},
		{[]string{"--json", "--", "status"}, []string{`conversation_search {"query":"status","limit":50}`}},
		{
			[]string{"--json", "--role", "user,tool", "--since", "2024-01-15", "--until=2024-01-16", "--limit", "3", "--source", "jp", "--cursor", "abc"},
			[]string{`conversation_search {"roles":["user","tool"],"start_date":"2024-01-15T00:00:00Z","end_date":"2024-01-16T23:59:59.999999999Z","limit":3,"cursor":"abc","sources":["jp"]}`},
		},
		{[]string{"--json", "--order", "relevance", "retry"}, []string{`conversation_search {"query":"retry","limit":50,"order":"relevance"}`}},
		{[]string{"show", "jp-c1", "2"}, []string{"around jp-c1:2 -0 +0"}},
		{[]string{"show", "jp-c1:2", "--before", "3", "--after=4"}, []string{"around jp-c1:2 -3 +4"}},
	}
	for _, tc := range tests {
		a := &answering{}
		if _, err := a.search(t, false, tc.args...); err != nil {
			t.Errorf("%q: %v", tc.args, err)
		}
		if diff := cmp.Diff(tc.want, a.calls); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.args, diff)
		}
	}
}

const bold, match, dim, reset = "\x1b[1m", "\x1b[1;31m", "\x1b[2m", "\x1b[0m"

// A block has the match in it, wherever that is in its message.
func TestSearchOnATerminal(t *testing.T) {
	t.Parallel()
	a := &answering{dir: t.TempDir()}
	w := jptest.New(a.dir, "blocks")
	w.Conversation("17700000000", "tide").Title("Kelvin and Tide").TurnStart().
		User(strings.Repeat("nothing\n", 5000)+"before\n\nthe \u212aELVIN \x1b[2J\nafter\nlast\nnot shown").
		ToolCall("c1", "shell", nil).ToolResult("c1", "kelvin", false)
	for i := range 3 { // of which the last one is no longer on the screen
		w.Conversation(fmt.Sprintf("1769000000%d", i), "more").TurnStart().User(strings.Repeat("x", 500) + " kelvin")
	}
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	got, err := a.search(t, true, "--no-pager", "--context", "2", "kelvin")
	if err != nil {
		t.Fatal(err)
	}
	got, note, _ := strings.Cut(got, "1 of 4 shown; ")
	want := bold + "jp-c17700000000:1  jp  2026-02-02" + reset + "  Kelvin and Tide\n" +
		dim + "user       " + reset + "before\n" +
		dim + "           " + reset + "the " + match + "\u212aELVIN" + reset + " \u241b[2J\n" +
		dim + "           " + reset + "after\n" +
		dim + "           " + reset + "last\n"
	if diff := cmp.Diff(want, got); diff != "" || note == "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err = a.search(t, true, "--no-pager", "kelvin"); err != nil || strings.Count(got, match) != 2 || !strings.HasSuffix(got, "2 of 4 shown; --limit 4 shows all, --max-matches 0 all matches of each conversation\n") {
		t.Errorf("%v, %q", err, got)
	}
}

func TestSearchFindsNothing(t *testing.T) {
	t.Parallel()
	a := &answering{answers: map[string]string{"conversation_search": `{"message":"No results found.","results":[]}`}}
	if got, err := a.search(t, true, "--json", "x"); !errors.Is(err, cli.ErrFailed) || got != a.answers["conversation_search"]+"\n" {
		t.Errorf("%q, %v", got, err)
	}
	for _, args := range [][]string{{"show"}, {"status", "x"}} {
		if _, err := a.search(t, true, args...); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
