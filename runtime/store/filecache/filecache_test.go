package filecache_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store/filecache"
)

func open(dir string) *filecache.Book {
	d := filecache.In(dir, "")
	d.Least = 1
	return d.Of("kind", "/place")
}

// stampOf returns the stamp of a file.
func stampOf(t *testing.T, name string) filecache.Stamp {
	t.Helper()
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	stamp, err := filecache.At(dir, filepath.Base(name))
	if err != nil {
		t.Fatal(err)
	}
	return stamp
}

func write(t *testing.T, text string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func got(b *filecache.Book, key string, files ...filecache.Stamp) string {
	sheet := b.Sheet(key, files...)
	text := "nothing"
	sheet.Get(&text)
	return text
}

func keep(b *filecache.Book, key, text string, files ...filecache.Stamp) {
	sheet := b.Sheet(key, files...)
	sheet.Put(text)
}

func TestKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := stampOf(t, write(t, "one")), stampOf(t, write(t, "two"))
	b := open(dir)
	keep(b, "a", "of one", one)
	keep(b, "b", "of both", one, two)
	keep(b, "c", "first", one)
	keep(b, "c", "last", one)
	keep(b, "d", "without a stamp", filecache.Stamp{})
	keep(b, "e", "of none there", filecache.Missing())
	check := func(b *filecache.Book) {
		t.Helper()
		for _, test := range []struct{ got, want string }{
			{got(b, "a", one), "of one"},
			{got(b, "a", two), "nothing"},
			{got(b, "a", one, two), "nothing"},
			{got(b, "b", one, two), "of both"},
			{got(b, "b", two, one), "nothing"},
			{got(b, "c", one), "last"},
			{got(b, "d", filecache.Stamp{}), "nothing"},
			{got(b, "e", filecache.Missing()), "of none there"},
			{got(b, "e", one), "nothing"},
			{got(b, "f", one), "nothing"},
		} {
			if test.got != test.want {
				t.Errorf("%q is kept, want %q", test.got, test.want)
			}
		}
	}
	check(b)
	b.Save()
	check(b)
	again := open(dir)
	check(again)
	keep(again, "g", "more", two)
	again.Save()
	check(open(dir))
	if got := got(filecache.In(dir, "").Of("kind", "/elsewhere"), "a", one); got != "nothing" {
		t.Errorf("another place has %q", got)
	}
}

// Nil is a directory that keeps nothing.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	var none *filecache.Directory
	b := none.Of("kind", "/place")
	keep(b, "a", "text", filecache.Missing())
	b.Save()
	if got(b, "a", filecache.Missing()) != "nothing" {
		t.Error("something is kept")
	}
}

// tick returns once the file system's clock has advanced.
func tick(t *testing.T) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "clock")
	at := func() time.Time {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	for first := at(); !at().After(first); {
		runtime.Gosched()
	}
}

func TestStamp(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(name string) error{
		"written, with the time of its last modification given back": func(name string) error {
			info, err := os.Stat(name)
			if err == nil {
				err = os.WriteFile(name, []byte("other"), 0o600)
			}
			if err != nil {
				return err
			}
			return os.Chtimes(name, info.ModTime(), info.ModTime())
		},
		"replaced": func(name string) error {
			if err := os.WriteFile(name+"2", []byte("other"), 0o600); err != nil {
				return err
			}
			return os.Rename(name+"2", name)
		},
		"grown":                 func(name string) error { return os.WriteFile(name, []byte("text and more"), 0o600) },
		"taken from its reader": func(name string) error { return os.Chmod(name, 0o200) },
	} {
		name := write(t, "texts")
		before := stampOf(t, name)
		if stampOf(t, name) != before {
			t.Error("a file that nobody changed has another stamp")
		}
		tick(t)
		if err := change(name); err != nil {
			t.Fatal(err)
		}
		if stampOf(t, name) == before {
			t.Errorf("a file has the same stamp once it was %s", what)
		}
	}
	dir := filepath.Dir(write(t, ""))
	if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	root, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]bool{"file": true, "link": false, ".": false, "missing": false} {
		stamp, err := filecache.At(root, name)
		if (stamp != filecache.Stamp{}) != want || (err == nil) != (name != "missing") {
			t.Errorf("%s: known %v, %v", name, stamp != filecache.Stamp{}, err)
		}
		if want && stamp != stampOf(t, filepath.Join(dir, name)) {
			t.Errorf("%s has two stamps", name)
		}
	}
}

