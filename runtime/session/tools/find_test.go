package tools

import (
	"errors"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
)

// TestFindByPrefix checks that the beginning of an id is enough where only one id begins with it.
func TestFindByPrefix(t *testing.T) {
	t.Parallel()
	const (
		root  = "5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11"
		other = "5f0c7a53-5c2e-4a0b-9d53-0d6f6a2b9c11"
		begun = "5f0c0000-5c2e-4a0b-9d53-0d6f6a2b9c11"
		third = "77777777-5c2e-4a0b-9d53-0d6f6a2b9c11"
	)
	dir := t.TempDir()
	for _, id := range []string{root, other} {
		state, events, err := session.Step(session.State{}, time.Unix(1e9, 0), session.Start{
			Session: id, Root: id, Context: session.Context{Capabilities: session.Capabilities{Internal: session.InternalTools{session.ConvTools: true}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		l, err := log.Create(dir, events)
		if err != nil {
			t.Fatal(err)
		}
		text, child := "go", map[string]string{root: begun, other: third}[id]
		for _, in := range []session.Input{
			session.Submit{Conversation: id, Input: []session.Part{{Text: text}}},
			session.Response{Task: 1, Items: []session.Item{{
				Item:    model.Item{Kind: session.ToolCall, CallID: "k", Name: session.ConvCreate},
				Request: session.Request{Create: &session.Create{ConversationID: child, UserInstruction: &text}},
			}}},
		} {
			if state, events, err = session.Step(state, time.Unix(1e9, 0), in); err != nil {
				t.Fatal(err)
			}
			if err := l.Append(events); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := &Project{Logs: dir}
	for id, want := range map[string]Conversation{
		root: {Session: root, ID: root}, "5f0c7a52": {Session: root, ID: root}, "convtools-5F0C7A53": {Session: other, ID: other},
		third: {Session: other, ID: third}, "7": {Session: other, ID: third}, "5f0c0": {Session: root, ID: begun},
		"convtools-" + root + ".5f": {Session: root, ID: begun},
	} {
		if at, err := s.Find(t.Context(), id); err != nil || at.Session != want.Session || at.ID != want.ID {
			t.Errorf("%s: %+v, %v; want %+v", id, at, err, want)
		}
	}
	var ambiguous *AmbiguousError
	if _, err := s.Find(t.Context(), "5f0c7"); !errors.As(err, &ambiguous) || len(ambiguous.IDs) != 2 {
		t.Errorf("5f0c7: %v", err)
	}
	for _, id := range []string{"", "5f0c8", "5f0c7a52-x", "../" + root} {
		var missing *log.NotFoundError
		if _, err := s.Find(t.Context(), id); !errors.As(err, &missing) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
