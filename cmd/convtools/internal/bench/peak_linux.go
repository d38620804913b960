package main

import (
	"os"
	"runtime/debug"
	"syscall"
)

// peakMemory returns the most memory that a process had resident, in bytes, or 0 if it is not known. Linux also counts
// the memory of the process that started that one: see [forgetPeak].
func peakMemory(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return int64(usage.Maxrss) * 1024 // 32 bits on some machines
}

// forgetPeak returns unused memory of this process to the system and resets the peak that the system keeps of it, see
// proc_pid_clear_refs(5). Without it a process that is started next would seem to have needed as much as this one did.
func forgetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // if it fails, small programs show the peak of this one
}
