package tools

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
)

// JP copies all labels of a conversation that it forks. A copy is no conversation of the session that its label names, soon
// after the original or long after it, and a session that goes on in it has it for its own.
func TestCopies(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("project/.jp/.id", "DO NOT EDIT.\nabc12\n")
	write("project/.jp/conversations/17700000000/metadata.json", `{"last_activated_at":"2026-02-01 00:00:00.0"}`)
	write("project/.jp/conversations/17700000000/events.json", `[{"timestamp":"2026-02-01 00:00:00.0","type":"chat_request","content":"JP's own"}]`)
	write("data/jp/workspace/project-abc12/conversations/.keep", "")
	write("config/convtools/convtools.toml", "[model.demo]\napi = \"scripted\"\nscript = \"s.toml\"\n")
	write("config/convtools/s.toml", `
[[conversation]]
first = "Plan"
[[conversation.response]]
text = "I ask."
calls = [{ tool = "conv.create", arguments = { user_instruction = "List" } }]
[[conversation.response]]
text = "They are listed."
[[conversation.response]]
text = "Good."
repeat = true
[[conversation]]
first = "List"
[[conversation.response]]
text = "The list."
[[conversation.response]]
text = "The next list."
repeat = true
`)
	project := filepath.Join(base, "project")
	getenv := func(name string) string {
		return map[string]string{
			"HOME": base, "XDG_DATA_HOME": filepath.Join(base, "data"), "XDG_CONFIG_HOME": filepath.Join(base, "config"), "AppData": filepath.Join(base, "config"),
		}[name]
	}
	begun := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	registry, err := toolset.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	var warnings strings.Builder
	s, err := Open(&toolset.Host{Getenv: getenv, Now: func() time.Time { return begun }, Stderr: &warnings}, project, registry)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := jp.Open(jp.Options{Dir: project, Getenv: getenv})
	if err != nil {
		t.Fatal(err)
	}

	// ask has a session answer, and returns what its conversations are recorded as.
	ask := func(n New, words, want string) (of, root, child string, as, childAs transcript.ID) {
		t.Helper()
		e, err := s.Begin(t.Context(), n, nil)
		if err != nil {
			t.Fatal(err)
		}
		root = e.State().Root().ID
		turn, err := e.Submit(t.Context(), session.Submit{Conversation: root, Input: []session.Part{{Text: words}}})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := turn.Wait(t.Context()); err != nil || result.Message != want {
			t.Errorf("%+v, %v", result, err)
		}
		for c := range e.State().Conversations() {
			if c.Parent != "" {
				child = c.ID
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		return root, root, child, recordedAs(t, w, root), recordedAs(t, w, root+"/"+child)
	}
	// forked has JP fork a conversation some time after the beginning.
	forked := func(id transcript.ID, value string, after time.Duration) transcript.ID {
		t.Helper()
		writer := w.Writer(jp.WriterOptions{Now: func() time.Time { return begun.Add(after) }})
		fork, err := writer.Fork(t.Context(), id, jp.ForkOptions{Change: jp.Change{Labels: map[string]*string{jp.LabelSession: &value}}})
		if err != nil {
			t.Fatal(err)
		}
		return fork
	}
	is := func(id transcript.ID, of, conversation string) {
		t.Helper()
		at, err := s.findRecorded(t.Context(), string(id))
		if err != nil || at.Session != of || at.ID != conversation {
			t.Errorf("%s: %+v, %v; want %s of %s", id, at, err, conversation, of)
		}
	}
	isCopy := func(id transcript.ID) {
		t.Helper()
		var copied *ForkError
		if at, err := s.findRecorded(t.Context(), string(id)); !errors.As(err, &copied) || copied.ID != id {
			t.Errorf("%s: %+v, %v; want a copy", id, at, err)
		}
	}

	of, root, child, as, childAs := ask(New{}, "Plan", "They are listed.")
	is(as, of, root)
	is(childAs, of, child)
	near, far := forked(as, of, time.Minute), forked(as, of, time.Hour)
	isCopy(near)
	isCopy(far)
	isCopy(forked(childAs, of+"/"+child, time.Minute))
	is(as, of, root)
	is(childAs, of, child)

	for _, fork := range []transcript.ID{near, far} {
		n, err := s.FromFork(t.Context(), fork)
		if err != nil {
			t.Fatal(err)
		}
		next, nextRoot, _, nextAs, _ := ask(n, "Go on", "Good.")
		if nextAs != fork || next == of {
			t.Errorf("the session of %s is recorded as %q", fork, nextAs)
		}
		is(fork, next, nextRoot)
		isCopy(forked(fork, next, 2*time.Hour))
	}
	is(as, of, root)
	if warnings.Len() > 0 {
		t.Error(warnings.String())
	}

	if _, err := s.findRecorded(t.Context(), "jp-c17700000000"); err == nil || !strings.Contains(err.Error(), "was not held with convtools") {
		t.Errorf("JP's own: %v", err)
	}
}

// recordedAs returns the first conversation with a label of a session.
func recordedAs(t *testing.T, w *jp.Workspace, value string) transcript.ID {
	t.Helper()
	l, err := w.List(t.Context(), store.Scope{Set: store.Live})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range l.Conversations {
		if c.Labels[jp.LabelSession] == value {
			return c.ID
		}
	}
	return ""
}
