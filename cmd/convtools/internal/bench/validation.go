package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// benchParse is the benchmark in generated/conversation that decodes and repairs
// arguments before it validates them.
const benchParse = "BenchmarkParseGrep"

// validation measures generated validators against those that interpret the tools'
// schemas, on the same arguments.
func (b *builds) validation(ctx context.Context, t *table.Table) error {
	results, err := b.validators(ctx)
	if err != nil {
		return err
	}
	measured := func(name string) (benchmark, error) {
		result, ok := results[name]
		if !ok {
			return benchmark{}, fmt.Errorf("%s is missing from the output of go test", name)
		}
		return result, nil
	}
	for _, arguments := range []string{"flat", "nested"} {
		bench := "BenchmarkValidators/" + arguments + "/"
		ours, err := measured(bench + "generated")
		if err != nil {
			return err
		}
		for _, peer := range []struct{ name, title string }{{"v5", "jsonschema/v5"}, {"v6", "jsonschema/v6"}, {"google", "google/jsonschema-go"}} {
			theirs, err := measured(bench + peer.name)
			if err != nil {
				return err
			}
			ratio := theirs.nanoseconds / ours.nanoseconds
			r := table.Row{
				Name:   "validation, " + arguments + ": beside " + peer.title,
				Result: fmt.Sprintf("%.0fx as fast", ratio),
				Detail: fmt.Sprintf("min %.0f ns; peer %.0f ns with %d allocations", ours.nanoseconds, theirs.nanoseconds, theirs.allocs),
			}
			r.AtLeast(ratio, 30)
			t.Add(r)
		}
		t.Add(table.Row{
			Name:   "validation, " + arguments + ": allocations",
			Result: fmt.Sprintf("%d", ours.allocs),
			Bound:  "none",
			Missed: ours.allocs > 0,
		})
	}
	parse, err := measured(benchParse)
	if err != nil {
		return err
	}
	t.Add(table.Row{
		Name:   "validation, flat: decoding and repairs included",
		Result: fmt.Sprintf("%.2fx as fast as jsonschema/v5 without decoding", results["BenchmarkValidators/flat/v5"].nanoseconds/parse.nanoseconds),
		Detail: fmt.Sprintf("min %.0f ns with %d allocations", parse.nanoseconds, parse.allocs),
	})
	return nil
}

// validators runs the benchmarks of validators. With -count, go test would run one
// often before the next, and not in turn.
func (b *builds) validators(ctx context.Context) (map[string]benchmark, error) {
	var out []byte
	for range b.plan.counts {
		for _, where := range [][]string{
			{"-C", b.root, "test", "-bench", "^" + benchParse + "$", module + "/generated/conversation"},
			{"-C", filepath.Join(b.root, "cmd", "convtools", "internal"), "test", "-bench", "^BenchmarkValidators$", "./bench"},
		} {
			run, err := b.goRun(ctx, append(where, "-run", "^$", "-benchmem", "-benchtime", b.plan.benchtime)...)
			if err != nil {
				return nil, err
			}
			out = append(out, run...)
		}
	}
	return parseBenchmarks(out)
}

// benchmark is the result of one Go benchmark: its fastest run.
type benchmark struct {
	nanoseconds float64 // an operation
	allocs      int64   // an operation
}

func (b benchmark) duration() time.Duration { return time.Duration(b.nanoseconds) }

// parseBenchmarks reads what go test -bench -benchmem prints. Where a benchmark
// ran more than once, the fastest run and the most allocations count. The number
// of processors at the end of a name is cut off.
func parseBenchmarks(out []byte) (map[string]benchmark, error) {
	results := map[string]benchmark{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		// BenchmarkName-8  1000  123.4 ns/op  0 B/op  0 allocs/op
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := fields[0]
		if i := strings.LastIndexByte(name, '-'); i >= 0 {
			if _, err := strconv.Atoi(name[i+1:]); err == nil {
				name = name[:i]
			}
		}
		var got benchmark
		for i := 2; i+1 < len(fields); i += 2 {
			var err error
			switch fields[i+1] {
			case "ns/op":
				got.nanoseconds, err = strconv.ParseFloat(fields[i], 64)
			case "allocs/op":
				got.allocs, err = strconv.ParseInt(fields[i], 10, 64)
			}
			if err != nil {
				return nil, fmt.Errorf("reading the benchmark result %q: %w", lines.Text(), err)
			}
		}
		if got.nanoseconds <= 0 {
			return nil, fmt.Errorf("the benchmark result %q has no time", lines.Text())
		}
		if before, ok := results[name]; ok {
			got.nanoseconds = min(got.nanoseconds, before.nanoseconds)
			got.allocs = max(got.allocs, before.allocs)
		}
		results[name] = got
	}
	return results, nil
}

// jsonText returns v as JSON.
func jsonText(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("writing JSON: %w", err)
	}
	return string(data), nil
}
