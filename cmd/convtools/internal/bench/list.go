package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// Bounds on listing. To list what is not known means to read all events.
const (
	listBound      = 1.5
	listKnownBound = 60 * time.Millisecond
)

// list measures listing conversations of JP, the first time and once they are indexed.
func (b *bench) list(ctx context.Context) error {
	dir := filepath.Join(b.dir, "workspace")
	if err := jptest.Large(dir, b.amount.bytes, b.amount.conversations); err != nil {
		return err
	}
	args := []string{"conversation", "ls", "--workspace", dir, "-F", "json"}
	known := program{path: b.convtools, args: args, env: b.home("list")}
	first := program{path: b.convtools, args: args, env: append(b.home("list"), "XDG_CACHE_HOME="+os.DevNull)}
	name := fmt.Sprintf("ls of %d conversations, %s", b.amount.conversations, megabytes(b.amount.bytes))
	programs := []program{known}
	if sh, err := exec.LookPath("sh"); err == nil {
		cat := program{path: sh, args: []string{"-c", `find "$1" -name '*.json' -exec cat {} + >/dev/null`, "sh", filepath.Join(dir, ".jp")}}
		programs = append(programs, first, cat)
	}
	index := program{path: b.convtools, args: []string{"search", "index", "--workspace", dir}, env: known.env}
	if _, err := once(ctx, index); err != nil {
		return err
	}
	results, err := inTurn(ctx, b.amount.runs, programs...)
	if err != nil {
		return err
	}
	if len(results) > 1 {
		b.table.Add(compare(name+", nothing known", "cat of the same files", results[1], results[2], listBound))
	}
	b.table.Add(within(name+", known", results[0].min(), listKnownBound, "median "+milliseconds(results[0].median())))
	return os.RemoveAll(dir)
}
