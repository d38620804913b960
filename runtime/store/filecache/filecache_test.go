package filecache_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store/filecache"
)

// of returns what is known of a store where so much was kept.
func of(kept []byte) *filecache.Book {
	return filecache.New(func(kind, place string) []byte {
		if kind != "kind" || place != "/place" {
			return nil
		}
		return kept
	}).Of("kind", "/place")
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
	one, two := stampOf(t, write(t, "one")), stampOf(t, write(t, "two"))
	b := of(nil)
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
	if !b.IsStale() {
		t.Error("all is new, and not worth keeping")
	}
	kept := b.Append(nil)
	check(b)
	if b.IsStale() {
		t.Error("nothing is new, and worth keeping")
	}
	again := of(kept)
	check(again)
	keep(again, "g", "more", two)
	kept = again.Append(nil)
	check(of(kept))
	asked := of(kept) // what nobody asks for is dropped
	got(asked, "g", two)
	if last := of(asked.Append(nil)); got(last, "a", one) != "nothing" || got(last, "g", two) != "more" {
		t.Error("what is kept is not what was asked for")
	}
}

// Nil is a shelf without books.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	var none *filecache.Shelf
	b := none.Of("kind", "/place")
	keep(b, "a", "text", filecache.Missing())
	if got(b, "a", filecache.Missing()) != "nothing" || b.IsStale() || b.Append(nil) != nil {
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
