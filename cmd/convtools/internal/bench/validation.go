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

// The benchmarks in generated/conversation whose results are read.
const (
	benchGenerated = "BenchmarkValidateGrep/generated"
	benchSchema    = "BenchmarkValidateGrep/jsonschema"
	benchParse     = "BenchmarkParseGrep"
)

// validation measures the generated validator of a tool against a validator that
// interprets the tool's schema, on the same arguments.
func (b *builds) validation(ctx context.Context, t *table.Table) error {
	// With -count, go test would run one benchmark often before the next, and not
	// in turn.
	var out []byte
	for range b.plan.counts {
		run, err := b.goRun(ctx, "-C", b.root, "test", "-run", "^$", "-bench", "^Benchmark(Validate|Parse)Grep$", "-benchmem",
			"-benchtime", b.plan.benchtime, module+"/generated/conversation")
		if err != nil {
			return err
		}
		out = append(out, run...)
	}
	results, err := parseBenchmarks(out)
	if err != nil {
		return err
	}
	for _, name := range []string{benchGenerated, benchSchema, benchParse} {
		if _, ok := results[name]; !ok {
			return fmt.Errorf("%s is missing from the output of go test:\n%s", name, out)
		}
	}
	ours, theirs, parse := results[benchGenerated], results[benchSchema], results[benchParse]
	ratio := theirs.nanoseconds / ours.nanoseconds
	r := table.Row{
		Name:   "validation: conversation_grep",
		Result: fmt.Sprintf("%.0fx as fast as jsonschema/v5", ratio),
		Detail: fmt.Sprintf("min %.0f ns; peer %.0f ns with %d allocations", ours.nanoseconds, theirs.nanoseconds, theirs.allocs),
	}
	r.AtLeast(ratio, 30)
	t.Add(r)
	t.Add(table.Row{
		Name:   "validation: allocations",
		Result: fmt.Sprintf("%d", ours.allocs),
		Bound:  "none",
		Missed: ours.allocs > 0,
	})
	t.Add(table.Row{
		Name:   "validation: decoding and repairs included",
		Result: fmt.Sprintf("%.2fx as fast as jsonschema/v5 without decoding", theirs.nanoseconds/parse.nanoseconds),
		Detail: fmt.Sprintf("min %.0f ns with %d allocations", parse.nanoseconds, parse.allocs),
	})
	return b.validators(ctx, t)
}

// validators measures the generated validator against two more that interpret the
// schema.
func (b *builds) validators(ctx context.Context, t *table.Table) error {
	var out []byte
	for range b.plan.counts {
		run, err := b.goRun(ctx, "-C", filepath.Join(b.root, "cmd", "convtools", "internal"), "test", "-run", "^$", "-bench", "^BenchmarkValidators$", "-benchmem",
			"-benchtime", b.plan.benchtime, "./bench")
		if err != nil {
			return err
		}
		out = append(out, run...)
	}
	results, err := parseBenchmarks(out)
	if err != nil {
		return err
	}
	ours, measured := results["BenchmarkValidators/generated"]
	for _, peer := range []struct{ name, title string }{{"v6", "jsonschema/v6"}, {"google", "google/jsonschema-go"}} {
		theirs, ok := results["BenchmarkValidators/"+peer.name]
		if !ok || !measured {
			return fmt.Errorf("a validator is missing from the output of go test:\n%s", out)
		}
		ratio := theirs.nanoseconds / ours.nanoseconds
		r := table.Row{
			Name:   "validation: beside " + peer.title,
			Result: fmt.Sprintf("%.0fx as fast as %s", ratio, peer.title),
			Detail: fmt.Sprintf("min %.0f ns; peer %.0f ns with %d allocations", ours.nanoseconds, theirs.nanoseconds, theirs.allocs),
		}
		r.AtLeast(ratio, 30)
		t.Add(r)
	}
	return nil
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
