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
	root   string // of its project
	common string // the common directory of the git repository that the project is; empty for none
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
// submodule. Any other directory belongs to no repository; found.claimed is the repository that the file names.
func linked(dir, file string) (found place, ok bool) {
	gitDir, repository, isWorktree := follow(file)
	found = place{root: dir}
	if isWorktree {
		found.common = repository
		return found, true
	}
	if parent := filepath.Dir(dir); parent != dir && gitDir != "" {
		if around := identify(parent); around.common != "" && below(around.common, gitDir) { // a submodule
			found = around
		}
	}
	found.claimed = cmp.Or(repository, found.claimed)
	return found, gitDir != ""
}

// follow reads a .git file. gitDir is the directory that the file names, or "". If gitDir has the form of a worktree's
// directory, REPOSITORY/worktrees/NAME, repository is REPOSITORY; otherwise "".
//
// Anybody may have written the .git file. isWorktree reports whether two files in gitDir, where only the owner of the
// repository writes, confirm the .git file: "commondir" names the repository, and "gitdir" names the .git file.
func follow(file string) (gitDir, repository string, isWorktree bool) {
	name, ok := strings.CutPrefix(pointer(file), "gitdir: ")
	if !ok {
		return "", "", false
	}
	gitDir = resolve(absolute(filepath.Dir(file), name))
	list := filepath.Dir(gitDir)
	if filepath.Base(list) != worktreesDir {
		return gitDir, "", false
	}
	repository = filepath.Dir(list)
	hasPath := func(pointerFile, path string) bool { // whether a file in gitDir names the path
		name := pointer(filepath.Join(gitDir, pointerFile))
		return name != "" && same(resolve(absolute(gitDir, name)), path)
	}
	return gitDir, repository, hasPath("commondir", repository) && hasPath("gitdir", file)
}

// mainRoot returns the main working tree of a repository, or "".
func mainRoot(common string) string {
	if filepath.Base(common) != ".git" {
		return ""
	}
	return filepath.Dir(common)
}

const worktreesDir = "worktrees" // in a repository: it has a directory for each worktree

// worktrees returns the existing working trees of a repository: the main working tree, and those that the repository
// lists. common is the directory of the repository; there are no working trees if it is "".
func worktrees(common string) (roots []string) {
	const most = 1000
	if common == "" {
		return nil
	}
	add := func(root string) { // adds a directory whose own .git names the repository
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

// pointer returns the line in a file by which git points to another path; "" if the file cannot be read.
func pointer(file string) string {
	const most = 8 << 10 // bytes
	data, _ := safefile.Read(file, most)
	return strings.TrimRight(string(data), "\r\n") // git writes one line
}
