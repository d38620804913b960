package gemini_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/gemini"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// The session that calls is known where no other one was written since this process was
// started, and only there.
func TestCaller(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	before, since := started.Add(-time.Minute), started.Add(time.Minute)
	this := []transcript.ID{convID(1)}
	type files map[int]time.Time // sessions, and when they were written
	server := caller.Caller{Client: "gemini-cli-mcp-client", Process: caller.Server, Started: started, Tool: "conversation_grep"}
	in := func(change func(*caller.Caller)) caller.Caller {
		c := server
		change(&c)
		return c
	}
	for name, test := range map[string]struct {
		files files
		also  func(h *home) string // writes one more, and returns its path
		env   string
		from  caller.Caller
		by    store.Evidence
		want  []transcript.ID
	}{
		"the only one":        {files{1: since, 2: before}, nil, "", server, store.ByCall, this},
		"by the environment":  {files{1: since, 2: before}, nil, "1", in(func(c *caller.Caller) { c.Client = "" }), store.ByEnvironment, this},
		"two at once":         {files{1: since, 2: since}, nil, "", server, store.ByCall, nil},
		"none":                {files{1: before}, nil, "", server, store.ByCall, nil},
		"before a call":       {files{1: since}, nil, "", in(func(c *caller.Caller) { c.Tool = "" }), store.ByCall, nil},
		"a server of many":    {files{1: since}, nil, "1", in(func(c *caller.Caller) { c.Process = caller.Foreign }), store.ByCall, nil},
		"from another place":  {files{1: since}, nil, "", in(func(c *caller.Caller) { c.Dir = t.TempDir() }), store.ByCall, nil},
		"another client":      {files{1: since}, nil, "1", in(func(c *caller.Caller) { c.Client = "codex-mcp-client" }), store.NoEvidence, nil},
		"another environment": {files{1: since}, nil, "", in(func(c *caller.Caller) { c.Client = "" }), store.NoEvidence, nil},
		"a command":           {files{1: since}, nil, "1", caller.Caller{Process: caller.Shell}, store.ByEnvironment, nil},
		"with a sub-agent": {files{1: since, 2: before}, func(h *home) string {
			return h.write("tide-import-v2/chats/"+uuid(1)+"/"+uuid(3)+".jsonl", text(header(3).with("kind", "subagent"), user(1, "Count")))
		}, "", server, store.ByCall, this},
		"beside the sub-agent of another one": {files{1: since, 2: before}, func(h *home) string {
			return h.write("tide-import-v2/chats/"+uuid(2)+"/"+uuid(3)+".jsonl", text(header(3).with("kind", "subagent"), user(1, "Count")))
		}, "", server, store.ByCall, nil},
		"beside what is no session yet": {files{1: since}, func(h *home) string { return h.write(logFile(4), "") }, "", server, store.ByCall, nil},
		"of another project": {files{1: since}, func(h *home) string {
			return h.write("other/chats/session-2026-05-01T00-00-00000004.jsonl", text(header(4), user(1, "Go")))
		}, "", server, store.ByCall, this},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			dated := func(name string, at time.Time) {
				if err := os.Chtimes(name, at, at); err != nil {
					t.Fatal(err)
				}
			}
			for n, at := range test.files {
				dated(h.log(n, user(1, "Go"), answer(2, "Well.")), at)
			}
			if test.also != nil {
				dated(test.also(h), since)
			}
			from := test.from
			if from.Dir == "" {
				from.Dir = h.project
			}
			s, ok := gemini.Open(store.Options{Home: h.dir, Project: project.New(project.Options{Dir: h.project}), Getenv: func(name string) string {
				if name == "GEMINI_CLI" {
					return test.env
				}
				return ""
			}})
			if !ok {
				t.Fatal("there is no store")
			}
			if got := s.Caller(t.Context(), from); got.Evidence != test.by || !slices.Equal(got.IDs, test.want) {
				t.Errorf("%+v, want %v %v", got, test.by, test.want)
			}
		})
	}
}
