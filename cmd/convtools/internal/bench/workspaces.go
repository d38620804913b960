package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// memoryBound is how much memory a search may take, in bytes.
const memoryBound = 80_000_000

// words are what is searched for. How often the last two occur is asked of
// convtools; the first one is counted while the workspace is written.
var words = [...]struct{ name, word string }{
	{"a rare word", jptest.Needle},
	{"a word that is nowhere", "keelhaul"},
	{"a word in every ninth line", "return"},
}

// synthetic is a workspace written to be measured on.
type synthetic struct {
	name          string
	dir           string
	conversations int
	bytes         int64 // of events
	largest       int64 // conversation, in bytes of events
	needles       int   // lines with [jptest.Needle]
}

// workspaces measures searching and listing. Workspaces are written and removed
// one at a time.
func (b *builds) workspaces(ctx context.Context, t *table.Table, progress func(string)) ([]profile, error) {
	var profiles []profile
	for _, shape := range []struct {
		name          string
		bytes         int64
		conversations int
		search        bool
		profile       bool
	}{
		{"", b.plan.bytes, b.plan.conversations, true, true},
		{"few large: ", b.plan.bytes, b.plan.few, true, false},
		{"many: ", b.plan.history, b.plan.many, false, false},
	} {
		progress(fmt.Sprintf("%s%d conversations, %s", shape.name, shape.conversations, megabytes(shape.bytes)))
		ws, err := b.synthetic(ctx, shape.name, shape.bytes, shape.conversations)
		if err != nil {
			return nil, err
		}
		if shape.search {
			if err := b.grep(ctx, t, ws); err != nil {
				return nil, fmt.Errorf("measuring conversation grep: %w", err)
			}
		}
		if err := b.ls(ctx, t, ws); err != nil {
			return nil, fmt.Errorf("measuring conversation ls: %w", err)
		}
		if shape.profile {
			progress("profiles")
			for _, p := range []struct{ of, benchmark string }{
				{"conversation ls", "BenchmarkLs"},
				{"conversation grep", "BenchmarkGrep"},
			} {
				top, err := b.profile(ctx, p.benchmark, ws)
				if err != nil {
					return nil, fmt.Errorf("profiling %s: %w", p.of, err)
				}
				profiles = append(profiles, profile{fmt.Sprintf("%s over %d conversations, %s", p.of, ws.conversations, megabytes(ws.bytes)), top})
			}
		}
		if err := os.RemoveAll(ws.dir); err != nil {
			return nil, fmt.Errorf("removing a workspace: %w", err)
		}
	}
	return profiles, nil
}

// synthetic writes a workspace. Another process does it: see peakMemory.
func (b *builds) synthetic(ctx context.Context, name string, size int64, conversations int) (synthetic, error) {
	ws := synthetic{name: name, dir: filepath.Join(b.dir, "workspace"), conversations: conversations}
	out, err := program{path: b.mkworkspace, args: []string{
		"large", "-bytes", strconv.FormatInt(size, 10), "-conversations", strconv.Itoa(conversations), ws.dir,
	}}.output(ctx, b.dataDir)
	if err != nil {
		return ws, err
	}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		switch key {
		case "bytes":
			ws.bytes, err = strconv.ParseInt(value, 10, 64)
		case "needles":
			ws.needles, err = strconv.Atoi(value)
		}
		if err != nil {
			return ws, fmt.Errorf("reading what mkworkspace wrote, %q: %w", line, err)
		}
	}
	err = filepath.WalkDir(ws.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != jptest.EventsFile {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		ws.largest = max(ws.largest, info.Size())
		return nil
	})
	if err != nil {
		return ws, fmt.Errorf("looking for the largest conversation: %w", err)
	}
	return ws, nil
}

// grep measures searching against ripgrep, which reads the same files but does
// not decode them, and so finds next to nothing in them.
func (b *builds) grep(ctx context.Context, t *table.Table, ws synthetic) error {
	var peak, floor int64
	for i, w := range words {
		ours := program{
			path: b.convtools, noMatch: true,
			args: []string{"conversation", "grep", "--workspace", ws.dir, "-F", "json", "--ignore-case", w.word},
		}
		matches, err := b.matches(ctx, ours)
		if err != nil {
			return err
		}
		if i == 0 && matches != ws.needles {
			return fmt.Errorf("%q is on %d lines and was found on %d", w.word, ws.needles, matches)
		}
		// The empty program shows what peakMemory would report for nothing.
		programs := []program{ours, {path: b.empty}}
		if b.ripgrep != "" {
			programs = append(programs, program{
				path: b.ripgrep, noMatch: true,
				args: []string{"-i", "--no-ignore", "--hidden", "--", w.word, ws.dir},
			})
		}
		results, err := inTurn(ctx, b.dataDir, b.plan.runs, programs...)
		if err != nil {
			return err
		}
		peak, floor = max(peak, results[0].peak), max(floor, results[1].peak)
		name := fmt.Sprintf("%sgrep for %s, %d hits", ws.name, w.name, matches)
		if b.ripgrep == "" {
			t.Add(table.Row{
				Name: name, Result: "not compared: rg is missing, see github.com/BurntSushi/ripgrep",
				Detail: fmt.Sprintf("min %s, median %s", milliseconds(results[0].min()), milliseconds(results[0].median())),
			})
			continue
		}
		r, ratio := compare(name, "rg -i", results[0], results[2])
		if i < 2 {
			// Where there are many hits, writing them is most of the work, and
			// rg, which does not see them, has none of it.
			r.AtMost(ratio, 2.7)
		}
		t.Add(r)
	}
	if peak == 0 {
		return nil
	}
	ratio := float64(peak) / memoryBound
	r := table.Row{
		Name:   ws.name + "grep: peak memory",
		Result: fmt.Sprintf("%.2fx of %s", ratio, megabytes(memoryBound)),
		Detail: fmt.Sprintf("%s; largest conversation %s; an empty Go program %s", megabytes(peak), megabytes(ws.largest), megabytes(floor)),
	}
	r.AtMost(ratio, 1)
	t.Add(r)
	return nil
}

// matches returns how many lines a search finds.
func (b *builds) matches(ctx context.Context, search program) (int, error) {
	search.args = slices.Concat(search.args, []string{"--summary", "--max-hits=1"})
	out, err := search.output(ctx, b.dataDir)
	if err != nil {
		return 0, err
	}
	var elements []struct {
		Summary *struct {
			Matches int `json:"matches"`
		} `json:"summary"`
	}
	if err := json.Unmarshal(out, &elements); err != nil {
		return 0, fmt.Errorf("reading what a search printed: %w", err)
	}
	if len(elements) == 0 || elements[len(elements)-1].Summary == nil {
		return 0, errors.New("a search printed no summary")
	}
	return elements[len(elements)-1].Summary.Matches, nil
}

// Bounds on listing. What is not known is counted, which means to read all events: reading the
// same files to nowhere is measured against that. What is known is only looked at.
const (
	lsBound      = 1.0 / 0.6
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
