package install

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/convtools/convtools/runtime/toolset"
)

// NewOptions returns options with everything but Scope, Settings, Advice and Hook. Without a project in the working
// directory, Project is that directory. If host.Dir names a directory that belongs to no project, NewOptions returns an
// error and valid options. The other errors are that this program or the working directory is not found.
func NewOptions(host *toolset.Host, registry *toolset.Registry) (Options, error) {
	opts := Options{
		Name: host.Name, Entry: host.Entry, JPFiles: host.JPFiles, GOOS: runtime.GOOS, Getenv: host.Getenv,
		Flags: registry.Flags(), Variables: registry.Variables(),
	}
	program, err := os.Executable()
	if err != nil {
		return opts, fmt.Errorf("finding this program: %w", err)
	}
	opts.Program = program
	if inPath, err := exec.LookPath(host.Name); err == nil && sameFile(inPath, program) {
		if inPath, err = filepath.Abs(inPath); err == nil {
			// A link in PATH stays when the version that it leads to is replaced.
			opts.Program, opts.ProgramName = inPath, host.Name
		}
	}
	opts.Project, err = filepath.Abs(host.Dir)
	if err != nil {
		return opts, fmt.Errorf("finding the project: %w", err)
	}
	root, err := registry.Project(host.Dir)
	switch {
	case err == nil:
		opts.Project, opts.Workspace, opts.Bind = root, root, host.Dir != ""
	case host.Dir != "": // the user has named the directory
		return opts, err
	}
	return opts, nil
}

func sameFile(a, b string) bool {
	first, firstErr := os.Stat(a)
	second, secondErr := os.Stat(b)
	return firstErr == nil && secondErr == nil && os.SameFile(first, second)
}
