// Package plan turns a project's specs into generated files: Generate makes them, Compare finds how a directory
// differs from them, and Write writes them.
//
// Generate is pure, so generating, checking and tests share it. Only Write changes files, and only files that say
// they were generated: it must never replace or remove a file that a person wrote.
package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"github.com/convtools/convtools/gen/check"
	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/gocode"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/emit/targets"
	"github.com/convtools/convtools/gen/internal/parallel"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lock"
	"github.com/convtools/convtools/gen/lower"
	"github.com/convtools/convtools/gen/spec"
	"github.com/convtools/convtools/runtime/base/diag"
)

// Result is the result of generating a project.
type Result struct {
	Contract *ir.Contract // nil if there are errors
	Files    []emit.File  // sorted by path; nil if there are errors
	Diags    diag.List
	sources  map[string][]byte
}

// Lowered lists the features of tools that a target could not express, and says of each what became of it. It returns
// nil if the result has no contract.
func (r *Result) Lowered() []string {
	if r.Contract == nil {
		return nil
	}
	var lines []string
	for _, tool := range r.Contract.Tools() {
		for _, target := range targets.All() {
			if target.Lower != nil && r.Contract.Targets.Makes(target.Name) {
				lines = append(lines, lower.For(*target.Lower, tool).Reports...)
			}
		}
	}
	return lines
}

// Source returns the text of a file, for printing diagnostics.
func (r *Result) Source(file string) []byte { return r.sources[file] }

// Generate makes every file of a project in memory. It reads only tools.toml and the specs; equal specs give equal
// bytes. Problems in the specs are among the diagnostics. It returns an error for a fault of the generator, and if two
// files would have one path.
func Generate(fsys fs.FS) (*Result, error) {
	project, diags := spec.Load(fsys)
	r := &Result{Diags: diags, sources: map[string][]byte{}}
	for _, file := range project.Sources {
		r.sources[file.Name] = file.Source
	}
	contract, diags := check.Check(project)
	r.Diags = append(r.Diags, diags...)
	if r.Diags.HasErrors() {
		return r, nil
	}
	r.Contract = contract
	var err error
	if r.Files, err = files(contract); err != nil {
		return nil, fmt.Errorf("generating: %w", err)
	}
	sort.Slice(r.Files, func(i, j int) bool { return r.Files[i].Path < r.Files[j].Path })
	return r, checkDistinct(r.Files)
}

// Changes returns the changes from old, the bytes of a contract.lock, to the contract of the specs, and marks accepted
// changes. unused lists the acceptances without a change. today is YYYY-MM-DD. Changes returns an error if old cannot be
// parsed.
func (r *Result) Changes(old []byte, today string) (changes []lock.Change, unused []ir.Accepted, err error) {
	before, err := lock.Parse(old)
	if err != nil {
		return nil, nil, err
	}
	now, err := lock.Facts(r.Contract)
	if err != nil {
		return nil, nil, err
	}
	changes = lock.Compare(before, now, today)
	return changes, lock.Accept(changes, r.Contract.Accepted), nil
}

// files returns the generated files of a contract: Go, the lock, and the targets that its project has. It returns nil
// if the project has no folder for generated files.
func files(c *ir.Contract) ([]emit.File, error) {
	if c.Targets.Generated == "" {
		return nil, nil // the specs are served without generated files
	}
	emitters := []func() ([]emit.File, error){
		func() ([]emit.File, error) { return gocode.Emit(c, schema.Compact) },
		func() ([]emit.File, error) { return lock.Emit(c) },
	}
	for _, target := range targets.All() {
		if c.Targets.Makes(target.Name) {
			emitters = append(emitters, func() ([]emit.File, error) { return target.Emit(c, schema.Of) })
		}
	}
	outputs, errs := make([][]emit.File, len(emitters)), make([]error, len(emitters))
	parallel.Each(len(emitters), func(i int) { outputs[i], errs[i] = emitters[i]() })
	return slices.Concat(outputs...), errors.Join(errs...)
}

// checkDistinct returns an error if the paths of two files are equal without regard to case, as on some file systems.
func checkDistinct(files []emit.File) error {
	seen := map[string]string{}
	for _, file := range files {
		key := strings.ToLower(file.Path)
		if before, taken := seen[key]; taken {
			return fmt.Errorf("generating: %s and %s would be one file; rename a tool, or move a skill", before, file.Path)
		}
		seen[key] = file.Path
	}
	return nil
}
