// Package project decides which recorded working directories belong to the project
// that a call is made from: those of the same git repository, whichever of its
// worktrees they are in, or else of the same JP workspace, or else the very same
// directory.
//
// It only looks for names and reads what git itself keeps about worktrees. A .git
// file is believed only where the repository that it names knows of it, so that a
// project's own files cannot make it another one.
//
// What its user excluded belongs to no project: a directory with a file called
// [ExcludeFile], also once that is gone, a directory in [Options.Exclude], and all that is
// below them.
package project

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/convtools/convtools/runtime/config"
)

// ExcludeFile is the name of a file, of any content, that excludes the directory it is
// in and all that is below. In the main working tree of a git repository it excludes the
// other worktrees too.
const ExcludeFile = ".convtools-exclude"

// Options says which directories are asked for.
type Options struct {
	// Dir is a directory of the project, which need not exist any more. Empty means the
	// working directory of the process.
	Dir string
	// All stands for every project in place of that of Dir.
	All bool
	// Exclude are absolute paths of directories that belong to no project, with all below
	// them, and Patterns are patterns of such paths, as package doublestar has them, with
	// slashes.
	Exclude, Patterns []string
	// Memory is where it is kept what was seen to be excluded by an [ExcludeFile]; nil for
	// nowhere.
	Memory *Memory
}

// Project is the project of a directory, or all projects. It is safe for concurrent use.
type Project struct {
	all     bool
	dir     string // resolved
	spelled string // the same as it was named
	at      place
	roots   []string
	exclude []string // resolved
	// patterns are those of options, as they are and with the links followed in the path
	// that they begin with.
	patterns []string

	memory   *Memory
	mu       sync.Mutex
	known    map[string]recorded // by directory
	recalled map[string]bool     // files and repositories, all of whose working trees the memory has
}

// recorded is what is known of a recorded directory.
type recorded struct {
	has      bool
	excluded bool
	root     string
}

// New returns what options ask for.
func New(o Options) *Project {
	p := &Project{
		all: o.All, dir: resolve(o.Dir), spelled: o.Dir, memory: o.Memory, known: map[string]recorded{}, recalled: map[string]bool{},
	}
	if abs, err := filepath.Abs(o.Dir); err == nil {
		p.spelled = abs
	}
	for _, dir := range o.Exclude {
		p.exclude = append(p.exclude, resolve(dir))
	}
	for _, pattern := range o.Patterns {
		base, rest := doublestar.SplitPattern(pattern)
		base = config.QuotePattern(resolve(filepath.FromSlash(base + "/")))
		p.patterns = append(p.patterns, pattern, strings.TrimSuffix(base, "/")+"/"+rest)
	}
	if p.all {
		return p
	}
	p.at = identify(p.dir)
	p.roots = []string{p.at.root}
	for _, w := range worktrees(p.at.common) {
		if w != p.at.root {
			p.roots = append(p.roots, w)
		}
	}
	return p
}

// All reports whether every project is asked for.
func (p *Project) All() bool { return p.all }

// Roots returns the absolute paths of the directories in or below which the
// project's own ones are: that of the call first, then other worktrees. There are none
// where all projects are asked for.
func (p *Project) Roots() []string { return p.roots }

// Dirs returns the directories of the project of [Options.Dir] whose paths are known: that
// one, those above it up to its root, and other worktrees.
func (p *Project) Dirs() []string {
	at := identify(p.dir)
	var dirs []string
	for d := range upwards(p.dir) {
		if dirs = append(dirs, d); d == at.root {
			break
		}
	}
	return append(dirs, worktrees(at.common)...)
}

// Excluded returns what excludes the directory that is asked about. By is the path of a file, a
// directory in [Options.Exclude] or a pattern, empty where nothing does. Dir is there where nothing
// but [Options.Memory] has it.
func (p *Project) Excluded() Exclusion {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.excluded(p.dir, p.spelled, identify(p.dir))
	if e.IsThere() {
		e.Dir = ""
	}
	return e
}

