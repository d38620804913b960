//go:build unix

package cli

import (
	"os"
	"syscall"
)

// Become replaces this process by a program in a directory, with this process's terminal. It returns only with an error.
func Become(path string, args []string, dir string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	return syscall.Exec(path, append([]string{path}, args...), append(os.Environ(), "PWD="+dir)) //nolint:gosec // the caller chose it
}
