//go:build unix

package safefile

import "syscall"

// nonblock makes opening a FIFO return at once.
const nonblock = syscall.O_NONBLOCK
