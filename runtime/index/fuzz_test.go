package index_test

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/index"
)

// small makes an index of two segments with all kinds of lists, and returns its files and its model.
func small(t testing.TB) (files map[string][]byte, m model) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	x := index.Open(dir)
	m = model{}
	put(t, x, m, "a", "alpha beta 中文", 9)
	put(t, x, m, "b", "gamma", 3)
	put(t, x, m, "a", "alpha beta 中文", 10)
	return snapshot(t, dir), m
}

// replace overwrites some bytes of data at an offset, or cuts it there and appends them.
func replace(data []byte, at uint32, with []byte, cut bool) []byte {
	from := int(at) % (len(data) + 1)
	data = bytes.Clone(data)
	if cut {
		return append(data[:from], with...)
	}
	copy(data[from:], with)
	return data
}

// try returns the answers of an index with some files.
func try(t *testing.T, files map[string][]byte) ([][]found, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	restore(t, dir, files)
	x := index.Open(dir)
	return answers(t, x)
}

func isUnusable(err error) bool {
	var damage *index.DamageError
	return errors.As(err, &damage) || errors.Is(err, fs.ErrNotExist)
}

// FuzzDamage changes or cuts the files of an index: the answers are right, or there is an error.
func FuzzDamage(f *testing.F) {
	whole, m := small(f)
	names := slices.Sorted(maps.Keys(whole))
	for i, name := range names {
		f.Add(uint(i), uint32(0), []byte{}, true)
		f.Add(uint(i), uint32(17), []byte("3"), false)
		f.Add(uint(i), uint32(len(whole[name])-9), []byte{1}, false)
		f.Add(uint(i), uint32(len(whole[name])), []byte{0}, true)
	}
	f.Fuzz(func(t *testing.T, i uint, at uint32, with []byte, cut bool) {
		name := names[i%uint(len(names))]
		data := whole[name]
		files := map[string][]byte{}
		for n, data := range whole {
			files[n] = data
		}
		files[name] = replace(data, at, with, cut)
		got, err := try(t, files)
		if err != nil {
			if !isUnusable(err) {
				t.Error(err)
			}
		} else if diff := gocmp.Diff(m.answers(), got); diff != "" {
			t.Error(diff)
		}
	})
}

// FuzzSealed changes the contents of a file and corrects its checksums: reading it does not panic, and all messages
// found match.
func FuzzSealed(f *testing.F) {
	whole, _ := small(f)
	names := slices.Sorted(maps.Keys(whole))
	for i, name := range names {
		for at := 0; at < len(whole[name]); at += 97 {
			f.Add(uint(i), uint32(at), []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF})
			f.Add(uint(i), uint32(at), []byte{0})
		}
	}
	f.Fuzz(func(t *testing.T, i uint, at uint32, with []byte) {
		name := names[i%uint(len(names))]
		data := whole[name]
		files := maps.Clone(whole)
		files[name] = replace(data, at, with, false)
		if sum := index.Reseal(files[name]); name != "catalog" {
			files["catalog"] = index.WithSum(files["catalog"], name, sum)
		}
		if _, err := try(t, files); err != nil && !isUnusable(err) {
			t.Error(err)
		}
	})
}

// FuzzContents reads catalogs with other contents.
func FuzzContents(f *testing.F) {
	whole, _ := small(f)
	index.WithContents(whole["catalog"], func(body []byte) []byte {
		f.Add(bytes.Clone(body))
		return body
	})
	f.Add([]byte(`{"Segments":[null]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		files := maps.Clone(whole)
		files["catalog"] = index.WithContents(files["catalog"], func([]byte) []byte { return body })
		if _, err := try(t, files); err != nil && !isUnusable(err) {
			t.Error(err)
		}
	})
}

// FuzzPostings reads lists, symbols and records of any bytes.
func FuzzPostings(f *testing.F) {
	f.Add([]byte("\x00\x01\x02"), uint32(3), uint32(100))
	f.Add(bytes.Repeat([]byte{0xFF}, 40), uint32(9), uint32(1<<20))
	f.Add([]byte("\x01a\x02bc"), uint32(0), uint32(0))
	f.Fuzz(func(t *testing.T, data []byte, count, documents uint32) {
		count, documents = count%(1<<16), documents%(1<<20)+1
		if list, ok := index.ReadDifferences(data, count, documents); ok && len(list) != int(count) {
			t.Errorf("%d documents, not %d", len(list), count)
		}
		index.ReadSymbols(data, data)
		index.ReadRecord(data)
	})
}
