// Package memtemp keeps the temporary files of tests in memory. Tests that write
// thousands of small files spend most of their time on making them where a disk is
// below. It is for TestMain only, and not for tests of what a disk does.
package memtemp

import (
	"errors"
	"fmt"
	"os"
)

// Tests are the tests of a package, as TestMain gets them.
type Tests interface{ Run() int }

// For returns tests that have their temporary directories in memory, where the system
// has a place for that with enough room, and otherwise where they are anyway.
func For(tests Tests) Tests { return inMemory{tests} }

type inMemory struct{ tests Tests }

func (m inMemory) Run() int {
	place := place()
	if place == "" {
		return m.tests.Run()
	}
	dir, err := os.MkdirTemp(place, "go-test-")
	if err != nil { // nobody may write there
		return m.tests.Run()
	}
	defer os.RemoveAll(dir)
	// A database server that tests start runs as another user.
	if err := errors.Join(os.Chmod(dir, 0o711), os.Setenv("TMPDIR", dir)); err != nil {
		fmt.Fprintln(os.Stderr, "temporary files in memory:", err)
		return 1
	}
	return m.tests.Run()
}
