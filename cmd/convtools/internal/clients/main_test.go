package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRunSteps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all := []step{
			{"a/passes", time.Minute, func(context.Context, *lab) (string, error) { return "worth\nknowing", nil }},
			{"a/fails", time.Minute, func(context.Context, *lab) (string, error) { return "", errors.New("not\nright") }},
			{"a/hangs", time.Minute, func(ctx context.Context, _ *lab) (string, error) {
				<-ctx.Done()
				return "", errors.New("killed")
			}},
			{"b/passes", time.Minute, func(context.Context, *lab) (string, error) { return "", nil }},
		}
		const want = `ok    a/passes                        0.0s
      worth
      knowing
FAIL  a/fails                         0.0s
      not
      right
FAIL  a/hangs                        60.0s
      not done after 1m0s (killed)

1 of 3 steps passed
`
		var got bytes.Buffer
		passed, err := runSteps(t.Context(), nil, all, "a/", &got)
		if passed || err != nil {
			t.Errorf("got %v, %v; want false and no error", passed, err)
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("printed (-want +got):\n%s", diff)
		}
		if passed, err := runSteps(t.Context(), nil, all, "b", &got); !passed || err != nil {
			t.Errorf("got %v, %v; want true and no error", passed, err)
		}
		if _, err := runSteps(t.Context(), nil, all, "c", &got); err == nil || !strings.Contains(err.Error(), `"c"`) {
			t.Errorf("error is %v, want one that names c", err)
		}
	})
}

func TestOwnDir(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		got, err := ownDir(dir)
		if err != nil || got != dir {
			t.Fatalf("got %s, %v; want %s, made when it is not there and taken when it is", got, err, dir)
		}
	}
	// The parent holds something that this command did not make.
	if _, err := ownDir(filepath.Dir(dir)); err == nil || !strings.Contains(err.Error(), "holds other files") {
		t.Errorf("error is %v, want one about other files", err)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		args           []string
		exit           int
		stdout, stderr string // parts
	}{
		{"help", []string{"-h"}, 0, "usage: clients", ""},
		{"list", []string{"-list"}, 0, "codex/stdio\n", ""},
		{"an argument", []string{"codex"}, 2, "", `got "codex"`},
		{"an unknown flag", []string{"-x"}, 2, "", "flag provided but not defined: -x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			if exit := run(t.Context(), test.args, &stdout, &stderr); exit != test.exit {
				t.Errorf("exit code is %d, want %d", exit, test.exit)
			}
			if !strings.Contains(stdout.String(), test.stdout) || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("printed %q and %q, want %q and %q", stdout.String(), stderr.String(), test.stdout, test.stderr)
			}
		})
	}
}
