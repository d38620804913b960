package codex_test

import (
	"slices"
	"testing"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/codex"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

func TestCaller(t *testing.T) {
	t.Parallel()
	type meta = map[string]any
	turn := func(thread, session string) meta {
		return meta{"thread_id": thread, "session_id": session, "turn_id": uuid(50)}
	}
	inShell := map[string]string{"CODEX_THREAD_ID": uuid(9)}
	for name, test := range map[string]struct {
		caller caller.Caller
		env    map[string]string
		by     store.Evidence
		want   []transcript.ID
	}{
		"0.169": {
			caller.Caller{Client: "codex-mcp-client", Meta: meta{"callId": "call_1", "threadId": uuid(1), "sessionId": uuid(1), "x-codex-turn-metadata": turn(uuid(1), uuid(1))}},
			nil, store.ByCall,
			[]transcript.ID{codexID(1)},
		},
		"0.130":                    {caller.Caller{Meta: meta{"x-codex-turn-metadata": turn(uuid(1), "")}}, nil, store.ByCall, []transcript.ID{codexID(1)}},
		"a sub-agent and its root": {caller.Caller{Meta: meta{"threadId": uuid(2), "x-codex-turn-metadata": turn(uuid(2), uuid(1))}}, nil, store.ByCall, []transcript.ID{codexID(2), codexID(1)}},
		"two that contradict":      {caller.Caller{Meta: meta{"threadId": uuid(2), "x-codex-turn-metadata": turn(uuid(1), uuid(1))}}, nil, store.ByCall, nil},
		"nothing, by 0.98":         {caller.Caller{Client: "codex-mcp-client", Process: caller.Server}, nil, store.ByCall, nil},
		"no thread":                {caller.Caller{Meta: meta{"threadId": "../x", "x-codex-turn-metadata": turn("x", "y")}}, nil, store.ByCall, nil},
		"other types":              {caller.Caller{Meta: meta{"threadId": 17, "x-codex-turn-metadata": "x"}}, nil, store.NoEvidence, nil},
		"another client":           {caller.Caller{Client: "claude-code", Process: caller.Server, Meta: meta{"progressToken": 1}}, inShell, store.NoEvidence, nil},
		"a server in a shell":      {caller.Caller{Process: caller.Server}, inShell, store.NoEvidence, nil},
		"a command":                {caller.Caller{Process: caller.Shell}, inShell, store.ByEnvironment, []transcript.ID{codexID(9)}},
		"a command of a person":    {caller.Caller{Process: caller.Shell}, nil, store.NoEvidence, nil},
		"a command with no thread": {caller.Caller{Process: caller.Shell}, map[string]string{"CODEX_THREAD_ID": "x"}, store.NoEvidence, nil},
		"a server all may reach":   {caller.Caller{}, inShell, store.NoEvidence, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s, ok := codex.Open(store.Options{Home: h.dir, Project: project.New(project.Options{Dir: h.project}), Getenv: env(test.env)})
			if !ok {
				t.Fatal("there is no store")
			}
			got := s.Caller(t.Context(), test.caller)
			if got.Evidence != test.by || !slices.Equal(got.IDs, test.want) {
				t.Errorf("%+v, want %v %v", got, test.by, test.want)
			}
		})
	}
}

// A fork is a conversation with a parent, as a sub-agent is.
func TestForkHasParent(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.thread(1, h.meta(1), user("Go"))
	h.thread(2, h.meta(2, "forked_from_id", uuid(1)), h.meta(1), user("Go"), user("And?"))
	h.thread(3, h.meta(3, "forked_from_id", uuid(3)), user("Go"))
	found, _ := list(t, h.open(), store.Live)
	want := []transcript.ID{"", codexID(1), ""}
	for i, c := range found {
		again, err := find(t, h.open(), c.ID)
		if len(found) != 3 || c.Parent != want[i] || err != nil || again.Parent != c.Parent {
			t.Errorf("%s of %q, then of %q, %v", c.ID, c.Parent, again.Parent, err)
		}
	}
}
