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
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/trust"
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
	id      string
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
		base = trust.QuotePattern(resolve(filepath.FromSlash(base + "/")))
		p.patterns = append(p.patterns, pattern, strings.TrimSuffix(base, "/")+"/"+rest)
	}
	if p.all {
		return p
	}
	at := identify(p.dir)
	p.id, p.roots = at.id, []string{at.root}
	for _, w := range worktrees(at.id) {
		if w != at.root {
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
	dirs := []string{p.dir}
	for d := p.dir; d != at.root && filepath.Dir(d) != d; {
		d = filepath.Dir(d)
		dirs = append(dirs, d)
	}
	return append(dirs, worktrees(at.id)...)
}

// Excluded returns what excludes the directory that is asked about: the path of a file or
// of a directory in [Options.Exclude]. It is empty where nothing does.
func (p *Project) Excluded() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.excluded(p.dir, p.spelled, identify(p.dir)).By
}

// Remembered returns the exclusion of the directory that is asked about where nothing but
// [Options.Memory] has it.
func (p *Project) Remembered() (Exclusion, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.excluded(p.dir, p.spelled, identify(p.dir))
	return e, e.Dir != "" && !e.IsThere()
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
		r.has = !r.excluded && (p.all || same(at.id, p.id))
		r.root = cmp.Or(mainRoot(at.id), at.root)
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
	for _, common := range []string{commonOf(at.id), at.claimed} {
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
			dirs = append(dirs, worktrees(repository+common)...)
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
	for d := dir; len(p.patterns) > 0; d = filepath.Dir(d) {
		for _, pattern := range p.patterns {
			// A pattern that cannot be read excludes: nobody knows what.
			if ok, err := doublestar.Match(fold(pattern), fold(filepath.ToSlash(d))); ok || err != nil {
				return pattern
			}
		}
		if filepath.Dir(d) == d {
			break
		}
	}
	return ""
}

// excludeFile returns the path of the nearest [ExcludeFile] in a directory or above it,
// or "".
func excludeFile(dir string) string {
	for {
		file := filepath.Join(dir, ExcludeFile)
		if _, err := os.Lstat(file); err == nil {
			return file
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// Prefixes of identities, so that a repository and a directory of one name differ.
const (
	repository = "git:"
	directory  = "dir:"
)

// place is what there is to know of a directory.
type place struct {
	root string // of the project that it belongs to
	id   string // what all roots of the project have in common
	// claimed is the common directory of the repository that a .git file says it is a
	// worktree of, and that does not know of it; empty where none does.
	claimed string
}

// identify returns what there is to know of a directory.
func identify(dir string) place {
	var claimed string
	at := func(root, id string) place { return place{root, id, claimed} }
	// A working tree whose repository is kept elsewhere, and where. That of a submodule is
	// kept in the repository around it, which it belongs to.
	alone, own := dir, ""
	workspace := "" // around it
	for d := dir; ; {
		var common string
		git := filepath.Join(d, ".git")
		if info, err := os.Stat(git); err == nil && info.IsDir() {
			common = git
		} else if err == nil {
			l := follow(git)
			claimed = cmp.Or(claimed, l.common)
			switch {
			case l.believed:
				common = l.common
			case l.is && (own == "" || below(l.own, own)):
				alone, own = d, l.own
			}
		}
		if common != "" {
			switch {
			case own != "" && !below(common, own):
				return at(alone, directory+alone)
			case workspace != "":
				return at(workspace, directory+workspace)
			}
			return at(d, repository+common)
		}
		if info, err := os.Stat(filepath.Join(d, ".jp")); err == nil && info.IsDir() {
			if own == "" {
				return at(d, directory+d)
			}
			workspace = cmp.Or(workspace, d)
		}
		parent := filepath.Dir(d)
		if parent == d {
			return at(alone, directory+alone)
		}
		d = parent
	}
}

// maxPointer bounds the files in which git names a directory.
const maxPointer = 8 << 10

// link is where a .git file leads to.
type link struct {
	own string // the directory that git keeps for the working tree; resolved, empty where none is named
	is  bool   // git would work with it
	// common is the directory of the repository where own is named as that of a worktree.
	common string
	// believed is set where the repository has the working tree in its own list.
	believed bool
}

// follow reads a .git file. What is in it, and in the directory that it names, may be
// anybody's: a worktree is believed where its directory is in that of the repository, which
// only who writes there can bring about, and leads back to the file.
func follow(file string) (l link) {
	name, ok := strings.CutPrefix(pointer(file), "gitdir: ")
	if !ok {
		return l
	}
	l.own = resolve(absolute(filepath.Dir(file), name))
	_, err := os.Lstat(filepath.Join(l.own, "HEAD"))
	l.is = err == nil
	list := filepath.Dir(l.own)
	if filepath.Base(list) != worktreesDir {
		return l
	}
	l.common = filepath.Dir(list)
	common, back := pointer(filepath.Join(l.own, "commondir")), pointer(filepath.Join(l.own, "gitdir"))
	l.believed = common != "" && same(resolve(absolute(l.own, common)), l.common) &&
		back != "" && same(resolve(absolute(l.own, back)), file)
	return l
}

// commonOf returns the common directory of the repository of an identity, or "".
func commonOf(id string) string {
	common, _ := strings.CutPrefix(id, repository)
	if common == id {
		return ""
	}
	return common
}

// mainRoot returns the directory that the repository of an identity was made in, or "".
func mainRoot(id string) string {
	common := commonOf(id)
	if filepath.Base(common) != ".git" {
		return ""
	}
	return filepath.Dir(common)
}

// worktreesDir is where a repository has a directory for each of its worktrees.
const worktreesDir = "worktrees"

// maxWorktrees bounds how many worktrees of a repository are looked at.
const maxWorktrees = 1000

// worktrees returns the working trees of the repository of an identity that are there: the
// directory that it was made in, and those that it lists and that lead back to it. Of one that
// is gone, nothing tells whose it was.
func worktrees(id string) (roots []string) {
	common := commonOf(id)
	if common == "" {
		return nil
	}
	add := func(root string) {
		if at := identify(root); at.root == root && same(at.id, id) {
			roots = append(roots, root)
		}
	}
	if main := mainRoot(id); main != "" {
		add(main)
	}
	dir := filepath.Join(common, worktreesDir)
	entries, err := readDir(dir)
	if err != nil {
		return roots
	}
	for _, e := range entries[:min(len(entries), maxWorktrees)] {
		own := filepath.Join(dir, e.Name())
		if file := pointer(filepath.Join(own, "gitdir")); file != "" {
			add(filepath.Dir(resolve(absolute(own, file))))
		}
	}
	return roots
}

// readDir is [os.ReadDir], which waits for the other end of a FIFO, for a directory.
func readDir(dir string) ([]os.DirEntry, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return nil, err
	}
	return os.ReadDir(dir)
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

// maxLinks bounds how many links to what is gone are followed on one path.
const maxLinks = 32

// resolve returns the absolute path of a directory with the links followed in as much
// of it as exists.
func resolve(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return filepath.Clean(dir)
	}
	links := 0
	for d, rest := abs, ""; ; {
		if real, err := filepath.EvalSymlinks(d); err == nil {
			return filepath.Join(real, rest)
		}
		// A link whose target is gone stands for it all the same.
		if target, err := os.Readlink(d); err == nil && links < maxLinks {
			links++
			d = absolute(filepath.Dir(d), target)
			continue
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
	if foldsCase() {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// fold returns a path, or a pattern of paths, without the differences that do not count.
func fold(path string) string {
	if foldsCase() {
		return strings.ToLower(path)
	}
	return path
}

func foldsCase() bool { return runtime.GOOS == "windows" || runtime.GOOS == "darwin" }
