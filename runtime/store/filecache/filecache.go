// Package filecache caches what a store has read from its files, so that a list of conversations reads only files
// that have changed since.
//
// A cached value is returned only for the files that it was read from, unchanged by their stamps. The package writes
// no files: the index of a store saves the cache. It returns no errors: without a cached value, the files are read.
package filecache

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Cache has the cached values of a store. A nil cache has none, and takes none. It is safe for concurrent use.
type Cache struct {
	load func() []byte
	once sync.Once

	mu    sync.Mutex
	saved map[string]*value // as loaded
	used  map[string]*value // returned or added since
	added int               // since the cache was saved
}

// value is a value, read from files with a version.
type value struct {
	version, data []byte
	decoded       atomic.Value // from data, by [Decode]
}

// New returns a cache of the values that load returns, as [Cache.Append] appended them.
func New(load func() []byte) *Cache { return &Cache{load: load} }

// Get returns the value of a key if it was read from files with these stamps; otherwise nil. The caller must not change
// the value.
func (c *Cache) Get(key string, files ...Stamp) []byte { return c.get(key, files).data }

// Decode decodes the JSON value that [Cache.Get] returns for a key into *to, and returns true. If there is no value, it
// returns false. Callers get the same decoded value, and must not change the data that the value refers to.
func Decode[T any](c *Cache, key string, to *T, files ...Stamp) bool {
	v := c.get(key, files) // never nil; v.data is empty if there is no value
	decoded, ok := v.decoded.Load().(T)
	if !ok {
		if json.Unmarshal(v.data, &decoded) != nil { // also if v.data is empty
			return false
		}
		v.decoded.Store(decoded)
	}
	*to = decoded
	return true
}

// get returns the value for Get; an empty one for none.
func (c *Cache) get(key string, files []Stamp) *value {
	if c == nil {
		return &value{}
	}
	c.once.Do(c.loadSaved)
	c.mu.Lock()
	defer c.mu.Unlock()
	v := cmp.Or(c.used[key], c.saved[key])
	if v == nil || string(v.version) != Version(files...) {
		return &value{}
	}
	c.used[key] = v
	return v
}

const maxValue = 1 << 20 // bytes of a value

// Put adds a value that was read from files with these stamps. The stamps were taken before the files were read. A value
// is not added if it is too large, or if the stamp of a file is not known.
func (c *Cache) Put(key string, data []byte, files ...Stamp) {
	hasUnknown := slices.ContainsFunc(files, func(s Stamp) bool { return !s.known })
	if c == nil || hasUnknown || len(key)+len(data) > maxValue {
		return
	}
	c.once.Do(c.loadSaved)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used[key] = &value{version: []byte(Version(files...)), data: data}
	c.added++
}

// IsStale reports whether to save the cache: more than an eighth of the values in use were added since it was saved.
func (c *Cache) IsStale() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	const share = 8 // an eighth
	return share*c.added > len(c.used)
}

// Append appends the values that were returned or added. It leaves out all others: their files are gone or have changed.
func (c *Cache) Append(b []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.added = 0 // IsStale counts the values that are added from now on
	for _, key := range slices.Sorted(maps.Keys(c.used)) {
		v := c.used[key]
		for _, part := range [][]byte{[]byte(key), v.version, v.data} {
			b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
		}
	}
	return b
}

// loadSaved loads the saved values and decodes them.
func (c *Cache) loadSaved() {
	rest := c.load()
	const usual = 128 // bytes of a value
	c.saved, c.used = make(map[string]*value, len(rest)/usual), map[string]*value{}
	for len(rest) > 0 {
		key := cutBytes(&rest)
		c.saved[string(key)] = &value{version: cutBytes(&rest), data: cutBytes(&rest)}
	}
}
