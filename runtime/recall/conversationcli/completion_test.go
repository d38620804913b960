package conversationcli_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// TestCompletion asks for completions as shells do. Each line has an id, a tab and a
// description; the last line is the directive.
func TestCompletion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	day := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	w := jptest.New(dir, "tests")
	w.Conversation("17600000000", "old").Title("Used last").LastActivated(day.AddDate(0, 0, 1)).TurnStart().User("x")
	w.Conversation("17600000001", "evil").Title("\x1b[31mred\ttwo\nlines").LastActivated(day).TurnStart().User("x")
	w.Conversation("17600000002", "long").Title(strings.Repeat("x", 5000)).LastActivated(day).TurnStart().User("x")
	w.Conversation("17700000000", "untitled").LastActivated(day.AddDate(0, 0, -1)).TurnStart().User("x")
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	const (
		evil     = "jp-c17600000001\t␛[31mred two lines\n"
		noFiles  = ":4\n"
		inOrder  = ":36\n"
		titled   = "jp-c17600000000\tUsed last\n"
		untitled = "jp-c17700000000\n"
	)
	long := "jp-c17600000002\t" + strings.Repeat("x", 59) + "…\n"
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"print", ""}, titled + long + evil + untitled + inOrder},
		{[]string{"print", "jp-c176"}, titled + long + evil + inOrder},
		{[]string{"print", "177"}, "17700000000\n" + inOrder},
		{[]string{"print", "jp-c17600000000", "used"}, inOrder},
		{[]string{"print", "nowhere"}, inOrder},
		{[]string{"print", " "}, inOrder},
		{[]string{"print", "1"}, "17600000000\tUsed last\n" + strings.ReplaceAll(long+evil+untitled, "jp-c", "") + inOrder},
		{[]string{"print", "jp-c17600000000", "jp-c17600000001", "jp-c17600000002", ""}, untitled + inOrder},
		{[]string{"print", "--last", "3", "177"}, "17700000000\n" + inOrder},
		{[]string{"print", "--last", "3", "jp-c17600000000", "jp-c176"}, long + evil + inOrder},
		{[]string{"ls", "jp-c17600000000", "jp-c177"}, untitled + inOrder},
		{[]string{"grep", "x", ""}, noFiles},
		{[]string{"grep", "--id", "jp-c177"}, untitled + inOrder},
		{[]string{"print", "--style", ""}, "user\nchat\nbrief\nfull\n" + noFiles},
		{[]string{"grep", "--output", ""}, "hits\nids\ncount\ntext\n" + noFiles},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.args), func(t *testing.T) {
			t.Parallel()
			got := complete(t, dir, tt.args...)
			if diff := cmp.Diff(tt.want, got.stdout); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	nowhere := filepath.Join(t.TempDir(), "none")
	if got := complete(t, dir, "--workspace", nowhere, "print", ""); got.stdout != inOrder {
		t.Errorf("without a workspace: %q", got.stdout)
	}
}

// TestCompletionIsBounded checks that a shell gets at most 200 ids, and others after more of the
// word is typed.
func TestCompletionIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := jptest.New(dir, "tests")
	for i := range 300 {
		w.Conversation(fmt.Sprintf("17600000%03d", i), "c").TurnStart().User("x")
	}
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(complete(t, dir, "print", "").stdout, "jp-c"); got != 200 {
		t.Errorf("%d ids", got)
	}
	if got := complete(t, dir, "print", "jp-c17600000007").stdout; !strings.HasPrefix(got, "jp-c17600000007\n") {
		t.Errorf("offers %q", got)
	}
}

// complete asks for completions as shells do.
func complete(t *testing.T, dir string, words ...string) result {
	t.Helper()
	return run(t, dir, append([]string{cobra.ShellCompRequestCmd}, words...)...)
}
