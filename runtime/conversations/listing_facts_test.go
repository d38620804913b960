package conversations_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// clock waits for the file system's clock, so that each change leaves another time behind.
type clock struct {
	t    *testing.T
	file string
	last time.Time
}

func newClock(t *testing.T) *clock {
	return &clock{t: t, file: filepath.Join(t.TempDir(), "clock")}
}

func (c *clock) tick() {
	c.t.Helper()
	for {
		if err := os.WriteFile(c.file, []byte("x"), 0o600); err != nil {
			c.t.Fatal(err)
		}
		info, err := os.Stat(c.file)
		if err != nil {
			c.t.Fatal(err)
		}
		if at := info.ModTime(); at.After(c.last) {
			c.last = at
			return
		}
		runtime.Gosched()
	}
}

// listed is everything that a library says of what there is, as text.
func listed(t *testing.T, o conversations.Options) string {
	t.Helper()
	var b strings.Builder
	l, err := conversations.Open(o)
	if err != nil {
		return err.Error()
	}
	for _, archived := range []bool{false, true} {
		for _, sizes := range []bool{false, true} {
			listing, err := l.List(t.Context(), conversations.ListQuery{Filter: conversations.Filter{Archived: archived, Hidden: true}, Sizes: sizes})
			fmt.Fprintln(&b, archived, sizes, err, listing.Total, listing.Hidden)
			for _, c := range listing.Conversations {
				fmt.Fprintf(&b, "  %+v %d %v %v", c.Conversation, c.Events, c.LastEventAt, c.Size)
				if c.Damage != nil {
					fmt.Fprint(&b, " ", c.Damage.Kind, c.Damage.Err)
				}
				fmt.Fprintln(&b)
			}
			for _, p := range listing.Problems {
				fmt.Fprintln(&b, "  !", p.ID, p.Kind, p.Field, p.Event, p.Path, p.Err)
			}
		}
	}
	return b.String()
}

// equalListings lists with what was kept, and without.
func equalListings(t *testing.T, what string, plain conversations.Options, dir string) {
	t.Helper()
	want := listed(t, plain)
	for _, name := range []string{"of the listing before", "of this one"} {
		kept := plain
		kept.Indexes = conversations.NewIndexes(dir)
		if diff := gocmp.Diff(strings.Split(want, "\n"), strings.Split(listed(t, kept), "\n")); diff != "" {
			t.Fatalf("%s: with what is kept %s, the answer differs (-read +kept):\n%s", what, name, diff)
		}
	}
}

