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

// Difference is a file in a project's directory that differs from the specs.
type Difference struct {
	Path string
	Kind Kind
}

// Kind is the kind of a [Difference].
type Kind string

// The kinds of difference.
const (
	Missing Kind = "missing" // not generated yet
	Stale   Kind = "stale"   // generated from other specs
	Orphan  Kind = "orphan"  // generated from a spec that no longer exists
	Foreign Kind = "foreign" // not generated, but in the place of a generated file
)

// Compare returns the missing, stale, orphaned and foreign files in a project's directory, sorted by path.
func Compare(fsys fs.FS, r *Result) ([]Difference, error) {
	var out []Difference
	expected := map[string]bool{}
	kinds, errs := make([]Kind, len(r.Files)), make([]error, len(r.Files))
	parallel.Each(len(r.Files), func(i int) { kinds[i], errs[i] = compareFile(fsys, r.Files[i]) })
	for i, file := range r.Files {
		expected[file.Path] = true
		if kinds[i] != "" { // the file differs
			out = append(out, Difference{file.Path, kinds[i]})
		}
	}
	if err := errors.Join(errs...); err != nil {
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

// compareFile returns how the file at the path of a generated file differs from it, or "" if the two are equal.
func compareFile(fsys fs.FS, file emit.File) (Kind, error) {
	info, err := fs.Stat(fsys, file.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Missing, nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return Foreign, nil // reading a pipe would block
	}
	have, err := readPrefix(fsys, file.Path, max(len(file.Data), firstLines)+1) // one byte more detects a longer file
	switch {
	case err != nil:
		return "", err
	case bytes.Equal(have, file.Data):
		return "", nil
	case isMarked(file.Data) && !isMarked(have) && len(bytes.TrimSpace(have)) > 0:
		return Foreign, nil // a person wrote it: a generated file would have the mark too
	default:
		return Stale, nil
	}
}

// firstLines is the number of bytes at the beginning of a file that suffice to see whether it was generated.
const firstLines = 512

// readPrefix returns the first bytes of a file, at most limit of them.
func readPrefix(fsys fs.FS, name string, limit int) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(limit)))
}

// orphans returns the generated files that are not expected, and temporary files of a killed run. It looks only in
// folders that emitters write to. People keep their own files there too, so a generated file must say that it was
// generated, except for a tool list.
func orphans(fsys fs.FS, c *ir.Contract, expected map[string]bool) ([]Difference, error) {
	folders := map[string]bool{c.Targets.Generated: true, c.Targets.JPTools: true} // true: with subfolders
	for _, s := range c.Targets.Skills {
		if dir := path.Dir(s.File); !folders[dir] {
			folders[dir] = false
		}
	}
	delete(folders, "") // the folder of a target that the project does not have, such as JP
	isOrphan := map[string]bool{}
	for folder, deep := range folders {
		err := fs.WalkDir(fsys, folder, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil // nothing was generated there yet
			case err != nil:
				return err
			case entry.IsDir() && name != folder && (!deep || entry.Name() == "testdata"):
				return fs.SkipDir
			case !entry.Type().IsRegular() || expected[name]:
				return nil
			}
			isOrphan[name] = safefile.Temporary(entry.Name()) // a killed run left it
			if !isOrphan[name] {
				isOrphan[name], err = saysGenerated(fsys, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	// A tool list cannot say that it was generated. Its path is enough, because nothing else is kept there.
	for _, t := range targets.All() {
		name := path.Join(c.Targets.Generated, t.List)
		if info, err := fs.Stat(fsys, name); t.List != "" && !expected[name] && err == nil && info.Mode().IsRegular() {
			isOrphan[name] = true
		}
	}
	var out []Difference
	for name, orphan := range isOrphan {
		if orphan {
			out = append(out, Difference{name, Orphan})
		}
	}
	return out, nil
}

// saysGenerated reports whether the beginning of a file says that it was generated. JSON has no comments: a generated
// schema is recognized by its first two members.
func saysGenerated(fsys fs.FS, name string) (bool, error) {
	head, err := readPrefix(fsys, name, firstLines)
	if err != nil {
		return false, err
	}
	if base, isJSON := strings.CutSuffix(path.Base(name), ".json"); isJSON {
		return strings.HasPrefix(string(head), fmt.Sprintf("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": %q,\n", base)), nil
	}
	return isMarked(head), nil
}

// isMarked reports whether the first line of a file says that it was generated and must not be edited. A comment that
// only mentions the generator does not count.
func isMarked(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.Contains(bytes.ToLower(line), []byte(emit.Marker)) && bytes.Contains(line, []byte("DO NOT EDIT"))
}
