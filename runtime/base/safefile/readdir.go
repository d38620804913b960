package safefile

import (
	"io/fs"
	"os"
)

// ReadDirIn returns what is in a directory in a root, in no order. The system is not asked
// about the entries where the directory has what they are, as it is for a file that a root
// opened. Their Info is not known.
func ReadDirIn(root *os.Root, name string) ([]fs.DirEntry, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if plain := reopened(f); plain != nil {
		defer plain.Close()
		return plain.ReadDir(-1)
	}
	return f.ReadDir(-1)
}
