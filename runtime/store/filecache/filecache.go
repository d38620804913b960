// Package filecache keeps what a list of conversations needs of files, so that nothing is read again
// while the files are as they were then.
//
// It never decides what is true: a value is handed out only for the very files that it was read
// of, by what the system says of them. What it writes is beside the indexes, in the user's cache
// directory, and can be deleted at any time. Nothing here is ever an error: without it, files are
// read.
package filecache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// Directory is where values are kept. A nil one keeps nothing. It is safe for concurrent use.
type Directory struct {
	// Least is how many bytes need not be read again for what is written; it is as many as are
	// read in no time, so that a small store of small files leaves no trace. Nobody changes it
	// once there is a book.
	Least int64

	path, mark string

	mu    sync.Mutex
	books map[string]*Book // by name
}

// In returns what is kept in a directory, which need not be there, under a mark: what was kept
// under another one counts for nothing.
func In(dir, mark string) *Directory {
	return &Directory{Least: 1 << 20, path: dir, mark: mark, books: map[string]*Book{}}
}

// Extension is that of the name of a file with a book.
const Extension = ".list"

// Name returns the name of a store, of a kind and at a place, in a directory.
func Name(kind, place string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + place))
	return kind + "-" + hex.EncodeToString(sum[:8])
}

// Of returns what is kept of a store.
func (d *Directory) Of(kind, place string) *Book {
	if d == nil {
		return nil
	}
	name := Name(kind, place)
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.books[name]
	if b == nil {
		b = &Book{path: filepath.Join(d.path, name+Extension), mark: d.mark, least: d.Least}
		d.books[name] = b
	}
	return b
}

// Save saves all that is worth it.
func (d *Directory) Save() {
	if d == nil {
		return
	}
	d.mu.Lock()
	books := slices.Collect(maps.Values(d.books))
	d.mu.Unlock()
	for _, b := range books {
		b.Save()
	}
}

// RemoveOthers removes what is kept under other marks.
func (d *Directory) RemoveOthers() error {
	names, err := filepath.Glob(filepath.Join(d.path, "*"+Extension))
	for _, name := range names {
		f, _, e := safefile.Open(name)
		if e != nil {
			continue // it was removed meanwhile, or cannot be used
		}
		begin := make([]byte, len(head(d.mark)))
		n, _ := f.Read(begin)
		f.Close()
		if string(begin[:n]) != head(d.mark) {
			err = os.Remove(name)
		}
	}
	return err
}

// Book is what is kept of a store. A nil one keeps nothing. It is safe for concurrent use.
type Book struct {
	path, mark string
	least      int64

	load    sync.Once
	mu      sync.Mutex
	values  map[string]*value
	saves   uint64 // that the file has seen
	size    int    // of the file
	changed bool
	cost    int64 // bytes that need not be read again once what is new is saved
}

// value is what is kept under a key.
type value struct {
	stamp, data []byte
	used        uint64 // save before which it was last asked for
}

const (
	// maxValue and maxBook bound a value and all of a store, in bytes.
	maxValue = 1 << 20
	maxBook  = 1 << 30
	// savesKept is how many saves a value outlives that nobody asks for: most often its file is gone.
	savesKept = 50
)

// get returns what was kept under a key for files of a stamp. It is not to be changed.
func (b *Book) get(key string, stamp []byte) ([]byte, bool) {
	b.load.Do(b.read)
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.values[key]
	if v == nil || !bytes.Equal(v.stamp, stamp) {
		return nil, false
	}
	v.used = b.saves + 1
	return v.data, true
}

// put keeps something under a key. cost is about how many bytes are read to find it out.
func (b *Book) put(key string, stamp, data []byte, cost int64) {
	if len(key)+len(stamp)+len(data) > maxValue {
		return
	}
	b.load.Do(b.read)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.values[key] = &value{stamp, data, b.saves + 1}
	b.cost += cost
	b.changed = true
}

// Save writes what was found out where that costs less than to find it out again.
func (b *Book) Save() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.changed || b.cost < max(b.least, int64(b.size)) {
		return
	}
	b.saves++
	data := binary.AppendUvarint(make([]byte, len(head(b.mark))+crc32.Size), b.saves)
	for _, key := range slices.Sorted(maps.Keys(b.values)) {
		v := b.values[key]
		if v.used+savesKept < b.saves {
			delete(b.values, key)
			continue
		}
		data = binary.AppendUvarint(data, v.used)
		for _, part := range [][]byte{[]byte(key), v.stamp, v.data} {
			data = append(binary.AppendUvarint(data, uint64(len(part))), part...)
		}
	}
	body := data[copy(data, head(b.mark))+crc32.Size:]
	binary.LittleEndian.PutUint32(data[len(head(b.mark)):], checksum(body))
	b.write(data)
	b.changed, b.cost, b.size = false, 0, len(data) // where it cannot be written now, it cannot a moment later either
}

