// Package plan turns a project's specs into its generated files: Generate makes
// them, Compare finds how a directory differs from them, Write puts them there.
//
// Generate is pure, so that generating, checking and tests share it; only Write
// touches files, and only those a generator owns.
package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/convtools/convtools/gen/check"
	"github.com/convtools/convtools/gen/diag"
	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/anthropic"
	"github.com/convtools/convtools/gen/emit/docs"
	"github.com/convtools/convtools/gen/emit/gocode"
	"github.com/convtools/convtools/gen/emit/jp"
	"github.com/convtools/convtools/gen/emit/jpfiles"
	"github.com/convtools/convtools/gen/emit/mcp"
	"github.com/convtools/convtools/gen/emit/openai"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/emit/skill"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lock"
	"github.com/convtools/convtools/gen/lower"
	"github.com/convtools/convtools/gen/spec"
)

// Result is what a project's specs come to.
type Result struct {
	Contract *ir.Contract
	Files    []emit.File // sorted by path; nil where there are errors
	Diags    diag.List
	// Lowered says what a target could not express and where it went instead.
	Lowered []string
	sources map[string][]byte
}

// Source is the text of a spec, for printing diagnostics.
func (r *Result) Source(file string) []byte { return r.sources[file] }

// Generate makes every file of a project. It reads the project's specs and
// nothing else; equal specs give equal bytes.
func Generate(fsys fs.FS) (*Result, error) {
	project, diags := spec.Load(fsys)
	r := &Result{Diags: diags, sources: map[string][]byte{}}
	for _, file := range project.Sources {
		r.sources[file.Name] = file.Source
	}
	if r.Diags.HasErrors() {
		return r, nil
	}
	contract, diags := check.Check(project)
	r.Diags = append(r.Diags, diags...)
	if r.Diags.HasErrors() {
		return r, nil
	}
	r.Contract = contract
	for _, tool := range contract.Tools() {
		for _, target := range lower.Targets() {
			text := lower.For(target, tool)
			r.Lowered = append(r.Lowered, text.Reports...)
			for _, problem := range text.Problems {
				r.Diags = append(r.Diags, diag.Diagnostic{File: tool.Source, Rule: "CT029", Message: problem})
			}
		}
	}
	if r.Diags.HasErrors() {
		return r, nil
	}
	emitters := []func(*ir.Contract) ([]emit.File, error){
		func(c *ir.Contract) ([]emit.File, error) { return gocode.Emit(c, schema.Compact) },
		schema.Emit, jp.Emit, skill.Emit, jpfiles.Emit, mcp.Emit, openai.Emit, anthropic.Emit, docs.Emit, lock.Emit,
	}
	for _, emitter := range emitters {
		files, err := emitter(contract)
		if err != nil {
			return r, fmt.Errorf("generating: %w", err)
		}
		r.Files = append(r.Files, files...)
	}
	sort.Slice(r.Files, func(i, j int) bool { return r.Files[i].Path < r.Files[j].Path })
	for i := 1; i < len(r.Files); i++ {
		if r.Files[i].Path == r.Files[i-1].Path {
			return r, fmt.Errorf("generating: two emitters write %s", r.Files[i].Path)
		}
	}
	return r, nil
}

// Difference is one way a directory differs from what the specs say.
type Difference struct {
	Path string
	Kind Kind
}

// Kind is the kind of a [Difference].
type Kind string

// The kinds of difference.
const (
	Missing Kind = "missing" // to be generated, not there
	Stale   Kind = "stale"   // there with other content
	Orphan  Kind = "orphan"  // generated once, by a spec that is gone
)

// Compare finds what is missing, stale or orphaned in a project's directory,
// sorted by path.
func Compare(fsys fs.FS, r *Result) ([]Difference, error) {
	var out []Difference
	expected := map[string]bool{}
	for _, file := range r.Files {
		expected[file.Path] = true
		have, err := fs.ReadFile(fsys, file.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, Difference{file.Path, Missing})
		case err != nil:
			return nil, fmt.Errorf("comparing generated files: %w", err)
		case !bytes.Equal(have, file.Data):
			out = append(out, Difference{file.Path, Stale})
		}
	}
	orphans, err := orphans(fsys, r.Contract, expected)
	if err != nil {
		return nil, err
	}
	out = append(out, orphans...)
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out, nil
}

// orphans finds files that only a generator can have put there: in the output
// folder everything but tests and the hand-written doc.go, and in JP's folders,
// which people share, the files that say so on their first line.
func orphans(fsys fs.FS, c *ir.Contract, expected map[string]bool) ([]Difference, error) {
	var out []Difference
	roots := map[string]bool{c.Targets.Generated: true, c.Targets.JPTools: false}
	for _, s := range c.Targets.Skills {
		roots[path.Dir(s.File)] = false
	}
	for root, owned := range roots {
		err := fs.WalkDir(fsys, root, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return fs.SkipDir
			case entry.IsDir() || expected[name]:
				return nil
			case owned && (name == root+"/doc.go" || strings.HasSuffix(name, "_test.go")):
				return nil
			case !owned:
				ours, err := saysGenerated(fsys, name)
				if err != nil || !ours {
					return err
				}
			}
			out = append(out, Difference{name, Orphan})
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("looking for orphaned files: %w", err)
		}
	}
	return out, nil
}

func saysGenerated(fsys fs.FS, name string) (bool, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := f.Read(head)
	if n == 0 && err != nil {
		return false, nil
	}
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	return strings.Contains(strings.ToLower(line), emit.Marker), nil
}

// Write brings a directory up to date and returns what it changed. A file is
// replaced whole, by renaming a finished one over it, and not touched where its
// bytes are right already: build caches go by modification times.
func Write(dir string, r *Result, differences []Difference) error {
	data := map[string][]byte{}
	for _, file := range r.Files {
		data[file.Path] = file.Data
	}
	for _, d := range differences {
		name := filepath.Join(dir, filepath.FromSlash(d.Path))
		if d.Kind == Orphan {
			if err := os.Remove(name); err != nil {
				return fmt.Errorf("removing an orphaned file: %w", err)
			}
			continue
		}
		if err := replace(name, data[d.Path]); err != nil {
			return fmt.Errorf("writing %s: %w", d.Path, err)
		}
	}
	return nil
}

func replace(name string, data []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".convgen-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // gone already where the rename worked
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), name)
}
