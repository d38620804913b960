//go:build !linux && !darwin

package install

import (
	"errors"
	"os"
)

// exchange is not what this system can do.
func exchange(string, string) error { return errors.ErrUnsupported }

// create makes a file that is to be like another one.
func create(path, _ string) (*os.File, error) { return createNew(path) }

// keepAttributes does nothing.
func keepAttributes(*os.File, string) error { return nil }
