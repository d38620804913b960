package exports_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/archive/exports"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
)

// importOf makes the test program import a path into a directory, and print a line for
// each conversation.
const importOf = "EXPORTS_TEST_IMPORT"

func TestMain(m *testing.M) {
	path, dir, ok := strings.Cut(os.Getenv(importOf), "\n")
	if !ok {
		os.Exit(m.Run())
	}
	limitFiles()
	w, err := archive.Create(context.Background(), dir, false)
	if err == nil {
		_, err = exports.Import(context.Background(), path, w, exports.Options{Progress: func(p exports.Progress) { fmt.Println(p.Conversations) }})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0) // what is not written yet is not written
}

// What was written when the process is killed is whole, and the rest follows.
func TestKilled(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const conversations, size = 200, 20_000
	var items []object
	for i := range conversations {
		items = append(items, conversation(fmt.Sprint("c", i), strings.Repeat("x", size)))
	}
	path := write(t, filepath.Join(t.TempDir(), "conversations.json"), array(items...))
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), importOf+"="+path+"\n"+h.dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for lines := bufio.NewScanner(out); n < conversations/2 && lines.Scan(); {
		if _, err := fmt.Sscan(lines.Text(), &n); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	found, problems := storetest.List(t, h.store(), store.Live)
	if len(found) == 0 || len(problems) > 0 {
		t.Fatalf("%d conversations, %v", len(found), problems)
	}
	for _, c := range found {
		if text := storetest.Said(t, c); len(text) != len("1 user: \n")+size {
			t.Errorf("%s has %d characters", c.ID, len(text))
		}
	}
	want := fmt.Sprintf("new %d, updated 0, unchanged %d, skipped 0, failed 0", conversations-len(found), len(found))
	if got := summary(h.add(path, exports.Options{})); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
