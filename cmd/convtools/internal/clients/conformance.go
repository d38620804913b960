package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// conform runs everything that a revision of the protocol asks of servers, on convtools, or
// on the fixture, whose family has what the scenarios want. The failures that are expected
// are in testdata/conformance, with reasons; the suite fails as well when one of them passes.
func conform(revision, server string) func(context.Context, *lab) (string, error) {
	return func(ctx context.Context, l *lab) (note string, err error) {
		command := append(l.serverCommand(), "--http")
		if server != "" {
			command = []string{l.fixture}
		}
		expected := server + revision
		err = l.serve(ctx, command, func(ctx context.Context, url string) error {
			result, err := l.runNode(ctx, l.module("@modelcontextprotocol", "conformance", "dist", "index.js"), "server",
				"--url", url, "--requirements", revision,
				"--expected-failures", filepath.Join(l.dir, "testdata", "conformance", expected+".yaml"),
				"--output-dir", filepath.Join(l.dir, "conformance", expected))
			if err != nil {
				return err
			}
			// The suite colours its output, whoever reads it.
			printed := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAll(result.Stdout, nil)
			_, summary, ok := bytes.Cut(printed, []byte("=== SUMMARY ===\n"))
			if !ok {
				return fmt.Errorf("the suite printed no summary: %w", exitError(result))
			}
			total, rest, _ := strings.Cut(string(summary), "Total: ")
			counts, rest, _ := strings.Cut(rest, "\n")
			note = fmt.Sprintf("as expected: %d scenarios, checks: %s", strings.Count(total, "\n"), counts)
			if result.ExitCode != 0 {
				note = strings.Replace(note, "as expected", "not as expected", 1)
				return errors.New(strings.TrimSpace(rest))
			}
			return nil
		})
		return note, err
	}
}