// saved is a directory with facts, and the name of their file in it.
func saved(t *testing.T, stamp filecache.Stamp) (dir, name string) {
	t.Helper()
	dir = t.TempDir()
	b := open(dir)
	for i := range 5 {
		keep(b, fmt.Sprint(i), fmt.Sprint("fact ", i), stamp)
	}
	b.Save()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return dir, files[0]
}

// TestDamage changes each byte of a file, and cuts it at each. It counts for none then.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir, name := saved(t, filecache.Missing())
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	check := func(data []byte, want string) {
		t.Helper()
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		b := open(dir)
		for i := range 5 {
			got := got(b, fmt.Sprint(i), filecache.Missing())
			if want == "" && got != fmt.Sprint("fact ", i) || want != "" && got != want {
				t.Fatalf("%q is kept in %q", got, data)
			}
		}
	}
	check(whole, "")
	for i := range whole {
		data := bytes.Clone(whole)
		data[i] ^= 1 << (i % 8)
		check(data, "nothing")
		check(whole[:i], "nothing")
	}
	check(append(bytes.Clone(whole), 0), "nothing")
	b := open(dir)
	keep(b, "0", "anew", filecache.Missing())
	b.Save()
	if got := got(open(dir), "0", filecache.Missing()); got != "anew" {
		t.Errorf("%q is kept where there was a damaged file", got)
	}
}

// Where nothing can be written, that is nobody's problem.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	file := write(t, "in the way")
	for _, dir := range []string{file, filepath.Join(file, "below"), string([]byte{0})} {
		b := open(dir)
		keep(b, "a", "text", filecache.Missing())
		b.Save()
		if got := got(b, "a", filecache.Missing()); got != "text" {
			t.Errorf("%q: %q is kept in memory", dir, got)
		}
		if got := got(open(dir), "a", filecache.Missing()); got != "nothing" {
			t.Errorf("%q: %q is kept", dir, got)
		}
	}
}

// A write has to be worth it.
func TestLeast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := filecache.In(dir, "").Of("kind", "/place")
	keep(b, "a", "little", filecache.Missing())
	b.Save()
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("%d files were written: %v", len(names), err)
	}
	for i := range 100 {
		keep(b, fmt.Sprint(i), "little", filecache.Missing())
	}
	b.Save()
	if got := got(open(dir), "7", filecache.Missing()); got != "little" {
		t.Errorf("%q is kept", got)
	}
}

// What nobody has asked for in many saves is dropped, and nothing else.
func TestDropped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := open(dir)
	keep(b, "old", "x", filecache.Missing())
	keep(b, "used", "x", filecache.Missing())
	b.Save()
	for range 60 {
		b = open(dir)
		got(b, "used", filecache.Missing())
		keep(b, "new", "x", filecache.Missing())
		b.Save()
	}
	var there []string
	for _, key := range []string{"old", "used", "new"} {
		if got(open(dir), key, filecache.Missing()) == "x" {
			there = append(there, key)
		}
	}
	if want := []string{"used", "new"}; !slices.Equal(there, want) {
		t.Errorf("there are %q, want %q", there, want)
	}
}

// What was kept under another mark counts for nothing, and is removed.
func TestMark(t *testing.T) {
	t.Parallel()
	dir, name := saved(t, filecache.Missing())
	other := filecache.In(dir, "other")
	if got := got(other.Of("kind", "/place"), "1", filecache.Missing()); got != "nothing" {
		t.Errorf("%q is kept", got)
	}
	if err := filecache.In(dir, "").RemoveOthers(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
	if err := other.RemoveOthers(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("what was kept under another mark is there")
	}
}

// TestTogether has several write and read one file: it is always whole.
func TestTogether(t *testing.T) {
	t.Parallel()
	dir, _ := saved(t, filecache.Missing())
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := range 20 {
				b := open(dir)
				for i := range 5 {
					if got := got(b, fmt.Sprint(i), filecache.Missing()); got != fmt.Sprint("fact ", i) {
						t.Errorf("%q is kept", got)
					}
				}
				keep(b, fmt.Sprint("of ", w), fmt.Sprint(n), filecache.Missing())
				b.Save()
			}
		})
	}
	wg.Wait()
}
