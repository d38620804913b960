package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/toolset"
)

// versionLimit is the time that a program has to print its version.
const versionLimit = 3 * time.Second

// jp returns the version of the JP in PATH. Without JP both results are empty, because nothing depends on it. If JP
// does not print its version, the result is a check with a warning.
func (c Config) jp(ctx context.Context) (version string, warnings []toolset.Check) {
	path, err := c.LookPath("jp")
	if err != nil {
		return "", nil
	}
	result, err := c.Runner.Run(ctx, process.Command{
		Path: path, Args: []string{"--version"}, Limits: process.Limits{Timeout: versionLimit, Stdout: maxAnswer},
	})
	firstLine, _, _ := strings.Cut(strings.TrimSpace(string(result.Stdout)), "\n")
	version = shortened(firstLine)
	problem := ""
	if failure, failed := errors.AsType[*process.Error](err); failed && failure.Kind == process.Timeout {
		problem = fmt.Sprintf("it hangs: it was stopped after %v", versionLimit)
	} else if err != nil {
		problem = err.Error()
	} else if result.ExitCode != 0 || version == "" {
		problem = fmt.Sprintf("it ends with exit code %d and prints %q", result.ExitCode, version)
	}
	if problem != "" {
		return "", []toolset.Check{{
			Name: "jp in PATH", Status: toolset.Warning, Detail: path + " does not say its version: " + problem,
			Fix: "see what jp --version does, and reinstall JP where it fails",
		}}
	}
	if !strings.HasPrefix(version, "jp") {
		version = "jp " + version
	}
	return version, nil
}
