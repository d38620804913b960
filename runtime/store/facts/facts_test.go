package facts_test

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

	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/store/facts"
)

// later is a clock by which every file of a test was changed long ago.
func later() time.Time { return time.Now().Add(time.Hour) }

func open(dir string) *facts.Book {
	return facts.In(dir, facts.Options{Now: later, Least: 1}).Of("kind", "/place")
}

// stampOf returns the stamp of a file, where the system has stamps.
func stampOf(t *testing.T, name string) facts.Stamp {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	stamp := facts.Of(info)
	if !stamp.Known() {
		t.Skip("the system has no stamps on " + runtime.GOOS)
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

func kept(b *facts.Book, key string, files ...facts.Stamp) string {
	sheet := b.Look().Sheet('k', key, files...)
	data, ok := sheet.Kept()
	if !ok {
		return "nothing"
	}
	return string(data)
}

func keep(b *facts.Book, key, text string, files ...facts.Stamp) {
	sheet := b.Look().Sheet('k', key, files...)
	sheet.Keep([]byte(text))
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
	keep(b, "d", "without a stamp", facts.Stamp{})
	keep(b, "e", "of none there", facts.Missing())
	check := func(b *facts.Book) {
		t.Helper()
		for _, test := range []struct{ got, want string }{
			{kept(b, "a", one), "of one"},
			{kept(b, "a", two), "nothing"},
			{kept(b, "a", one, two), "nothing"},
			{kept(b, "b", one, two), "of both"},
			{kept(b, "b", two, one), "nothing"},
			{kept(b, "c", one), "last"},
			{kept(b, "d", facts.Stamp{}), "nothing"},
			{kept(b, "e", facts.Missing()), "of none there"},
			{kept(b, "e", one), "nothing"},
			{kept(b, "f", one), "nothing"},
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
	if got := kept(facts.In(dir, facts.Options{Now: later}).Of("kind", "/elsewhere"), "a", one); got != "nothing" {
		t.Errorf("another place has %q", got)
	}
}

// Nil is a directory that keeps nothing.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	var none *facts.Directory
	b := none.Of("kind", "/place")
	keep(b, "a", "text", facts.Missing())
	b.Save()
	if b.Look().Wanted() || kept(b, "a", facts.Missing()) != "nothing" {
		t.Error("something is kept")
	}
}

// A file that has just been changed may change again without another stamp.
func TestUnsettled(t *testing.T) {
	t.Parallel()
	stamp := stampOf(t, write(t, "text"))
	b := facts.In(t.TempDir(), facts.Options{Now: time.Now}).Of("kind", "/place")
	keep(b, "a", "text", stamp)
	if got := kept(b, "a", stamp); got != "nothing" {
		t.Errorf("%q is kept", got)
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
		stamp, err := facts.At(root, name)
		if stamp.Known() != want || (err == nil) != (name != "missing") {
			t.Errorf("%s: known %v, %v", name, stamp.Known(), err)
		}
		if want && stamp != stampOf(t, filepath.Join(dir, name)) {
			t.Errorf("%s has two stamps", name)
		}
	}
}

// saved is a directory with facts, and the name of their file in it.
func saved(t *testing.T, stamp facts.Stamp) (dir, name string) {
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
	dir, name := saved(t, facts.Missing())
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
			got := kept(b, fmt.Sprint(i), facts.Missing())
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
	keep(b, "0", "anew", facts.Missing())
	b.Save()
	if got := kept(open(dir), "0", facts.Missing()); got != "anew" {
		t.Errorf("%q is kept where there was a damaged file", got)
	}
}

// Where nothing can be written, that is nobody's problem.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	file := write(t, "in the way")
	for _, dir := range []string{file, filepath.Join(file, "below"), string([]byte{0})} {
		b := open(dir)
		keep(b, "a", "text", facts.Missing())
		b.Save()
		if got := kept(b, "a", facts.Missing()); got != "text" {
			t.Errorf("%q: %q is kept in memory", dir, got)
		}
		if got := kept(open(dir), "a", facts.Missing()); got != "nothing" {
			t.Errorf("%q: %q is kept", dir, got)
		}
	}
}

// A write has to be worth it.
func TestLeast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := facts.In(dir, facts.Options{Now: later}).Of("kind", "/place")
	keep(b, "a", "little", facts.Missing())
	b.Save()
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("%d files were written: %v", len(names), err)
	}
	for i := range 100 {
		keep(b, fmt.Sprint(i), "little", facts.Missing())
	}
	b.Save()
	if got := kept(open(dir), "7", facts.Missing()); got != "little" {
		t.Errorf("%q is kept", got)
	}
}

// What nobody has asked for in a long time is dropped, and nothing else.
func TestDropped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	next := func(days int) *facts.Book {
		now = now.AddDate(0, 0, days)
		at := now
		return facts.In(dir, facts.Options{Now: func() time.Time { return at }, Least: 1}).Of("kind", "/place")
	}
	b := next(0)
	keep(b, "old", "x", facts.Missing())
	keep(b, "used", "x", facts.Missing())
	b.Save()
	for range 2 {
		b = next(20)
		kept(b, "used", facts.Missing())
		keep(b, "new", "x", facts.Missing())
		b.Save()
	}
	var there []string
	for _, key := range []string{"old", "used", "new"} {
		if kept(open(dir), key, facts.Missing()) == "x" {
			there = append(there, key)
		}
	}
	if want := []string{"used", "new"}; !slices.Equal(there, want) {
		t.Errorf("there are %q, want %q", there, want)
	}
}

// TestTogether has several write and read one file: it is always whole.
func TestTogether(t *testing.T) {
	t.Parallel()
	dir, _ := saved(t, facts.Missing())
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := range 20 {
				b := open(dir)
				for i := range 5 {
					if got := kept(b, fmt.Sprint(i), facts.Missing()); got != fmt.Sprint("fact ", i) {
						t.Errorf("%q is kept", got)
					}
				}
				keep(b, fmt.Sprint("of ", w), fmt.Sprint(n), facts.Missing())
				b.Save()
			}
		})
	}
	wg.Wait()
}

func TestCode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number, truth, text := rapid.Int64().Draw(t, "number"), rapid.Bool().Draw(t, "truth"), rapid.String().Draw(t, "text")
		at := time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "seconds"), rapid.Int64Range(0, 999999999).Draw(t, "nanos")).UTC()
		list := rapid.SliceOf(rapid.String()).Draw(t, "list")
		type values struct {
			n    int64
			v    bool
			s    string
			list []string
			at   time.Time
		}
		walk := func(x *values) func(c *facts.Coder) {
			return func(c *facts.Coder) {
				facts.Int(c, &x.n)
				c.Bool(&x.v)
				facts.Text(c, &x.s)
				facts.List(c, &x.list, func(s *string) { facts.Text(c, s) })
				c.Time(&x.at)
			}
		}
		want := values{number, truth, text, list, at}
		data := facts.Encode(walk(&want))
		var got values
		if !facts.Decode(data, walk(&got)) || got.n != number || got.v != truth || got.s != text || !slices.Equal(got.list, list) || got.at != at {
			t.Fatalf("%+v is read as %+v", want, got)
		}
		if facts.Decode(data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")], walk(&got)) {
			t.Fatal("what is cut is read")
		}
	})
	var none, at time.Time
	data := facts.Encode(func(c *facts.Coder) { c.Time(&none) })
	if facts.Decode(data, func(c *facts.Coder) { c.Time(&at) }); at != none {
		t.Errorf("no time is read as %v", at)
	}
}
