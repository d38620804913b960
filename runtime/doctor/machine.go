package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/process"
)

// versionLimit is how long a program may take to say its version.
const versionLimit = 3 * time.Second

// jp asks the JP in PATH for its version. There need not be one: its workspaces
// can be read without it.
func (c Config) jp(ctx context.Context) (version string, problems []Check) {
	path, err := c.LookPath("jp")
	if err != nil {
		return "", nil
	}
	result, err := c.Runner.Run(ctx, process.Command{
		Path: path, Args: []string{"--version"}, Limits: process.Limits{Timeout: versionLimit, Stdout: maxAnswer},
	})
	said, _, _ := strings.Cut(strings.TrimSpace(string(result.Stdout)), "\n")
	var failure *process.Error
	switch {
	case errors.As(err, &failure) && failure.Kind == process.Timeout:
		err = fmt.Errorf("it hangs: it was stopped after %v", versionLimit)
	case err == nil && (result.ExitCode != 0 || said == ""):
		err = fmt.Errorf("it ends with exit code %d and prints %q", result.ExitCode, shortened(said))
	}
	if err != nil {
		return "", []Check{{
			Name: "jp in PATH", Status: Warning, Detail: path + " does not say its version: " + err.Error(),
			Fix: "see what jp --version does, and reinstall JP where it fails",
		}}
	}
	said = shortened(said)
	if !strings.HasPrefix(said, "jp") {
		said = "jp " + said
	}
	return said, nil
}

// cache says how much is kept in the cache directory. A cache that was never
// made takes nothing.
func (c Config) cache() Check {
	check := Check{Name: "cache", Status: OK, Path: c.CacheDir}
	if c.CacheDir == "" {
		check.Status, check.Detail = Off, "nothing is cached: this user has no cache directory"
		return check
	}
	var total int64
	err := filepath.WalkDir(c.CacheDir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	check.Bytes = &total
	switch {
	case errors.Is(err, fs.ErrNotExist) && total == 0:
		check.Status, check.Detail = Off, "0 bytes: there is no "+c.CacheDir
	case err != nil:
		check.Status, check.Detail = Warning, fmt.Sprintf("at least %s: %v", size(total), err)
		check.Fix = "remove " + c.CacheDir + ": what is in it is made again"
	default:
		check.Detail = size(total) + " in " + c.CacheDir
	}
	return check
}

// size is a number of bytes as people read it.
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	value := float64(n)
	for _, unit := range []string{"kB", "MB"} {
		if value /= 1000; value < 1000 {
			return fmt.Sprintf("%.1f %s", value, unit)
		}
	}
	return fmt.Sprintf("%.1f GB", value/1000)
}
