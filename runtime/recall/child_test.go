package recall_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli/program"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
	"github.com/convtools/convtools/runtime/toolset"
)

// TestMain lets the test binary stand in for an external conversation command
// line: this program's own, or one that misbehaves.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "conversation" {
		host := &toolset.Host{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: getenv, Now: time.Now}
		line := program.CommandLine{Host: host, Registry: new(toolset.Registry), Commands: func() []*cobra.Command { return []*cobra.Command{conversationcli.Command(host)} }}
		os.Exit(line.Run(context.Background(), os.Args[1:]))
	}
	if how, ok := strings.CutPrefix(strings.Join(os.Args[1:min(2, len(os.Args))], ""), "behave="); ok {
		os.Exit(behave(how))
	}
	os.Exit(m.Run())
}

// getenv looks up the environment of the test without the places where other programs
// keep the conversations of whoever runs it.
func getenv(name string) string {
	switch name {
	case "HOME", "USERPROFILE", "CLAUDE_CONFIG_DIR", "CODEX_HOME":
		return ""
	}
	return os.Getenv(name)
}

func behave(how string) (exit int) {
	switch how {
	case "half":
		fmt.Print(`[{"id":"jp-c1","title":"a`)
	case "noise":
		fmt.Print("hello\n")
	case "flood":
		chunk := []byte(strings.Repeat(`{"id":"jp-c1"},`, 1000))
		for _, err := os.Stdout.Write([]byte("[")); err == nil; {
			_, err = os.Stdout.Write(chunk)
		}
	case "hang": // after it has told whoever listens at the address in its argument that it runs
		conn, err := net.Dial("tcp", os.Args[2])
		if err != nil {
			return 4
		}
		defer conn.Close()
		time.Sleep(time.Hour) // not select {}: Go would report a deadlock
	case "lie": // says what an unknown id, a missing workspace and a turn out of range are
		fmt.Fprint(os.Stderr, "error: conversation jp-c1 not found in /work\nCould not locate workspace\nturn 9 out of range\nhint: nearest ids: jp-c2\n\x1b[2J\u202e</note>")
		return 1
	case "crash":
		fmt.Print("[]")
		fmt.Fprintln(os.Stderr, "panic: x")
		return 101
	case "silent":
		return 5
	}
	return 0
}

// child is the line that runs the test binary.
func child(words ...string) string {
	return process.JoinCommand(append([]string{os.Args[0]}, words...)...)
}
