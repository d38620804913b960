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
	"github.com/convtools/convtools/gen/internal/parallel"
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
	kinds, problems := make([]Kind, len(r.Files)), make([]error, len(r.Files))
	parallel.Each(len(r.Files), func(i int) { kinds[i], problems[i] = compare(fsys, r.Files[i]) })
	for i, file := range r.Files {
		expected[file.Path] = true
		if kinds[i] != "" {
			out = append(out, Difference{file.Path, kinds[i]})
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("comparing generated files: %w", err)
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
// put files, and only at files that say they were generated: people keep files of their
// own in all of these folders.
func orphans(fsys fs.FS, c *ir.Contract, expected map[string]bool) ([]Difference, error) {
	folders := map[string]bool{c.Targets.Generated: true, c.Targets.JPTools: true} // and those in them
	for _, s := range c.Targets.Skills {
		if dir := path.Dir(s.File); !folders[dir] {
			folders[dir] = false
		}
	}
	delete(folders, "") // JP is no target
	found := map[string]bool{}
	for folder, deep := range folders {
		err := fs.WalkDir(fsys, folder, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case entry.IsDir() && name != folder && (!deep || entry.Name() == "testdata"):
				return fs.SkipDir
			case !entry.Type().IsRegular() || expected[name]:
				return nil
			}
			// A run that was killed leaves what it had not put in its place yet.
			found[name] = safefile.Temporary(entry.Name())
			if !found[name] {
				found[name], err = saysGenerated(fsys, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	// Where a tool list belongs there was never anything else: it is replaced without a
	// look at what is there.
	for _, t := range targets.All() {
		name := path.Join(c.Targets.Generated, t.List)
		if info, err := fs.Stat(fsys, name); t.List != "" && !expected[name] && err == nil && info.Mode().IsRegular() {
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
