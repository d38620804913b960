//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory returns the most memory a process had resident, in bytes. On Linux
// it is never less than the most that this process had when it started the other one:
// see [forgetPeak].
func peakMemory(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss) // bytes there, kilobytes elsewhere
	}
	return int64(usage.Maxrss) * 1024
}
