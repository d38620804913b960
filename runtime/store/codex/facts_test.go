package codex_test

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/codex"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/transcript"
)

// Each case is a record form that the program writes.
func TestEvents(t *testing.T) {
	t.Parallel()
	message := func(role, s string) line {
		return item("message", line{"role": role, "content": []line{{"type": "input_text", "text": s}}})
	}
	for name, test := range map[string]struct {
		lines     []line
		paginated bool
		want      string
	}{
		"text is stored twice": {
			lines: []line{
				message("user", "Go"), user("Go"), event("agent_reasoning", line{"text": "hm"}),
				item("reasoning", line{"summary": []line{{"text": "hm"}}, "encrypted_content": "gAAAA"}), assistant("Done."), message("assistant", "Done."),
			},
			want: "1 user: Go\n1 reasoning: hm\n1 assistant: Done.\n",
		},
		"and otherwise where it is paginated": {
			lines: []line{
				message("user", "Go"), completed("UserMessage", line{"content": []line{{"type": "text", "text": "Go"}, {"type": "local_image", "path": "/p/dot.png"}}}),
				completed("Reasoning", line{"summary_text": []string{"hm", "hm hm"}, "raw_content": []string{}}),
				completed("AgentMessage", line{"content": []line{{"type": "Text", "text": "Done."}}}), message("assistant", "Done."),
				completed("CommandExecution", line{"id": "c", "aggregated_output": "repeated"}), user("not this one"),
			},
			paginated: true,
			want:      "1 user: Go\n1 reasoning: hm hm hm\n1 assistant: Done.\n",
		},
		"noise in the name of the user and the developer": {
			lines: []line{
				message("developer", "<permissions instructions>"), message("user", "# AGENTS.md instructions for /p"), message("user", "<environment_context>"),
				user("Go"), user("<environment_context>\n"), user("<turn_aborted>"), user("<user_instructions>x"), user("<subagent_notification>x"), user("<skill>x"), user("<image name=x>"),
			},
			want: "1 user: Go\n",
		},
		"what an editor puts before a request": {
			lines: []line{user("# Context from my IDE setup:\n\n## Open tabs:\n- a.go\n\n## My request for Codex:\nFix it\n")},
			want:  "1 user: Fix it\n",
		},
		"a mark of the editor in a prompt": {lines: []line{user("Why does it say ## My request for Codex: here?")}, want: "1 user: Why does it say ## My request for Codex: here?\n"},
		"calls and results": {
			lines: []line{
				user("Go"), call("c1", "exec_command", `{"cmd":"ls \"x\""}`), result("c1", "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno x"),
				item("custom_tool_call", line{"call_id": "c2", "name": "apply_patch", "input": "*** Begin Patch\n"}), item("custom_tool_call_output", line{"call_id": "c2", "output": "ok"}),
				call("c3", "broken", `{"cmd":`), result("c3", []line{{"type": "input_text", "text": "one"}, {"type": "input_image", "image_url": "data:"}, {"type": "input_text", "text": "two"}}),
				item("local_shell_call", line{"call_id": "c4", "action": line{"command": []string{"ls"}}}),
			},
			want: "1 user: Go\n" + `1 tool_call exec_command: { "cmd": "ls \"x\"" }` + "\n" +
				"1 tool_result failed: Chunk ID: 1 Wall time: 0.1 seconds Process exited with code 2 Output: no x\n" +
				"1 tool_call apply_patch: *** Begin Patch\n1 tool_result: ok\n1 tool_call broken: {\"cmd\":\n1 tool_result: one two\n" +
				"1 tool_call local_shell: { \"command\": [ \"ls\" ] }\n",
		},
		"an exit code in an envelope of JSON": {
			lines: []line{user("Go"), result("c1", `{"output":"no \"x\"","metadata":{"exit_code":2,"duration_seconds":0.1}}`), result("c2", `{"output":"fine","metadata":{"exit_code":0}}`), result("c3", `{"answer":"as it is"}`)},
			want:  "1 user: Go\n1 tool_result failed: no \"x\"\n1 tool_result: fine\n1 tool_result: {\"answer\":\"as it is\"}\n",
		},
		"an exit code that only the output speaks of": {
			lines: []line{user("Go"), result("c1", "Process exited with code 0\nOutput:\nProcess exited with code 3\n")},
			want:  "1 user: Go\n1 tool_result: Process exited with code 0 Output: Process exited with code 3\n",
		},
		"tools of servers": {
			lines: []line{user("Go"), item("function_call", line{"name": "grep", "namespace": "mcp__convtools", "arguments": "{}", "call_id": "c"}), item("function_call", line{"name": "grep", "namespace": "mcp__convtools__", "arguments": "{}", "call_id": "c"}), item("function_call", line{"name": "spawn_agent", "namespace": "multi_agent_v1", "arguments": "{}", "call_id": "c"})},
			want:  "1 user: Go\n1 tool_call mcp__convtools__grep: {}\n1 tool_call mcp__convtools__grep: {}\n1 tool_call spawn_agent: {}\n",
		},
		"a question to the user, and the answer": {
			lines: []line{user("Ask me"), call("c1", "request_user_input", `{"questions":[{"question":"Which size?","options":[{"label":"100"},{"label":"500"}]}]}`), result("c1", "100")},
			want:  "1 user: Ask me\n1 inquiry: Which size? - 100 - 500\n1 inquiry_response: 100\n",
		},
		"a compaction": {
			lines: []line{user("Go"), message("assistant", "Summary"), record("compacted", line{"message": "m", "replacement_history": []line{{"type": "message", "role": "user"}}}), user("And?")},
			want:  "1 user: Go\n0 compaction\n2 user: And?\n",
		},
		"turns that were undone": {
			lines: []line{user("a"), user("b"), user("c"), event("thread_rolled_back", line{"num_turns": 1}), user("d"), event("thread_rolled_back", line{"num_turns": 2}), user("e")},
			want:  "1 user: a\n2 user: e\n",
		},
		"more turns undone than there are": {lines: []line{user("a"), event("thread_rolled_back", line{"num_turns": 9}), user("b")}, want: "1 user: b\n"},
		"unknown records":                  {lines: []line{user("Go"), record("invented", line{"message": "no"}), event("invented", line{"message": "no"}), item("invented", line{"text": "no"})}, want: "1 user: Go\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			meta := h.meta(1)
			if test.paginated {
				meta = h.meta(1, "history_mode", "paginated")
			}
			h.thread(1, append([]line{meta}, test.lines...)...)
			if diff := cmp.Diff(test.want, said(t, h.only())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The first request is found after any number of notes.
func TestFirstRequest(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of notes ", 5000)
	for _, write := range []func(h *home, n int, lines ...line) string{(*home).thread, (*home).compressed} {
		h := newHome(t)
		write(h, 1, h.meta(1), item("message", line{"role": "developer", "content": []line{{"type": "input_text", "text": long}}}),
			user("Retry uploads"), assistant(long), user("Thanks"))
		if got := storetest.Called(h.only()); got != "Retry uploads" {
			t.Errorf("%q", got)
		}
	}
}

// Versions before 0.30 wrote records without envelopes, times and directories.
func TestBareRecords(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	message := func(role, s string) line {
		return line{"type": "message", "role": role, "content": []line{{"type": "input_text", "text": s}}}
	}
	h.thread(1,
		line{"id": uuid(1), "timestamp": "2025-09-01T00:00:00.000Z", "instructions": nil, "git": line{}},
		line{"record_type": "state"},
		message("user", "<environment_context>\n  <cwd>"+h.project+"</cwd>\n</environment_context>"),
		message("user", "Go"),
		line{"type": "reasoning", "summary": []line{{"type": "summary_text", "text": "hm"}}, "encrypted_content": "gAAA"},
		line{"type": "function_call", "name": "shell", "arguments": `{"command":["ls"]}`, "call_id": "c1"},
		line{"type": "function_call_output", "call_id": "c1", "output": `{"output":"a","metadata":{"exit_code":0}}`},
		line{"record_type": "state"},
		message("assistant", "Done."),
	)
	want := "1 user: Go\n1 reasoning: hm\n1 tool_call shell: { \"command\": [ \"ls\" ] }\n1 tool_result: a\n1 assistant: Done.\n"
	c := h.only()
	if diff := cmp.Diff(want, said(t, c)); diff != "" {
		t.Error(diff)
	}
	if storetest.Called(c) != "Go" || c.CreatedAt.IsZero() {
		t.Errorf("%+v", c)
	}
}

// A fork of a thread that is not paginated begins with a copy, which has other times.
func TestForkWithCopy(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	later := func(l line) line { l["timestamp"] = "2026-05-02T00:00:00.000Z"; return l }
	h.thread(1, h.meta(1), user("a"), assistant("b"), user("c"))
	h.thread(2, h.meta(2, "forked_from_id", uuid(1)), h.meta(1), later(user("a")), later(assistant("b")), later(user("d")))
	h.thread(3, h.meta(3, "forked_from_id", uuid(99)), user("a"))
	found, _ := list(t, h.open(), store.Live)
	got := said(t, found[1]) + said(t, found[2])
	want := "1 user copied: a\n1 assistant copied: b\n2 user: d\n" + "1 user: a\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A paginated thread goes on from records of another rollout.
func TestHistoryBase(t *testing.T) {
	t.Parallel()
	said1 := func(s string) line {
		return completed("UserMessage", line{"content": []line{{"type": "text", "text": s}}})
	}
	meta := func(h *home, n, ordinal, base, end int) line {
		more := []any{"history_mode", "paginated"}
		if base > 0 {
			more = append(more, "history_base", line{"thread_id": uuid(base), "end_ordinal_exclusive": end, "end_byte_offset": 1})
		}
		return at(h.meta(n, more...), ordinal)
	}
	h := newHome(t)
	h.thread(1, meta(h, 1, 0, 0, 0), at(said1("a"), 1), at(said1("b"), 2))
	h.thread(2, meta(h, 2, 2, 1, 2), at(said1("fork"), 3))
	h.thread(3, meta(h, 3, 4, 2, 4), at(said1("fork of the fork"), 5))
	// A thread that was reverted has a second rollout.
	h.thread(4, meta(h, 4, 0, 0, 0), at(said1("kept"), 1), at(said1("undone"), 2))
	h.write("sessions/2026/05/02/rollout-2026-05-02T00-00-00-"+uuid(4)+"_"+uuid(5)+".jsonl",
		text(meta(h, 4, 2, 4, 2), at(said1("instead"), 3)))
	h.thread(6, meta(h, 6, 5, 77, 5), at(said1("of what is gone"), 6))
	h.thread(7, meta(h, 7, 5, 7, 9), at(said1("of itself"), 6))
	found, problems := list(t, h.open(), store.Live)
	var got string
	for _, c := range found {
		got += storetest.Called(c) + "\n" + said(t, c)
	}
	want := "a\n1 user: a\n2 user: b\n" +
		"fork\n1 user copied: a\n2 user: fork\n" +
		"fork of the fork\n1 user copied: a\n2 user copied: fork\n3 user: fork of the fork\n" +
		"kept\n1 user: kept\n2 user: instead\n" +
		"of what is gone\n1 user: of what is gone\n" +
		"of itself\n1 user: of itself\n"
	if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
		t.Error(diff, problems)
	}
}

func TestListing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.thread(1, h.meta(1, "base_instructions", line{"text": strings.Repeat("long ", 50_000)}), user("\nFirst line\nsecond"))
	h.thread(2, h.meta(2, "parent_thread_id", uuid(1), "source", line{"subagent": line{"thread_spawn": line{"parent_thread_id": uuid(1), "depth": 1}}}), user("Count them"))
	h.thread(3, h.meta(3, "source", line{"subagent": line{"thread_spawn": line{"parent_thread_id": uuid(1)}}}), user("Count more"))
	h.thread(4, h.meta(4, "cwd", h.project+"-elsewhere"), user("another project"))
	h.thread(5, h.meta(5)) // nothing is said
	h.thread(6)
	h.write("archived_sessions/rollout-2026-05-01T00-00-00-"+uuid(7)+".jsonl", text(h.meta(7), user("archived")))
	h.write("archived_sessions/rollout-2026-05-01T00-00-00-"+uuid(1)+".jsonl", text(h.meta(1), user("left over")))
	h.write(rollout(8)+".zst", "no zstd")
	h.write(rollout(1)+".zst", "no zstd")
	h.write("sessions/2026/05/01/notes.jsonl", "{}")
	h.write("session_index.jsonl", text(line{"id": uuid(1), "thread_name": "Old"}, line{"id": uuid(1), "thread_name": "Named"})+"broken\n")
	describe := func(found []store.Conversation) (got string) {
		for _, c := range found {
			got += string(c.ID) + " " + storetest.Called(c)
			if c.Parent != "" {
				got += " of " + string(c.Parent)
			}
			if c.Archived {
				got += " archived"
			}
			got += "\n" + said(t, c)
		}
		return got
	}
	live, problems := list(t, h.open(), store.Live)
	want := string(codexID(1)) + " Named\n1 user: First line second\n" +
		string(codexID(2)) + " Count them of " + string(codexID(1)) + "\n1 assistant: Count them\n" +
		string(codexID(3)) + " Count more of " + string(codexID(1)) + "\n1 assistant: Count more\n"
	if diff := cmp.Diff(want, describe(live)); diff != "" {
		t.Error(diff)
	}
	if len(problems) != 1 || problems[0].ID != codexID(8) || problems[0].Kind != store.Unreadable {
		t.Errorf("problems %+v; want that of the rollout that is damaged", problems)
	}
	archived, _ := list(t, h.open(), store.Archived)
	if diff := cmp.Diff(string(codexID(7))+" archived archived\n1 user: archived\n", describe(archived)); diff != "" {
		t.Error(diff)
	}
	for _, c := range append(live, archived...) {
		again, err := find(t, h.open(), c.ID)
		if err != nil || storetest.Called(again) != storetest.Called(c) || again.Parent != c.Parent || said(t, again) != said(t, c) {
			t.Errorf("Find %s: %+v, %v", c.ID, again, err)
		}
	}
	var missing *store.NotFoundError
	for _, n := range []int{4, 5, 6, 99} {
		if _, err := find(t, h.open(), codexID(n)); !errors.As(err, &missing) {
			t.Errorf("Find %d: %v", n, err)
		}
	}
	_, err := find(t, h.open(), codexID(9))
	if !errors.As(err, &missing) || len(missing.Nearest) == 0 || missing.Nearest[0] != codexID(1) {
		t.Errorf("nearest %v", missing.Nearest)
	}
}

func TestBranch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.thread(1, h.meta(1, "git", line{"commit_hash": "0a1b2c", "branch": "tides/fix"}), user("Go"))
	if got := h.only().Branch; got != "tides/fix" {
		t.Errorf("the branch is %q", got)
	}
	h.thread(1, h.meta(1, "git", line{"branch": 7}), user("Go"))
	if got := h.only().Branch; got != "" {
		t.Errorf("the branch is %q", got)
	}
}

// An idle rollout can be compressed, and its plain file removed.
func TestCompressed(t *testing.T) {
	t.Parallel()
	prompt := func(s string) line {
		return completed("UserMessage", line{"content": []line{{"type": "text", "text": s}}})
	}
	h := newHome(t)
	long := strings.Repeat("long ", 50_000)
	h.compressed(1, h.meta(1, "base_instructions", line{"text": long}), user("Go"), assistant(long), user("And?"), event("thread_rolled_back", line{"num_turns": 1}), assistant("Well."))
	h.compressed(2, h.meta(2, "forked_from_id", uuid(1)), user("Go"), assistant(long), user("b"))
	h.compressed(3, at(h.meta(3, "history_mode", "paginated"), 0), at(prompt("a"), 1), at(prompt("b"), 2))
	h.thread(4, at(h.meta(4, "history_mode", "paginated", "history_base", line{"thread_id": uuid(3), "end_ordinal_exclusive": 2}), 2), at(prompt("c"), 3))
	h.compressed(5, h.meta(5), user("the plain file counts"))
	h.thread(5, h.meta(5), user("Plain"))
	h.write(rollout(6)+".zst", text(h.meta(6), user("not compressed")))
	found, problems := list(t, h.open(), store.Live)
	var got string
	for _, c := range found {
		got += storetest.Called(c) + "\n" + said(t, c)
	}
	long = strings.TrimSpace(long)
	want := "Go\n1 user: Go\n1 assistant: " + long + "\n1 assistant: Well.\n" +
		"Go\n1 user copied: Go\n1 assistant copied: " + long + "\n2 user: b\n" +
		"a\n1 user: a\n2 user: b\n" +
		"c\n1 user copied: a\n2 user: c\n" +
		"Plain\n1 user: Plain\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(problems) != 1 || problems[0].ID != codexID(6) || problems[0].Kind != store.Unreadable {
		t.Errorf("problems %+v; want that of what is not compressed", problems)
	}
	// The program compresses a rollout that was found before.
	c, err := find(t, h.open(), codexID(5))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(h.dir, filepath.FromSlash(rollout(5)))); err != nil {
		t.Fatal(err)
	}
	if got := said(t, c); got != "1 user: the plain file counts\n" {
		t.Error(got)
	}
	// A compressed file that was cut is read up to the cut.
	whole, err := os.ReadFile(filepath.Join(h.dir, filepath.FromSlash(rollout(2)+".zst")))
	if err != nil {
		t.Fatal(err)
	}
	h.write(rollout(2)+".zst", string(whole[:len(whole)-5]))
	if c, err = find(t, h.open(), codexID(2)); err != nil {
		t.Fatal(err)
	}
	if got, err := storetest.Read(t.Context(), c); err != nil || strings.Contains(got, "user: b") {
		t.Errorf("%.100s, %v", got, err)
	}
}

