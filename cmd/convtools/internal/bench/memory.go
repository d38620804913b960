package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// anonymousMemory returns how many bytes of memory a process has resident that are of no
// file; 0 where the system does not say so.
func anonymousMemory(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	line, _, _ := strings.Cut(rest, "\n")
	kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(line), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes * 1024
}

// watch looks at the memory of a process that runs, again and again, and returns what ends
// that: it returns the most that was seen.
func watch(ctx context.Context, cmd *exec.Cmd) (end func() int64) {
	const every = 10 * time.Millisecond
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	peak := int64(0)
	watching.Go(func() {
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		for {
			peak = max(peak, anonymousMemory(cmd.Process.Pid))
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
		}
	})
	return func() int64 {
		cancel()
		watching.Wait()
		return peak
	}
}

// memoryRow returns a row on the most memory that a process had: of what is no file where the
// system reports that.
func memoryRow(name string, anonymous int64, state *os.ProcessState) table.Row {
	row := table.Row{Name: name, Result: megabytes(peakMemory(state)), Detail: "mapped files too"}
	if anonymous > 0 {
		row.Result, row.Detail = megabytes(anonymous), "and with mapped files "+row.Result
		row.Bound, row.Missed = "at most "+megabytes(searchMemory), anonymous > searchMemory
	}
	return row
}
