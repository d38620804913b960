package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/cmd/convtools/internal/claudehome"
	"github.com/convtools/convtools/cmd/convtools/internal/mcpclient"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/runtime/base/secret"
)

// The bounds of hiding secrets: text a false alarm, in bytes, and the time of a search with it.
const (
	falseAlarmBound = 10_000_000
	hidingBound     = 1.05
)

// secrets counts the texts that are hidden as secrets in the source of Go and of the modules in the cache. Nearly all of
// these texts are keys for tests, so the number of false alarms is smaller.
func (b *bench) secrets(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOMODCACHE").Output() //nolint:forbidigo // as the build of the programs
	if err != nil {
		return err
	}
	for _, dir := range strings.Fields(string(out)) {
		found, size, err := countSecrets(dir, b.size.source)
		if err != nil {
			return err
		}
		b.table.Add(table.Row{
			Name: "secrets: hidden in " + megabytes(size) + " of source", Result: fmt.Sprint(found), Detail: filepath.Base(dir),
			Bound: fmt.Sprintf("at most 1 in %s", megabytes(falseAlarmBound)), Missed: int64(found)*falseAlarmBound > size,
		})
	}
	return nil
}

// countSecrets returns the number of secrets in up to most bytes of the source below a directory, and the bytes read.
func countSecrets(dir string, most int64) (found int, size int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if size >= most {
			return fs.SkipAll
		}
		text, err := os.ReadFile(path)
		mark := []byte("[secret: ")
		found += bytes.Count(secret.Mask(text), mark) - bytes.Count(text, mark) // without marks in the source itself
		size += int64(len(text))
		return err
	})
	return found, size, err
}

// hiding measures a search of sessions by hides, a server that hides secrets, beside a server that shows them.
func (b *bench) hiding(ctx context.Context, home claudehome.Home, hides *mcpclient.Session) error {
	settings := filepath.Join(home.Dir, "shown", "convtools", "convtools.toml")
	err := errors.Join(os.MkdirAll(filepath.Dir(settings), 0o700), os.WriteFile(settings, []byte("[recall]\nsecrets = \"show\"\n"), 0o600))
	if err != nil {
		return err
	}
	p := program{path: b.convtools, args: []string{"mcp", "--workspace", home.Project}, home: home.Dir, env: []string{"XDG_CONFIG_HOME=" + filepath.Join(home.Dir, "shown")}}
	shows, err := mcpclient.Start(ctx, p.command(ctx))
	if err != nil {
		return err
	}
	defer shows.Close() //nolint:errcheck // everything is measured
	arguments := map[string]any{"pattern": needle}
	results, err := inTurn(10*b.size.runs, calls(ctx, hides, "conversation_grep", arguments), calls(ctx, shows, "conversation_grep", arguments))
	if err == nil {
		b.table.Add(compared("sessions: conversation_grep that hides secrets", "one that shows them", results[0].median(), results[1].median(), hidingBound))
	}
	return err
}
