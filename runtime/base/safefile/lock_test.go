//go:build unix && !solaris && !aix

package safefile_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// A lock ends with unlock, even while a process is being started, which has a copy of every open file until it runs
// its program.
func TestUnlockWhileStarting(t *testing.T) {
	t.Parallel()
	name := write(t, filepath.Join(t.TempDir(), "file"), "")
	stop := make(chan struct{})
	var starting sync.WaitGroup
	for range 4 {
		starting.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = exec.Command(os.Args[0], "-test.run=^$").Run()
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nothing is waited for
	for n := range 3000 {
		unlock, err := safefile.Lock(ctx, name)
		if err != nil {
			t.Errorf("the %dth time: %v", n+1, err)
			break
		}
		unlock()
	}
	close(stop)
	starting.Wait()
}
