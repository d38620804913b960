package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
)

// conform returns a step that runs the conformance suite for a revision of the protocol. The expected failures and
// their reasons are in testdata/conformance. The step also fails if a check passes that is expected to fail.
func conform(revision string) func(context.Context, *lab) (string, error) {
	return func(ctx context.Context, l *lab) (note string, err error) {
		err = l.serve(ctx, func(ctx context.Context, url string) error {
			suite := l.module("@modelcontextprotocol", "conformance", "dist", "index.js")
			result, err := l.runNode(ctx, suite, "server", "--url", url, "--requirements", revision,
				"--expected-failures", l.testdata("conformance", revision+".yaml"),
				"--output-dir", l.testdata("conformance", revision))
			if err != nil {
				return err
			}
			printed := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(string(result.Stdout), "")
			_, summary, ok := strings.Cut(printed, "=== SUMMARY ===\n")
			if !ok {
				return fmt.Errorf("the suite printed no summary: %w", repository.ExitError(result))
			}
			// A line for each scenario, then the counts, then what was not expected.
			scenarios, rest, _ := strings.Cut(summary, "Total: ")
			counts, rest, _ := strings.Cut(rest, "\n")
			if result.ExitCode != 0 { // also if a check passes that is expected to fail
				return errors.New("not as expected: " + counts + "\n" + strings.TrimSpace(rest))
			}
			note = fmt.Sprintf("as expected: %d scenarios, checks: %s", strings.Count(scenarios, "\n"), counts)
			return nil
		})
		return note, err
	}
}
