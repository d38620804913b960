package filecache

// Stamp is what the system says of a file that is different once the file has been changed or
// replaced: also one of equal size that was given back the time of its last modification.
type Stamp struct {
	known    bool
	inode    uint64
	size     int64
	modified int64 // Unix time in nanoseconds
	changed  int64 // the same, of the system's own clock
}

// Missing is the stamp of a file that is not there, where that is known.
func Missing() Stamp { return Stamp{known: true} }

// Size is how long the file is, in bytes.
func (s Stamp) Size() int64 { return s.size }

// Modified is when the file was modified last, in nanoseconds of Unix time; 0 where it is
// missing.
func (s Stamp) Modified() int64 { return s.modified }
