package safefile

import (
	"context"
	"time"
)

// lockInterval is the time between two tries to lock: systems have no wait that a context can end.
const lockInterval = 10 * time.Millisecond

// Lock locks a folder or a file that exists against other calls of Lock, in this process or another one. It waits for the
// lock until the context is done. It does not keep away programs that do not ask for the lock. The lock ends with unlock
// or with the process; the folder or the file may be removed meanwhile. If the system or the file system has no locks,
// the error is [errors.ErrUnsupported].
func Lock(ctx context.Context, name string) (unlock func(), err error) {
	for {
		unlock, err := tryLock(name)
		if err != nil || unlock != nil {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockInterval):
		}
	}
}
