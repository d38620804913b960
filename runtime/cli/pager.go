package cli

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/term"
)

// Pager shows output page by page on a terminal.
type Pager struct {
	// Stdout and Stderr take the output instead of the original writers.
	Stdout, Stderr io.Writer

	cmd  *exec.Cmd
	pipe *os.File
}

// StartPager starts the user's pager, $PAGER or less. It returns nil if stdout is no terminal, the terminal is dumb,
// PAGER is "cat", or the program does not start. Standard error goes through the pager too if it is a terminal.
func StartPager(stdout, stderr io.Writer, getenv func(string) string) *Pager {
	out, ok := Terminal(stdout)
	if !ok || getenv("TERM") == "dumb" {
		return nil
	}
	words := strings.Fields(getenv("PAGER")) // a program and its flags; no shell reads them
	if len(words) == 0 {
		words = []string{"less"}
	}
	if words[0] == "cat" {
		return nil
	}
	cmd := exec.Command(words[0], words[1:]...) //nolint:forbidigo,gosec // the user chose it, and it needs the terminal, which runtime/process never hands on
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	cmd.Env = os.Environ()
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} { // as git does
		if isSet := getenv(name) != ""; !isSet {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer read.Close()
	cmd.Stdin = read
	if err := cmd.Start(); err != nil {
		write.Close()
		return nil
	}
	p := &Pager{Stdout: write, Stderr: stderr, cmd: cmd, pipe: write}
	if _, ok := Terminal(stderr); ok {
		p.Stderr = write
	}
	return p
}

// Close ends the output and waits until the user leaves the pager. It ignores the pager's exit code.
func (p *Pager) Close() error {
	err := p.pipe.Close()
	waitErr := p.cmd.Wait()
	if _, hasExitCode := errors.AsType[*exec.ExitError](waitErr); hasExitCode {
		return err
	}
	return errors.Join(err, waitErr)
}

// Terminal returns a writer as a file and true if the writer is a terminal, otherwise nil and false.
func Terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, false
	}
	return f, true
}
