package gemini_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/gemini"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// home is a home directory of Gemini CLI in the making, with sessions of one project.
type home struct {
	t       testing.TB
	dir     string
	project string // working directory; there need not be one
}

func newHome(t testing.TB) *home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: t.TempDir(), project: filepath.Join(dir, "tide_import.v2")}
	h.write("tide-import-v2/.project_root", h.project)
	return h
}

// write writes a file below the directory of projects.
func (h *home) write(name, text string) string {
	h.t.Helper()
	name = filepath.Join(h.dir, "tmp", filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return name
}

// log writes the log of a session.
func (h *home) log(n int, lines ...line) string {
	h.t.Helper()
	return h.write(logFile(n), text(append([]line{header(n)}, lines...)...))
}

func logFile(n int) string {
	return fmt.Sprintf("tide-import-v2/chats/session-2026-05-01T00-00-%s.jsonl", uuid(n)[:8])
}

// object writes a session as versions before the logs did.
func (h *home) object(n int, messages ...line) string {
	h.t.Helper()
	data, err := json.MarshalIndent(messages, "  ", "  ")
	if err != nil {
		h.t.Fatal(err)
	}
	return h.write(strings.TrimSuffix(logFile(n), "l"), fmt.Sprintf(`{
  "sessionId": %q,
  "projectHash": "h",
  "startTime": %q,
  "lastUpdated": %q,
  "messages": %s
}`, uuid(n), stamp(0), stamp(0), data))
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

func (h *home) open() *gemini.Store {
	h.t.Helper()
	s, ok := gemini.Open(store.Options{Home: h.dir, Project: project.New(project.Options{Dir: h.project})})
	if !ok {
		h.t.Fatal("there is no store")
	}
	return s
}

// said returns the events of the only conversation.
func (h *home) said() string {
	h.t.Helper()
	return storetest.Said(h.t, storetest.Only(h.t, h.open()))
}

// line is a record.
type line map[string]any

func uuid(n int) string { return fmt.Sprintf("%08x-1111-4222-8333-444455556666", n) }

func convID(n int) transcript.ID { return transcript.ID("gemini-" + uuid(n)) }

func stamp(n int) string {
	return time.Date(2026, 5, 1, 0, 0, n, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

func header(n int) line {
	return line{"sessionId": uuid(n), "projectHash": "h", "startTime": stamp(0), "lastUpdated": stamp(0), "kind": "main"}
}

func message(kind string, n int, content any) line {
	return line{"id": fmt.Sprintf("m%d", n), "timestamp": stamp(n), "type": kind, "content": content}
}

func parts(texts ...string) []line {
	var all []line
	for _, s := range texts {
		all = append(all, line{"text": s})
	}
	return all
}

func user(n int, texts ...string) line { return message("user", n, parts(texts...)) }

func answer(n int, s string) line { return message("gemini", n, s) }

func (l line) with(key string, value any) line { l[key] = value; return l }

// tool is a call, with a result where response is not nil.
func tool(id, name, status string, args any, response line) line {
	c := line{"id": id, "name": name, "args": args, "status": status, "timestamp": stamp(50)}
	if response != nil {
		c["result"] = []line{returned(id, name, response)}
	}
	return c
}

func returned(id, name string, response line) line {
	return line{"functionResponse": line{"id": id, "name": name, "response": response}}
}

func called(id, name string, args any) line {
	return line{"functionCall": line{"id": id, "name": name, "args": args}}
}

func list(messages ...line) line {
	return line{"$set": line{"messages": messages, "lastUpdated": stamp(1)}}
}
