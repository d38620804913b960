package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/gen/plan/plantest"
)

// Bounds on generating for 1,000 tools.
const (
	generatorAll       = time.Second
	generatorUnchanged = 50 * time.Millisecond
)

// generator measures convgen over a project of many tools: with nothing there that
// it has to write, and with nothing to do. Beside it are generators of code from
// OpenAPI and SQL, each of which writes one output of another kind.
func (b *builds) generator(ctx context.Context, t *table.Table) error {
	projects, caches := filepath.Join(b.dir, "generator"), filepath.Join(b.dir, "caches")
	var dir string
	var convgen program
	var all measured
	for i := range b.plan.runs {
		// A folder of its own for each run: where files were removed a moment ago, some
		// file systems take many times as long to make others.
		dir = filepath.Join(projects, strconv.Itoa(i))
		if err := os.CopyFS(dir, plantest.Project(b.plan.tools)); err != nil {
			return fmt.Errorf("writing a project: %w", err)
		}
		convgen = program{path: b.convgen, args: []string{"generate", "-C", dir}, env: []string{
			"HOME=" + caches, "XDG_CACHE_HOME=" + caches, "LocalAppData=" + caches,
		}}
		one, err := b.once(ctx, convgen)
		if err != nil {
			return err
		}
		all.times = append(all.times, one.times...)
		all.peak = max(all.peak, one.peak)
	}
	slices.Sort(all.times)
	// Files that are new could have changed twice in a moment: only older ones are
	// known to be the same.
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		return fmt.Errorf("making files old: %w", err)
	}
	results, err := inTurn(ctx, b.dataDir, b.plan.runs, convgen) // the first run is not measured, and finds nothing to do
	if err != nil {
		return err
	}
	add := func(name string, m measured, limit time.Duration) {
		t.Add(table.Row{
			Name:   fmt.Sprintf("convgen, %d specs: %s", b.plan.tools, name),
			Result: milliseconds(m.min()),
			Bound:  "at most " + milliseconds(limit),
			Missed: m.min() > limit,
			Detail: fmt.Sprintf("median %s, at most %s resident", milliseconds(m.median()), megabytes(m.peak)),
		})
	}
	add("from nothing", all, generatorAll)
	add("no change", results[0], generatorUnchanged)
	if err := os.RemoveAll(projects); err != nil {
		return fmt.Errorf("removing what was generated: %w", err)
	}
	if err := b.manyTools(ctx, t, convgen.env); err != nil {
		return err
	}
	if err := b.definitions(ctx, t); err != nil {
		return err
	}
	return b.beside(ctx, t, all)
}

// manyTools shows that nothing breaks with ten times as many tools, and what that takes.
func (b *builds) manyTools(ctx context.Context, t *table.Table, env []string) error {
	dir, tools := filepath.Join(b.dir, "many tools"), 10*b.plan.tools
	if err := os.CopyFS(dir, plantest.Project(tools)); err != nil {
		return fmt.Errorf("writing a project: %w", err)
	}
	one, err := b.once(ctx, program{path: b.convgen, args: []string{"generate", "-C", dir}, env: env})
	if err != nil {
		return err
	}
	t.Add(table.Row{
		Name:   fmt.Sprintf("convgen, %d specs: from nothing", tools),
		Result: milliseconds(one.min()),
		Detail: fmt.Sprintf("at most %s resident", megabytes(one.peak)),
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing what was generated: %w", err)
	}
	return nil
}

// definitions shows how long the definitions of this module's tools are, to every target,
// as convgen targets has them.
func (b *builds) definitions(ctx context.Context, t *table.Table) error {
	text, err := program{path: b.convgen, args: []string{"targets", "-C", b.root}}.output(ctx, b.dataDir)
	if err != nil {
		return err
	}
	var order []string
	total, tools := map[string]int{}, map[string][]string{}
	for line := range strings.Lines(string(text)) {
		var tool, target string
		var size int
		columns := slices.DeleteFunc(strings.Split(strings.TrimSpace(line), "  "), func(s string) bool { return strings.TrimSpace(s) == "" })
		if len(columns) < 4 {
			continue // a former name
		}
		tool, target = columns[0], strings.TrimSpace(columns[1])
		if _, err := fmt.Sscanf(strings.TrimSpace(columns[3]), "%d bytes", &size); err != nil {
			continue // the names of the columns
		}
		if tools[target] == nil {
			order = append(order, target)
		}
		total[target] += size
		tools[target] = append(tools[target], fmt.Sprintf("%s %d", tool, size))
	}
	if len(order) == 0 {
		return fmt.Errorf("convgen targets has no definitions:\n%s", text)
	}
	for _, target := range order {
		t.Add(table.Row{
			Name:   fmt.Sprintf("definitions of %d tools: %s", len(tools[target]), target),
			Result: fmt.Sprintf("%d bytes", total[target]),
			Detail: strings.Join(tools[target], ", "),
		})
	}
	return nil
}

// once runs a program once.
func (b *builds) once(ctx context.Context, p program) (measured, error) {
	cmd := p.command(ctx, b.dataDir)
	forgetPeak()
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return measured{}, fmt.Errorf("running %s: %w", p.path, err)
	}
	return measured{times: []time.Duration{time.Since(start)}, peak: peakMemory(cmd.ProcessState)}, nil
}
