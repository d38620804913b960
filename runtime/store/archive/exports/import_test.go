package exports_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/archive/exports"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/transcript"
)

// The same files are found in a zip and in a folder.
func TestLayouts(t *testing.T) {
	t.Parallel()
	one, two, three := conversation("c1", "one"), conversation("c2", "two"), conversation("c3", "three")
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"one file": {
			map[string]string{"conversations.json": array(one, two), "user.json": `{"id":"u"}`, "chat.html": "<html>", "message_feedback.json": `[{"id":"x"}]`},
			"new 2, updated 0, unchanged 0, skipped 0, failed 0",
		},
		"shards": {
			map[string]string{"conversations-000.json": array(one), "conversations-001.json": array(two), "file_1.dat": "x"},
			"new 2, updated 0, unchanged 0, skipped 0, failed 0",
		},
		"a folder in it": {map[string]string{"export/conversations.json": array(one)}, "new 1, updated 0, unchanged 0, skipped 0, failed 0"},
		"shards of other names": {
			map[string]string{"export_manifest.json": `{"logical_files":{"conversations.json":{"files":["part-a.json"]}}}`, "part-a.json": array(one), "part-b.json": array(two), "conversations-000.json": array(three)},
			"new 3, updated 0, unchanged 0, skipped 0, failed 0",
		},
		"a mix": {
			map[string]string{"conversations.json": array(one), "conversations-000.json": array(one, two)},
			"new 2, updated 0, unchanged 1, skipped 0, failed 0",
		},
		"conversations alone": {map[string]string{"a.json": one.String(), "b.json": two.String()}, "new 2, updated 0, unchanged 0, skipped 0, failed 0"},
		"lines":               {map[string]string{"x.jsonl": one.String() + "\n" + two.String() + "\n"}, "new 2, updated 0, unchanged 0, skipped 0, failed 0"},
		"an empty list":       {map[string]string{"conversations.json": "[]"}, "new 0, updated 0, unchanged 0, skipped 0, failed 0\nunrecognised: "},
		"nothing":             {map[string]string{"readme.txt": "x"}, "new 0, updated 0, unchanged 0, skipped 0, failed 0\nunrecognised: "},
		"zips in it":          {map[string]string{"a.zip": "PK"}, "new 0, updated 0, unchanged 0, skipped 0, failed 0\nunrecognised: "},
		"no conversations":    {map[string]string{"conversations.json": `[{"id":"c","title":"t"}]`}, "new 0, updated 0, unchanged 0, skipped 0, failed 1\nconversations.json:1: it is no conversation of a known export\nunrecognised: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inFolder, inZip := newHome(t), newHome(t)
			if diff := cmp.Diff(c.want, summary(inFolder.add(folder(t, c.files), exports.Options{}))); diff != "" {
				t.Error("a folder:", diff)
			}
			if diff := cmp.Diff(c.want, summary(inZip.add(write(t, filepath.Join(t.TempDir(), "x.zip"), string(zipped(t, c.files))), exports.Options{}))); diff != "" {
				t.Error("a zip:", diff)
			}
			if diff := cmp.Diff(inFolder.all(), inZip.all()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAgain(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := filepath.Join(t.TempDir(), "conversations.json")
	step := func(want string, items ...object) {
		t.Helper()
		if got, _, _ := strings.Cut(summary(h.add(write(t, path, array(items...)), exports.Options{})), "\n"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	grown := conversation("c2", "two")
	_, answer := said("m", "n", "assistant", "answered")
	grown["mapping"].(object)["m"] = answer
	grown.with("current_node", "m").with("update_time", 1700000200)
	step("new 2, updated 0, unchanged 0, skipped 0, failed 0", conversation("c1", "one"), conversation("c2", "two"))
	step("new 0, updated 0, unchanged 2, skipped 0, failed 0", conversation("c1", "one"), conversation("c2", "two"))
	step("new 1, updated 2, unchanged 0, skipped 0, failed 0", conversation("c1", "edited"), grown, conversation("c3", "three"))
	step("new 0, updated 0, unchanged 0, skipped 1, failed 0", conversation("c2", "an older state"))
	step("new 0, updated 1, unchanged 0, skipped 0, failed 0", conversation("c1", "edited").with("title", "Renamed"))
	want := `archive-chatgpt-c1 "Renamed"
1 user: edited
archive-chatgpt-c2 "About c2"
1 user: two
1 assistant: answered
archive-chatgpt-c3 "About c3"
1 user: three
`
	if diff := cmp.Diff(want, h.all()); diff != "" {
		t.Error(diff)
	}
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := write(t, filepath.Join(t.TempDir(), "conversations.json"), array(conversation("c1", "one"), conversation("c2", "two")))
	dry := func() string {
		w, err := archive.Create(t.Context(), h.dir, true)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		return summary(exports.Import(t.Context(), path, w, exports.Options{}))
	}
	if got := dry(); got != "new 2, updated 0, unchanged 0, skipped 0, failed 0" {
		t.Error(got)
	}
	if entries, _ := os.ReadDir(h.dir); len(entries) != 0 {
		t.Errorf("%v was written", entries)
	}
	h.add(path, exports.Options{})
	before := h.all()
	write(t, path, array(conversation("c1", "one"), conversation("c2", "changed")))
	if got := dry(); got != "new 0, updated 1, unchanged 1, skipped 0, failed 0" {
		t.Error(got)
	}
	if h.all() != before {
		t.Error("something was written")
	}
}

func TestKind(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := write(t, filepath.Join(t.TempDir(), "conversations.json"), array(conversation("c1", "one")))
	want := "new 0, updated 0, unchanged 0, skipped 0, failed 1\nconversations.json:1: it is of another kind of export than was asked for\nunrecognised: "
	if got := summary(h.add(path, exports.Options{Kind: exports.Claude})); got != want {
		t.Error(got)
	}
}

// A conversation that is bad costs itself, and nothing beside. After what is no JSON, nothing is read.
func TestBadConversations(t *testing.T) {
	t.Parallel()
	good := func(id string) string { return conversation(id, "fine").String() }
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for name, c := range map[string]struct{ json, want string }{
		"no id":               {`[` + good("a") + `,{"mapping":{}},` + good("b") + `]`, "new 2, updated 0, unchanged 0, skipped 0, failed 1\nx.json:2: it has no id"},
		"no mapping":          {`[{"id":"x","mapping":[1]},` + good("b") + `]`, "new 1, updated 0, unchanged 0, skipped 0, failed 1\nx.json:1: its mapping is no object of nodes"},
		"a null mapping":      {`[{"id":"x","mapping":null},` + good("b") + `]`, "new 1, updated 0, unchanged 0, skipped 0, failed 1\nx.json:1: its mapping is no object of nodes"},
		"nothing said":        {`[{"id":"x","mapping":{"n":{"message":null}}},` + good("b") + `]`, "new 1, updated 0, unchanged 0, skipped 1, failed 0\nx.json:1: nothing is said in it"},
		"a value of no kind":  {`[` + good("a") + `,{},null,` + good("b") + `]`, "new 2, updated 0, unchanged 0, skipped 0, failed 2\nx.json:2: it is no conversation of a known export\nx.json:3: it is no conversation of a known export"},
		"a comma too few":     {`[` + good("a") + `,{"id":"x" "mapping":{}},` + good("b") + `]`, "new 1, updated 0, unchanged 0, skipped 0, failed 1\nx.json:0: it is not JSON from here on"},
		"wrong inside":        {`[` + good("a") + `,{"mapping":{"n":nul}},` + good("b") + `]`, "new 1, updated 0, unchanged 0, skipped 0, failed 1\nx.json:0: it is not JSON from here on"},
		"too deep":            {`[` + good("a") + `,{"id":"x","mapping":{"n":{"message":` + deep + `}}},` + good("b") + `]`, "new 1, updated 0, unchanged 0, skipped 0, failed 1\nx.json:0: it is not JSON from here on"},
		"cut off":             {`[` + good("a") + `,` + good("b")[:200], "new 1, updated 0, unchanged 0, skipped 0, failed 1\nx.json:0: it ends in the middle: the file is not complete"},
		"no end":              {`[` + good("a"), "new 1, updated 0, unchanged 0, skipped 0, failed 1\nx.json:0: it ends in the middle: the file is not complete"},
		"more behind the end": {`[` + good("a") + `] and more`, "new 1, updated 0, unchanged 0, skipped 0, failed 0"},
		"a mark of its bytes": {"\ufeff[" + good("a") + "]", "new 1, updated 0, unchanged 0, skipped 0, failed 0"},
		"two of one id": {
			`[` + conversation("a", "older").with("update_time", 5).String() + `,` + conversation("a", "newer").with("update_time", 9).String() + `]`,
			"new 1, updated 1, unchanged 0, skipped 0, failed 0",
		},
		"not UTF-8":        {"[" + strings.Replace(good("a"), "fine", "\xff\xfe", 1) + "]", "new 1, updated 0, unchanged 0, skipped 0, failed 0"},
		"a lone surrogate": {"[" + strings.Replace(good("a"), "fine", `\ud800 \udc00`, 1) + "]", "new 1, updated 0, unchanged 0, skipped 0, failed 0"},
		"text":             {"Dear diary", "new 0, updated 0, unchanged 0, skipped 0, failed 1\nx.json:0: it is not JSON from here on\nunrecognised: "},
		"empty":            {"", "new 0, updated 0, unchanged 0, skipped 0, failed 0\nunrecognised: "},
		"zeros":            {strings.Repeat("\x00", 1<<20), "new 0, updated 0, unchanged 0, skipped 0, failed 1\nx.json:0: it is not JSON from here on\nunrecognised: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			if diff := cmp.Diff(c.want, summary(h.add(write(t, filepath.Join(t.TempDir(), "x.json"), c.json), exports.Options{}))); diff != "" {
				t.Error(diff)
			}
			found, _ := storetest.List(t, h.store(), store.Live)
			for _, c := range found {
				storetest.CheckReading(t, c)
			}
		})
	}
}

func TestBadZips(t *testing.T) {
	t.Parallel()
	good := array(conversation("a", "fine"))
	whole := zipped(t, map[string]string{"conversations.json": good})
	encrypted := bytes.Clone(whole)
	for _, at := range []int{bytes.Index(whole, []byte("PK\x03\x04")) + 6, bytes.Index(whole, []byte("PK\x01\x02")) + 8} {
		encrypted[at] |= 1
	}
	spoiled := bytes.Clone(whole)
	spoiled[len("PK")+60] ^= 0xff
	lying := bytes.Clone(whole) // about how much there is
	directory := bytes.Index(whole, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(lying[directory+24:], 0xfffffff0)
	bomb := map[string]string{} // of files that unpack to a thousand times their size
	for n := range 70 {
		bomb[fmt.Sprintf("conversations-%d.json", n)] = good + strings.Repeat(" ", 1<<20)
	}
	for name, c := range map[string]struct {
		zip  []byte
		want string
	}{
		"cut":        {whole[:len(whole)-30], "x.zip: it is a zip that is damaged or not complete"},
		"a head":     {whole[:4], "x.zip: it is a zip that is damaged or not complete"},
		"encrypted":  {encrypted, "conversations.json:0: it is encrypted"},
		"spoiled":    {spoiled, "failed 1"},
		"lying":      {lying, "x.zip: its files are more than 100 times as large as the zip"},
		"a bomb":     {zipped(t, bomb), "x.zip: its files are more than 100 times as large as the zip"},
		"upwards":    {zipped(t, map[string]string{"../conversations.json": good}), "new 1,"},
		"absolute":   {zipped(t, map[string]string{"/etc/conversations.json": good}), "new 1,"},
		"one in one": {zipped(t, map[string]string{"inner.zip": string(whole)}), "unrecognised: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			dir := t.TempDir()
			got := summary(h.add(write(t, filepath.Join(dir, "x.zip"), string(c.zip)), exports.Options{}))
			if !strings.Contains(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
			if entries, _ := os.ReadDir(dir); len(entries) != 1 {
				t.Errorf("%v", entries)
			}
		})
	}
}

// What is read of a zip is checked by its checksum, also where it is JSON still.
func TestChecksums(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range []struct{ name, text string }{
		{"conversations-000.json", array(conversation("a", "the harbour")) + strings.Repeat(" ", 2<<20) + "\n"},
		{"conversations-001.json", array(conversation("b", "the lantern"))},
		{"other.json", `{"is": "something else"}`},
	} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(w, f.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	const wrong = "its checksum is wrong: the file is damaged, and what was imported of it may be; download the export again, and import that"
	for name, c := range map[string]struct{ from, to, want string }{
		"as it is":      {"", "", "new 2, updated 0, unchanged 0, skipped 0, failed 0"},
		"a text":        {"harbour", "harb0ur", "new 2, updated 0, unchanged 0, skipped 0, failed 1\nconversations-000.json:0: its checksum"},
		"a last one":    {"lantern", "lante1n", "new 2, updated 0, unchanged 0, skipped 0, failed 1\nconversations-001.json:0: its checksum"},
		"behind it all": {" \n", "\n\n", "new 2, updated 0, unchanged 0, skipped 0, failed 1\nconversations-000.json:0: its checksum"},
		"no export":     {"something", "somethinG", "new 2, updated 0, unchanged 0, skipped 0, failed 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := strings.Replace(b.String(), c.from, c.to, 1)
			got := summary(newHome(t).add(write(t, filepath.Join(t.TempDir(), "x.zip"), data), exports.Options{}))
			if !strings.HasPrefix(got, c.want) || strings.Contains(c.want, "conversations-") && !strings.HasSuffix(got, wrong) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// A conversation of very many nodes, in a chain that is as deep, is read like any other.
func TestDeepChain(t *testing.T) {
	t.Parallel()
	const nodes = 10_000
	var b strings.Builder
	b.WriteString(`{"id":"c","current_node":"n0","mapping":{`)
	for i := range nodes {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"n%d":{"parent":"n%d","children":[],"message":{"author":{"role":"user"},"content":{"parts":["%d"]}}}`, i, i+1, i)
	}
	b.WriteString("}}")
	h := newHome(t)
	if report, err := h.add(write(t, filepath.Join(t.TempDir(), "x.json"), b.String()), exports.Options{}); err != nil || report.New != 1 {
		t.Fatal(summary(report, err))
	}
	n := nodes
	_, err := storetest.Only(t, h.store()).Read(t.Context(), func(e *transcript.Event) bool {
		if n--; string(eventtext.Searched(e)) != fmt.Sprint(n) {
			t.Fatalf("%s, want %d", e.Text, n)
		}
		return true
	})
	if err != nil || n != 0 {
		t.Errorf("%d events are missing: %v", n, err)
	}
}

// An import that is interrupted keeps what it has done, and goes on where it stopped.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var items []object
	for i := range 200 {
		items = append(items, conversation(fmt.Sprint("c", i), strings.Repeat("word ", 2000)))
	}
	path := write(t, filepath.Join(t.TempDir(), "conversations.json"), array(items...))
	w, err := archive.Create(t.Context(), h.dir, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	report, err := exports.Import(ctx, path, w, exports.Options{Progress: func(p exports.Progress) {
		if p.Conversations >= 50 {
			cancel()
		}
	}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	found, _ := storetest.List(t, h.store(), store.Live)
	if !errors.Is(err, context.Canceled) || len(found) < 50 || len(found) == len(items) || report.New != len(found) {
		t.Fatalf("%d conversations; %s", len(found), summary(report, err))
	}
	want := fmt.Sprintf("new %d, updated 0, unchanged %d, skipped 0, failed 0", len(items)-len(found), len(found))
	if got := summary(h.add(path, exports.Options{})); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Two imports at once lose nothing, and readers see conversations as a whole.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := t.TempDir()
	var paths [2]string
	for n := range paths {
		var items []object
		for i := range 300 {
			items = append(items, conversation(fmt.Sprint("c", i*(n+1)), strings.Repeat("word ", 500)))
		}
		paths[n] = write(t, filepath.Join(dir, fmt.Sprint(n), "conversations.json"), array(items...))
	}
	// Who reads meanwhile sees only whole conversations.
	create := func() *archive.Writer {
		w, err := archive.Create(t.Context(), h.dir, false)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	create().Close()
	const whole = len("1 user: \n") + 500*len("word ") - 1 // without the space at the end
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ended := false; !ended; {
				select {
				case <-done:
					ended = true
				default:
				}
				found, problems := storetest.List(t, h.store(), store.Live)
				if len(problems) > 0 {
					t.Error(problems)
				}
				for i := 0; i < len(found); i += 50 {
					if said := storetest.Said(t, found[i]); len(said) != whole {
						t.Errorf("%s: %.100q has %d characters, want %d", found[i].ID, said, len(said), whole)
					}
				}
			}
		})
	}
	var wait sync.WaitGroup
	for _, path := range paths {
		wait.Go(func() {
			w, err := archive.Create(t.Context(), h.dir, false)
			if err != nil {
				t.Error(err)
				return
			}
			if report, err := exports.Import(t.Context(), path, w, exports.Options{}); err != nil || report.New+report.Unchanged != 300 {
				t.Error(summary(report, err))
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	close(done)
	readers.Wait()
	found, problems := storetest.List(t, h.store(), store.Live)
	if len(found) != 450 || len(problems) > 0 {
		t.Errorf("%d conversations, %v", len(found), problems)
	}
}
