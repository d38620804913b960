package opencode_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/opencode"
	"github.com/convtools/convtools/runtime/store/project"
)

// Kilo records in a database of the same form, of its own name; the ids have its name too, and a bare id is of
// opencode. A fork of a session without a title has none.
func TestKilo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.database(
		sess{n: 1, title: "New session - 2026-05-01T00:00:00.000Z", messages: []msg{prompt(10, text("Go")), answer(11, 10, text("Gone."))}},
		sess{n: 2, title: "New session - 2026-05-01T00:00:00.000Z (fork #1)", created: at(30), messages: []msg{prompt(20, text("Go")), answer(21, 20, text("Gone.")), prompt(40, text("On"))}},
	)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(filepath.Join(h.dir, "opencode.db"+suffix), filepath.Join(h.dir, "kilo.db"+suffix)); err != nil && suffix == "" {
			t.Fatal(err)
		}
	}
	s, ok := opencode.Kilo.Open(store.Options{Home: h.dir, Project: project.New(project.Options{Dir: h.project})})
	if !ok {
		t.Fatal("there is no store")
	}
	want := "kilo-" + sessionID(1) + " \"Go\" ua\nkilo-" + sessionID(2) + " \"Go\" ua u\n"
	if got := storetest.Listing(t, s); got != want || s.Name() != "kilo" {
		t.Errorf("%s: %s, want %s", s.Name(), got, want)
	}
	if opencode.Kilo.IDs().Claims(sessionID(1)) || !opencode.Kilo.IDs().Claims("kilo-"+sessionID(1)) || !opencode.OpenCode.IDs().Claims(sessionID(1)) {
		t.Error("the wrong program claims an id")
	}
	env := storetest.Env(map[string]string{"HOME": "/h", "USERPROFILE": "/h"})
	if got := opencode.Kilo.Home(env); got != filepath.FromSlash("/h/.local/share/kilo") {
		t.Errorf("home %q", got)
	}
}
