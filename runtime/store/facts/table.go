package facts

import (
	"encoding/binary"
	"maps"
	"slices"
)

// table is facts by their keys, as they stand in a file: how many buckets there are, a power
// of two; for each of them where its fact begins, or 0; and the facts. A fact stands in the
// bucket of its hash or, where that is taken, in the next one that is not. It is read in
// place: a listing looks at each fact once.
type table []byte

const wordSize = 4

// newTable returns the table of facts.
func newTable(facts map[string]*fact) table {
	n := 2
	for n < 2*len(facts) {
		n *= 2
	}
	t := make(table, wordSize*(1+n))
	binary.LittleEndian.PutUint32(t, uint32(n)) //nolint:gosec // a file has at most maxBook bytes
	for _, key := range slices.Sorted(maps.Keys(facts)) {
		bucket := hash([]byte(key)) % uint64(n) //nolint:gosec // positive
		for t.word(int(bucket)+1) != 0 {        //nolint:gosec // less than n
			bucket = (bucket + 1) % uint64(n) //nolint:gosec // positive
		}
		binary.LittleEndian.PutUint32(t[wordSize*(1+bucket):], uint32(len(t))) //nolint:gosec // as above
		f := facts[key]
		t = binary.AppendVarint(t, f.used)
		for _, part := range [][]byte{[]byte(key), f.stamp, f.data} {
			t = binary.AppendUvarint(t, uint64(len(part)))
			t = append(t, part...)
		}
	}
	return t
}

// hash is FNV-1a.
func hash(key []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h ^ h>>32
}

func (t table) word(i int) uint32 { return binary.LittleEndian.Uint32(t[wordSize*i:]) }

// buckets returns how many buckets there are: none where that cannot be.
func (t table) buckets() int {
	if len(t) < wordSize {
		return 0
	}
	n := int(t.word(0))
	if n <= 0 || n > len(t)/wordSize-1 {
		return 0
	}
	return n
}

// find returns the fact of a key, and its bucket; false where there is none.
func (t table) find(key []byte) (bucket int, f fact, ok bool) {
	n := t.buckets()
	if n == 0 {
		return 0, fact{}, false
	}
	bucket = int(hash(key) % uint64(n)) //nolint:gosec // less than n
	for range n {
		found, f, ok := t.at(bucket)
		if !ok || string(found) == string(key) {
			return bucket, f, ok
		}
		bucket = (bucket + 1) % n
	}
	return 0, fact{}, false
}

// at returns the fact in a bucket; false where there is none.
func (t table) at(bucket int) (key []byte, f fact, ok bool) {
	at := int(t.word(1 + bucket))
	if at == 0 || at > len(t) {
		return nil, fact{}, false
	}
	d := Coder{data: t[at:], reads: true}
	Int(&d, &f.used)
	key, f.stamp, f.data = d.bytes(), d.bytes(), d.bytes()
	if d.bad {
		return nil, fact{}, false
	}
	return key, f, true
}

// all calls yield with the facts, their buckets and keys.
func (t table) all(yield func(bucket int, key []byte, f *fact)) {
	for bucket := range t.buckets() {
		if key, f, ok := t.at(bucket); ok {
			yield(bucket, key, &f)
		}
	}
}
