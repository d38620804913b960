// Package project decides which recorded working directories belong to the project
// that a call is made from: those of the same git repository, whichever of its
// worktrees they are in, or else of the same JP workspace, or else the very same
// directory.
//
// It only looks for names and reads what git itself keeps about worktrees. A .git
// file is believed only where the repository that it names knows of it, so that a
// project's own files cannot make it another one.
package project

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// Project is the project of a directory. It is safe for concurrent use.
type Project struct {
	id    string
	roots []string

	mu    sync.Mutex
	known map[string]bool // by recorded directory
}

// Of returns the project of a directory, which need not exist any more.
func Of(dir string) *Project {
	real := resolve(dir)
	root, id, worktrees := identify(real)
	p := &Project{id: id, roots: []string{root}, known: map[string]bool{}}
	for _, w := range worktrees {
		if w != root {
			p.roots = append(p.roots, w)
		}
	}
	return p
}

// Roots returns the absolute paths of the directories in or below which the
// project's own ones are: that of the call first, then other worktrees.
func (p *Project) Roots() []string { return p.roots }

// Has reports whether a directory, as a program recorded it, belongs to the project.
func (p *Project) Has(dir string) bool {
	if dir == "" || !filepath.IsAbs(dir) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	has, ok := p.known[dir]
	if !ok {
		has = p.has(dir)
		p.known[dir] = has
	}
	return has
}

func (p *Project) has(dir string) bool {
	real := resolve(dir)
	root, id, _ := identify(real)
	if same(id, p.id) {
		return true
	}
	if _, err := os.Stat(root); err == nil || !strings.HasPrefix(p.id, repository) {
		return false
	}
	// A worktree that was removed: nothing of it says whose it was, but git may still
	// list it.
	return slices.ContainsFunc(p.roots, func(r string) bool { return below(r, real) })
}

// Prefixes of identities, so that a repository and a directory of one name differ.
const (
	repository = "git:"
	directory  = "dir:"
)

// identify returns the root of the project that a directory belongs to, what all
// roots of the project have in common, and the other roots.
func identify(dir string) (root, id string, worktrees []string) {
	for d := dir; ; {
		git := filepath.Join(d, ".git")
		if info, err := os.Stat(git); err == nil {
			common := git
			if !info.IsDir() {
				common = commonDir(git)
			}
			if common != "" {
				return d, repository + common, append(mainRoot(common), listed(common)...)
			}
		}
		if info, err := os.Stat(filepath.Join(d, ".jp")); err == nil && info.IsDir() {
			return d, directory + d, nil
		}
		parent := filepath.Dir(d)
		if parent == d {
			return dir, directory + dir, nil
		}
		d = parent
	}
}

// maxPointer bounds the files in which git names a directory.
const maxPointer = 8 << 10

// commonDir returns the directory of the repository that a .git file belongs to, or
// "" where that does not know of the file. Of a submodule it is its own.
func commonDir(file string) string {
	text := pointer(file)
	name, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok {
		return ""
	}
	own := absolute(filepath.Dir(file), name)
	back := pointer(filepath.Join(own, "gitdir"))
	if back == "" || !same(resolve(absolute(own, back)), file) {
		return ""
	}
	common := pointer(filepath.Join(own, "commondir"))
	if common == "" {
		return ""
	}
	return resolve(absolute(own, common))
}

// mainRoot returns the directory that a repository was made in, if any.
func mainRoot(common string) []string {
	if filepath.Base(common) != ".git" {
		return nil
	}
	return []string{filepath.Dir(common)}
}

// maxWorktrees bounds how many worktrees of a repository are looked at.
const maxWorktrees = 1000

// listed returns the worktrees that a repository lists.
func listed(common string) []string {
	dir := filepath.Join(common, "worktrees")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var roots []string
	for _, e := range entries[:min(len(entries), maxWorktrees)] {
		own := filepath.Join(dir, e.Name())
		if file := pointer(filepath.Join(own, "gitdir")); file != "" {
			roots = append(roots, filepath.Dir(resolve(absolute(own, file))))
		}
	}
	return roots
}

// pointer returns the line that a file of git consists of, or "".
func pointer(file string) string {
	data, err := safefile.Read(file, maxPointer)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(data), "\r\n")
}

func absolute(base, name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(base, name)
}

// resolve returns the absolute path of a directory with the links followed in as much
// of it as exists.
func resolve(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return filepath.Clean(dir)
	}
	for d, rest := abs, ""; ; {
		if real, err := filepath.EvalSymlinks(d); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(d)
		if parent == d {
			return abs
		}
		d, rest = parent, filepath.Join(filepath.Base(d), rest)
	}
}

// below reports whether a path is a directory or below it.
func below(dir, path string) bool {
	if len(path) < len(dir) || !same(path[:len(dir)], dir) {
		return false
	}
	return len(path) == len(dir) || os.IsPathSeparator(path[len(dir)]) || os.IsPathSeparator(dir[len(dir)-1])
}

// same compares paths as the system's usual file system does.
func same(a, b string) bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(a, b)
	}
	return a == b
}
