//go:build !linux

package subjects

import (
	"os"
)

// folder is a directory of a topic that is kept open.
type folder struct{ root *os.Root }

func openFolder(root *os.Root, path string) (folder, error) {
	sub, err := root.OpenRoot(path)
	return folder{sub}, err
}

func (f folder) close() {
	if f.root != nil {
		f.root.Close()
	}
}

// begin fills buf with what a file in the folder begins with, and returns how
// much that is and the size of the file.
func (f folder) begin(name string, buf []byte) (n int, size int64, err error) {
	file, err := f.root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, 0, errNotFile
	}
	begin, err := readBegin(file, buf)
	return len(begin), info.Size(), err
}
