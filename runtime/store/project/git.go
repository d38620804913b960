package project

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// place is what is known of a directory.
type place struct {
	root string // of its project
	// common is the common directory of the git repository that the project is; empty for none.
	common string
	// claimed is the common directory of a repository that a .git file names, and that does not
	// list the directory as its worktree; empty for none.
	claimed string
}

// isOfProject reports whether two places are of one project: of one repository or, without a repository, of one root.
func (p place) isOfProject(other place) bool {
	return same(p.common, other.common) && (p.common != "" || same(p.root, other.root))
}

// identify returns the root and the repository of a directory: those of the nearest directory, at it or above, with .git
// or .jp. Without one the directory is its own root.
func identify(dir string) place {
	for d := range upwards(dir) {
		git := filepath.Join(d, ".git")
		switch info, err := os.Stat(git); {
		case err != nil:
		case info.IsDir():
			return place{root: d, common: git}
		default:
			if found, ok := linked(d, git); ok {
				return found
			}
		}
		if info, err := os.Stat(filepath.Join(d, ".jp")); err == nil && info.IsDir() {
			return place{root: d}
		}
	}
	return place{root: dir}
}

// linked returns the root and the repository of a directory with a .git file, and false if the file names no directory.
// A worktree belongs to its repository. A submodule belongs to the repository around it, which has the git files of the
// submodule. Any other directory belongs to no repository, and only claims the one that the file names.
func linked(dir, file string) (found place, ok bool) {
	own, common, isWorktree := follow(file)
	if isWorktree || own == "" {
		return place{root: dir, common: common}, isWorktree // false if the file names nothing
	}
	found = place{root: dir}
	if parent := filepath.Dir(dir); parent != dir {
		if around := identify(parent); around.common != "" && below(around.common, own) {
			found = around
		}
	}
	found.claimed = cmp.Or(common, found.claimed)
	return found, true
}

// follow reads a .git file. own is the directory that the file names; empty if it names none. common is the
// directory of the repository if own has the name of a worktree's directory in it; empty if not.
//
// Anybody may have written these files. A worktree is believed if own is in the directory of the
// repository, where only its owner writes, and names the file.
func follow(file string) (own, common string, believed bool) {
	name, ok := strings.CutPrefix(pointer(file), "gitdir: ")
	if !ok {
		return "", "", false
	}
	own = resolve(absolute(filepath.Dir(file), name))
	list := filepath.Dir(own)
	if filepath.Base(list) != worktreesDir {
		return own, "", false
	}
	common = filepath.Dir(list)
	names := func(pointerFile, path string) bool {
		name := pointer(filepath.Join(own, pointerFile))
		return name != "" && same(resolve(absolute(own, name)), path)
	}
	return own, common, names("commondir", common) && names("gitdir", file)
}

// mainRoot returns the main working tree of a repository, or "".
func mainRoot(common string) string {
	if filepath.Base(common) != ".git" {
		return ""
	}
	return filepath.Dir(common)
}

const worktreesDir = "worktrees" // in a repository: it has a directory for each worktree

// worktrees returns the working trees of a repository that exist: the main one, and those that it
// lists and that name it.
func worktrees(common string) (roots []string) {
	const most = 1000
	if common == "" {
		return nil
	}
	add := func(root string) {
		if found := identify(root); found.root == root && same(found.common, common) {
			roots = append(roots, root)
		}
	}
	if main := mainRoot(common); main != "" {
		add(main)
	}
	dir := filepath.Join(common, worktreesDir)
	entries, _ := readDir(dir) // it may not exist
	for _, e := range entries[:min(len(entries), most)] {
		own := filepath.Join(dir, e.Name())
		if file := pointer(filepath.Join(own, "gitdir")); file != "" {
			add(filepath.Dir(resolve(absolute(own, file))))
		}
	}
	return roots
}

// readDir is [os.ReadDir] with an error for anything but a directory: opening a FIFO would wait.
func readDir(dir string) ([]os.DirEntry, error) {
	root, err := safefile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return fs.ReadDir(root.FS(), ".")
}

// pointer returns the only line of a file of git, or "".
func pointer(file string) string {
	const most = 8 << 10 // bytes
	data, _ := safefile.Read(file, most)
	return strings.TrimRight(string(data), "\r\n")
}
