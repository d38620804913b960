package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/mcpserver"
)

// helperEnv makes the test binary a server of the test tools.
const helperEnv = "MCPSERVER_TEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	f := newTools()
	go func() {
		for arguments := range f.started {
			fmt.Fprintln(os.Stderr, "started", arguments)
		}
	}()
	cfg := f.config()
	cfg.DrainTime = 50 * time.Millisecond
	if err := mcpserver.New(cfg).ServeStdio(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func helper(t *testing.T) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), helperEnv+"=1")
	return cmd
}

func TestProcess(t *testing.T) {
	t.Parallel()
	cmd := helper(t)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"break", "crash", "echo", "fail", "wait", "where"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"a": "<b>"}})
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := result.Content[0].(*mcp.TextContent); !ok || text.Text != `<echo>{"a":"<b>"}</echo>` {
		t.Errorf("result %+v", result.Content[0])
	}
	if err := session.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the server ended with exit code %d", code)
	}
}

// A client that dies takes the work it had asked for with it: the server ends,
// although a call is running.
func TestProcessEndsWithItsClient(t *testing.T) {
	t.Parallel()
	cmd := helper(t)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, initialize+callLine(1, "wait", `{}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscanf(log, "started {}\n"); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // how it ends is up to the system: there is nobody to tell
}
