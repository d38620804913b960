package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/convtools/convtools/gen/plan/plantest"
)

// generatorBound is how long convgen may take to generate 1,000 tools.
const generatorBound = 2 * time.Second

// generator measures convgen over a project of many tools, with nothing generated before
// and with nothing to do.
func (b *bench) generator(ctx context.Context) error {
	projects := filepath.Join(b.dir, "generator")
	var all measured
	var convgen program
	for i := range b.amount.runs {
		// Each run has a folder of its own: after files were removed, some file systems take
		// many times as long to make others.
		dir := filepath.Join(projects, strconv.Itoa(i))
		if err := os.CopyFS(dir, plantest.Project(b.amount.tools)); err != nil {
			return fmt.Errorf("writing a project: %w", err)
		}
		convgen = program{path: b.convgen, args: []string{"generate", "-C", dir}, env: b.home("generator")}
		one, err := once(ctx, convgen)
		if err != nil {
			return err
		}
		all.merge(one)
	}
	unchanged, err := inTurn(ctx, b.amount.runs, convgen)
	if err != nil {
		return err
	}
	for _, r := range []struct {
		name string
		measured
	}{{"nothing generated before", all}, {"no change", unchanged[0]}} {
		b.table.Add(within(fmt.Sprintf("convgen, %d specs: %s", b.amount.tools, r.name), r.min(), generatorBound,
			fmt.Sprintf("median %s, at most %s resident", milliseconds(r.median()), megabytes(r.peak))))
	}
	return os.RemoveAll(projects)
}
