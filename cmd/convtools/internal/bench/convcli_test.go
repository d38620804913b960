package main

import (
	"context"
	"io"
	"os"
	"testing"

	"github.com/convtools/convtools/runtime/recall/conversationcli"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
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
	env := conversationcli.Env{
		Stdout: io.Discard, Stderr: io.Discard, WorkingDir: dir,
		Getenv: func(name string) string {
			if name == "JP_USER_DATA_DIR" {
				return dataDir
			}
			return ""
		},
	}
	b.ReportAllocs()
	for b.Loop() {
		if code := conversationcli.Run(context.Background(), env, args); code != 0 {
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
