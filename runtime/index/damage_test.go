package index_test

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/index"
)

// fixture makes an index of several segments, and returns its model.
func fixture(t *testing.T, dir string) model {
	t.Helper()
	m := model{}
	x := index.Open(dir)
	x.SetLimits(600, 100)
	for step, words := range []string{"alpha beta", "gamma 中文 delta", "Straße epsilon"} {
		put(t, x, m, string(rune('a'+step)), words, 12)
	}
	put(t, x, m, "a", "alpha beta", 14) // grown
	return m
}

// put puts a conversation of n messages.
func put(t testing.TB, x *index.Index, m model, key, words string, n int) {
	t.Helper()
	c := &indexed{Conversation: index.Conversation{Key: key, Version: words, Title: "about " + words, Facts: []byte("facts")}}
	for i := range n {
		c.messages = append(c.messages, index.Message{Number: uint32(i + 1), Kind: 1, Text: []byte(strings.Repeat(words+" and more ", i%3+1))})
	}
	w, err := x.Write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := errors.Join(w.Put(t.Context(), &c.Conversation, each(c.messages)), w.Commit(t.Context(), index.State{Note: "test"}, nil)); err != nil {
		t.Fatal(err)
	}
	m[key] = c
}

var texts = []string{"", "a", "LP", "alpha", "beta and", "中", "straße", "文 DELTA", "nowhere", "about gamma"}

// answers returns the answers of an index to some queries.
func answers(t testing.TB, x *index.Index) ([][]found, error) {
	t.Helper()
	v, err := x.View()
	if err != nil {
		return nil, err
	}
	var all [][]found
	for _, text := range texts {
		list := []found{}
		for h, err := range v.Search(t.Context(), query(text)) {
			if err != nil {
				return nil, err
			}
			text, err := h.Read()
			if err != nil {
				return nil, err
			}
			list = append(list, found{h.Key, h.Number, h.Conversation.Version, h.Kind, h.Time, string(text), string(h.Extra)})
		}
		all = append(all, list)
	}
	return all, nil
}

func query(text string) index.Query {
	return index.Query{Filter: index.Filter{Kinds: 1 << 1}, Text: text, Has: func(b []byte) bool { return contains(string(b), text) }}
}

func (m model) answers() [][]found {
	var all [][]found
	for _, text := range texts {
		q := query(text)
		all = append(all, m.search(&q))
	}
	return all
}

