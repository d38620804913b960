//go:build !linux

package main

import "os"

// peakMemory returns 0: memory is measured on Linux only.
func peakMemory(*os.ProcessState) int64 { return 0 }

// forgetPeak does nothing.
func forgetPeak() {}
