package safefile

import (
	"io/fs"
	"os"
	"strings"
)

// Series opens files in a root, one after the other. It keeps the directory of the last
// one open, so that those of one directory are opened by their names alone.
type Series struct {
	root *os.Root
	dir  string
	at   *os.Root // dir; nil for none
}

// NewSeries returns a series of files in a root, which stays the caller's. It is closed
// after use.
func NewSeries(root *os.Root) *Series { return &Series{root: root} }

// Open is [OpenIn] for the next file, by a path with slashes.
func (s *Series) Open(name string) (*os.File, fs.FileInfo, error) {
	slash := strings.LastIndexByte(name, '/')
	if slash < 0 {
		return OpenIn(s.root, name)
	}
	if dir := name[:slash]; s.at == nil || s.dir != dir {
		s.Close()
		at, err := OpenDirIn(s.root, dir)
		if err != nil {
			return OpenIn(s.root, name)
		}
		s.dir, s.at = dir, at
	}
	f, info, err := OpenIn(s.at, name[slash+1:])
	if err != nil { // a link may lead out of the directory, and stay in the root
		return OpenIn(s.root, name)
	}
	return f, info, nil
}

// Close releases what the series holds.
func (s *Series) Close() {
	if s.at != nil {
		s.at.Close()
		s.at = nil
	}
}