// Has reports whether a directory, as a program recorded it, is asked for. Of all projects
// that is every directory that is not excluded, also one that is not known.
func (p *Project) Has(dir string) bool { return p.look(dir).has }

// Excludes reports whether a directory, as a program recorded it, is one that the user
// excluded: nothing of what was said there may be kept anywhere.
func (p *Project) Excludes(dir string) bool { return p.look(dir).excluded }

// Root returns the directory of the project that a recorded directory belongs to: the root
// of the git repository, or of its main working tree, or of the JP workspace, or the
// directory itself.
func (p *Project) Root(dir string) string { return p.look(dir).root }

func (p *Project) look(dir string) recorded {
	if dir == "" || !filepath.IsAbs(dir) {
		return recorded{has: p.all, root: dir}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.known[dir]
	if !ok {
		real := resolve(dir)
		at := identify(real)
		r.excluded = p.excluded(real, filepath.Clean(dir), at).By != ""
		r.has = !r.excluded && (p.all || at.is(p.at))
		r.root = cmp.Or(mainRoot(at.common), at.root)
		p.known[dir] = r
	}
	return r
}

// excluded returns what excludes a resolved directory at a place, with a Dir where that is
// remembered.
func (p *Project) excluded(dir, spelled string, at place) Exclusion {
	for _, d := range at.with(dir) {
		for _, e := range p.exclude {
			if below(e, d) {
				return Exclusion{By: e}
			}
		}
		if pattern := p.matched(d); pattern != "" {
			return Exclusion{By: pattern}
		}
	}
	if file := excludedByFile(dir, at); file != "" {
		p.remember(file, dir, spelled, at)
		return Exclusion{By: file}
	}
	e, _ := p.memory.holds(append(at.with(dir), spelled)...)
	return e
}

// with returns the directories that exclude one at the place when they are excluded: itself,
// and the repository that it is a working tree of, or only claims to be one of.
func (at place) with(dir string) []string {
	dirs := []string{dir}
	for _, common := range []string{at.common, at.claimed} {
		if common != "" {
			dirs = append(dirs, common)
		}
	}
	return dirs
}

// excludedByFile returns the path of the [ExcludeFile] that excludes a resolved directory at a
// place, or "".
func excludedByFile(dir string, at place) string {
	for _, d := range at.with(dir) {
		if file := excludeFile(d); file != "" {
			return file
		}
	}
	return ""
}

// remember keeps what a file is seen to exclude: the directory that it is in, the working
// trees of a repository there, and a directory that is led to from elsewhere. Once they are
// gone, nothing tells what they were.
func (p *Project) remember(file, dir, spelled string, at place) {
	if p.memory == nil {
		return
	}
	top := filepath.Dir(file)
	dirs := []string{top}
	for _, common := range at.with(dir)[1:] {
		if key := file + "\x00" + common; below(top, common) && !p.recalled[key] {
			p.recalled[key] = true
			dirs = append(dirs, worktrees(common)...)
		}
	}
	// A link to the directory of the file is led to by all that is recorded below it.
	if link, ok := strings.CutSuffix(spelled, strings.TrimPrefix(dir, top)); ok && filepath.IsAbs(link) && same(resolve(link), top) {
		spelled = link
	}
	p.memory.add(file, append(dirs, dir, spelled))
}

// matched returns the pattern that excludes a directory, or one above it, or "".
func (p *Project) matched(dir string) string {
	if len(p.patterns) == 0 {
		return ""
	}
	for d := range upwards(dir) {
		for _, pattern := range p.patterns {
			// A pattern that cannot be read excludes: nobody knows what.
			if ok, err := doublestar.Match(fold(pattern), fold(filepath.ToSlash(d))); ok || err != nil {
				return pattern
			}
		}
	}
	return ""
}

// excludeFile returns the path of the nearest [ExcludeFile] in a directory or above it,
// or "".
func excludeFile(dir string) string {
	for d := range upwards(dir) {
		file := filepath.Join(d, ExcludeFile)
		if _, err := os.Lstat(file); err == nil {
			return file
		}
	}
	return ""
}
