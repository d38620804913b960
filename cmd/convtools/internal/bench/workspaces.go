package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// synthetic is a workspace written to be measured on.
type synthetic struct {
	name          string
	dir           string
	conversations int
	bytes         int64 // of events
}

// workspaces measures listing. Workspaces are written and removed one at a time.
func (b *builds) workspaces(ctx context.Context, t *table.Table, progress func(string)) error {
	for _, shape := range []struct {
		name          string
		bytes         int64
		conversations int
	}{
		{"", b.plan.bytes, b.plan.conversations},
		{"few large: ", b.plan.bytes, b.plan.few},
		{"many: ", b.plan.history, b.plan.many},
	} {
		progress(fmt.Sprintf("%s%d conversations, %s", shape.name, shape.conversations, megabytes(shape.bytes)))
		ws, err := b.synthetic(ctx, shape.name, shape.bytes, shape.conversations)
		if err != nil {
			return err
		}
		if err := b.ls(ctx, t, ws); err != nil {
			return fmt.Errorf("measuring conversation ls: %w", err)
		}
		if err := os.RemoveAll(ws.dir); err != nil {
			return fmt.Errorf("removing a workspace: %w", err)
		}
	}
	return nil
}

// synthetic writes a workspace. Another process does it: see peakMemory.
func (b *builds) synthetic(ctx context.Context, name string, size int64, conversations int) (synthetic, error) {
	ws := synthetic{name: name, dir: filepath.Join(b.dir, "workspace"), conversations: conversations}
	out, err := program{path: b.mkworkspace, args: []string{
		"-bytes", strconv.FormatInt(size, 10), "-conversations", strconv.Itoa(conversations), ws.dir,
	}}.output(ctx, b.dataDir)
	if err != nil {
		return ws, err
	}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		switch key {
		case "bytes":
			ws.bytes, err = strconv.ParseInt(value, 10, 64)
		}
		if err != nil {
			return ws, fmt.Errorf("reading what mkworkspace wrote, %q: %w", line, err)
		}
	}
	return ws, nil
}

// Bounds on listing. What is not known is counted, which means to read all events: reading the
// same files to nowhere is measured against that. What is known is only looked at.
const (
	lsBound      = 1.5
	lsKnownBound = 1
	treeBound    = 1.1
	lsStarts     = 8 // starts of an empty program that a list may take beside the reading
)

// ls measures listing, as a table and as a tree, beside cat and ls of the same files.
func (b *builds) ls(ctx context.Context, t *table.Table, ws synthetic) error {
	list := program{path: b.convtools, args: []string{"conversation", "ls", "--workspace", ws.dir, "-F", "json"}, env: []string{"XDG_CACHE_HOME=" + os.DevNull, "LocalAppData="}}
	tree := list
	tree.args = append(slices.Clone(list.args), "--tree")
	known := list
	known.env = []string{"XDG_CACHE_HOME=" + filepath.Join(b.dir, "cache"), "LocalAppData=" + filepath.Join(b.dir, "cache")}
	programs := []program{list, tree, known, {path: b.empty}}
	if sh, err := exec.LookPath("sh"); err == nil {
		files := filepath.Join(ws.dir, ".jp")
		programs = append(programs,
			program{path: sh, args: []string{"-c", `find "$1" -name '*.json' -exec cat {} + >/dev/null`, "sh", files}},
			program{path: sh, args: []string{"-c", `exec ls -lR "$1"`, "sh", files}})
	}
	results, err := inTurn(ctx, b.dataDir, b.plan.runs, programs...)
	if err != nil {
		return err
	}
	of := fmt.Sprintf("%sls of %d conversations, %s", ws.name, ws.conversations, megabytes(ws.bytes))
	if len(results) > 4 {
		row, ratio := compare(of, "cat of the same files", results[0], results[4])
		row.Bound, row.Missed = fmt.Sprintf("%.2fx", lsBound), ratio > lsBound
		row.Detail += fmt.Sprintf("; %.0f MB of events a second", float64(ws.bytes)/1e6/results[0].min().Seconds())
		t.Add(row)
		row, ratio = compare(of+", known", "ls -lR", results[2], results[5])
		if ws.conversations == b.plan.many { // of few, what is measured is the start
			row.AtMost(ratio, lsKnownBound)
		}
		row.Detail += "; CPU " + milliseconds(results[2].cpu) + ", peer " + milliseconds(results[5].cpu)
		t.Add(row)
		empty, read := results[3].min(), results[4].min()
		ratio = float64(results[2].min()) / float64(lsStarts*empty+read)
		row = table.Row{
			Name: of + ", known", Result: fmt.Sprintf("%.2fx of %d starts and the reading", ratio, lsStarts),
			Detail: fmt.Sprintf("%s; an empty Go program %s, cat %s", milliseconds(results[2].min()), milliseconds(empty), milliseconds(read)),
		}
		row.AtMost(ratio, 1)
		t.Add(row)
	}
	row, ratio := compare(of+" as a tree", "ls", results[1], results[0])
	row.Bound, row.Missed = fmt.Sprintf("%.2fx", treeBound), ratio > treeBound
	t.Add(row)
	return nil
}
