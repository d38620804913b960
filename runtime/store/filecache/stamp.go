package filecache

import "encoding/binary"

// Stamp is the state of a file by its metadata. It changes when the file is changed or replaced, even by one of the
// same size and time of modification.
type Stamp struct {
	known    bool
	inode    uint64
	size     int64
	modified int64 // Unix time in nanoseconds
	changed  int64 // the same, by the system's own clock
}

// Missing returns the stamp of a file that does not exist.
func Missing() Stamp { return Stamp{known: true} }

// Modified returns the Unix time of the last modification in nanoseconds; 0 for a missing file.
func (s Stamp) Modified() int64 { return s.modified }

// Version returns a text that changes when any of the files does.
func Version(files ...Stamp) string {
	const numbers, bytes = 4, 8
	version := make([]byte, 0, numbers*bytes*len(files))
	for _, f := range files {
		for _, n := range []uint64{f.inode, uint64(f.size), uint64(f.modified), uint64(f.changed)} { //nolint:gosec // the same bits
			version = binary.LittleEndian.AppendUint64(version, n)
		}
	}
	return string(version)
}
