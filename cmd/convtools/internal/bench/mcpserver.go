package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// A served program is an MCP server that was started, and a client of it.
type served struct {
	mcpClient
	cmd *exec.Cmd
}

// serveStdio starts a server that speaks on its standard streams.
func serveStdio(ctx context.Context, dataDir string, p program, of request) (*served, error) {
	cmd := p.command(ctx, dataDir)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", p.path, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", p.path, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.path, err)
	}
	client, err := newStreamClient(in, out, of)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", p.path, err), kill(cmd))
	}
	return &served{client, cmd}, nil
}

// serveHTTP starts a server that says on standard error at which URL it is.
func serveHTTP(ctx context.Context, dataDir string, p program, connections int, of request) (*served, error) {
	cmd := p.command(ctx, dataDir)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", p.path, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.path, err)
	}
	line, err := bufio.NewReader(stderr).ReadString('\n')
	_, url, found := strings.Cut(strings.TrimSpace(line), " at ")
	if !found {
		return nil, errors.Join(fmt.Errorf("%s said %q and not where it listens: %w", p.path, line, err), kill(cmd))
	}
	client, err := newWebClient(ctx, url, connections, of)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", p.path, err), kill(cmd))
	}
	return &served{client, cmd}, nil
}

// end lets the server end by itself and returns the most memory it had, in
// bytes; 0 where the system does not tell.
func (s *served) end() (int64, error) {
	peak := residentPeak(s.cmd.Process.Pid)
	if err := s.close(); err != nil {
		return 0, fmt.Errorf("ending a session: %w", err)
	}
	if _, web := s.mcpClient.(*webClient); web {
		if s.cmd.Process.Signal(os.Interrupt) != nil { // Windows knows no such thing
			return 0, kill(s.cmd)
		}
	}
	if err := s.cmd.Wait(); err != nil {
		return 0, fmt.Errorf("ending %s: %w", s.cmd.Path, err)
	}
	if peak == 0 {
		peak = peakMemory(s.cmd.ProcessState)
	}
	return peak, nil
}

// residentPeak returns the most memory a running process had resident since its
// program was loaded, in bytes; 0 where that is not to be read from /proc, as it
// is on Linux. Other than peakMemory, it knows nothing of this process.
func residentPeak(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "\nVmHWM:")
	var kilobytes int64
	if _, err := fmt.Sscanf(after, "%d kB", &kilobytes); err != nil {
		return 0
	}
	return kilobytes * 1024
}

// kill ends a program at once.
func kill(cmd *exec.Cmd) error {
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending %s: %w", cmd.Path, err)
	}
	_ = cmd.Wait() // it was killed, and says so
	return nil
}
