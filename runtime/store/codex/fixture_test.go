package codex_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/codex"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// home is a home directory of Codex in the making, with threads of one project.
type home struct {
	t       *testing.T
	dir     string
	project string // working directory; there need not be one
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir(), project: filepath.Join(t.TempDir(), "tide_import.v2")}
	if err := os.MkdirAll(filepath.Join(h.dir, "sessions"), 0o755); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *home) write(name, text string) string {
	h.t.Helper()
	name = filepath.Join(h.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
	return name
}

func rollout(n int) string {
	return "sessions/2026/05/01/rollout-2026-05-01T00-00-00-" + uuid(n) + ".jsonl"
}

// thread writes the rollout of a thread.
func (h *home) thread(n int, lines ...line) string {
	h.t.Helper()
	return h.write(rollout(n), text(lines...))
}

// compressed writes the rollout of a thread as the program does when it has been idle.
func (h *home) compressed(n int, lines ...line) string {
	h.t.Helper()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.write(rollout(n)+".zst", string(e.EncodeAll([]byte(text(lines...)), nil)))
}

func text(lines ...line) string {
	var b strings.Builder
	e := json.NewEncoder(&b) // which ends a line
	e.SetEscapeHTML(false)   // as the program does
	for _, l := range lines {
		if err := e.Encode(l); err != nil {
			panic(err)
		}
	}
	return b.String()
}

func (h *home) open() *codex.Store {
	h.t.Helper()
	s, ok := codex.Open(store.Options{Project: in(h.project), Getenv: env(map[string]string{"CODEX_HOME": h.dir})})
	if !ok {
		h.t.Fatal("there is no store")
	}
	return s
}

func env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func list(t *testing.T, s *codex.Store, set store.Set) ([]store.Conversation, []store.Problem) {
	t.Helper()
	return storetest.List(t, s, set)
}

func find(t *testing.T, s *codex.Store, id transcript.ID) (store.Conversation, error) {
	t.Helper()
	return storetest.Find(t, s, id)
}

// only returns the only conversation of the project.
func (h *home) only() store.Conversation {
	h.t.Helper()
	found, problems := list(h.t, h.open(), store.Live|store.Archived)
	if len(found) != 1 || len(problems) != 0 {
		h.t.Fatalf("%d conversations, problems %v; want one and none", len(found), problems)
	}
	return found[0]
}

func said(t *testing.T, c store.Conversation) string {
	t.Helper()
	return storetest.Said(t, c)
}

// line is a record.
type line map[string]any

func uuid(n int) string { return fmt.Sprintf("%08x-1111-7222-8333-444455556666", n) }

func codexID(n int) transcript.ID { return transcript.ID("codex-" + uuid(n)) }

func record(kind string, payload line) line {
	return line{"timestamp": "2026-05-01T00:00:01.000Z", "type": kind, "payload": payload}
}

// meta is the first record of a thread.
func (h *home) meta(n int, more ...any) line {
	payload := line{"id": uuid(n), "timestamp": "2026-05-01T00:00:00.000Z", "cwd": h.project, "cli_version": "0.130.0"}
	for i := 0; i < len(more); i += 2 {
		payload[more[i].(string)] = more[i+1]
	}
	return record("session_meta", payload)
}

func event(kind string, payload line) line {
	payload["type"] = kind
	return record("event_msg", payload)
}

func item(kind string, payload line) line {
	payload["type"] = kind
	return record("response_item", payload)
}

func user(s string) line      { return event("user_message", line{"message": s}) }
func assistant(s string) line { return event("agent_message", line{"message": s}) }

func call(id, name, arguments string) line {
	return item("function_call", line{"call_id": id, "name": name, "arguments": arguments})
}

func result(id string, output any) line {
	return item("function_call_output", line{"call_id": id, "output": output})
}

func completed(kind string, payload line) line {
	payload["type"] = kind
	return event("item_completed", line{"item": payload})
}

func at(l line, ordinal int) line {
	l["ordinal"] = ordinal
	return l
}

// in is the project of a directory.
func in(dir string) *project.Project { return project.New(project.Options{Dir: dir}) }

// anything reports whether a store has a conversation.
func anything(t *testing.T, s *codex.Store) bool {
	t.Helper()
	found, _ := list(t, s, store.Live|store.Archived)
	return len(found) > 0
}
