// Package facts keeps what stores read of files, so that nothing is read again while the
// files are as they were then.
//
// It never decides what is true: a fact is handed out only for the very files that it was
// read of, by what the system says of them, and whatever else is there counts for nothing.
// What it writes is in the user's cache directory, and can be deleted at any time. Nothing
// here is ever an error: without facts, files are read.
package facts

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// Directory is where facts are kept. A nil one has none, and keeps none. It is safe for
// concurrent use.
type Directory struct {
	path    string
	options Options

	mu    sync.Mutex
	books map[string]*Book // by name
}

// Options says how facts are kept.
type Options struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Least is how many bytes need not be read again for what is written; 0 stands for as
	// many as are read in no time, so that a small store of small files leaves no trace.
	Least int64
}

// In returns the facts in a directory, which need not be there.
func In(dir string, o Options) *Directory {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Least == 0 {
		o.Least = leastSaved
	}
	return &Directory{path: dir, options: o, books: map[string]*Book{}}
}

// Of returns what is kept of a store: of a kind, at a place.
func (d *Directory) Of(kind, place string) *Book {
	if d == nil {
		return nil
	}
	sum := sha256.Sum256([]byte(kind + "\x00" + place))
	name := kind + "-" + hex.EncodeToString(sum[:8])
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.books[name]
	if b == nil {
		b = &Book{dir: d.path, name: name, options: d.options}
		d.books[name] = b
	}
	return b
}

// Book is the facts of a store. A nil one has none, and keeps none. It is safe for
// concurrent use.
type Book struct {
	options   Options
	dir, name string

	load  sync.Once
	saved table
	used  []atomic.Bool // by bucket of the table: its fact was asked for

	anew  atomic.Bool // there are new ones
	mu    sync.RWMutex
	added map[string]*fact
	cost  int64 // bytes that need not be read again once those are saved
}

// fact is what is known of a key.
type fact struct {
	stamp, data []byte
	used        int64 // day of the last save that found it in use
}

// get returns what was kept under a key for files of a stamp. It is not to be changed.
func (b *Book) get(key, stamp []byte) ([]byte, bool) {
	if b == nil {
		return nil, false
	}
	b.load.Do(b.read)
	if b.anew.Load() {
		b.mu.RLock()
		f := b.added[string(key)]
		b.mu.RUnlock()
		if f != nil {
			return f.data, bytes.Equal(f.stamp, stamp)
		}
	}
	bucket, f, ok := b.saved.find(key)
	if !ok || !bytes.Equal(f.stamp, stamp) {
		return nil, false
	}
	b.used[bucket].Store(true)
	return f.data, true
}

// put keeps something under a key. cost is about how many bytes are read to find it out.
func (b *Book) put(key, stamp, data []byte, cost int64) {
	if b == nil || len(key)+len(stamp)+len(data) > maxFact {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.added == nil {
		b.added = map[string]*fact{}
	}
	b.added[string(key)] = &fact{stamp: bytes.Clone(stamp), data: bytes.Clone(data)}
	b.cost += cost
	b.anew.Store(true)
}

const (
	leastSaved = 1 << 20
	// maxFact and maxBook bound a fact and all of a store, in bytes.
	maxFact = 1 << 20
	maxBook = 1 << 30
	// daysKept is how long a fact is kept that nobody asks for: most often its file is gone.
	daysKept = 30
)

// Save writes what was found out where that costs less than to find it out again.
func (b *Book) Save() {
	if b == nil || !b.anew.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cost < max(b.options.Least, int64(len(b.saved))) {
		return
	}
	today := b.options.Now().Unix() / int64(24*time.Hour/time.Second)
	kept := map[string]*fact{}
	b.saved.all(func(bucket int, key []byte, f *fact) {
		if b.used[bucket].Load() {
			f.used = today
		}
		if today-f.used <= daysKept {
			kept[string(key)] = f
		}
	})
	for key, f := range b.added {
		f.used = today
		kept[key] = f
	}
	b.write(newTable(kept))
	b.cost = 0 // where it cannot be written now, it cannot a moment later either
}

// head begins a file, with a checksum of what follows it.
const head = "convtools facts 1\n"

const headSize = len(head) + crc32.Size

func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// read reads what is there. What is no whole book of this format counts for none.
func (b *Book) read() {
	data, err := safefile.Read(filepath.Join(b.dir, b.name), maxBook)
	if err != nil || len(data) < headSize || string(data[:len(head)]) != head {
		return
	}
	body := data[headSize:]
	if binary.LittleEndian.Uint32(data[len(head):]) != checksum(body) {
		return
	}
	b.saved = body
	b.used = make([]atomic.Bool, b.saved.buckets())
}

// write replaces the file. Where it cannot, nothing is kept.
func (b *Book) write(t table) {
	if len(t) > maxBook || os.MkdirAll(b.dir, 0o700) != nil {
		return
	}
	root, err := safefile.OpenDir(b.dir)
	if err != nil {
		return
	}
	defer root.Close()
	b.sweep(root)
	data := make([]byte, 0, headSize+len(t))
	data = append(data, head...)
	data = binary.LittleEndian.AppendUint32(data, checksum(t))
	data = append(data, t...)
	temp, err := safefile.StageUnsynced(root, b.name, data, 0o600)
	if err == nil && root.Rename(temp, b.name) != nil {
		_ = root.Remove(temp) // there is nobody to tell
	}
}

// sweep removes what writers that were killed have left behind.
func (b *Book) sweep(root *os.Root) {
	const abandoned = time.Hour
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && safefile.Temporary(e.Name()) && b.options.Now().Sub(info.ModTime()) > abandoned {
			_ = root.Remove(e.Name()) // another process may have
		}
	}
}
