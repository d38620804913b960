package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// knowledgeMemory is how much memory a call of learn may take, in bytes.
const knowledgeMemory = 50_000_000

// knowledge measures learn over a large topic, against a program that lists its
// files, and for one subject against one that prints the file. All are whole
// processes.
func (b *builds) knowledge(ctx context.Context, t *table.Table) error {
	dir := filepath.Join(b.dir, "knowledge")
	one, err := writeTopic(dir, b.plan.folders)
	if err != nil {
		return err
	}
	learn := func(arguments string) program {
		return program{path: b.convtools, args: []string{"call", "--workspace", dir, "learn", arguments}}
	}
	programs := []program{
		{path: b.empty},
		learn(`{"topic":"large"}`),
		learn(`{"topic":"large","subjects":["**/s49"]}`),
		learn(`{"topic":"large","subjects":["**"]}`),
		learn(`{"topic":"large","subjects":"t00/f01/s02"}`),
		learn(`{"topic":"small","subjects":"s02"}`),
		{path: b.convtools, args: []string{"knowledge", "ls", "--workspace", dir}},
	}
	total := b.plan.folders * filesInFolder
	large := fmt.Sprintf("learn, %d subjects: ", total)
	names := []string{
		"", large + "list", large + "load one of each folder by **/s49", large + "load all by **", large + "load one",
		fmt.Sprintf("learn, %d subjects: load one", filesInFolder), fmt.Sprintf("knowledge ls of %d subjects", total),
	}
	const listAll, oneEach, ofLarge, ofSmall, last = 1, 2, 4, 5, 6
	rg, cat := len(programs), len(programs)
	if b.ripgrep != "" {
		programs = append(programs, program{path: b.ripgrep, args: []string{"--files", "--no-ignore", "-g", "**", filepath.Join(dir, "notes")}})
		cat++
	}
	printer, err := exec.LookPath("cat")
	if err == nil {
		programs = append(programs, program{path: printer, args: []string{one}})
	}
	results, err := inTurn(ctx, b.dataDir, b.plan.knowledgeRuns, programs...)
	if err != nil {
		return err
	}
	for i := 1; i <= last; i++ {
		name, peer, with, limit := names[i], "rg --files -g '**'", rg, 1.5
		if i == ofLarge || i == ofSmall {
			peer, with, limit = "cat", cat, 2
		}
		missing := peer == "cat" && printer == "" || peer != "cat" && b.ripgrep == ""
		if missing {
			t.Add(table.Row{Name: name, Result: "not compared: " + peer + " is missing", Detail: fmt.Sprintf("min %s, median %s", milliseconds(results[i].min()), milliseconds(results[i].median()))})
			continue
		}
		r, ratio := compare(name, peer, results[i], results[with])
		switch i {
		case listAll, oneEach: // The others read the files, or look at their sizes.
			r.AtMost(ratio, limit)
		case ofLarge, ofSmall:
			r.AtMost(ratio, limit)
			r.Detail += "; an empty Go program " + milliseconds(results[0].min())
		}
		t.Add(r)
	}
	peak := int64(0)
	for _, r := range results[1 : last+1] {
		peak = max(peak, r.peak)
	}
	if peak > 0 {
		ratio := float64(peak) / knowledgeMemory
		r := table.Row{Name: "learn: peak memory", Result: fmt.Sprintf("%.2fx of 50 MB", ratio), Detail: fmt.Sprintf("%s; an empty Go program %s", megabytes(peak), megabytes(results[0].peak))}
		r.AtMost(ratio, 1)
		t.Add(r)
	}
	return os.RemoveAll(dir)
}

// filesInFolder is how many subjects a folder of the large topic has.
const filesInFolder = 50

// writeTopic writes a workspace with a topic of so many folders, twenty of them in
// one above. It returns the path of one subject.
func writeTopic(dir string, folders int) (one string, err error) {
	for folder := range folders {
		path := filepath.Join(dir, "notes", fmt.Sprintf("t%02d", folder/20), fmt.Sprintf("f%02d", folder%20))
		if err := os.MkdirAll(path, 0o700); err != nil {
			return "", fmt.Errorf("writing a topic: %w", err)
		}
		for file := range filesInFolder {
			text := fmt.Sprintf("# Subject %d of folder %d\n\nIt says little.\n", file, folder)
			if err := os.WriteFile(filepath.Join(path, fmt.Sprintf("s%02d.md", file)), []byte(text), 0o600); err != nil {
				return "", fmt.Errorf("writing a topic: %w", err)
			}
		}
	}
	config := "[kb.topic.large]\nsubjects = \"notes\"\n[kb.topic.small]\nsubjects = \"notes/t00/f01\"\n"
	if err := os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte(config), 0o600); err != nil {
		return "", fmt.Errorf("writing a topic: %w", err)
	}
	return filepath.Join(dir, "notes", "t00", "f01", "s02.md"), nil
}
