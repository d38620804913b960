package exports_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/archive/exports"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
)

// object is a JSON object.
type object map[string]any

func (o object) String() string {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func (o object) with(key string, value any) object {
	o[key] = value
	return o
}

// said is a node of a ChatGPT conversation with a text.
func said(id, parent, role, text string, children ...string) (string, object) {
	return id, node(id, parent, role, object{"content_type": "text", "parts": []string{text}}, children...)
}

func node(id, parent, role string, content any, children ...string) object {
	n := object{"id": id, "children": append([]string{}, children...), "message": object{
		"id": id, "author": object{"role": role}, "create_time": 1700000000 + float64(len(id)), "content": content,
		"metadata": object{}, "recipient": "all",
	}}
	if parent != "" {
		n["parent"] = parent
	} else {
		n["parent"] = nil
	}
	return n
}

// conversation is a ChatGPT conversation of an id, in which the user says one text.
func conversation(id, text string) object {
	n, said := said("n", "", "user", text)
	return object{"conversation_id": id, "id": id, "title": "About " + id, "create_time": 1700000000, "update_time": 1700000100.5, "current_node": n, "mapping": object{n: said}}
}

func array(items ...object) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item.String()
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// home is the directory of an archive.
type home struct {
	t   testing.TB
	dir string
}

func newHome(t testing.TB) *home {
	t.Helper()
	return &home{t, t.TempDir()}
}

// add imports a path, and returns what has become of it. The error is that of an import
// that has recognised nothing.
func (h *home) add(path string, o exports.Options) (*exports.Report, error) {
	h.t.Helper()
	w, err := archive.Create(h.t.Context(), h.dir, false)
	if err != nil {
		h.t.Fatal(err)
	}
	report, err := exports.Import(h.t.Context(), path, w, o)
	if err := w.Close(); err != nil {
		h.t.Fatal(err)
	}
	return report, err
}

// summary words a report.
func summary(r *exports.Report, err error) string {
	words := []string{fmt.Sprintf("new %d, updated %d, unchanged %d, skipped %d, failed %d", r.New, r.Updated, r.Unchanged, r.Skipped, r.Failed)}
	for _, p := range r.Problems {
		words = append(words, fmt.Sprintf("%s:%d: %v", p.File, p.Number, p.Err))
	}
	var unrecognised *exports.UnrecognisedError
	if errors.As(err, &unrecognised) && unrecognised.Err == nil {
		words = append(words, "unrecognised: ")
	} else if err != nil {
		words = append(words, "error: "+err.Error())
	}
	return strings.Join(words, "\n")
}

// store opens the archive for reading.
func (h *home) store() store.Store {
	h.t.Helper()
	s, ok := archive.Open(store.Options{Home: h.dir})
	if !ok {
		h.t.Fatal("there is no archive")
	}
	return s
}

// all returns what is said in all conversations, by their ids.
func (h *home) all() string {
	h.t.Helper()
	found, problems := storetest.List(h.t, h.store(), store.Live|store.Archived)
	if len(problems) > 0 {
		h.t.Error(problems)
	}
	var b strings.Builder
	for _, c := range found {
		fmt.Fprintf(&b, "%s %q\n%s", c.ID, c.Title, storetest.Said(h.t, c))
	}
	return b.String()
}

func write(t testing.TB, path, data string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// folder writes files into a new directory.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), data)
	}
	return dir
}

// zipped returns a zip of files.
func zipped(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
