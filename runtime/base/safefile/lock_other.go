//go:build !windows && (!unix || solaris || aix)

package safefile

import "errors"

// tryLock locks nothing: package syscall has no way to on this system.
func tryLock(string) (unlock func(), err error) { return nil, errors.ErrUnsupported }