// files returns the files below a directory, by what a name has.
func files(t *testing.T, dir, part string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.Contains(path, part) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// fileChange is what may happen to a file of a history.
type fileChange struct {
	name string
	to   func(r *rand.Rand, file string, data []byte) error
}

// fileChanges are those that may happen to any file: what an owner does, and what owners do not.
func fileChanges() []fileChange {
	write := func(file string, data []byte) error { return os.WriteFile(file, data, 0o600) }
	edited := func(r *rand.Rand, data []byte) []byte {
		data = bytes.Clone(data)
		for range 3 { // letters, mostly: it stays what it is
			if i := bytes.IndexByte(data[r.IntN(len(data)+1):], 'e'); i >= 0 {
				data[i] = 'i'
			}
		}
		return bytes.Replace(data, []byte("Why"), []byte("How"), 1)
	}
	return []fileChange{
		{"edited in place", func(r *rand.Rand, file string, data []byte) error { return write(file, edited(r, data)) }},
		{"replaced", func(r *rand.Rand, file string, data []byte) error {
			return cmp.Or(write(file+"~", edited(r, data)), os.Rename(file+"~", file))
		}},
		{"cut", func(r *rand.Rand, file string, data []byte) error { return write(file, data[:r.IntN(len(data)+1)]) }},
		{"emptied", func(_ *rand.Rand, file string, _ []byte) error { return write(file, nil) }},
		{"repeated", func(_ *rand.Rand, file string, data []byte) error { return write(file, append(data, data...)) }},
		{"removed", func(_ *rand.Rand, file string, _ []byte) error { return os.Remove(file) }},
		{"made a link", func(_ *rand.Rand, file string, _ []byte) error {
			return cmp.Or(os.Rename(file, file+"~"), os.Symlink(filepath.Base(file)+"~", file))
		}},
		{"touched", func(_ *rand.Rand, file string, _ []byte) error { return os.Chtimes(file, time.Time{}, time.Now()) }},
	}
}

// TestListingsOfChangingFiles changes a JP workspace between listings, in whatever ways: what
// is kept changes no answer.
func TestListingsOfChangingFiles(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(12, 4))
	clock := newClock(t)
	dir, data, cache := filepath.Join(t.TempDir(), "project"), t.TempDir(), t.TempDir()
	writeBoth(t, dir, data)
	plain := conversations.Options{Dir: dir, Getenv: func(name string) string {
		if name == "JP_USER_DATA_DIR" {
			return data
		}
		return ""
	}}
	equalListings(t, "at first", plain, cache)
	const steps = 50
	for step := range steps {
		clock.tick()
		all := slices.Concat(files(t, dir, "conversations"), files(t, data, "conversations"))
		file := all[r.IntN(len(all))]
		if strings.HasSuffix(file, "~") {
			continue
		}
		what := ""
		if r.IntN(3) == 0 {
			what = "moved"
			moveJP(t, r, filepath.Dir(file), dir, data)
		} else {
			c := fileChanges()[r.IntN(len(fileChanges()))]
			what = c.name
			content, err := os.ReadFile(file)
			if err != nil {
				continue // a link to nowhere
			}
			if err := c.to(r, file, content); err != nil {
				t.Fatal(err)
			}
		}
		equalListings(t, fmt.Sprintf("step %d: %s was %s", step, file, what), plain, cache)
	}
}

// writeBoth writes a workspace with conversations in the project, in the user's store and in
// both.
func writeBoth(t *testing.T, dir, data string) {
	t.Helper()
	w := jptest.New(dir, "hb7k2")
	user := w.UserStore(data)
	for i := range 9 {
		id, slug := fmt.Sprint(17648402467+i*1000), fmt.Sprint("chat-", i)
		for at, s := range []*jptest.Store{&w.Store, user} {
			if i%3 == at {
				continue // in the other one only
			}
			c := s.Conversation(id, slug).Title(fmt.Sprint("Chat ", i)).Label("of", fmt.Sprint(i)).
				TurnStart().User("Why do we retry?").Assistant(fmt.Sprint("Because the gauge feed answers 503 at night: ", i))
			switch i {
			case 3, 4:
				c.Archived(time.Unix(1_770_000_000, 0))
			case 5:
				c.Set("hidden", true).Set("pinned_at", jptest.Timestamp(time.Unix(1_770_000_000, 0))).Label("parent_id", "jp-c17648402467")
			case 6:
				c.File(jptest.BaseConfigFile, []byte(`{"a":"b"}`))
			}
		}
	}
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
}

// moveJP gives the directory of a conversation another title, or moves it to the archive or
// out of it, or removes it, or copies it to the other store.
func moveJP(t *testing.T, r *rand.Rand, at, dir, data string) {
	t.Helper()
	parent, name := filepath.Split(at)
	var err error
	switch r.IntN(4) {
	case 0:
		err = os.Rename(at, at+"-x")
	case 1:
		to := filepath.Join(filepath.Dir(filepath.Clean(parent)), name)
		if filepath.Base(parent) != ".archive" {
			to = filepath.Join(parent, ".archive", name)
		}
		if err = os.MkdirAll(filepath.Dir(to), 0o700); err == nil {
			if _, there := os.Stat(to); there != nil {
				err = os.Rename(at, to)
			}
		}
	case 2:
		err = os.RemoveAll(at)
	case 3:
		stores := []string{filepath.Join(dir, ".jp", "conversations"), filepath.Join(data, "workspace", "project-hb7k2", "conversations")}
		for i, s := range stores {
			rel, e := filepath.Rel(s, at)
			to := filepath.Join(stores[1-i], rel)
			if _, there := os.Stat(to); e == nil && filepath.IsLocal(rel) && there != nil {
				err = os.CopyFS(to, os.DirFS(at))
			}
		}
	}
	if err != nil {
		t.Log(err)
	}
}

