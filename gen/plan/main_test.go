package plan_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// Most of what these tests do is what convgen does, with as much memory.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
