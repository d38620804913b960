package opencode_test

import (
	"slices"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/opencode"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// A call is from the session in which the same call runs.
func TestCaller(t *testing.T) {
	t.Parallel()
	const grep = "convtools_conversation_grep"
	started := time.UnixMilli(int64(at(100)))
	runs := func(name, status string, input any, start int) object {
		return tool(name, "call_1", status, input, object{"time": object{"start": at(start)}})
	}
	word := object{"pattern": "zander", "limit": 3}
	asking := func(n int, parts ...object) sess {
		return sess{n: n, messages: []msg{prompt(10*n, text("Ask")), answer(10*n+1, 10*n, parts...)}}
	}
	server := caller.Caller{
		Client: "opencode", Process: caller.Server, Started: started, Tool: "conversation_grep", Arguments: []byte(`{"limit":3, "pattern":"zander"}`),
	}
	in := func(change func(*caller.Caller)) caller.Caller {
		c := server
		change(&c)
		return c
	}
	inside := map[string]string{"OPENCODE": "1"}
	this := []transcript.ID{convID(1)}
	for name, test := range map[string]struct {
		sessions []sess
		env      map[string]string
		from     caller.Caller
		by       store.Evidence
		want     []transcript.ID
	}{
		"the one": {[]sess{asking(1, runs(grep, "running", word, 101)), asking(2, text("Well."))}, nil, server, store.ByCall, this},
		"behind a prompt that waits": {
			[]sess{{n: 1, messages: []msg{prompt(1, text("Ask")), answer(2, 1, runs(grep, "running", word, 101)), prompt(3, text("And?"))}}}, nil, server, store.ByCall, this,
		},
		"by the environment":     {[]sess{asking(1, runs(grep, "running", word, 101))}, inside, in(func(c *caller.Caller) { c.Client = "" }), store.ByCall, this},
		"beside another tool":    {[]sess{asking(1, runs("bash", "running", word, 101), runs(grep, "running", word, 101))}, nil, server, store.ByCall, this},
		"another input":          {[]sess{asking(1, runs(grep, "running", object{"pattern": "zander"}, 101))}, nil, server, store.ByCall, nil},
		"another tool":           {[]sess{asking(1, runs("convtools_conversation_list", "running", word, 101))}, nil, server, store.ByCall, nil},
		"one that has ended":     {[]sess{asking(1, runs(grep, "completed", word, 101))}, nil, server, store.ByCall, nil},
		"one that never ended":   {[]sess{asking(1, runs(grep, "running", word, 99))}, nil, server, store.ByCall, nil},
		"beside one that did":    {[]sess{asking(1, runs(grep, "running", word, 101)), asking(2, runs(grep, "running", word, 99))}, nil, server, store.ByCall, this},
		"two at once":            {[]sess{asking(1, runs(grep, "running", word, 101)), asking(2, runs(grep, "running", word, 102))}, nil, server, store.ByCall, nil},
		"without arguments":      {[]sess{asking(1, runs(grep, "running", object{}, 101))}, nil, in(func(c *caller.Caller) { c.Arguments = nil }), store.ByCall, this},
		"before a call":          {[]sess{asking(1, runs(grep, "running", word, 101))}, nil, in(func(c *caller.Caller) { c.Tool = "" }), store.ByCall, nil},
		"a server of many":       {[]sess{asking(1, runs(grep, "running", word, 101))}, inside, in(func(c *caller.Caller) { c.Process = caller.Foreign }), store.ByCall, nil},
		"another client":         {[]sess{asking(1, runs(grep, "running", word, 101))}, inside, in(func(c *caller.Caller) { c.Client = "claude-code" }), store.NoEvidence, nil},
		"another environment":    {[]sess{asking(1, runs(grep, "running", word, 101))}, nil, in(func(c *caller.Caller) { c.Client = "" }), store.NoEvidence, nil},
		"a command":              {[]sess{asking(1, runs("bash", "running", word, 101))}, inside, caller.Caller{Process: caller.Shell}, store.ByEnvironment, nil},
		"a command of a person":  {[]sess{asking(1)}, nil, caller.Caller{Process: caller.Shell}, store.NoEvidence, nil},
		"what is no call at all": {[]sess{asking(1, text(grep), object{"type": "tool"}, object{"type": 7})}, nil, server, store.ByCall, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.database(test.sessions...)
			s, ok := opencode.OpenCode.Open(store.Options{
				Home: h.dir, Project: project.New(project.Options{Dir: h.project}), Getenv: func(name string) string { return test.env[name] },
			})
			if !ok {
				t.Fatal("there is no store")
			}
			if got := s.Caller(t.Context(), test.from); got.Evidence != test.by || !slices.Equal(got.IDs, test.want) {
				t.Errorf("%+v, want %v %v", got, test.by, test.want)
			}
		})
	}
}
