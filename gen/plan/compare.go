package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/targets"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/runtime/base/safefile"
)

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
	Foreign Kind = "foreign" // in the place of a generated file, and not generated
)

// Compare finds what is missing, stale, orphaned or in the way in a project's
// directory, sorted by path.
func Compare(fsys fs.FS, r *Result) ([]Difference, error) {
	var out []Difference
	expected := map[string]bool{}
	for _, file := range r.Files {
		expected[file.Path] = true
		kind, err := compare(fsys, file)
		if err != nil {
			return nil, fmt.Errorf("comparing generated files: %w", err)
		}
		if kind != "" {
			out = append(out, Difference{file.Path, kind})
		}
	}
	orphans, err := orphans(fsys, r.Contract, expected)
	if err != nil {
		return nil, fmt.Errorf("looking for orphaned files: %w", err)
	}
	out = append(out, orphans...)
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out, nil
}

// compare returns how a file on disk differs from one to be, or nothing.
func compare(fsys fs.FS, file emit.File) (Kind, error) {
	info, err := fs.Stat(fsys, file.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Missing, nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return Foreign, nil // reading a pipe would wait for a writer
	}
	have, err := read(fsys, file.Path, max(len(file.Data), firstLines)+1) // a longer file differs
	switch {
	case err != nil:
		return "", err
	case bytes.Equal(have, file.Data):
		return "", nil
	case isMarked(file.Data) && !isMarked(have) && len(bytes.TrimSpace(have)) > 0:
		return Foreign, nil
	default:
		return Stale, nil
	}
}

// firstLines is how many bytes are enough to see that a file was generated.
const firstLines = 512

// read returns the first bytes of a file, most of them at most.
func read(fsys fs.FS, name string, most int) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(most)))
}

// orphans finds files of tools that are gone. It looks only where the emitters
// put the files of a tool, and only at files that say they were generated:
// people keep files of their own in all of these folders.
func orphans(fsys fs.FS, c *ir.Contract, expected map[string]bool) ([]Difference, error) {
	type place struct {
		dir, ext string
		depth    int // folders between dir and a file
	}
	places := []place{
		{c.Targets.Generated, ".go", 1},
		{c.Targets.Generated + "/docs", ".md", 0},
		{c.Targets.Generated + "/schemas", ".json", 0},
	}
	if c.Targets.JPTools != "" {
		places = append(places, place{c.Targets.JPTools, ".toml", 1})
	}
	seen := map[string]bool{}
	for _, s := range c.Targets.Skills {
		if dir := path.Dir(s.File); !seen[dir] {
			seen[dir] = true
			places = append(places, place{dir, ".toml", 0})
		}
	}
	found := map[string]bool{}
	for _, p := range places {
		names, err := list(fsys, p.dir, p.ext, p.depth)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if expected[name] || found[name] {
				continue
			}
			// A run that was killed leaves what it had not put in its place yet.
			if found[name] = safefile.Temporary(path.Base(name)); found[name] {
				continue
			}
			if found[name], err = saysGenerated(fsys, name); err != nil {
				return nil, err
			}
		}
	}
	// Where a tool list belongs there was never anything else: it is replaced without a
	// look at what is there.
	for _, t := range targets.All() {
		name := path.Join(c.Targets.Generated, t.List)
		if t.List == "" || expected[name] {
			continue
		}
		if info, err := fs.Stat(fsys, name); err == nil && info.Mode().IsRegular() {
			found[name] = true
		}
	}
	var out []Difference
	for name, orphan := range found {
		if orphan {
			out = append(out, Difference{name, Orphan})
		}
	}
	return out, nil
}

// list names the files of dir, and of folders in it down to depth, that have the
// extension ext or are temporary. A folder that is not there is empty.
func list(fsys fs.FS, dir, ext string, depth int) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		switch {
		case entry.IsDir() && depth > 0 && entry.Name() != "testdata":
			below, err := list(fsys, name, ext, depth-1)
			if err != nil {
				return nil, err
			}
			names = append(names, below...)
		case entry.Type().IsRegular() && (path.Ext(name) == ext || safefile.Temporary(entry.Name())):
			names = append(names, name)
		}
	}
	return names, err
}

// saysGenerated reads the beginning of a file. JSON has no comments: a schema is
// known by the two members every generated one begins with.
func saysGenerated(fsys fs.FS, name string) (bool, error) {
	head, err := read(fsys, name, firstLines)
	if err != nil {
		return false, err
	}
	if base, isJSON := strings.CutSuffix(path.Base(name), ".json"); isJSON {
		return strings.HasPrefix(string(head), fmt.Sprintf("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": %q,\n", base)), nil
	}
	return isMarked(head), nil
}

// isMarked reports whether the first line of a file states that it was generated
// and is not to be edited. Somebody's remark about the generator does not state the latter.
func isMarked(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.Contains(bytes.ToLower(line), []byte(emit.Marker)) && bytes.Contains(line, []byte("DO NOT EDIT"))
}
