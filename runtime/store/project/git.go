package project

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// place is what there is to know of a directory.
type place struct {
	root string // of the project that it belongs to
	// common is the common directory of the repository that the project is; empty for none.
	common string
	// claimed is the common directory of the repository that a .git file says it is a
	// worktree of, and that does not know of it; empty where none does.
	claimed string
}

// is reports whether two places are of one project.
func (p place) is(other place) bool {
	return same(p.common, other.common) && (p.common != "" || same(p.root, other.root))
}

// identify returns what there is to know of a directory.
func identify(dir string) (at place) {
	// A working tree whose repository is kept elsewhere, and where. That of a submodule is
	// kept in the repository around it, which it belongs to.
	alone, own := dir, ""
	workspace := "" // around it
	for d := range upwards(dir) {
		common := ""
		git := filepath.Join(d, ".git")
		if info, err := os.Stat(git); err == nil && info.IsDir() {
			common = git
		} else if err == nil {
			l := follow(git)
			at.claimed = cmp.Or(at.claimed, l.common)
			switch {
			case l.believed:
				common = l.common
			case l.is && (own == "" || below(l.own, own)):
				alone, own = d, l.own
			}
		}
		switch {
		case common == "":
		case own != "" && !below(common, own):
			at.root = alone
			return at
		case workspace != "":
			at.root = workspace
			return at
		default:
			at.root, at.common = d, common
			return at
		}
		if info, err := os.Stat(filepath.Join(d, ".jp")); err == nil && info.IsDir() {
			if own == "" {
				at.root = d
				return at
			}
			workspace = cmp.Or(workspace, d)
		}
	}
	at.root = alone
	return at
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

// mainRoot returns the directory that a repository was made in, or "".
func mainRoot(common string) string {
	if filepath.Base(common) != ".git" {
		return ""
	}
	return filepath.Dir(common)
}

// worktreesDir is where a repository has a directory for each of its worktrees.
const worktreesDir = "worktrees"

// maxWorktrees bounds how many worktrees of a repository are looked at.
const maxWorktrees = 1000

// worktrees returns the working trees of a repository that are there: the directory that it was
// made in, and those that it lists and that lead back to it. Of one that is gone, nothing tells
// whose it was.
func worktrees(common string) (roots []string) {
	if common == "" {
		return nil
	}
	add := func(root string) {
		if at := identify(root); at.root == root && same(at.common, common) {
			roots = append(roots, root)
		}
	}
	if main := mainRoot(common); main != "" {
		add(main)
	}
	dir := filepath.Join(common, worktreesDir)
	entries, _ := readDir(dir) // which need not be there
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