// TestListingsOfChangingHistories does the same to what other programs record: sessions that
// are forked, continued and have sub-agents, so that several files decide what is listed.
func TestListingsOfChangingHistories(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(14, 6))
	clock := newClock(t)
	dir, home, cache := t.TempDir(), t.TempDir(), t.TempDir()
	env := map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "claude"), "CODEX_HOME": filepath.Join(home, "codex"), "XDG_DATA_HOME": filepath.Join(home, "data")}
	writeHistories(t, dir, env)
	plain := conversations.Options{Dir: dir, Getenv: func(name string) string { return env[name] }}
	equalListings(t, "at first", plain, cache)
	if n := strings.Count(listed(t, plain), "{ID:"); n < 2*15 {
		t.Fatalf("%d conversations are listed", n)
	}
	const steps = 30
	for step := range steps {
		clock.tick()
		all := files(t, home, "")
		file := all[r.IntN(len(all))]
		if strings.HasSuffix(file, "~") {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			continue // a link to nowhere
		}
		what := "given the end of another file"
		if other := all[r.IntN(len(all))]; r.IntN(3) == 0 {
			more, _ := os.ReadFile(other)
			if err := os.WriteFile(file, append(content, more[len(more)/2:]...), 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			c := fileChanges()[r.IntN(len(fileChanges()))]
			what = c.name
			if err := c.to(r, file, content); err != nil {
				t.Fatal(err)
			}
		}
		equalListings(t, fmt.Sprintf("step %d: %s was %s", step, file, what), plain, cache)
	}
}

