// Package project decides which recorded working directories belong to the project of a call: those of the same git
// repository, in any of its worktrees, or else of the same JP workspace, or else the very same directory.
//
// It looks for names, and reads the files in which git records worktrees. It believes a .git file only if the
// repository that it names lists the worktree, so that the files of a project never make it another project.
//
// An excluded directory belongs to no project: one with a file called [ExcludeFile], also once
// that is gone, one of [Options.Exclude], and all that is below them.
package project

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/convtools/convtools/runtime/config"
)

// ExcludeFile is the name of a file, of any content, that excludes the directory it is in and all that is below. In the
// main working tree of a git repository it excludes the other worktrees too.
const ExcludeFile = ".convtools-exclude"

// Options says which project it is.
type Options struct {
	// Dir is a directory of the project, which may not exist. Empty means the working directory of the process.
	Dir string
	All bool // every project
	// Exclude are absolute paths of excluded directories, and Patterns are patterns of such paths
	// for package doublestar, with slashes.
	Exclude, Patterns []string
	Memory            *Memory // nil remembers nothing
}

// Project is the project of a directory, or all projects. It is safe for concurrent use.
type Project struct {
	all      bool
	dir      string // without links
	spelled  string // as in the options
	at       place
	roots    []string
	exclude  []string // without links
	patterns []string // those of the options, and the same without links in the path before the pattern

	memory *Memory
	mu     sync.Mutex
	known  map[string]recorded // by directory
}

// recorded is what is known of a recorded directory.
type recorded struct {
	has      bool
	excluded bool
	root     string
}

// New returns the project of the options: all projects, or the project that the directory o.Dir is in.
func New(o Options) *Project {
	p := &Project{
		all: o.All, dir: resolve(o.Dir), spelled: o.Dir, memory: cmp.Or(o.Memory, &Memory{}), known: map[string]recorded{},
	}
	if abs, err := filepath.Abs(o.Dir); err == nil {
		p.spelled = abs // with the links that p.dir is without
	}
	for _, dir := range o.Exclude {
		p.exclude = append(p.exclude, resolve(dir))
	}
	for _, pattern := range o.Patterns {
		base, rest := doublestar.SplitPattern(pattern)
		base = config.QuotePattern(resolve(filepath.FromSlash(base + "/")))
		p.patterns = append(p.patterns, pattern, strings.TrimSuffix(base, "/")+"/"+rest) // the pattern, and the same without links
	}
	p.at = identify(p.dir)
	if p.all { // then p.roots is empty
		return p
	}
	others := slices.DeleteFunc(worktrees(p.at.common), func(w string) bool { return w == p.at.root })
	p.roots = append([]string{p.at.root}, others...)
	return p
}

// All reports whether it is all projects.
func (p *Project) All() bool { return p.all }

// Roots returns the absolute paths of the directories that the project's own ones are in: that
// of the call first, then other worktrees. There are none for all projects.
func (p *Project) Roots() []string { return p.roots }

// Dirs returns the existing directories that sessions of the project may be recorded for, by
// their paths: [Options.Dir], those above it up to its root, and other worktrees.
func (p *Project) Dirs() []string {
	var dirs []string
	for d := range upwards(p.dir) {
		dirs = append(dirs, d)
		if d == p.at.root {
			break
		}
	}
	return append(dirs, worktrees(p.at.common)...)
}

// Excluded returns the exclusion of [Options.Dir]. Its By is the path of an exclude file, a directory of
// [Options.Exclude] or a pattern; "" if nothing excludes the directory. Its Dir is set only if By is a file that is
// gone.
func (p *Project) Excluded() Exclusion {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.excluded(p.dir, p.spelled, p.at)
	if e.IsThere() {
		e.Dir = ""
	}
	return e
}

// Has reports whether a recorded directory belongs to the project. All projects have every
// directory that is not excluded, known or not.
func (p *Project) Has(dir string) bool { return p.lookUp(dir).has }

// Excludes reports whether a recorded directory is excluded: no conversation from there may be kept.
func (p *Project) Excludes(dir string) bool { return p.lookUp(dir).excluded }

// Root returns the root of the project of a recorded directory: of a git repository its main working tree.
func (p *Project) Root(dir string) string { return p.lookUp(dir).root }

// lookUp reports whether a recorded directory is of the project or excluded, and returns its root. It notes the result.
func (p *Project) lookUp(dir string) recorded {
	if dir == "" || !filepath.IsAbs(dir) { // it is not known
		return recorded{has: p.all, root: dir}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.known[dir]
	if !ok {
		real := resolve(dir)
		at := identify(real)
		r.excluded = p.excluded(real, filepath.Clean(dir), at).By != ""
		r.has = !r.excluded && (p.all || at.isOfProject(p.at))
		r.root = cmp.Or(mainRoot(at.common), at.root)
		p.known[dir] = r
	}
	return r
}

// excluded returns the exclusion of the directory dir, or the zero value. spelled is another path of dir, and at is the
// project that dir is in. Exclusions by files are noted in p.memory. Only an exclusion from there has the field Dir.
func (p *Project) excluded(dir, spelled string, at place) Exclusion {
	for _, d := range at.excluders(dir) {
		for _, e := range p.exclude {
			if below(e, d) {
				return Exclusion{By: e}
			}
		}
		if pattern := p.matched(d); pattern != "" {
			return Exclusion{By: pattern}
		}
	}
	if file := excludeFile(at.excluders(dir)...); file != "" {
		p.remember(file, dir, spelled, at)
		return Exclusion{By: file}
	}
	return p.memory.find(append(at.excluders(dir), spelled)...)
}

// excluders returns the directories whose exclusion extends to the directory dir: dir itself, its repository, and a
// repository that the .git file of dir names, but that does not list dir as a worktree.
func (p place) excluders(dir string) []string {
	return slices.DeleteFunc([]string{dir, p.common, p.claimed}, func(d string) bool { return d == "" })
}

// remember adds the directories that a file excludes to the memory, because the file and the directories may be removed
// later. These are the directory of the file, the worktrees of the repositories in that directory, the directory dir,
// and the path spelled, by which dir is recorded. at is the project that dir is in.
func (p *Project) remember(file, dir, spelled string, at place) {
	top := filepath.Dir(file)
	dirs := []string{top}
	for _, common := range at.excluders(dir)[1:] { // after dir itself there are repositories
		if below(top, common) {
			dirs = append(dirs, worktrees(common)...)
		}
	}
	link, isBelow := strings.CutSuffix(spelled, strings.TrimPrefix(dir, top)) // /link, if dir is top/a and spelled is /link/a
	if isBelow && filepath.IsAbs(link) && same(resolve(link), top) {
		spelled = link // it leads to top, so that all of it is excluded
	}
	for _, d := range append(dirs, dir, spelled) {
		p.memory.add(Exclusion{Dir: d, By: file})
	}
}

// matched returns the first pattern of excluded directories that matches a directory or one of its parents, or "".
func (p *Project) matched(dir string) string {
	for d := range upwards(dir) {
		for _, pattern := range p.patterns {
			// A malformed pattern may be meant for any directory, so it excludes every one.
			if ok, err := doublestar.Match(fold(pattern), fold(filepath.ToSlash(d))); ok || err != nil {
				return pattern
			}
		}
	}
	return ""
}

// excludeFile returns the path of the nearest [ExcludeFile] in directories or above them, or "".
func excludeFile(dirs ...string) string {
	for _, dir := range dirs {
		for d := range upwards(dir) {
			file := filepath.Join(d, ExcludeFile)
			if _, err := os.Lstat(file); err == nil {
				return file
			}
		}
	}
	return ""
}
