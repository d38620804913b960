package index_test

import (
	"errors"
	"os"

	"pgregory.net/rapid"
)

var errTest = errors.New("test")

// tempDir makes a directory for one run of a property.
func tempDir(t *rapid.T) (string, error) {
	dir, err := os.MkdirTemp(os.Getenv("GOTMPDIR"), "index") // as testing.T.TempDir does
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	return dir, err
}
