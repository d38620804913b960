//go:build !windows && (!unix || solaris || aix)

package jp

import (
	"errors"
	"os"
)

// lockFile fails: nothing is written where it cannot be locked as JP does.
func lockFile(*os.File) (bool, error) { return false, errors.ErrUnsupported }

func releaseLock(f *os.File, remove func()) {
	remove()
	f.Close()
}