func TestDamage(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	good := text(h.meta(1), user("Go"), assistant("Well."))
	for name, test := range map[string]struct{ text, want string }{
		"the last line is not written yet": {good + text(user("torn"))[:60], "1 user: Go\n1 assistant: Well.\n"},
		"no line feed at its end":          {good + strings.TrimSuffix(text(user("torn")), "\n"), "1 user: Go\n1 assistant: Well.\n"},
		"half a line before whole ones":    {good + `{"timestamp":"2026` + "\n" + text(user("And?")), "1 user: Go\n1 assistant: Well.\n2 user: And?\n"},
		"lines that are no records":        {good + "[]\n7\n\n{}\n" + `{"payload":[1],"type":"event_msg"}` + "\n" + text(user("And?")), "1 user: Go\n1 assistant: Well.\n2 user: And?\n"},
		"not UTF-8":                        {strings.Replace(good, "Well.", "W\xffll\\ud83d.", 1), "1 user: Go\n1 assistant: W\ufffdll\ufffd.\n"},
		"line separators":                  {strings.Replace(good, "Well.", "W\u2028ll", 1), "1 user: Go\n1 assistant: W ll\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &home{t: t, dir: t.TempDir(), project: h.project}
			h.write(rollout(1), test.text)
			if diff := cmp.Diff(test.want, said(t, h.only())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := h.thread(1, h.meta(1), user("Go"))
	c := h.only()
	before, err := c.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.thread(1, h.meta(1), user("Go"), assistant("Well."))
	c = h.only()
	if after, err := c.Version(t.Context()); err != nil || before == after {
		t.Errorf("%q, then %q, %v", before, after, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var missing *store.NotFoundError
	if _, err := c.Read(t.Context(), nil); !errors.As(err, &missing) {
		t.Errorf("of a deleted file: %v", err)
	}
}

func TestWhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.thread(1, h.meta(1), user("Go"))
	home := t.TempDir()
	if err := os.Symlink(h.dir, filepath.Join(home, ".codex")); err != nil {
		t.Skip(err)
	}
	s, ok := codex.Open(store.Options{Project: in(h.project), Getenv: env(map[string]string{"HOME": home, "USERPROFILE": home})})
	if !ok || !anything(t, s) || s.Place() != filepath.Join(home, ".codex") {
		t.Error(ok)
	}
	for name, values := range map[string]map[string]string{"nothing": {}, "an empty home": {"HOME": t.TempDir(), "USERPROFILE": t.TempDir()}} {
		if _, ok := codex.Open(store.Options{Project: in(h.project), Getenv: env(values)}); ok {
			t.Errorf("a store in %s", name)
		}
	}
	if s, ok := codex.Open(store.Options{Project: in(t.TempDir()), Getenv: env(map[string]string{"CODEX_HOME": h.dir})}); !ok || anything(t, s) {
		t.Error("another directory has conversations")
	}
}

// A rollout without a header is reported. A rollout without a whole line is not.
func TestDamagedBeginning(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.thread(1, user("Go"))
	h.write(rollout(2), "damage\n"+text(user("Go")))
	h.write(rollout(3), text(h.meta(3))[:20])
	h.write(rollout(4), "")
	file := h.compressed(5, h.meta(5), user("Go"))
	if err := os.Truncate(file, 30); err != nil {
		t.Fatal(err)
	}
	h.thread(6, h.meta(1), user("Of another id"))
	found, problems := list(t, h.open(), store.Live)
	got := map[transcript.ID]store.ProblemKind{}
	for _, p := range problems {
		got[p.ID] = p.Kind
	}
	want := map[transcript.ID]store.ProblemKind{}
	for _, n := range []int{1, 2, 5, 6} {
		want[codexID(n)] = store.BadMetadata
	}
	if diff := cmp.Diff(want, got); diff != "" || len(found) != 0 || len(problems) != len(want) {
		t.Errorf("%v, %v\n%s", found, problems, diff)
	}
}

// Of two rollouts of the same segment the later one is read, and the other one is reported, unless it is the
// compressed or archived form of the same file.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.thread(1, h.meta(1), user("Early"))
	h.write("sessions/2026/05/02/rollout-2026-05-02T00-00-00-"+uuid(1)+".jsonl", text(h.meta(1), user("Late")))
	h.thread(2, h.meta(2), user("Go"))
	h.compressed(2, h.meta(2), user("Go"))
	h.thread(3, h.meta(3), user("Go"))
	h.write("archived_sessions/"+path.Base(rollout(3)), text(h.meta(3), user("Go")))
	found, problems := list(t, h.open(), store.Live)
	if len(found) != 3 || storetest.Called(found[0]) != "Late" {
		t.Errorf("%+v", found)
	}
	if len(problems) != 1 || problems[0].Kind != store.Duplicate || problems[0].ID != codexID(1) || problems[0].Path != filepath.Join(h.dir, filepath.FromSlash(rollout(1))) {
		t.Errorf("%+v", problems)
	}
}

// The directories of rollouts can be links to other places, the files in them cannot.
func TestMovedRollouts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.thread(1, h.meta(1), user("Go"))
	h.write("archived_sessions/rollout-2026-05-01T00-00-00-"+uuid(2)+".jsonl", text(h.meta(2), user("Gone")))
	moved := &home{t: t, dir: t.TempDir(), project: h.project}
	for _, name := range []string{"sessions", "archived_sessions"} {
		if err := os.Symlink(filepath.Join(h.dir, name), filepath.Join(moved.dir, name)); err != nil {
			t.Skip(err)
		}
	}
	found, problems := list(t, moved.open(), store.Live|store.Archived)
	if len(found) != 2 || len(problems) > 0 {
		t.Fatalf("%+v, %v", found, problems)
	}
	for _, c := range found {
		if !strings.Contains(said(t, c), "Go") {
			t.Errorf("%s: %s", c.ID, said(t, c))
		}
	}
	deep := &home{t: t, dir: t.TempDir(), project: h.project}
	if err := os.Mkdir(filepath.Join(deep.dir, "sessions"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(h.dir, filepath.FromSlash(rollout(1))), filepath.Join(deep.dir, "sessions", filepath.Base(rollout(1)))); err != nil {
		t.Fatal(err)
	}
	if found, problems := list(t, deep.open(), store.Live); len(found) != 0 || len(problems) != 1 {
		t.Errorf("a link to elsewhere: %v, %v", found, problems)
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	const id = "01a1ffd8-bcaf-7820-9f24-9b3a41ea86b0"
	for text, want := range map[string]string{
		"codex-" + id:                  "codex-" + id,
		"Codex-" + strings.ToUpper(id): "codex-" + id,
		id:                             "codex-" + id,
		"codex-5afd8764-1e4a-4af6-951b-d71a909fd1bc": "codex-5afd8764-1e4a-4af6-951b-d71a909fd1bc",
		"5afd8764-1e4a-4af6-951b-d71a909fd1bc":       "",
		"":                                           "",
		"codex-":                                     "",
		"codex-" + id + "x":                          "",
		"codex-../../x":                              "",
	} {
		got, err := codex.IDs().ParseID(text)
		var bad *store.BadIDError
		if string(got) != want || (want == "") != errors.As(err, &bad) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// A store can be used concurrently.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for n := range 20 {
		h.thread(n+1, h.meta(n+1), user("Go"))
	}
	s := h.open()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if found, err := s.List(t.Context(), store.Scope{Set: store.Live}); err != nil || len(found.Conversations) != 20 {
				t.Error(found, err)
			}
			if _, err := find(t, s, codexID(7)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// A file that is compressed far more than rollouts are is read up to a limit.
func TestDecompressedToMore(t *testing.T) { // not parallel: it counts allocations
	h := newHome(t)
	file := h.compressed(1, h.meta(1), user("Go"), assistant("Went."))
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := zstd.NewWriter(f)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("x", 1<<20)
	for range 100 { // without an end
		if _, err := w.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	known := filecache.New(func() []byte { return nil })
	const want = "1 user: Go\n1 assistant: Went.\n"
	for n := range 2 {
		s, ok := codex.Open(store.Options{
			Project: in(h.project), Getenv: env(map[string]string{"CODEX_HOME": h.dir}),
			Cache: func(string, string) *filecache.Cache { return known },
		})
		if !ok {
			t.Fatal("there is no store")
		}
		found, _ := list(t, s, store.Live)
		if len(found) != 1 {
			t.Fatal(found)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var b strings.Builder
		totals, err := found[0].Read(t.Context(), func(e *transcript.Event) bool {
			b.WriteString(storetest.Describe(e))
			return true
		})
		if b.String() != want || err != nil || !totals.Cut || totals.TooLarge != 0 {
			t.Errorf("reading it %d times: %s, %+v, %v", n+1, b.String(), totals, err)
		}
		runtime.ReadMemStats(&after)
		// Buffers grow to 128 MB of text and to a line of 64 MB: with all that they leave, 600 MB, and half
		// as much again with the race detector.
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<30 {
			t.Errorf("reading it %d times took %d MB", n+1, grown>>20)
		}
	}
}

func TestLongLine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := h.write(rollout(1), text(h.meta(1), user("Go"), assistant("Went.")))
	storetest.CheckLongLine(t, h.open(), file)
}
