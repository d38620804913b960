package claudecode_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/claudecode"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// home is a configuration directory in the making, with sessions of one project.
type home struct {
	t       *testing.T
	dir     string // what CLAUDE_CONFIG_DIR names
	project string // working directory; there need not be one
	folder  string
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir(), project: filepath.Join(t.TempDir(), "tide_import.v2")}
	real, err := filepath.EvalSymlinks(filepath.Dir(h.project))
	if err != nil {
		t.Fatal(err)
	}
	h.project = filepath.Join(real, filepath.Base(h.project))
	h.folder = folderOf(h.project)
	return h
}

// folderOf names a folder as the program does, for paths in ASCII.
func folderOf(dir string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", r) {
			return r
		}
		return '-'
	}, dir)
}

func (h *home) write(name, text string) string {
	h.t.Helper()
	name = filepath.Join(h.dir, "projects", h.folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
	return name
}

// session writes a session of lines, each with its line feed.
func (h *home) session(n int, lines ...line) string {
	h.t.Helper()
	return h.write(uuid(n)+".jsonl", h.text(lines...))
}

func (h *home) text(lines ...line) string {
	var b strings.Builder
	for _, l := range lines {
		if _, ok := l["cwd"]; !ok && l["uuid"] != nil {
			l["cwd"] = h.project
		}
		e := json.NewEncoder(&b) // which ends a line
		e.SetEscapeHTML(false)   // as the program does
		if err := e.Encode(l); err != nil {
			h.t.Fatal(err)
		}
	}
	return b.String()
}

func (h *home) open() *claudecode.Store {
	h.t.Helper()
	s, ok := claudecode.Open(store.Options{Project: in(h.project), Getenv: env(map[string]string{"CLAUDE_CONFIG_DIR": h.dir})})
	if !ok {
		h.t.Fatal("there is no store")
	}
	return s
}

func env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// list returns the conversations of a store, and what could not be used.
func list(t *testing.T, s *claudecode.Store) ([]store.Conversation, []store.Problem) {
	t.Helper()
	return storetest.List(t, s, store.Live)
}

// find returns one conversation of a store.
func find(t *testing.T, s *claudecode.Store, id transcript.ID) (store.Conversation, error) {
	t.Helper()
	return storetest.Find(t, s, id)
}

// the only conversation of the project.
func (h *home) only() store.Conversation {
	h.t.Helper()
	found, problems := list(h.t, h.open())
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

func uuid(n int) string { return fmt.Sprintf("%08x-1111-4222-8333-444455556666", n) }

// stamp is a time, in seconds.
func stamp(n int) string { return fmt.Sprintf("2026-05-01T%02d:%02d:%02d.000Z", n/3600, n/60%60, n%60) }

func parentOf(n int) any {
	if n == 0 {
		return nil
	}
	return uuid(n)
}

func record(kind string, n, parent int) line {
	return line{"type": kind, "uuid": uuid(n), "parentUuid": parentOf(parent), "timestamp": stamp(n), "isSidechain": false, "version": "2.1.197"}
}

func prompt(n, parent int, text string) line {
	l := record("user", n, parent)
	l["message"] = line{"role": "user", "content": text}
	return l
}

func answer(n, parent int, blocks ...line) line {
	l := record("assistant", n, parent)
	l["message"] = line{"role": "assistant", "id": "msg", "model": "claude-opus-4-8", "content": blocks}
	return l
}

func text(s string) line { return line{"type": "text", "text": s} }

func call(id, name string, input any) line {
	return line{"type": "tool_use", "id": id, "name": name, "input": input}
}

func result(n, parent int, id string, content any, failed bool) line {
	l := record("user", n, parent)
	l["message"] = line{"role": "user", "content": []line{{"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed}}}
	return l
}

func with(l line, key string, value any) line {
	l[key] = value
	return l
}

func transcriptID(n int) transcript.ID { return transcript.ID(uuid(n)) }

func toID(s string) transcript.ID { return transcript.ID(s) }

var zeroTime = time.Unix(1_000_000_000, 0)

// openEmpty opens the store of a home that has nothing yet.
func (h *home) openEmpty() *claudecode.Store {
	h.write("empty.txt", "")
	return h.open()
}

// in is the project of a directory.
func in(dir string) *project.Project { return project.New(project.Options{Dir: dir}) }

// anything reports whether a store has a conversation.
func anything(t *testing.T, s *claudecode.Store) bool {
	t.Helper()
	found, _ := list(t, s)
	return len(found) > 0
}
