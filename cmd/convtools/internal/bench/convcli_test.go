package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	people "github.com/convtools/convtools/runtime/cli/program"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/toolset"
)

// benchmarkCLI runs a command line over the workspace that the environment
// names, or over a small one.
func benchmarkCLI(b *testing.B, args ...string) {
	dir := os.Getenv(workspaceVariable)
	if dir == "" {
		dir = b.TempDir()
		if _, err := jptest.Large(dir, jptest.Shape{Bytes: 8_000_000, Conversations: 80, NeedleEvery: 50}); err != nil {
			b.Fatal(err)
		}
	}
	dataDir := b.TempDir()
	host := &toolset.Host{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now,
		Getenv: func(name string) string {
			if name == "JP_USER_DATA_DIR" {
				return dataDir
			}
			return ""
		},
	}
	args = append([]string{"-w", dir, "conversation"}, args...)
	b.ReportAllocs()
	for b.Loop() {
		line := people.CommandLine{Host: host, Registry: new(toolset.Registry), Commands: func() []*cobra.Command { return []*cobra.Command{conversationcli.Command(host)} }}
		if code := line.Run(b.Context(), args); code != 0 {
			b.Fatalf("conversation %v: exit code %d", args, code)
		}
	}
}

func BenchmarkLs(b *testing.B) {
	benchmarkCLI(b, "ls", "--format=json")
}

func BenchmarkGrep(b *testing.B) {
	benchmarkCLI(b, "grep", "--format=json", "--ignore-case", jptest.Needle)
}
