package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// filesInFolder is how many subjects a folder of the topic has.
const filesInFolder = 50

// knowledge measures learn over a large topic: its list beside a program that lists the
// files, and one subject beside a program that prints its file.
func (b *bench) knowledge(ctx context.Context) error {
	dir := filepath.Join(b.dir, "knowledge")
	if err := writeTopic(dir, b.amount.folders); err != nil {
		return err
	}
	learn := func(arguments string) program {
		return program{path: b.convtools, args: []string{"call", "--workspace", dir, "learn", arguments}, env: b.home("knowledge")}
	}
	for _, r := range []struct {
		name  string
		ours  program
		peer  string
		args  []string
		bound float64
	}{
		{"the list", learn(`{"topic":"large"}`), "rg", []string{"--files", "--no-ignore", filepath.Join(dir, "notes")}, 1.5},
		{"one subject", learn(`{"topic":"large","subjects":"f01/s02"}`), "cat", []string{filepath.Join(dir, "notes", "f01", "s02.md")}, 0},
	} {
		name := fmt.Sprintf("learn, %d subjects: %s", b.amount.folders*filesInFolder, r.name)
		path, err := exec.LookPath(r.peer)
		if err != nil {
			b.table.Add(table.Row{Name: name, Result: "skipped", Detail: r.peer + " is missing"})
			continue
		}
		results, err := inTurn(ctx, b.amount.runs, r.ours, program{path: path, args: r.args})
		if err != nil {
			return err
		}
		row, ratio := compare(name, r.peer, results[0], results[1])
		if r.bound > 0 {
			row.AtMost(ratio, r.bound)
		}
		row.Detail += "; at most " + megabytes(results[0].peak) + " resident"
		b.table.Add(row)
	}
	return os.RemoveAll(dir)
}

// writeTopic writes a workspace with a topic of so many folders.
func writeTopic(dir string, folders int) error {
	for folder := range folders {
		path := filepath.Join(dir, "notes", fmt.Sprintf("f%02d", folder))
		if err := os.MkdirAll(path, 0o700); err != nil {
			return fmt.Errorf("writing a topic: %w", err)
		}
		for file := range filesInFolder {
			text := fmt.Sprintf("# Subject %d of folder %d\n\nIt says little.\n", file, folder)
			if err := os.WriteFile(filepath.Join(path, fmt.Sprintf("s%02d.md", file)), []byte(text), 0o600); err != nil {
				return fmt.Errorf("writing a topic: %w", err)
			}
		}
	}
	return os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte("[kb.topic.large]\nsubjects = \"notes\"\n"), 0o600)
}
