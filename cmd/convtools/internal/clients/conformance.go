package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// conform runs everything that a revision of the protocol asks of servers, on
// convtools. What is known to fail, and why, is in testdata/conformance; the suite
// fails as well when something listed there passes.
func conform(revision string) func(context.Context, *lab) ([]string, error) {
	return conformance(revision, revision, func(l *lab) []string { return append(l.serverCommand(), "--http") })
}

// conformFixture does so on the server with a family that brings what the scenarios
// want, as far as families can have it.
func conformFixture(revision string) func(context.Context, *lab) ([]string, error) {
	return conformance(revision, "fixture-"+revision, func(l *lab) []string { return []string{l.fixture} })
}

func conformance(revision, expected string, command func(*lab) []string) func(context.Context, *lab) ([]string, error) {
	return func(ctx context.Context, l *lab) (notes []string, err error) {
		err = l.serveProgram(ctx, command(l), func(ctx context.Context, url string) error {
			result, err := l.runNode(ctx, l.module("@modelcontextprotocol", "conformance", "dist", "index.js"), "server",
				"--url", url, "--requirements", revision,
				"--expected-failures", filepath.Join(l.dir, "testdata", "conformance", expected+".yaml"),
				"--output-dir", filepath.Join(l.dir, "conformance", expected))
			if err != nil {
				return err
			}
			// The suite colours what it prints, whoever reads it.
			printed := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAll(result.Stdout, nil)
			_, summary, ok := bytes.Cut(printed, []byte("=== SUMMARY ===\n"))
			if !ok {
				return fmt.Errorf("the suite printed no summary: %w", exitError(result))
			}
			total, rest, _ := strings.Cut(string(summary), "Total: ")
			counts, rest, _ := strings.Cut(rest, "\n")
			notes = append(notes, fmt.Sprintf("%d scenarios, checks: %s", strings.Count(total, "\n"), counts))
			if result.ExitCode != 0 {
				return fmt.Errorf("not as expected:\n%s", strings.TrimSpace(rest))
			}
			return nil
		})
		return notes, err
	}
}
