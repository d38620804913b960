package claudecode_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/claudecode"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// openWith opens the store in an environment.
func (h *home) openWith(values map[string]string) *claudecode.Store {
	h.t.Helper()
	getenv := func(name string) string {
		if name == "CLAUDE_CONFIG_DIR" {
			return h.dir
		}
		return values[name]
	}
	s, ok := claudecode.Open(store.Options{Project: project.New(project.Options{Dir: h.project}), Getenv: getenv})
	if !ok {
		h.t.Fatal("there is no store")
	}
	return s
}

// written sets when a file was written, in minutes after another time.
func written(t *testing.T, name string, minutes int) {
	t.Helper()
	at := zeroTime.Add(time.Duration(minutes) * time.Minute)
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

func calledBy(use string) caller.Caller {
	return caller.Caller{Client: "claude-code", Meta: map[string]any{"claudecode/toolUseId": use}}
}

func ids(list ...string) []transcript.ID {
	var all []transcript.ID
	for _, id := range list {
		all = append(all, transcript.ID("claude-"+id))
	}
	return all
}

// A call is from the transcript that has it, whatever the environment says: that of a
// server is wrong with --continue and after /clear.
func TestCallerByToolUse(t *testing.T) {
	t.Parallel()
	grep := func(use string) line { return call(use, "mcp__convtools__conversation_grep", line{"pattern": "x"}) }
	quoting := func(use string) line {
		return call("toolu_other", "Bash", line{"command": `rg '"type":"tool_use","id":"` + use + `"'`})
	}
	for name, test := range map[string]struct {
		write func(h *home)
		use   string
		want  []transcript.ID
	}{
		"the only one": {
			write: func(h *home) { h.session(1, prompt(1, 0, "Go"), answer(2, 1, grep("toolu_1"))) },
			use:   "toolu_1", want: ids(uuid(1)),
		},
		"not the newest file, which quotes it": {
			write: func(h *home) {
				written(h.t, h.session(1, prompt(1, 0, "Go"), answer(2, 1, grep("toolu_1"))), 1)
				written(h.t, h.session(2, prompt(3, 0, "Go"), answer(4, 3, quoting("toolu_1")), result(5, 4, "toolu_1", "x", false)), 2)
			},
			use: "toolu_1", want: ids(uuid(1)),
		},
		"the newest of copies": {
			write: func(h *home) {
				written(h.t, h.session(2, prompt(1, 0, "Go"), answer(2, 1, grep("toolu_1"))), 2)
				written(h.t, h.session(1, prompt(1, 0, "Go"), answer(2, 1, grep("toolu_1"))), 1)
			},
			use: "toolu_1", want: ids(uuid(2)),
		},
		"what stands behind it": {
			write: func(h *home) {
				h.session(1, prompt(1, 0, "Go"), answer(2, 1, grep("toolu_1")), answer(3, 2, call("toolu_2", "Read", line{})),
					result(4, 3, "toolu_2", strings.Repeat("long ", 50_000), false))
			},
			use: "toolu_1", want: ids(uuid(1)),
		},
		"a sub-agent and its session": {
			write: func(h *home) {
				h.session(1, prompt(1, 0, "Go"), answer(2, 1, call("toolu_t", "Task", line{})))
				h.write(uuid(1)+"/subagents/agent-a7d54dfb1140b49ab.jsonl", h.text(with(prompt(3, 0, "Find"), "sessionId", uuid(1)), with(answer(4, 3, grep("toolu_1")), "sessionId", uuid(1))))
			},
			use: "toolu_1", want: ids(uuid(1)+".a7d54dfb1140b49ab", uuid(1)),
		},
		"a sub-agent beside its session": {
			write: func(h *home) {
				h.session(1, prompt(1, 0, "Go"))
				h.write("agent-05e24a4f.jsonl", h.text(with(answer(4, 0, grep("toolu_1")), "sessionId", uuid(1))))
			},
			use: "toolu_1", want: ids(uuid(1)+".05e24a4f", uuid(1)),
		},
		"a sub-agent of no session": {
			write: func(h *home) {
				h.write("agent-05e24a4f.jsonl", h.text(answer(4, 0, grep("toolu_1"))))
			},
			use: "toolu_1",
		},
		"what a user says is no call": {
			write: func(h *home) {
				h.session(1, with(prompt(1, 0, ""), "message", line{"role": "user", "content": []line{grep("toolu_1")}}))
			},
			use: "toolu_1",
		},
		"a line that is not whole": {
			write: func(h *home) {
				h.write(uuid(1)+".jsonl", strings.TrimSuffix(h.text(answer(1, 0, grep("toolu_1"))), "}\n"))
			},
			use: "toolu_1",
		},
		"another project": {
			write: func(h *home) {
				h.folder += "else"
				h.session(1, prompt(1, 0, "Go"), answer(2, 1, grep("toolu_1")))
			},
			use: "toolu_1",
		},
		"no id":             {write: func(h *home) { h.session(1, answer(2, 1, grep(""))) }, use: ""},
		"an id with quotes": {write: func(h *home) { h.session(1, answer(2, 1, grep(`"`))) }, use: `"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.session(9, prompt(99, 0, "Of before"))
			test.write(h)
			s := h.openWith(map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": uuid(9)})
			ctx := t.Context()
			if test.want == nil { // do not wait for the record
				ctx = expired{t.Context()}
			}
			got := s.Caller(ctx, calledBy(test.use))
			if got.Evidence != store.ByCall || !slices.Equal(got.IDs, test.want) {
				t.Errorf("%+v, want %v", got, test.want)
			}
		})
	}
}

// expired is a context that is done only for who waits.
type expired struct{ context.Context }

func (expired) Done() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// A call may arrive before its program has recorded it.
func TestCallerIsRecordedLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHome(t)
		h.session(2, prompt(3, 0, "Of before"))
		go func() {
			time.Sleep(100 * time.Millisecond) // of the bubble
			h.session(1, prompt(1, 0, "Go"), answer(2, 1, call("toolu_1", "mcp__convtools__conversation_grep", line{})))
		}()
		if got := h.openWith(nil).Caller(t.Context(), calledBy("toolu_1")); !slices.Equal(got.IDs, ids(uuid(1))) {
			t.Errorf("%+v", got)
		}
		begin := time.Now()
		if got := h.openWith(nil).Caller(t.Context(), calledBy("toolu_2")); len(got.IDs) > 0 || time.Since(begin) > time.Second {
			t.Errorf("%+v after %v", got, time.Since(begin))
		}
	})
}

// The environment names the session of a command alone.
func TestCallerByEnvironment(t *testing.T) {
	t.Parallel()
	inside := map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": uuid(9)}
	server := caller.Caller{Process: caller.Server}
	for name, test := range map[string]struct {
		env    map[string]string
		caller caller.Caller
		by     store.Evidence
		want   []transcript.ID
	}{
		"a server":                           {inside, server, store.ByEnvironment, nil},
		"by the name of the client":          {nil, caller.Caller{Process: caller.Server, Client: "claude-code"}, store.ByCall, nil},
		"a server that other programs reach": {inside, caller.Caller{}, store.NoEvidence, nil},
		"another client":                     {inside, caller.Caller{Process: caller.Server, Client: "opencode"}, store.NoEvidence, nil},
		"another environment":                {nil, server, store.NoEvidence, nil},
		"a command":                          {inside, caller.Caller{Process: caller.Shell}, store.ByEnvironment, ids(uuid(9))},
		"a command without a session":        {map[string]string{"CLAUDECODE": "1"}, caller.Caller{Process: caller.Shell}, store.ByEnvironment, nil},
		"a command of another session":       {map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "x"}, caller.Caller{Process: caller.Shell}, store.ByEnvironment, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.session(9, prompt(1, 0, "Go"))
			got := h.openWith(test.env).Caller(expired{t.Context()}, test.caller)
			if got.Evidence != test.by || !slices.Equal(got.IDs, test.want) {
				t.Errorf("%+v, want %v %v", got, test.by, test.want)
			}
		})
	}
}

// The parent of a fork is the session with most of its records.
func TestForkHasParent(t *testing.T) {
	t.Parallel()
	begin := func() []line { return []line{prompt(1, 0, "Go"), answer(2, 1, text("Well."))} }
	h := newHome(t)
	h.session(1, append(begin(), prompt(10, 2, "Here"))...)
	h.session(2, append(begin(), prompt(20, 2, "There"), answer(21, 20, text("Yes.")))...)
	h.session(3, append(begin(), prompt(20, 2, "There"), answer(21, 20, text("Yes.")), prompt(30, 21, "And?"), answer(31, 30, text("No.")), prompt(32, 31, "So?"))...)
	h.session(4, append(begin(), prompt(20, 2, "There"), answer(21, 20, text("Yes.")), prompt(40, 21, "But?"), answer(41, 40, text("No.")))...)
	h.session(5, prompt(50, 0, "Another one"))
	got := map[transcript.ID]transcript.ID{}
	found, _ := list(t, h.open())
	for _, c := range found {
		got[c.ID] = c.Parent
	}
	want := map[transcript.ID]transcript.ID{ // 2 is the beginning of 3, and so hidden
		ids(uuid(1))[0]: "", ids(uuid(3))[0]: ids(uuid(1))[0], ids(uuid(4))[0]: ids(uuid(3))[0], ids(uuid(5))[0]: "",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
