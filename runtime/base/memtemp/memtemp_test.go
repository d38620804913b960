package memtemp_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/convtools/convtools/runtime/base/memtemp"
)

// tests is what runs as the tests of a package.
type tests func() int

func (run tests) Run() int { return run() }

// TestFor: tests have a directory to write to, their result is passed on, and a directory
// that was made for them is gone afterwards with all they wrote.
func TestFor(t *testing.T) {
	before := t.TempDir()
	t.Setenv("TMPDIR", before)
	during := ""
	got := memtemp.For(tests(func() int {
		during = os.TempDir()
		if _, err := os.MkdirTemp("", "case"); err != nil {
			t.Error(err)
		}
		return 3
	})).Run()
	if got != 3 {
		t.Errorf("Run returns %d, want 3", got)
	}
	if _, err := os.Stat(during); during != before && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", during, err)
	}
}
