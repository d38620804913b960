//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const initializeLine = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n"

const listLine = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"conversation_list"}}` + "\n"

// A signal that ends the server, over stdio and HTTP, also ends the program that
// works for a call, and the processes that this program started.
func TestSignalsStopCalls(t *testing.T) {
	t.Parallel()
	// A server inherits an ignored signal, as of tests that run under nohup, and then
	// rightly goes on. A signal that this process handles is not ignored in the server.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT} {
		for _, transport := range []string{"stdio", "http"} {
			t.Run(fmt.Sprintf("%v/%s", signal, transport), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				alive := filepath.Join(t.TempDir(), "alive")
				if err := syscall.Mkfifo(alive, 0o600); err != nil {
					t.Fatal(err)
				}
				args := []string{"mcp"}
				if transport == "http" {
					args = append(args, "--http", "127.0.0.1:0")
				}
				cmd := exec.CommandContext(ctx, "convtools", args...) // the test binary, see TestMain
				// The pipe ends when nobody has it open any more, which is how the end
				// of both processes is seen.
				cmd.Env = append(os.Environ(), `CONVTOOLS_CLI=sh -c 'exec >"$0"; echo started; sleep 600 & sleep 600; :' `+alive)
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				log, err := cmd.StderrPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				if transport == "http" {
					line, err := bufio.NewReader(log).ReadString('\n')
					_, url, found := strings.Cut(strings.TrimSpace(line), "MCP at ")
					if err != nil || !found {
						t.Fatalf("the server said %q: %v", line, err)
					}
					go callHTTP(ctx, url)
				} else if _, err := io.WriteString(in, initializeLine+listLine); err != nil {
					t.Fatal(err)
				}
				pipe, err := os.Open(alive) // waits for the program
				if err != nil {
					t.Fatal(err)
				}
				defer pipe.Close()
				work := bufio.NewReader(pipe)
				if line, err := work.ReadString('\n'); line != "started\n" {
					t.Fatalf("the program said %q: %v", line, err)
				}
				if err := cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				_ = pipe.SetReadDeadline(time.Now().Add(30 * time.Second))
				if _, err := work.ReadByte(); !errors.Is(err, io.EOF) {
					t.Errorf("the work goes on after %v: %v", signal, err)
				}
				if err := cmd.Wait(); err != nil {
					t.Errorf("the server ended with %v", err)
				}
			})
		}
	}
}

// callHTTP calls a tool and does not care for the answer.
func callHTTP(ctx context.Context, url string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(listLine))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}
