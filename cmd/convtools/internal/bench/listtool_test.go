package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
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
	tools := recall.New(func(dir string) (conversations.Source, error) {
		return conversations.Open(conversations.Options{Dir: dir, Getenv: getenv})
	})
	call := contract.Call{Tool: "conversation_list", Arguments: []byte(`{"limit":1}`), Context: contract.Context{Dir: dir}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := conversation.Call(b.Context(), tools, call); err != nil {
			b.Fatal(err)
		}
	}
}
