package opencode_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/opencode"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// Each case is a fact about what the program writes, in a database and in a tree.
func TestWhatIsSaid(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 20_000) // 100 kB
	for name, test := range map[string]struct {
		session sess
		want    string
	}{
		"a prompt and its answer": {
			session: sess{messages: []msg{prompt(1, text("Go")), answer(2, 1, object{"type": "step-start"}, object{"type": "reasoning", "text": "hm"}, text("Done."), object{"type": "step-finish"})}},
			want:    "1 user: Go\n1 reasoning: hm\n1 assistant: Done.\n",
		},
		"a prompt in several parts": {
			session: sess{messages: []msg{prompt(1, text("Look at"), text("this")), answer(2, 1, text("Well."))}},
			want:    "1 user: Look at this\n1 assistant: Well.\n",
		},
		"what the program puts into a prompt": {
			session: sess{messages: []msg{prompt(1,
				text("Look"), text("Called the Read tool").and("synthetic", true), text("a note").and("ignored", true),
				object{"type": "file", "mime": "text/plain", "filename": "a.txt", "url": "file:///a.txt"}, object{"type": "agent", "name": "x"})}},
			want: "1 user: Look\n",
		},
		"a picture alone": {
			session: sess{messages: []msg{
				prompt(1, object{"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"}), answer(2, 1, text("A dot.")),
				prompt(3, object{"type": "file", "mime": "image/png", "url": "data:image/png;base64," + strings.Repeat("A", 100_000)}), answer(4, 3, text("A large one.")),
			}},
			want: "1 user\n1 assistant: A dot.\n2 user\n2 assistant: A large one.\n",
		},
		"long texts between short ones": {
			session: sess{messages: []msg{prompt(1, text("a"), text(long), text("b"), object{"type": "file", "url": "data:" + long}, text("c"), text(long))}},
			want:    "1 user: a " + long + "b c " + strings.TrimSpace(long) + "\n",
		},
		"the person's own shell command": {
			session: sess{messages: []msg{
				prompt(1, text("Go")), prompt(2, text("The following tool was executed by the user").and("synthetic", true)),
				answer(3, 2, tool("bash", "c", "completed", object{"command": "ls"}, object{"output": "a"})),
			}},
			want: "1 user: Go\n1 tool_call bash: { \"command\": \"ls\" }\n1 tool_result: a\n",
		},
		"calls and results": {
			session: sess{messages: []msg{prompt(1, text("Go")), answer(2, 1,
				tool("read", "c1", "completed", object{"filePath": "a"}, object{"output": "one\ntwo", "title": "a", "metadata": object{"preview": "one"}}),
				tool("read", "c2", "error", object{"filePath": "b"}, object{"error": "no b"}),
				tool("bash", "c3", "completed", object{"command": "ls x"}, object{"output": "no x\n", "metadata": object{"exit": 2}}),
				tool("convtools_conversation_grep", "c4", "running", object{"pattern": "x"}, object{}),
				tool("task", "c5", "pending", object{}, object{"raw": ""}),
			)}},
			want: "1 user: Go\n1 tool_call read: { \"filePath\": \"a\" }\n1 tool_result: one two\n1 tool_call read: { \"filePath\": \"b\" }\n1 tool_result failed: no b\n" +
				"1 tool_call bash: { \"command\": \"ls x\" }\n1 tool_result failed: no x\n1 tool_call convtools_conversation_grep: { \"pattern\": \"x\" }\n1 tool_call task: {}\n",
		},
		"a question to the user, and the answer": {
			session: sess{messages: []msg{prompt(1, text("Ask me")), answer(2, 1,
				tool("question", "c1", "completed", object{"questions": []object{{"question": "Which size?", "options": []object{{"label": "100"}, {"label": "500"}}}}},
					object{"output": "User has answered your questions: ...", "metadata": object{"answers": [][]string{{"500"}}}}),
				tool("question", "c2", "running", object{"questions": []object{{"question": "And then?"}}}, object{}))}},
			want: "1 user: Ask me\n1 inquiry: Which size? - 100 - 500\n1 inquiry_response: 500\n1 inquiry: And then?\n",
		},
		"a compaction, and its summary": {
			session: sess{messages: []msg{
				prompt(1, text("Go")), prompt(2, object{"type": "compaction", "auto": false}), answer(3, 2, text("## Goal")).with("summary", true), prompt(4, text("And?")),
			}},
			want: "1 user: Go\n0 compaction\n2 user: And?\n",
		},
		"a compaction that failed": {
			session: sess{messages: []msg{
				prompt(1, text("Go")), prompt(2, object{"type": "compaction"}), answer(3, 2, text("I look")).with("summary", true).with("error", object{"name": "UnknownError"}), prompt(4, text("And?")),
			}},
			want: "1 user: Go\n2 user: And?\n",
		},
		"a prompt while the one before is answered": {
			session: sess{messages: []msg{prompt(1, text("a")), answer(2, 1, text("to a")), prompt(3, text("b")), answer(4, 1, text("to a, too")), answer(5, 3, text("to b"))}},
			want:    "1 user: a\n1 assistant: to a\n1 assistant: to a, too\n2 user: b\n2 assistant: to b\n",
		},
		"messages by their times": {
			session: sess{messages: []msg{{n: 1, created: at(9), data: object{"role": "user"}, parts: []object{text("later")}}, {n: 2, created: at(8), data: object{"role": "user"}, parts: []object{text("earlier")}}}},
			want:    "1 user: earlier\n2 user: later\n",
		},
		"an answer to what is gone": {
			session: sess{messages: []msg{answer(1, 99, text("first")), prompt(2, text("Go")), answer(3, 99, text("second"))}},
			want:    "1 assistant: first\n2 user: Go\n2 assistant: second\n",
		},
		"what was undone": {
			session: sess{revert: object{"messageID": messageID(3)}, messages: []msg{prompt(1, text("Go")), answer(2, 1, text("a")), prompt(3, text("undone")), answer(4, 3, text("b"))}},
			want:    "1 user: Go\n1 assistant: a\n",
		},
		"what was undone of a message": {
			session: sess{revert: object{"messageID": messageID(2), "partID": partID(2, 1)}, messages: []msg{prompt(1, text("Go")), answer(2, 1, text("a"), text("undone")), prompt(3, text("undone"))}},
			want:    "1 user: Go\n1 assistant: a\n",
		},
		"an undone message that is gone": {
			session: sess{revert: object{"messageID": messageID(99)}, messages: []msg{prompt(1, text("Go"))}},
			want:    "1 user: Go\n",
		},
		"an answer that was interrupted": {
			session: sess{messages: []msg{prompt(1, text("Go")), answer(2, 1, object{"type": "step-start"}, text("I begin")).with("error", object{"name": "MessageAbortedError", "data": object{"message": "Aborted"}})}},
			want:    "1 user: Go\n1 assistant: I begin\n",
		},
		"a failed request": {
			session: sess{messages: []msg{prompt(1, text("Go")), answer(2, 1).with("error", object{"name": "APIError", "data": object{"message": "no"}})}},
			want:    "1 user: Go\n",
		},
		"the task of a sub-agent": {
			session: sess{parent: 7, messages: []msg{prompt(1, text("Count")), answer(2, 1, text("Three."))}},
			want:    "1 assistant: Count\n1 assistant: Three.\n",
		},
		"unknown parts and roles": {
			session: sess{messages: []msg{prompt(1, text("Go"), object{"type": "invented", "text": "no"}), answer(2, 1, object{"type": "invented", "text": "no"}), {n: 3, data: object{"role": "invented"}, parts: []object{text("no")}}}},
			want:    "1 user: Go\n",
		},
		"lone surrogates": {
			session: sess{messages: []msg{prompt(1, text("Go\x00\u2028on"))}},
			want:    "1 user: Go\x00 on\n",
		},
	} {
		for kind, record := range recorders {
			t.Run(name+" in a "+kind, func(t *testing.T) {
				t.Parallel()
				h := newHome(t)
				test.session.n, test.session.created = 1, at(0)
				record(h, test.session)
				if diff := cmp.Diff(test.want, h.said()); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestTotals(t *testing.T) {
	t.Parallel()
	for kind, record := range recorders {
		h := newHome(t)
		record(h, sess{n: 1, messages: []msg{
			prompt(1, text("Go"), object{"type": "invented"}),
			answer(2, 1, text("a").and("time", object{"start": at(5)}), tool("read", "c", "completed", object{}, object{"output": "b", "time": object{"start": at(6), "end": at(7)}})),
			{n: 3, data: object{"role": "invented"}},
		}})
		c := storetest.Only(t, h.open())
		var times []int64
		totals, err := c.Read(t.Context(), func(e *transcript.Event) bool {
			times = append(times, e.Time.UnixMilli()-int64(at(0)))
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{1000, 5000, 6000, 7000}, times); diff != "" {
			t.Errorf("%s: times %s", kind, diff)
		}
		want := store.Totals{Turns: 1, Events: 4, LastAt: time.UnixMilli(int64(at(7))).UTC(), Skipped: 2}
		if diff := cmp.Diff(want, totals); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
		if !c.CreatedAt.Equal(time.UnixMilli(int64(at(1)))) || c.Dir != h.project {
			t.Errorf("%s: %+v", kind, c)
		}
	}
}

// A fork has new ids, and the times of what it was copied from.
func TestFork(t *testing.T) {
	t.Parallel()
	copied := func(n, from int, m msg) msg { m.n, m.created = n, at(from); return m }
	sessions := []sess{
		{n: 1, title: "Tides", messages: []msg{prompt(1, text("a")), answer(2, 1, text("b")), prompt(3, text("c")), answer(4, 3, text("d"))}},
		{n: 20, title: "Tides (fork #1)", created: at(20), messages: []msg{
			copied(21, 1, prompt(21, text("a"))), copied(22, 2, answer(22, 21, text("b"))), prompt(23, text("e")), answer(24, 23, text("f")),
		}},
		{n: 30, title: "Tides (fork #2)", created: at(30), messages: []msg{ // of the fork
			copied(31, 1, prompt(31, text("a"))), copied(32, 2, answer(32, 31, text("b"))), copied(33, 23, prompt(33, text("e"))), prompt(34, text("g")),
		}},
		{n: 40, title: "Gone (fork #1)", created: at(50), messages: []msg{copied(41, 45, prompt(41, text("h"))), prompt(42, text("i"))}},
		{n: 60, title: "Archived", created: at(60), archived: at(90), messages: []msg{prompt(61, text("j"))}},
		{n: 70, title: "Archived (fork #1)", created: at(70), messages: []msg{copied(71, 61, prompt(71, text("j"))), prompt(72, text("k"))}},
	}
	want := string(convID(1)) + " \"Tides\" ua ua\n" +
		string(convID(20)) + " \"Tides (fork #1)\" of " + string(convID(1)) + " [ua] ua\n" +
		string(convID(30)) + " \"Tides (fork #2)\" of " + string(convID(20)) + " [ua] [u] u\n" +
		string(convID(40)) + " \"Gone (fork #1)\" u u\n" +
		string(convID(60)) + " \"Archived\" archived u\n" +
		string(convID(70)) + " \"Archived (fork #1)\" of " + string(convID(60)) + " u u\n"
	for kind, record := range recorders {
		h := newHome(t)
		record(h, sessions...)
		if diff := cmp.Diff(want, storetest.Listing(t, h.open())); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
}

func TestListing(t *testing.T) {
	t.Parallel()
	for kind, record := range recorders {
		h := newHome(t)
		at := func(n int) []msg {
			return []msg{prompt(100*n, text("\nFirst line\nsecond")), answer(100*n+1, 100*n, text("Well."))}
		}
		record(h,
			sess{n: 1, title: "Tides", messages: at(1)},
			sess{n: 2, title: "New session - 2026-05-01T00:00:00.000Z", messages: at(2)},
			sess{n: 3, title: "Child session - 2026-05-01T00:00:00.000Z", parent: 1, messages: at(3)},
			sess{n: 4, title: "Another project", dir: h.project + "-elsewhere", messages: at(4)},
			sess{n: 5, title: "Nothing is said"},
			sess{n: 6, title: "Put away", archived: 1_777_593_700_000, messages: at(6)},
			sess{n: 7, title: "New session - about tides", messages: at(7)},
		)
		want := string(convID(1)) + " \"Tides\" ua\n" +
			string(convID(2)) + " \"First line\\nsecond\" ua\n" +
			string(convID(3)) + " \"First line\\nsecond\" of " + string(convID(1)) + " aa\n" +
			string(convID(6)) + " \"Put away\" archived ua\n" +
			string(convID(7)) + " \"New session - about tides\" ua\n"
		if diff := cmp.Diff(want, storetest.Listing(t, h.open())); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
		for set, most := range map[store.Set]int{store.Live: 4, store.Archived: 1} {
			if found, _ := storetest.List(t, h.open(), set); len(found) != most {
				t.Errorf("%s: %d in %d", kind, len(found), set)
			}
		}
		var missing *store.NotFoundError
		for _, n := range []int{4, 5, 99} {
			if _, err := storetest.Find(t, h.open(), convID(n)); !errors.As(err, &missing) {
				t.Errorf("%s: Find %d: %v", kind, n, err)
			}
		}
		if _, err := storetest.Find(t, h.open(), convID(10)); !errors.As(err, &missing) || len(missing.Nearest) == 0 || missing.Nearest[0] != convID(1) {
			t.Errorf("%s: %+v", kind, missing)
		}
	}
}

// Where both have a session, the database counts; where only one has it, that does.
func TestBoth(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.database(sess{n: 1, title: "Taken over", messages: []msg{prompt(1, text("new"))}})
	h.tree(sess{n: 1, title: "Old", messages: []msg{prompt(1, text("old"))}}, sess{n: 2, title: "Left behind", messages: []msg{prompt(2, text("old"))}})
	beta := h.own("opencode-beta.db")
	beta.exec(schema)
	beta.record(sess{n: 3, title: "Of another channel", messages: []msg{prompt(3, text("new"))}}, sess{n: 2, title: "Taken over there", messages: []msg{prompt(2, text("new"))}})
	want := string(convID(1)) + " \"Taken over\" u\n" + string(convID(2)) + " \"Taken over there\" u\n" + string(convID(3)) + " \"Of another channel\" u\n"
	if diff := cmp.Diff(want, storetest.Listing(t, h.open())); diff != "" {
		t.Error(diff)
	}
}

// Reading leaves nothing behind, and sees what is only in the write-ahead log.
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.database(sess{n: 1, messages: []msg{prompt(1, text("Go"))}})
	for name, keep := range map[string]string{"with a log": "-wal", "with all": "-wal-shm"} {
		dir := filepath.Join(t.TempDir(), "opencode")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"", "-wal", "-shm"} {
			data, err := os.ReadFile(filepath.Join(h.dir, "opencode.db"+file))
			if err == nil && strings.Contains(keep, file) {
				err = os.WriteFile(filepath.Join(dir, "opencode.db"+file), data, 0o400)
			}
			if err != nil {
				t.Skip(err) // the owner has it locked
			}
		}
		before := files(t, dir)
		copied := &home{t: t, dir: dir, project: h.project}
		if got := copied.said(); got != "1 user: Go\n" {
			t.Errorf("%s: %q", name, got)
		}
		if diff := cmp.Diff(before, files(t, dir)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// files returns the sizes and the times of the files of a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		found[e.Name()] = info.ModTime().String() + info.Mode().String()
	}
	return found
}

// The owner may move its log into the database, and go on, while a session is read.
func TestChangedWhileRead(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	o := h.own("opencode.db")
	o.exec(schema)
	s := sess{n: 1}
	var want strings.Builder
	for n := range 50 {
		s.messages = append(s.messages, prompt(n+1, text(strings.Repeat("word ", 2000))))
		want.WriteString("u")
	}
	o.record(s)
	c := storetest.Only(t, h.open())
	var got strings.Builder
	n := 0
	_, err := c.Read(t.Context(), func(e *transcript.Event) bool {
		if e.Kind == transcript.KindUser {
			got.WriteString("u")
		}
		if n%10 == 0 {
			o.exec("UPDATE session SET title = 'changed'")
			o.exec("PRAGMA wal_checkpoint(TRUNCATE)")
			o.exec("INSERT INTO account VALUES (?, 'secret')", n)
		}
		n++
		return true
	})
	if err != nil || got.String() != want.String() {
		t.Errorf("%v, %s", err, got.String())
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for kind, record := range recorders {
		h := newHome(t)
		record(h, sess{n: 1, messages: []msg{prompt(1, text("Go"))}}, sess{n: 2, messages: []msg{prompt(5, text("Go"))}})
		c, err := storetest.Find(t, h.open(), convID(1))
		if err != nil {
			t.Fatal(err)
		}
		before, err := c.Version(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if again, err := c.Version(t.Context()); err != nil || again != before {
			t.Errorf("%s: %q, then %q, %v", kind, before, again, err)
		}
		if kind == "tree" {
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(h.write("storage/part/"+messageID(1)+"/"+partID(1, 0)+".json", text("Gone").String()), later, later); err != nil {
				t.Fatal(err)
			}
		} else {
			h.own("opencode.db").exec("UPDATE part SET data = '{}', time_updated = time_updated + 1 WHERE message_id = ?", messageID(1))
		}
		if after, err := c.Version(t.Context()); err != nil || after == before {
			t.Errorf("%s: %q, then %q, %v", kind, before, after, err)
		}
		if kind == "tree" {
			if err := os.Remove(filepath.Join(h.dir, "storage", "session", "p", sessionID(1)+".json")); err != nil {
				t.Fatal(err)
			}
		} else {
			h.own("opencode.db").exec("DELETE FROM session WHERE id = ?", sessionID(1))
		}
		var missing *store.NotFoundError
		if _, err := c.Version(t.Context()); !errors.As(err, &missing) {
			t.Errorf("%s: of a deleted session: %v", kind, err)
		}
		if _, err := c.Read(t.Context(), nil); !errors.As(err, &missing) {
			t.Errorf("%s: of a deleted session: %v", kind, err)
		}
	}
}

// What cannot be read is told of, and does not hide the rest.
func TestDamage(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(h *home){
		"no database":              func(h *home) { h.write("opencode.db", strings.Repeat("no database ", 1000)) },
		"a folder of a channel":    func(h *home) { h.write("opencode-beta.db", strings.Repeat("no database ", 1000)) },
		"a transaction":            func(h *home) { h.write("opencode.db", "x"); h.write("opencode.db-journal", "x") },
		"a schema of another form": func(h *home) { h.own("opencode.db").exec("CREATE TABLE session (id text, project text)") },
		"a view": func(h *home) {
			h.own("opencode.db").exec("CREATE VIEW session AS SELECT 'ses_1' AS id, '/' AS directory")
		},
		"a session that is no object": func(h *home) {
			h.write("storage/session/p/"+sessionID(9)+".json", "[]")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.tree(sess{n: 1, title: "Tides", messages: []msg{prompt(1, text("Go"))}})
			damage(h)
			found, problems := storetest.List(t, h.open(), store.Live)
			if len(found) != 1 || len(problems) != 1 || problems[0].Err == nil || problems[0].Path == "" {
				t.Errorf("%v, %+v", found, problems)
			}
			if _, err := storetest.Find(t, h.open(), convID(1)); err != nil {
				t.Error(err)
			}
		})
	}
}

// A database in use that is too large to be copied is told of as such, and does not hide the
// rest.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.tree(sess{n: 1, title: "Tides", messages: []msg{prompt(1, text("Go"))}})
	h.database(sess{n: 2, messages: []msg{prompt(2, text("Go"))}})
	if err := os.Truncate(filepath.Join(h.dir, "opencode.db"), 3<<30); err != nil {
		t.Skip("there are no files with holes: ", err)
	}
	found, problems := storetest.List(t, h.open(), store.Live)
	if len(found) != 1 || len(problems) != 1 || filepath.Base(problems[0].Path) != "opencode.db" {
		t.Fatalf("%v, %v", found, problems)
	}
	var large *store.CopyTooLargeError
	if !errors.As(problems[0].Err, &large) || large.Size < 3<<30 {
		t.Error(problems[0].Err)
	}
}

// A database that is damaged in the middle is read up to there.
func TestDamagedPages(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	o := h.own("opencode.db")
	o.exec(schema)
	o.record(sess{n: 1, messages: []msg{prompt(1, text("Go"))}})
	for n := range 300 {
		o.exec("INSERT INTO part VALUES (?, ?, ?, 0, 0, ?)", partID(2, n), messageID(2), sessionID(1), text(strings.Repeat("x", 3000)).String())
	}
	o.exec("INSERT INTO message VALUES (?, ?, ?, 0, ?)", messageID(2), sessionID(1), at(2), object{"role": "assistant"}.String())
	o.exec("PRAGMA wal_checkpoint(TRUNCATE)")
	data, err := os.ReadFile(filepath.Join(h.dir, "opencode.db"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := newHome(t)
	damaged.project = h.project
	for i := len(data) - 40*4096; i < len(data)-20*4096; i++ {
		data[i] = 0xff
	}
	damaged.write("opencode.db", string(data))
	c, err := storetest.Find(t, damaged.open(), convID(1))
	if err != nil {
		t.Fatal(err)
	}
	said, err := storetest.Read(t.Context(), c)
	var damage *store.DamageError
	if said != "1 user: Go\n" || !errors.As(err, &damage) || damage.Event != 1 {
		t.Errorf("%q, %v", said, err)
	}
}

// What is recorded in another form than expected costs itself, and columns of other versions are left alone.
func TestOddColumns(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	o := h.own("opencode.db")
	o.exec("CREATE TABLE session (id text PRIMARY KEY, directory text, new text, parent_id text, title text, revert text, time_created integer, time_updated integer, time_archived integer)")
	o.exec("CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text, time_updated integer)")
	o.exec("CREATE TABLE part (id text PRIMARY KEY, message_id text, data text, session_id text, time_updated integer)")
	o.exec("INSERT INTO session (id, directory, new, time_created, title) VALUES (?, ?, 'x', 'never', x'ff')", sessionID(1), h.project)
	o.exec("INSERT INTO session (id, directory, new) VALUES (?, ?, 'x'), (NULL, ?, 'x'), ('../../x', ?, 'x'), (7, 8, 9)", sessionID(2), h.project, h.project, h.project)
	o.exec("INSERT INTO message (id, session_id, time_created, data) VALUES ('m1', ?, 1, ?), ('m2', ?, 'no time', ?), (NULL, ?, NULL, NULL), ('m3', ?, 3, NULL), ('m4', ?, 4, x'ff00')",
		sessionID(1), object{"role": "user"}.String(), sessionID(1), object{"role": "user"}.String(), sessionID(1), sessionID(1), sessionID(1))
	o.exec("INSERT INTO part (id, message_id, data) VALUES ('p1', 'm1', ?), ('p2', 'm2', ?), ('p3', 'm1', NULL), ('p4', 'm1', 7), (NULL, 'm1', '{}'), ('p5', 'm1', '{broken'), ('p6', 'm1', x'7bff7d')",
		text("Go").String(), text("And?").String())
	c := storetest.Only(t, h.open())
	if diff := cmp.Diff("1 user: And?\n2 user: Go\n", storetest.Said(t, c)); diff != "" {
		t.Error(diff)
	}
	if version, err := c.Version(t.Context()); version == "" || err != nil {
		t.Error(version, err)
	}
}

func TestWhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.database(sess{n: 1, title: "Tides", messages: []msg{prompt(1, text("Go"))}})
	elsewhere := filepath.Join(h.dir, "opencode.db")
	data, user := t.TempDir(), t.TempDir()
	for _, link := range []string{filepath.Join(data, "opencode"), filepath.Join(user, ".local", "share", "opencode")} {
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(h.dir, link); err != nil {
			t.Skip(err)
		}
	}
	empty := t.TempDir()
	for name, test := range map[string]struct {
		env  map[string]string
		want int // conversations; -1 for no store
	}{
		"XDG_DATA_HOME":               {map[string]string{"XDG_DATA_HOME": data}, 1},
		"the home directory":          {map[string]string{"HOME": user, "USERPROFILE": user}, 1},
		"nothing":                     {map[string]string{}, -1},
		"an empty home":               {map[string]string{"HOME": empty, "USERPROFILE": empty}, -1},
		"OPENCODE_DB":                 {map[string]string{"HOME": empty, "USERPROFILE": empty, "OPENCODE_DB": elsewhere}, 1},
		"OPENCODE_DB in the home":     {map[string]string{"XDG_DATA_HOME": data, "OPENCODE_DB": "opencode.db"}, 1},
		"OPENCODE_DB that is missing": {map[string]string{"XDG_DATA_HOME": data, "OPENCODE_DB": "other.db"}, 1},
		"OPENCODE_DB in memory":       {map[string]string{"HOME": empty, "USERPROFILE": empty, "OPENCODE_DB": ":memory:"}, -1},
	} {
		s, ok := opencode.OpenCode.Open(store.Options{Project: project.New(project.Options{Dir: h.project}), Getenv: storetest.Env(test.env)})
		if !ok {
			if test.want >= 0 {
				t.Errorf("%s: there is no store", name)
			}
			continue
		}
		if found, problems := storetest.List(t, s, store.Live); len(found) != test.want || len(problems) > 0 {
			t.Errorf("%s: %v, %v", name, found, problems)
		}
	}
}

// A directory that may not be looked into is told of.
// Whoever has moved the database has a link to it. What is not in the database yet is
// beside where it is, and not beside the link.
func TestMovedDatabase(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.database(sess{n: 1, title: "Tides", messages: []msg{prompt(1, text("Go"))}})
	moved := t.TempDir()
	if err := os.Symlink(filepath.Join(h.dir, "opencode.db"), filepath.Join(moved, "opencode.db")); err != nil {
		t.Skip(err)
	}
	s, ok := opencode.OpenCode.Open(store.Options{Home: moved, Project: project.New(project.Options{Dir: h.project}), Getenv: storetest.Env(nil)})
	if !ok {
		t.Fatal("there is no store")
	}
	if found, problems := storetest.List(t, s, store.Live); len(found) != 1 || len(problems) > 0 {
		t.Errorf("%v, %v", found, problems)
	}
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.tree(sess{n: 1, messages: []msg{prompt(1, text("Go"))}})
	if err := os.Chmod(h.dir, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(h.dir, 0o700) })
	if _, err := os.ReadDir(h.dir); err == nil {
		t.Skip("the user of the test may read everything")
	}
	if _, err := h.open().List(t.Context(), store.Scope{Set: store.Live}); err == nil {
		t.Error("there is no error")
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"opencode-ses_e002d05cfffe2zEdz416bNOdYv": "opencode-ses_e002d05cfffe2zEdz416bNOdYv",
		"OpenCode-ses_e002d05cfffe2zEdz416bNOdYv": "opencode-ses_e002d05cfffe2zEdz416bNOdYv",
		"ses_e002d05cfffe2zEdz416bNOdYv":          "opencode-ses_e002d05cfffe2zEdz416bNOdYv",
		"e002d05cfffe2zEdz416bNOdYv":              "",
		"":                                        "",
		"opencode-":                               "",
		"opencode-ses_":                           "",
		"opencode-ses_../../x":                    "",
		"opencode-ses_" + strings.Repeat("x", 65): "",
		"opencode-ses_ü":                          "",
	} {
		got, err := opencode.OpenCode.IDs().ParseID(text)
		var bad *store.BadIDError
		if string(got) != want || (want == "") != errors.As(err, &bad) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]bool{"opencode-x": true, "ses_x": true, "Opencode-": true, "codex-x": false, "jp-c1": false, "": false} {
		if opencode.OpenCode.IDs().Claims(text) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}

// A store answers several questions at a time, and what it lists is read at a time.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	for _, record := range recorders {
		h := newHome(t)
		var sessions []sess
		for n := range 20 {
			sessions = append(sessions, sess{n: n + 1, messages: []msg{prompt(n+1, text("Go"))}})
		}
		record(h, sessions...)
		opened := h.open()
		listing, err := opened.List(t.Context(), store.Scope{Set: store.Live})
		if err != nil {
			t.Fatal(err)
		}
		found := listing.Conversations
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				if found, problems := storetest.List(t, opened, store.Live); len(found) != 20 || len(problems) != 0 {
					t.Errorf("%d, %v", len(found), problems)
				}
				for _, c := range found[5*i : 5*i+5] {
					if said, err := storetest.Read(t.Context(), c); said != "1 user: Go\n" || err != nil {
						t.Errorf("%q, %v", said, err)
					}
				}
			})
		}
		wg.Wait()
		listing.Close()
	}
}

// A part that is longer than any that is read costs itself, and is not held to find that out.
func TestLargeParts(t *testing.T) { // alone: it counts what is allocated
	large := strings.Repeat("x", 64<<20)
	for name, record := range recorders {
		h := newHome(t)
		record(h, sess{n: 1, messages: []msg{prompt(1, text("Go")), answer(2, 1, text("a"), text(large), text("b"))}})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c, err := storetest.Find(t, h.open(), convID(1))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		totals, err := c.Read(t.Context(), func(e *transcript.Event) bool {
			b.WriteString(storetest.Describe(e))
			return true
		})
		runtime.ReadMemStats(&after)
		if b.String() != "1 user: Go\n1 assistant: a\n1 assistant: b\n" || totals.TooLarge != 1 || totals.Skipped != 1 || err != nil {
			t.Errorf("%s: %.100s, %+v, %v", name, b.String(), totals, err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
			t.Errorf("%s: it took %d MB", name, grown>>20)
		}
	}
}
