package plan_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// Most of the work of these tests is convgen's, so they use the same memory limit.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
