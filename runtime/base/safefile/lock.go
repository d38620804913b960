package safefile

import (
	"context"
	"time"
)

// lockInterval is how long to wait before trying again to lock what somebody
// else has locked. Systems have no wait that a context could end.
const lockInterval = 10 * time.Millisecond

// Lock locks a folder or a file, which has to be there, against other calls of
// Lock, in this process or another one, and waits for it until the context is
// done. Who does not ask for the lock is not kept away. The lock ends with
// unlock, or with the process; the folder or the file may be removed under it.
// Where the system or the file system has no locks, the error is
// [errors.ErrUnsupported].
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
