package facts

import (
	"encoding/binary"
	"time"
)

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

// Known reports whether the system says enough.
func (s Stamp) Known() bool { return s.known }

// Size is how long the file is, in bytes.
func (s Stamp) Size() int64 { return s.size }

// Modified is when the file was modified last, in nanoseconds of Unix time; 0 where it is
// missing.
func (s Stamp) Modified() int64 { return s.modified }

// settling is the longest step in which file systems keep times: a file that was changed
// less than this ago may be changed again and have the same stamp.
const settling = 2 * time.Second

// Look is a look at the files of a store, which begins at a moment.
type Look struct {
	book    *Book
	settled int64 // what was changed before is told from anything that comes
}

// Look begins to look at files.
func (b *Book) Look() Look {
	if b == nil {
		return Look{}
	}
	return Look{b, b.options.Now().Add(-settling).UnixNano()}
}

// Save saves what was found out, as [Book.Save] does.
func (l Look) Save() { l.book.Save() }

// Wanted reports whether facts are kept at all, so that stamps are of use.
func (l Look) Wanted() bool { return l.book != nil }

// Sheet is where something is kept that is read of files. That of a store that keeps nothing
// is zero. It implements store.Keeper.
type Sheet struct {
	book       *Book
	key, stamp []byte
	size       int64 // of all files
	settled    bool
}

// perFile is about how many bytes are read in the time that it takes to open a file.
const perFile = 16 << 10

// stampSize is how many bytes a stamp takes.
const stampSize = 4 * 8

// Sheet returns what is kept of a kind under a key, which is what the files are called. The stamps are those of all files that count, taken
// since the look began and before they are read.
func (l Look) Sheet(kind byte, key string, files ...Stamp) Sheet {
	if l.book == nil {
		return Sheet{}
	}
	s := Sheet{book: l.book, settled: true}
	room := make([]byte, 0, 1+len(key)+len(files)*stampSize)
	room = append(append(room, kind), key...)
	for _, f := range files {
		if !f.known {
			return Sheet{}
		}
		s.settled = s.settled && f.changed < l.settled
		s.size += f.size
		for _, n := range []uint64{f.inode, uint64(f.size), uint64(f.modified), uint64(f.changed)} { //nolint:gosec // the same bits
			room = binary.LittleEndian.AppendUint64(room, n)
		}
	}
	s.key, s.stamp = room[:1+len(key)], room[1+len(key):]
	return s
}

// Kept returns what was kept of the files as they were then. It is not to be changed.
func (s *Sheet) Kept() ([]byte, bool) {
	if s.book == nil {
		return nil, false
	}
	return s.book.get(s.key, s.stamp)
}

// Keep keeps what was found out by reading the files to their end.
func (s *Sheet) Keep(found []byte) { s.KeepFor(found, s.size) }

// KeepFor is Keep of what is found out by reading only some bytes.
func (s *Sheet) KeepFor(found []byte, read int64) {
	if s.book != nil && s.settled {
		s.book.put(s.key, s.stamp, found, perFile+read)
	}
}

// Version returns a text that is another one when the files have changed; empty where that is
// not known.
func (s *Sheet) Version() string { return string(s.stamp) }
