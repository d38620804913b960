package copies_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/claudecode"
	"github.com/convtools/convtools/runtime/store/copies"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// FuzzCopy reads any file in the place of a copy: it may be damaged, or written by another version.
func FuzzCopy(f *testing.F) {
	const id = "claude-5afd8764-1e4a-4af6-951b-d71a909fd1bc"
	f.Add(`{"ID":"` + id + `","Dir":"/p","Title":"t"}` + "\n" + `{"Kind":2,"Turn":1,"Text":"said"}` + "\n")
	f.Add("{}\n{}\n")
	f.Add("not JSON\n")
	f.Add("")
	f.Fuzz(func(t *testing.T, content string) {
		home := t.TempDir()
		getenv := func(name string) string { return map[string]string{"XDG_DATA_HOME": home}[name] }
		dir := filepath.Join(copies.Home(getenv), claudecode.Name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		all := project.New(project.Options{Dir: home, All: true})
		s, ok := copies.Open(store.Options{Project: all, Getenv: getenv}, claudecode.Name, claudecode.IDs().ParseID)
		if !ok {
			t.Fatal("there are no copies")
		}
		listing, err := s.List(t.Context(), store.Scope{Set: store.Live | store.Archived})
		if err != nil {
			t.Fatal(err)
		}
		defer listing.Close()
		for _, c := range listing.Conversations {
			n := 0
			totals, err := c.Read(t.Context(), func(*transcript.Event) bool { n++; return true })
			if c.ID != id || err == nil && totals.Events != n {
				t.Errorf("%s has %d events, and %d were read: %v", c.ID, totals.Events, n, err)
			}
		}
	})
}
