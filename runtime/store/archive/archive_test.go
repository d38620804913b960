package archive_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/transcript"
)

func open(t *testing.T, dir string) store.Store {
	t.Helper()
	s, ok := archive.Open(store.Options{Home: dir})
	if !ok {
		t.Fatal("there is no archive")
	}
	return s
}

func create(t *testing.T, dir string) *archive.Writer {
	t.Helper()
	w, err := archive.Create(t.Context(), dir, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 123_456_000, time.UTC)

func sample(id string) *archive.Conversation {
	return &archive.Conversation{
		Kind: "chatgpt", Native: id, Title: "Tides", Created: noon, Updated: noon.Add(time.Hour),
		Messages: []archive.Message{
			{Native: "m1", Kind: transcript.KindSystem, Text: []byte("be kind")},
			{Native: "m2", Kind: transcript.KindUser, Time: noon.Add(time.Minute), Active: true, Text: []byte("天\x00 \"x\"\nnext")},
			{Native: "m3", Kind: transcript.KindReasoning, Time: noon.Add(3 * time.Minute), Active: true, Text: []byte("hm")},
			{Native: "m4", Kind: transcript.KindToolCall, Name: `py"thon`, Time: noon.Add(2 * time.Minute), Active: true, Text: []byte("print(1)")},
			{Native: "m5", Kind: transcript.KindToolResult, Name: "python", Active: true, Text: []byte("1")},
			{Native: "m6", Kind: transcript.KindAssistant, Active: true, Text: []byte("one")},
			{Kind: transcript.KindSystem, Name: "critic", Active: true, Text: []byte("well")},
		},
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, ok := archive.Open(store.Options{Home: dir}); ok {
		t.Error("there is an archive before anything is in it")
	}
	w := create(t, dir)
	s := open(t, dir)
	before, err := s.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if outcome, err := w.Put(t.Context(), sample("c1")); err != nil || outcome != archive.New {
		t.Fatal(outcome, err)
	}
	if after, err := s.Version(t.Context()); err != nil || after == before {
		t.Errorf("version %q, then %q, %v", before, after, err)
	}
	c := storetest.Only(t, s)
	want := transcript.Conversation{ID: "archive-chatgpt-c1", NativeID: "c1", Source: "archive", Title: "Tides", CreatedAt: noon, LastActivatedAt: noon.Add(time.Hour)}
	if diff := cmp.Diff(want, c.Conversation); diff != "" {
		t.Error(diff)
	}
	if !c.LastAt.IsZero() || c.Order != 1 {
		t.Errorf("%+v", c)
	}
	said := "1 system: be kind\n1 user: 天\x00 \"x\" next\n1 reasoning: hm\n1 tool_call py\"thon: print(1)\n1 tool_result python: 1\n1 assistant: one\n1 system critic: well\n"
	if diff := cmp.Diff(said, storetest.Said(t, c)); diff != "" {
		t.Error(diff)
	}
	storetest.CheckReading(t, c)
	version, err := c.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shorter := sample("c1")
	shorter.Messages = shorter.Messages[:2]
	for _, step := range []struct {
		put  *archive.Conversation
		want archive.Outcome
	}{
		{sample("c1"), archive.Unchanged}, {shorter, archive.Updated}, {shorter, archive.Unchanged},
	} {
		if outcome, err := w.Put(t.Context(), step.put); err != nil || outcome != step.want {
			t.Fatal(outcome, err)
		}
	}
	if now, err := storetest.Only(t, s).Version(t.Context()); err != nil || now == version {
		t.Errorf("version %q, %v", now, err)
	}
	if got := storetest.Said(t, c); got != "1 system: be kind\n1 user: 天\x00 \"x\" next\n" {
		t.Error(got)
	}
}

// Each kind of change is one, and nothing else is.
func TestHash(t *testing.T) {
	t.Parallel()
	w := create(t, t.TempDir())
	for i, change := range []func(*archive.Conversation){
		func(c *archive.Conversation) { c.Title = "" },
		func(c *archive.Conversation) { c.Created = time.Time{} },
		func(c *archive.Conversation) { c.Updated = c.Updated.Add(time.Microsecond) },
		func(c *archive.Conversation) { c.Archived = true },
		func(c *archive.Conversation) { c.Messages[0].Kind = transcript.KindUser },
		func(c *archive.Conversation) { c.Messages[0].Native = "" },
		func(c *archive.Conversation) { c.Messages[3].Name = "" },
		func(c *archive.Conversation) { c.Messages[1].Time = time.Time{} },
		func(c *archive.Conversation) { c.Messages[1].Active = false },
		func(c *archive.Conversation) { c.Messages[1].Text = []byte("x") },
		func(c *archive.Conversation) { c.Messages = c.Messages[:6] },
		func(c *archive.Conversation) { c.Messages[0], c.Messages[1] = c.Messages[1], c.Messages[0] },
	} {
		id := fmt.Sprint("c", i)
		changed := sample(id)
		change(changed)
		for _, step := range []struct {
			put  *archive.Conversation
			want archive.Outcome
		}{{sample(id), archive.New}, {sample(id), archive.Unchanged}, {changed, archive.Updated}} {
			if outcome, err := w.Put(t.Context(), step.put); err != nil || outcome != step.want {
				t.Errorf("%d: %v, %v, want %v", i, outcome, err, step.want)
			}
		}
	}
}

func TestNewerAndForeign(t *testing.T) {
	t.Parallel()
	newer := t.TempDir()
	create(t, newer).Close()
	path := filepath.Join(newer, "archive.db")
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}).String())
	if err == nil {
		_, err = db.ExecContext(context.Background(), "PRAGMA user_version = 99")
	}
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	var tooNew store.StateError
	if _, err := archive.Create(t.Context(), newer, false); !errors.As(err, &tooNew) || !strings.Contains(string(tooNew), "schema 99") {
		t.Error(err)
	}
	if _, err := open(t, newer).List(t.Context(), store.Scope{Set: store.Live}); !errors.As(err, &tooNew) {
		t.Error(err)
	}
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "archive.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Create(t.Context(), foreign, false); err == nil || !strings.Contains(err.Error(), "opening the archive") {
		t.Error(err)
	}
	if _, err := open(t, foreign).List(t.Context(), store.Scope{Set: store.Live}); err == nil {
		t.Error("no error for what is no database")
	}
	// It is made at this very moment, by somebody else.
	empty := t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, "archive.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, problems := storetest.List(t, open(t, empty), store.Live); len(found)+len(problems) > 0 {
		t.Error(found, problems)
	}
}

func TestPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode")
	}
	dir := filepath.Join(t.TempDir(), "data", "convtools")
	create(t, dir)
	for _, path := range []string{dir, filepath.Join(dir, "archive.db")} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// An archive that several make at once is made once.
func TestMadeAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wait sync.WaitGroup
	for n := range 4 {
		wait.Go(func() {
			w, err := archive.Create(t.Context(), dir, false)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := w.Put(t.Context(), sample(fmt.Sprint("c", n))); err != nil {
				t.Error(err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if found, _ := storetest.List(t, open(t, dir), store.Live); len(found) != 4 {
		t.Errorf("%d conversations", len(found))
	}
}

func TestHome(t *testing.T) {
	t.Parallel()
	home, data := t.TempDir(), t.TempDir()
	for want, env := range map[string]map[string]string{
		filepath.Join(home, ".local", "share", "convtools"): {"HOME": home, "USERPROFILE": home, "XDG_DATA_HOME": "relative"},
		filepath.Join(data, "convtools"):                    {"HOME": home, "USERPROFILE": home, "XDG_DATA_HOME": data},
		"":                                                  {},
	} {
		if got := archive.Home(storetest.Env(env)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A schema that cannot be made leaves nothing of itself.
func TestFailedSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE messages (of_another_program TEXT)"); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Create(t.Context(), dir, false); err == nil {
		t.Error("there is no error")
	}
	n := 0
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_schema WHERE name = 'conversations'").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d tables were made, %v", n, err)
	}
}
