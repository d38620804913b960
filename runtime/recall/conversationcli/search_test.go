package conversationcli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/toolset"
)

// search runs the command "search", for a terminal or a pipe.
func search(t *testing.T, dir string, terminal bool, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	zone := time.FixedZone("", 5*3600+1800)
	host := &toolset.Host{
		Dir: dir, Stdout: &out, Stderr: &out, Terminal: terminal, Height: 14, Getenv: func(string) string { return "" }, Name: "convtools",
		Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, zone) },
	}
	family := &toolset.Family{Declared: func() []contract.Tool { return nil }}
	cmd := conversationcli.Search(family)(host)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

const bold, match, dim, reset = "\x1b[1m", "\x1b[1;31m", "\x1b[2m", "\x1b[0m"

// TestSearchOnATerminal checks that each block has the match in it.
func TestSearchOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := jptest.New(dir, "blocks")
	w.Conversation("17700000000", "tide").Title("Kelvin and Tide").TurnStart().
		User(strings.Repeat("nothing\n", 5000)+"before\n\nthe \u212aELVIN \x1b[2J\nafter\nlast\nnot shown").
		ToolCall("c1", "shell", nil).ToolResult("c1", "kelvin", false)
	for i := range 3 { // there is no room for the last one
		w.Conversation(fmt.Sprintf("1769000000%d", i), "more").TurnStart().User(strings.Repeat("x", 500) + " kelvin")
	}
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	got, err := search(t, dir, true, "--no-pager", "--context", "2", "kelvin")
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
	if got, err = search(t, dir, true, "--no-pager", "kelvin"); err != nil || strings.Count(got, match) != 2 || !strings.HasSuffix(got, "2 of 4 shown; --limit 4 shows all, --max-matches 0 all matches of each conversation\n") {
		t.Errorf("%v, %q", err, got)
	}
}

// TestSearchSinceTheFirstYear checks that a bound leaves out messages without a time, also one of the year 1.
func TestSearchSinceTheFirstYear(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := jptest.New(dir, "timeless")
	w.Conversation("17700000000", "").TurnStart().RawEvent(`{"type": "chat_request", "content": "kelvin"}`)
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	if got, _ := search(t, dir, false, "kelvin"); !strings.Contains(got, "kelvin") {
		t.Fatalf("without a bound: %q", got)
	}
	for _, since := range []string{"0001-01-01", "0001-01-02"} {
		if got, _ := search(t, dir, false, "--since", since, "kelvin"); strings.Contains(got, "\tkelvin") {
			t.Errorf("since %s: %q", since, got)
		}
	}
}
