package filecache_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store/filecache"
)

// of returns the cache of saved values.
func of(saved []byte) *filecache.Cache { return filecache.New(func() []byte { return saved }) }

func write(t *testing.T, text string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func got(c *filecache.Cache, key string, files ...filecache.Stamp) string {
	if data := c.Get(key, files...); data != nil {
		return string(data)
	}
	return "nothing"
}

func TestCache(t *testing.T) {
	t.Parallel()
	one, two := filecache.At(write(t, "one")), filecache.At(write(t, "second"))
	b := of(nil)
	b.Put("a", []byte("of one"), one)
	b.Put("b", []byte("of both"), one, two)
	b.Put("c", []byte("first"), one)
	b.Put("c", []byte("last"), one)
	b.Put("d", []byte("without a stamp"), filecache.Stamp{})
	b.Put("e", []byte("of none there"), filecache.Missing())
	check := func(b *filecache.Cache) {
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
				t.Errorf("%q is cached, want %q", test.got, test.want)
			}
		}
	}
	check(b)
	if !b.IsStale() {
		t.Error("all is new, and not worth saving")
	}
	saved := b.Append(nil)
	check(b)
	if b.IsStale() {
		t.Error("nothing is new, and worth saving")
	}
	again := of(saved)
	check(again)
	again.Put("g", []byte("more"), two)
	saved = again.Append(nil)
	check(of(saved))
	asked := of(saved) // what nobody asks for is dropped
	got(asked, "g", two)
	if last := of(asked.Append(nil)); got(last, "a", one) != "nothing" || got(last, "g", two) != "more" {
		t.Error("saved is not what was asked for")
	}
}

func TestNilCache(t *testing.T) {
	t.Parallel()
	var b *filecache.Cache
	b.Put("a", []byte("text"), filecache.Missing())
	if got(b, "a", filecache.Missing()) != "nothing" {
		t.Error("something is cached")
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
		"replaced": func(name string) error {
			if err := os.WriteFile(name+"2", []byte("other"), 0o600); err != nil {
				return err
			}
			return os.Rename(name+"2", name)
		},
		"grown": func(name string) error { return os.WriteFile(name, []byte("text and more"), 0o600) },
	} {
		name := write(t, "texts")
		before := filecache.At(name)
		if filecache.At(name) != before {
			t.Error("a file that nobody changed has another stamp")
		}
		tick(t)
		if err := change(name); err != nil {
			t.Fatal(err)
		}
		if filecache.At(name) == before {
			t.Errorf("a file has the same stamp once it was %s", what)
		}
	}
	dir := filepath.Dir(write(t, ""))
	if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]bool{"file": true, "link": false, ".": false} {
		if (filecache.At(filepath.Join(dir, name)) != filecache.Stamp{}) != want {
			t.Errorf("%s: known %v", name, !want)
		}
	}
	if filecache.At(filepath.Join(dir, "missing")) != filecache.Missing() {
		t.Error("there is a file")
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	type pair struct{ One, Two string }
	one, two := filecache.At(write(t, "one")), filecache.At(write(t, "second"))
	c := of(nil)
	c.Put("a", []byte(`{"One":"first"}`), one)
	c.Put("malformed", []byte(`{"One":"first","Two":2}`), one)
	before := pair{"before", "before"}
	check := func(key string, file filecache.Stamp, want pair, isThere bool) {
		t.Helper()
		got := before
		if ok := filecache.Decode(c, key, &got, file); ok != isThere || got != want {
			t.Errorf("Decode(%q) returns %v and sets %v, want %v and %v", key, ok, got, isThere, want)
		}
	}
	for range 2 {
		check("a", one, pair{One: "first"}, true)
	}
	check("a", two, before, false)
	check("malformed", one, before, false)
	check("none", one, before, false)
	c.Put("a", []byte(`{"One":"second"}`), two)
	check("a", two, pair{One: "second"}, true)
	c = nil
	check("a", one, before, false)
}
