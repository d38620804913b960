//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Reading a pipe in the place of the contract would block.
func TestPipeInPlaceOfTheContract(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(notesProject)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "generated"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "generated", "contract.lock"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := options{dir: dir, format: "text"}
	if ok, err := o.run(io.Discard, io.Discard); ok || err == nil || !strings.Contains(err.Error(), "generated/contract.lock") {
		t.Errorf("the run ended with %v, %v", ok, err)
	}
}
