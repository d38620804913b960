package safefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// ReadDirIn returns what is in a directory in a root, in no order. The system is not asked
// about the entries where the directory has what they are, as it is for a file that a root
// opened. Their Info is not known.
func ReadDirIn(root *os.Root, name string) ([]fs.DirEntry, error) {
	return ReadSomeIn(root, name, -1)
}

// ReadSomeIn is [ReadDirIn] for up to n entries.
func ReadSomeIn(root *os.Root, name string, n int) ([]fs.DirEntry, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dir := f
	if plain := reopened(f); plain != nil {
		defer plain.Close()
		dir = plain
	}
	entries, err := dir.ReadDir(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}
