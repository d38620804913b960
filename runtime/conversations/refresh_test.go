package conversations

import (
	"runtime/debug"
	"testing"
)

// Two indexes that are made at the same time leave the memory limit as it was, whichever is done first.
func TestMemoryLimitIsRestored(t *testing.T) { // not parallel: the limit is of the process
	before := debug.SetMemoryLimit(-1)
	first, second := limitMemory(), limitMemory()
	first()
	second()
	if after := debug.SetMemoryLimit(before); after != before {
		t.Errorf("the limit is %d, and was %d", after, before)
	}
}
