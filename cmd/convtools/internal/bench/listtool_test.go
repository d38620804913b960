package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
	programs "github.com/convtools/convtools/runtime/program"
	"github.com/convtools/convtools/runtime/recall"
)

// BenchmarkListTool calls conversation_list the way a server does, in the
// workspace that the environment names, or in one without conversations.
func BenchmarkListTool(b *testing.B) {
	dir := os.Getenv(workspaceVariable)
	if dir == "" {
		dir = b.TempDir()
		if err := os.Mkdir(filepath.Join(dir, ".jp"), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	dataDir := b.TempDir()
	getenv := func(name string) string {
		if name == "JP_USER_DATA_DIR" {
			return dataDir
		}
		return ""
	}
	cli := &programs.Programs{
		Getenv: getenv,
		Lookup: func(string) (programs.Spec, bool) {
			return programs.Spec{Builtin: func(ctx context.Context, dir string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
				return conversationcli.Run(ctx, conversationcli.Env{Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: getenv, Workspace: dir}, args)
			}}, true
		},
	}
	handlers := generated.Handlers{Conversation: recall.New(cli), CLI: cli}
	call := contract.Call{Tool: "conversation_list", Arguments: []byte(`{"limit":1}`), Context: contract.Context{Dir: dir}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := generated.Call(context.Background(), handlers, call); err != nil {
			b.Fatal(err)
		}
	}
}
