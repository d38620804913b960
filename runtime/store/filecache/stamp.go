package filecache

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"time"
)

// Stamp is the state of a file by its metadata: a change of the file's content changes it.
type Stamp struct {
	known    bool
	size     int64
	modified int64 // Unix time in nanoseconds
}

// Missing returns the stamp of a file that does not exist.
func Missing() Stamp { return Stamp{known: true} }

// At returns the stamp of a regular file: [Missing] if there is no file, and the zero stamp if it cannot be
// examined, or is anything else, such as a link.
func At(name string) Stamp {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Missing()
	case err != nil || !info.Mode().IsRegular():
		return Stamp{}
	}
	return Stamp{true, info.Size(), info.ModTime().UnixNano()}
}

// Since returns a stamp that changes with a time, for a version that depends on one.
func Since(at time.Time) Stamp { return Stamp{known: true, modified: at.UnixMilli()} }

// Modified returns the Unix time of the last modification in nanoseconds; 0 for a missing file.
func (s Stamp) Modified() int64 { return s.modified }

// Version returns a text that changes when any of the files does.
func Version(files ...Stamp) string {
	var version []byte
	for _, f := range files {
		version = binary.LittleEndian.AppendUint64(version, uint64(f.size))     //nolint:gosec // the same bits
		version = binary.LittleEndian.AppendUint64(version, uint64(f.modified)) //nolint:gosec // the same bits
	}
	return string(version)
}