// writeHistories writes sessions of Claude Code, Codex and convtools held in a directory.
func writeHistories(t *testing.T, dir string, env map[string]string) {
	t.Helper()
	put := func(home, name string, lines ...string) {
		t.Helper()
		file := filepath.Join(env[home], filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "DIR", filepath.ToSlash(dir))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	uuid := func(kind, n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, n) }
	folder := "projects/" + strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, dir) + "/"
	said := func(session, version string, side bool, from, to int) (lines []string) {
		for n := from; n < to; n++ {
			kind, content := "user", `"Why do we retry, once more?"`
			if n%2 == 1 {
				kind, content = "assistant", `[{"type":"text","text":"Because the gauge feed answers."}]`
			}
			parent := "null"
			if n > from {
				parent = `"` + uuid(7, n-1) + `"`
			}
			lines = append(lines, fmt.Sprintf(`{"parentUuid":%s,"isSidechain":%v,"cwd":"DIR","sessionId":%q,"version":%q,"type":%q,"message":{"role":%[5]q,"content":%s},"uuid":%q,"timestamp":"2026-04-0%dT10:%02d:00.000Z"}`,
				parent, side, session, version, kind, content, uuid(7, n), 1+n/60, n%60))
		}
		return lines
	}
	for i := range 6 {
		session := uuid(1, i)
		lines := said(session, "2.1.0", false, 100*i, 100*i+4+i)
		switch i {
		case 1: // continued from the first one
			lines = slices.Concat(said(session, "1.0.0", false, 0, 4), lines)
		case 2: // all of it is in another one
			lines = said(session, "2.1.0", false, 300, 303)
		case 3:
			lines = append(lines, said(session, "1.0.9", true, 700, 704)...)
		case 4:
			lines = append(lines, fmt.Sprintf(`{"type":"summary","summary":"The retry","leafUuid":%q}`, uuid(7, 3)))
		}
		put("CLAUDE_CONFIG_DIR", folder+session+".jsonl", lines...)
	}
	agent := folder + uuid(1, 5) + "/subagents/agent-ab12"
	put("CLAUDE_CONFIG_DIR", agent+".jsonl", said(uuid(1, 5), "2.1.0", true, 800, 805)...)
	put("CLAUDE_CONFIG_DIR", agent+".meta.json", `{"description":"Look at the retry"}`)

	for i := range 4 {
		thread := fmt.Sprintf("01a1ffd7-7b57-7ca0-9fa0-%012x", i)
		more := []string{"", `,"forked_from_id":"01a1ffd7-7b57-7ca0-9fa0-000000000000"`, `,"parent_thread_id":"01a1ffd7-7b57-7ca0-9fa0-000000000001"`, ""}[i]
		lines := []string{fmt.Sprintf(`{"timestamp":"2026-04-0%dT10:00:00.000Z","type":"session_meta","payload":{"id":%[2]q,"timestamp":"2026-04-0%[1]dT10:00:00.000Z","cwd":"DIR"%[3]s}}`, 1+i, thread, more)}
		for n := range 4 {
			lines = append(lines,
				fmt.Sprintf(`{"timestamp":"2026-04-01T10:%02d:00.000Z","type":"event_msg","payload":{"type":"user_message","message":"Why, for the retry %d?"}}`, n, n),
				fmt.Sprintf(`{"timestamp":"2026-04-01T10:%02d:30.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Because %d"}]}}`, n, n))
		}
		at := fmt.Sprintf("sessions/2026/04/0%d/", 1+i)
		if i == 3 {
			at = "archived_sessions/"
		}
		put("CODEX_HOME", fmt.Sprintf("%srollout-2026-04-0%dT10-00-00-%s.jsonl", at, 1+i, thread), lines...)
	}
	put("CODEX_HOME", "session_index.jsonl", `{"id":"01a1ffd7-7b57-7ca0-9fa0-000000000001","thread_name":"Retries"}`)

	for i := range 3 {
		session, root := uuid(3, i), uuid(4, i)
		event := func(seq int, conversation, rest string) string {
			return fmt.Sprintf(`{"crc32c":"00000000","events":[{"seq":%d,"ts":"2026-05-01T10:00:%02d.000Z","session_id":%q,"conversation_id":%q,"task_id":0,%s}]}`, seq, seq, session, conversation, rest)
		}
		opened := `"type":"conversation_opened","context":{"settings":"{\"dir\":\"DIR\"}"}`
		put("XDG_DATA_HOME", "convtools/sessions/"+session+".jsonl",
			`{"format":"convtools-session","version":1}`,
			event(1, root, opened), event(2, root, `"type":"user_message","origin":"user","text":"Why do we retry?"`),
			event(3, root, `"type":"agent_message","origin":"model","text":"Because the gauge feed."`),
			event(4, uuid(5, i), `"parent_id":"`+root+`",`+opened), event(5, uuid(5, i), `"type":"user_message","origin":"conv","text":"else"`))
	}
}

// TestExcludedIsNotCached lists histories of a directory that its user excluded.
func TestExcludedIsNotCached(t *testing.T) {
	t.Parallel()
	for _, excluded := range []bool{false, true} {
		dir, home, cache := t.TempDir(), t.TempDir(), t.TempDir()
		env := map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "claude"), "CODEX_HOME": filepath.Join(home, "codex"), "XDG_DATA_HOME": filepath.Join(home, "data")}
		writeHistories(t, dir, env)
		if excluded {
			if err := os.WriteFile(filepath.Join(dir, ".convtools-exclude"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := conversations.Options{AllProjects: true, Dir: t.TempDir(), Getenv: func(name string) string { return env[name] }, Indexes: conversations.NewIndexes(cache)}
		listed(t, o)
		kept := 0
		for _, file := range files(t, cache, "") {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			kept += bytes.Count(data, []byte("retry"))
		}
		if kept == 0 != excluded {
			t.Errorf("excluded %v: %d texts are kept", excluded, kept)
		}
	}
}
