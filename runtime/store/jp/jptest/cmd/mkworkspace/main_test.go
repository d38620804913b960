package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sample, large := filepath.Join(dir, "sample"), filepath.Join(dir, "large")
	if err := run([]string{"sample", sample}, &strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	args := []string{"large", "-bytes", "100KB", "-conversations", "3", "-needle-every", "2", "-seed", "9", large}
	if err := run(args, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "conversations\t3\n") {
		t.Errorf("output:\n%s", out.String())
	}
	for _, d := range []string{sample, large} {
		entries, err := os.ReadDir(filepath.Join(d, ".jp", "conversations"))
		if err != nil || len(entries) < 3 {
			t.Errorf("%s: %d entries, %v", d, len(entries), err)
		}
	}
	if err := run([]string{"sample", sample}, &strings.Builder{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writing the sample again: %v, want %v", err, fs.ErrExist)
	}
}

func TestWrongUse(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "never")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "say what to write"},
		{[]string{"huge", dir}, `unknown workspace "huge"`},
		{[]string{"sample"}, "expected one directory"},
		{[]string{"sample", ""}, "expected one directory"},
		{[]string{"sample", dir, dir}, "expected one directory"},
		{[]string{"sample", "-bytes", "1MB", dir}, "not defined: -bytes"},
		{[]string{"large", "-bytes", "many", dir}, `"many" is not a size`},
		{[]string{"large", "-bytes", "-1MB", dir}, `"-1MB" is not a size`},
		{[]string{"large", "-bytes", "9999999999GB", dir}, "is not a size"},
	} {
		var wrongUse usageError
		err := run(tt.args, &strings.Builder{})
		if !errors.As(err, &wrongUse) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("run(%q): %v, want wrong use with %q", tt.args, err, tt.want)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int64{
		"1": 1, "7B": 7, "2KB": 2000, "2KiB": 2048, "200MB": 200_000_000, "1 MiB": 1 << 20, "3GB": 3_000_000_000, "1GiB": 1 << 30,
	} {
		if got, err := parseSize(s); err != nil || got != want {
			t.Errorf("parseSize(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
}
