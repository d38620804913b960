package conversationcli_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/toolset"
)

// TestMain makes the command line available to scripts as "conversation". With
// COLUMNS set, standard output counts as a terminal of that width.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"conversation": func() {
			width, _ := strconv.Atoi(os.Getenv("COLUMNS"))
			os.Exit(execute(context.Background(), &toolset.Host{
				Stdout: os.Stdout, Stderr: os.Stderr, Stdin: os.Stdin, Getenv: os.Getenv,
				Terminal: width > 0, Width: width, Now: now,
			}, "", os.Args[1:]...))
		},
	})
}

// now is the clock of all tests.
func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// TestScripts runs the scripts in testdata. Each starts in the directory of a
// workspace with the conversations of [writeSample].
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("JP_USER_DATA_DIR", filepath.Join(env.WorkDir, "data"))
			env.Cd = filepath.Join(env.WorkDir, "project")
			if err := os.Mkdir(filepath.Join(env.WorkDir, "empty"), 0o755); err != nil {
				return err
			}
			return writeSample(env.Cd, filepath.Join(env.WorkDir, "data"))
		},
	})
}

// writeSample writes a workspace of conversations, each with one peculiarity.
func writeSample(dir, dataDir string) error {
	w := jptest.New(dir, "tests")
	w.Conversation("17600000000", "retry-policy").
		Title("Retry policy").
		Label("area", "feed").
		Label("decision", "").
		Set("pinned_at", jptest.Timestamp(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))).
		LastActivated(time.Date(2026, 2, 20, 8, 0, 0, 0, time.UTC)).
		TurnStart().
		User("Should we retry the gauge feed?\nIt answers 503 at night.").
		Reasoning("A retry is safe.").
		ToolCall("call_1", "fs_read_file", map[string]any{"path": "feed/client.go"}).
		ToolResult("call_1", "package feed\n\n// no retry\nfunc Fetch() {}\n", false).
		Assistant("Yes: at most five attempts.").
		TurnStart().
		User("Do it.").
		ToolCall("call_2", "go_test", map[string]any{"run": "Retry"}).
		Inquiry("call_2.confirm", "Run the retry tests?").
		Event("inquiry_response", "id", "call_2.confirm", "answer", true).
		ToolResult("call_2", "FAIL\n", true).
		Event("chat_response", "data", "retry: done").
		Event("compaction", "from_turn", 0, "to_turn", 0, "summary", map[string]string{"summary": ""}).
		TurnStart().
		User("Thanks.")
	w.Conversation("17610000000", "cache").
		Title("Cache predictions per station and day").
		User("What about the cache? No RETRY here.").
		ToolCall("call_1", "shell", map[string]any{"command": "ls\nsay \"no\""}).
		Event("tool_call_response", "id", "call_1", "content", base64.URLEncoding.EncodeToString([]byte("~~~ cache ~~~ ÿ?>\n")), "is_error", false).
		Assistant("Evict after 14 days.")
	w.Conversation("17620000000", "nightly").
		Title("Nightly summary").
		Set("hidden", true).
		TurnStart().
		User("Summarise; mention each retry.")
	w.Conversation("17630000000", "polling").
		Title("Polling").
		Archived(time.Date(2026, 1, 5, 18, 0, 0, 0, time.UTC)).
		TurnStart().
		User("Longest retry was 31s.")
	w.Conversation("17640000000", "cut-off").
		Title("Cut off").
		TurnStart().
		User("A retry before the damage.").
		Assistant("Lost.").
		Edit(jptest.EventsFile, func(data []byte) []byte { return data[:len(data)-30] })
	w.Conversation("17650000000", "").
		TurnStart().
		RawEvent(`{"type": "chat_request", "content": "\u001b]0;owned\u0007\u001b[2J hostile \u202e text"}`).
		Set("expires_at", jptest.Timestamp(time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC)))
	w.Conversation("17660000000", "broken-metadata").
		TurnStart().
		User("The metadata of this one is broken; retry.").
		File(jptest.MetadataFile, []byte("{"))
	w.UserStore(dataDir).Conversation("17670000000", "local-only").
		Title("Notes 日本語").
		TurnStart().
		User("Only mine.")
	return w.Write()
}

// result is the output of a command line.
type result struct {
	stdout, stderr string
	code           int
}

// run executes a command line in this process.
func run(t *testing.T, dir string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), testHost(dir, &stdout, &stderr), dir, args...)
	return result{stdout.String(), stderr.String(), code}
}

// testHost returns a host whose user has no data but the workspace in dir.
func testHost(dir string, stdout, stderr io.Writer) *toolset.Host {
	return &toolset.Host{
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Now: now,
		Getenv: func(name string) string {
			if name == "JP_USER_DATA_DIR" {
				return filepath.Join(dir, "no-user-data")
			}
			return ""
		},
	}
}

// execute runs a conversation command in the workspace at dir, or the one that
// args name, and returns the exit code.
func execute(ctx context.Context, host *toolset.Host, dir string, args ...string) int {
	root := cli.Group(&cobra.Command{Use: "convtools"}, conversationcli.Command(host))
	root.SetOut(host.Stdout)
	root.SetErr(host.Stderr)
	cli.Setup(root, nil)
	host.AddFlags(root.PersistentFlags())
	host.Dir = dir
	words := []string{"conversation"}
	if len(args) > 0 && args[0] == cobra.ShellCompRequestCmd {
		words, args = []string{args[0], "conversation"}, args[1:]
	}
	root.SetArgs(append(words, args...))
	return cli.Execute(ctx, root)
}