// head begins a file, before a checksum of what follows it.
func head(mark string) string { return "convtools list 1 " + mark + "\n" }

func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// read reads what is there. What is no whole book of this format and mark counts for none.
func (b *Book) read() {
	b.values = map[string]*value{}
	data, err := safefile.Read(b.path, maxBook)
	body, ok := bytes.CutPrefix(data, []byte(head(b.mark)))
	if err != nil || !ok || len(body) < crc32.Size || binary.LittleEndian.Uint32(body) != checksum(body[crc32.Size:]) {
		return
	}
	b.size = len(data)
	rest := body[crc32.Size:]
	b.saves = number(&rest)
	const usual = 128 // bytes of a value
	b.values = make(map[string]*value, len(rest)/usual)
	var room []value
	for len(rest) > 0 {
		if len(room) == 0 {
			room = make([]value, usual)
		}
		v := &room[0]
		room = room[1:]
		v.used = number(&rest)
		key := part(&rest)
		v.stamp, v.data = part(&rest), part(&rest)
		b.values[string(key)] = v
	}
}

// number cuts a number off data; what is no number is zero, and ends it.
func number(data *[]byte) uint64 {
	n, size := binary.Uvarint(*data)
	if size <= 0 {
		*data = nil
		return 0
	}
	*data = (*data)[size:]
	return n
}

// part cuts bytes off data that are after their number.
func part(data *[]byte) []byte {
	n := min(number(data), uint64(len(*data)))
	v := (*data)[:n:n]
	*data = (*data)[n:]
	return v
}

// write replaces the file. Where it cannot, nothing is kept.
func (b *Book) write(data []byte) {
	dir, name := filepath.Split(b.path)
	if len(data) > maxBook || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	root, err := safefile.OpenDir(dir)
	if err != nil {
		return
	}
	defer root.Close()
	sweep(root, dir)
	temp, err := safefile.StageUnsynced(root, name, data, 0o600)
	if err == nil && root.Rename(temp, name) != nil {
		_ = root.Remove(temp) // there is nobody to tell
	}
}

// sweep removes what writers that were killed have left.
func sweep(root *os.Root, dir string) {
	const abandoned = time.Hour
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && safefile.Temporary(e.Name()) && time.Since(info.ModTime()) > abandoned {
			_ = root.Remove(e.Name()) // another process may have
		}
	}
}

// Sheet is where something is kept that is read of files.
type Sheet struct {
	book  *Book
	key   string
	stamp []byte
	size  int64 // of the files, as far as that is known
}

// perFile is about how many bytes are read in the time that it takes to open a file.
const perFile = 16 << 10

// Sheet returns what is kept under a key of files with these stamps, taken before they are read.
func (b *Book) Sheet(key string, files ...Stamp) Sheet {
	s := Sheet{book: b, key: key, size: perFile, stamp: make([]byte, 0, len(files)*stampSize)}
	for _, f := range files {
		if !f.known {
			s.book = nil
		}
		s.size += f.size
		for _, n := range []uint64{f.inode, uint64(f.size), uint64(f.modified), uint64(f.changed)} { //nolint:gosec // the same bits
			s.stamp = binary.LittleEndian.AppendUint64(s.stamp, n)
		}
	}
	return s
}

// stampSize is how many bytes a stamp takes.
const stampSize = 4 * 8

// Versioned returns what is kept under a key of something of a version.
func (b *Book) Versioned(key, version string) Sheet {
	return Sheet{book: b, key: key, stamp: []byte(version), size: perFile}
}

// Version returns a text that is another one when the files have changed.
func (s *Sheet) Version() string { return string(s.stamp) }

// Get reads what was kept of the files as they are into what v points to, and reports whether
// there is anything.
func (s *Sheet) Get(v any) bool {
	if s.book == nil {
		return false
	}
	data, ok := s.book.get(s.key, s.stamp)
	if f, isFields := v.(Fielder); ok && isFields {
		return readFields(data, f.Fields())
	}
	return ok && json.Unmarshal(data, v) == nil
}

// Put keeps what was found out by reading the files to their end.
func (s *Sheet) Put(v any) { s.PutFor(v, s.size) }

// PutFor is Put of what is found out by reading only some bytes.
func (s *Sheet) PutFor(v any, read int64) {
	if s.book == nil {
		return
	}
	if f, ok := v.(Fielder); ok {
		s.book.put(s.key, s.stamp, appendFields(nil, f.Fields()), perFile+read)
	} else if data, err := json.Marshal(v); err == nil {
		s.book.put(s.key, s.stamp, data, perFile+read)
	}
}
