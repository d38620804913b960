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
		if err := runSteps(t.Context(), nil, all, "a/", &got); err == nil || !strings.Contains(err.Error(), "2 steps failed") {
			t.Errorf("error is %v, want one that counts the failed steps", err)
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("printed (-want +got):\n%s", diff)
		}
		if err := runSteps(t.Context(), nil, all, "b", &got); err != nil {
			t.Error(err)
		}
		if err := runSteps(t.Context(), nil, all, "c", &got); err == nil || !strings.Contains(err.Error(), `"c"`) {
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
