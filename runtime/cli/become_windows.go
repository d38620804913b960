package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
)

// Become runs a program in a directory with this process's terminal, and exits with its code. It returns only errors.
func Become(path string, args []string, dir string) error {
	signal.Ignore(os.Interrupt) // an interrupt is for the program, not for this process
	child := exec.Command(path, args...)
	child.Dir, child.Stdin, child.Stdout, child.Stderr = dir, os.Stdin, os.Stdout, os.Stderr
	err := child.Run()
	if _, hasExitCode := errors.AsType[*exec.ExitError](err); err != nil && !hasExitCode {
		return err
	}
	os.Exit(child.ProcessState.ExitCode())
	return nil
}