// snapshot returns the files of a directory.
func snapshot(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// restore replaces the files of a directory.
func restore(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamage changes and cuts each file of an index in many places: the answers are right, or there is an error. The
// next writer repairs the index.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	m := fixture(t, dir)
	whole := snapshot(t, dir)
	if len(whole) < 4 {
		t.Fatalf("%d files are too few", len(whole))
	}
	damaged := 0
	try := func(what, name string, data []byte) {
		t.Helper()
		files := maps.Clone(whole)
		files[name] = data
		restore(t, dir, files)
		x := index.Open(dir)
		got, err := answers(t, x)
		var damage *index.DamageError
		switch {
		case errors.As(err, &damage):
			damaged++
		case err != nil:
			t.Errorf("%s: %v", what, err)
		default:
			if diff := gocmp.Diff(m.answers(), got); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		data := whole[name]
		for at := 0; at < len(data); at += 1 + len(data)/80 {
			flipped := bytes.Clone(data)
			flipped[at] ^= 1 << (at % 8)
			try(name+" flipped", name, flipped)
			try(name+" cut", name, data[:at])
		}
		try(name+" longer", name, append(bytes.Clone(data), 0))
	}
	if damaged < 100 {
		t.Errorf("only %d damages were found", damaged)
	}
	try("another format", "catalog", index.OtherFormat(whole["catalog"]))

	x := index.Open(dir) // with that catalog
	m = model{}
	put(t, x, m, "z", "anew", 3)
	if got, err := answers(t, x); err != nil || gocmp.Diff(m.answers(), got) != "" {
		t.Errorf("written anew: %v, %s", err, gocmp.Diff(m.answers(), got))
	}
}

// TestMissing removes each file of an index.
func TestMissing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	fixture(t, dir)
	whole := snapshot(t, dir)
	for name := range whole {
		files := maps.Clone(whole)
		delete(files, name)
		restore(t, dir, files)
		x := index.Open(dir)
		if _, err := answers(t, x); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// TestStops stops a writer after each part of its output: the last commit stays readable, and the next writer removes
// the leftovers.
func TestStops(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	before := fixture(t, dir)
	old := snapshot(t, dir)
	after := maps.Clone(before)
	x := index.Open(dir)
	put(t, x, after, "b", "another text", 9)
	written := snapshot(t, dir)
	check := func(what string, files map[string][]byte, want model) {
		t.Helper()
		restore(t, dir, files)
		x := index.Open(dir)
		if got, err := answers(t, x); err != nil || gocmp.Diff(want.answers(), got) != "" {
			t.Errorf("%s: %v, %s", what, err, gocmp.Diff(want.answers(), got))
		}
		want = maps.Clone(want)
		put(t, x, want, "b", "another text", 9)
		if got, err := answers(t, x); err != nil || gocmp.Diff(want.answers(), got) != "" {
			t.Errorf("%s, written: %v, %s", what, err, gocmp.Diff(want.answers(), got))
		}
		for name := range snapshot(t, dir) {
			if strings.HasPrefix(name, ".") {
				t.Errorf("%s: %s is left behind", what, name)
			}
		}
	}
	files := maps.Clone(old)
	for _, name := range slices.Sorted(maps.Keys(written)) {
		if _, ok := old[name]; ok {
			continue
		}
		for _, n := range []int{0, 1, len(written[name]) / 2, len(written[name]) - 1, len(written[name])} {
			files[name] = written[name][:n]
			check(name+" in the making", files, before)
		}
	}
	files[".convtools-0123456789abcdef"] = written["catalog"][:20]
	check("catalog in the making", files, before)
	delete(files, ".convtools-0123456789abcdef")
	files["catalog"] = written["catalog"]
	check("not swept", files, after)
}

// TestFull fills the disk after various numbers of bytes.
func TestFull(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	m := fixture(t, dir)
	want := m.answers()
	for room := 0; room < 1500; room += 97 {
		x := index.Open(dir)
		x.Fill(room)
		w, err := x.Write(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := index.Conversation{Key: "new", Title: "new"}
		text := bytes.Repeat([]byte("new "), 300)
		err = errors.Join(w.Put(t.Context(), &c, each([]index.Message{{Number: 1, Text: text}})), w.Commit(t.Context(), index.State{}, nil))
		if !errors.Is(err, index.ErrFull) {
			t.Errorf("%d bytes: %v", room, err)
		}
		w.Close()
		if got, err := answers(t, x); err != nil || gocmp.Diff(want, got) != "" {
			t.Errorf("%d bytes: %v, %s", room, err, gocmp.Diff(want, got))
		}
	}
}

// TestReadersKeepTheirState reads views while the index is written, merged and removed.
func TestReadersKeepTheirState(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	m := fixture(t, dir)
	x := index.Open(dir)
	v, err := x.View()
	if err != nil {
		t.Fatal(err)
	}
	want := m.answers()[0]
	next := maps.Clone(m)
	other := index.Open(dir) // as another process
	for i := range 10 {
		put(t, other, next, "n", "new words", i+1)
	}
	if i := mustView(t, other).Info(); i.Segments > 8 || i.Conversations != 4 || i.Note != "test" {
		t.Errorf("%+v", i)
	}
	got := []found{}
	for h, err := range v.Search(t.Context(), query("")) {
		if err != nil {
			t.Fatal(err)
		}
		text, _ := h.Read()
		got = append(got, found{h.Key, h.Number, h.Conversation.Version, h.Kind, h.Time, string(text), string(h.Extra)})
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := answers(t, x); err != nil || gocmp.Diff(next.answers(), got) != "" {
		t.Errorf("%v, %s", err, gocmp.Diff(next.answers(), got))
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := answers(t, x); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

func mustView(t *testing.T, x *index.Index) *index.View {
	t.Helper()
	v, err := x.View()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestReadersAndWriterAtOnce checks that readers beside a writer see only committed states.
func TestReadersAndWriterAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	m := fixture(t, dir)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			x := index.Open(dir)
			for ctx, last := t.Context(), 0; ; {
				v, err := x.View()
				if err != nil {
					t.Error(err)
					return
				}
				c := v.Lookup("n")
				n := 0
				for h, err := range v.Search(ctx, query("new words")) {
					if err != nil {
						t.Error(err)
						break
					}
					if h.Key == "n" {
						n++
					}
				}
				if err != nil || c != nil && c.Messages != n || n < last {
					t.Errorf("%d messages after %d, of %+v, %v", n, last, c, err)
					return
				}
				last = n
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	x := index.Open(dir)
	for i := range 15 {
		put(t, x, m, "n", "new words", i+1)
	}
	close(done)
	readers.Wait()
}
