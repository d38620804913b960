package index_test

import (
	"errors"
	"os"

	"pgregory.net/rapid"
)

var errTest = errors.New("test")

// tempDir makes a directory for one run of a property.
func tempDir(t *rapid.T) (string, error) {
	dir, err := os.MkdirTemp("", "index")
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	return dir, err
}
