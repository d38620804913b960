// Package stamp remembers that a project was up to date, so that the next run need
// not find it out again: it keeps the size and the modification time of every file
// that was read and of every file that would be written.
//
// A stamp is only ever a reason to do nothing. It is never read by what checks a
// project, and losing one costs a run at full length.
package stamp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/convtools/convtools/gen/internal/parallel"
	"github.com/convtools/convtools/runtime/base/safefile"
)

// margin is how much older than a run everything has to be that it stamps. File
// systems keep times in steps of up to two seconds: a file that was changed twice
// within one step would look unchanged.
const margin = 2 * time.Second

// most is how large the file of a stamp may be, in bytes: that of 100,000 tools.
const most = 64 << 20

// Project is what a run read and would have written. Paths are slash-separated and
// relative to Dir.
type Project struct {
	Dir      string   // an absolute path
	Patterns []string // of specs
	Read     []string // tools.toml and every spec
	Written  []string
}

// stamp is the content of the file.
type stamp struct {
	Generator file
	Patterns  []string
	Specs     []string // that the patterns found, sorted
	Files     []file   // and folders that files are written to
}

// file is what shows that a file has changed.
type file struct {
	Path string
	Size int64 // 0 for a folder
	Time int64 // of its modification, in nanoseconds since 1970
}

// Name returns where the stamp of a project stands below the folder for caches.
func Name(caches, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(caches, "convtools", "generated", hex.EncodeToString(sum[:16])+".json")
}

// Write stamps a project that was found up to date by a run that began at start. It
// does nothing where a file is too new to be sure of.
func Write(name string, p Project, start time.Time) error {
	s := stamp{Patterns: p.Patterns, Specs: specs(p.Dir, p.Patterns)}
	generator, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	paths := slices.Concat(p.Read, p.Written)
	for _, written := range p.Written {
		paths = append(paths, path.Dir(written)) // where a file that is orphaned could be
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	var ok bool
	if s.Generator, ok = look(generator, generator); !ok {
		return nil
	}
	for _, path := range paths {
		f, ok := look(filepath.Join(p.Dir, filepath.FromSlash(path)), path)
		if !ok || f.Time > start.Add(-margin).UnixNano() {
			return nil
		}
		s.Files = append(s.Files, f)
	}
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("writing the stamp: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("making the folder of stamps: %w", err)
	}
	return safefile.Write(name, data, 0o600)
}

// Current reports whether nothing has changed in a project since it was stamped, by
// this program.
func Current(name, dir string) bool {
	data, err := safefile.Read(name, most)
	if err != nil {
		return false
	}
	var s stamp
	if json.Unmarshal(data, &s) != nil || len(s.Files) == 0 {
		return false
	}
	generator, err := os.Executable()
	if err != nil {
		return false
	}
	if now, ok := look(generator, generator); !ok || now != s.Generator {
		return false
	}
	same := make([]bool, len(s.Files))
	parallel.Each(len(s.Files), func(i int) {
		before := s.Files[i]
		now, ok := look(filepath.Join(dir, filepath.FromSlash(before.Path)), before.Path)
		same[i] = ok && now == before
	})
	return !slices.Contains(same, false) && slices.Equal(specs(dir, s.Patterns), s.Specs)
}

// look returns what there is to see of a file or a folder. Of anything else nothing
// is known for sure: a link may lead to something that has changed.
func look(name, as string) (file, bool) {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return file{}, false
	case info.IsDir():
		return file{Path: as, Time: info.ModTime().UnixNano()}, true
	}
	return file{as, info.Size(), info.ModTime().UnixNano()}, info.Mode().IsRegular()
}

// specs finds the files of patterns as the loader does, sorted, or nothing where
// that fails.
func specs(dir string, patterns []string) []string {
	var names []string
	for _, pattern := range patterns {
		found, err := doublestar.Glob(os.DirFS(dir), pattern, doublestar.WithFailOnIOErrors(), doublestar.WithFilesOnly(), doublestar.WithNoFollow())
		if err != nil || !fs.ValidPath(path.Clean(pattern)) {
			return nil
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
