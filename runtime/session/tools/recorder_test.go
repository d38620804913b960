package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	talking = "5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11"
	child   = "9f4ad2a0-2f52-4f80-8fae-6ec4b4d2b7aa"
)

// happened is an event with the state behind its step.
type happened struct {
	session.Event
	state session.State
}

// talk returns what happens in a session in which the root begins a conversation, which is asked again later.
func talk(t *testing.T) []happened {
	t.Helper()
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	var state session.State
	var all []happened
	step := func(in session.Input) {
		t.Helper()
		at = at.Add(1500 * time.Millisecond)
		next, events, err := session.Step(state, at, in)
		if err != nil {
			t.Fatal(err)
		}
		state = next
		for _, e := range events {
			all = append(all, happened{e, state})
		}
	}
	task := func() session.TaskID { return state.Work().Task }
	message := func(s string) session.Item { return session.Item{Item: model.Text(session.AgentMessage, s)} }
	says := func(s string) session.Response {
		return session.Response{Task: task(), Items: []session.Item{message(s)}}
	}
	instruction := "List the hotels"
	settings := Settings{Model: "demo", Root: "/", Dir: "/", Hidden: true, JP: true}
	step(session.Start{Session: talking, Root: talking, Context: session.Context{
		Settings: settings.String(), Capabilities: session.Capabilities{Internal: session.InternalTools{session.ConvTools: true}},
	}})
	step(session.Submit{Conversation: talking, Context: []session.Part{{Text: "for the model"}}, Input: []session.Part{{Text: "Plan the trip\nto Chur"}}})
	step(session.Delta{Task: task(), Text: "I ask"})
	step(session.Response{Task: task(), Items: []session.Item{
		message("I ask."),
		{Item: model.Item{Kind: session.ToolCall, CallID: "a", Name: "f", Arguments: `{"text":"Zm9v"}`}},
		{
			Item:    model.Item{Kind: session.ToolCall, CallID: "b", Name: session.ConvCreate, Arguments: `not JSON`},
			Request: session.Request{Create: &session.Create{ConversationID: child, UserInstruction: &instruction}},
		},
	}})
	step(session.ToolDone{Task: task(), Call: "a", Content: "broken", Success: false})
	step(says("The Adler."))
	step(says("They are: The Adler."))
	step(session.Submit{Conversation: child, Input: []session.Part{{Text: "Which?"}, {ImageURL: "data:image/png;base64,AAAA"}}})
	step(says("The Post."))
	return all
}

// aWorkspace makes a JP workspace.
func aWorkspace(t *testing.T) *jp.Workspace {
	t.Helper()
	base := t.TempDir()
	for _, dir := range []string{"project/.jp/conversations", "data/workspace/project-abc12/conversations"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "project/.jp/.id"), []byte("DO NOT EDIT.\nabc12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := jp.Open(jp.Options{Dir: filepath.Join(base, "project"), Getenv: func(name string) string {
		return map[string]string{"JP_USER_DATA_DIR": filepath.Join(base, "data"), "XDG_CONFIG_HOME": base, "AppData": base}[name]
	}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// allRecorded returns what is in a workspace.
func allRecorded(t *testing.T, w *jp.Workspace) string {
	t.Helper()
	ctx := t.Context()
	l, err := w.List(ctx, store.Scope{Set: store.Live | store.Archived})
	if err != nil || len(l.Problems) > 0 {
		t.Fatalf("%+v, %v", l, err)
	}
	defer l.Close()
	var b strings.Builder
	for _, c := range l.Conversations {
		fmt.Fprintf(&b, "%s %q hidden=%v parent=%q label=%s both=%v\n", c.ID, c.Title, c.Hidden, c.Parent, c.Labels[jp.LabelSession], !c.UserOnly)
		if _, err := c.Read(ctx, func(e *transcript.Event) bool {
			b.Write(append(eventtext.AppendJSON([]byte("  "), e, true), '\n'))
			return true
		}); err != nil {
			t.Error(err)
		}
	}
	return b.String()
}

func record(t *testing.T, w *jp.Workspace) *recorder {
	r := newRecorder(talking, w, &Project{host: &toolset.Host{Now: time.Now}})
	r.warn = func(s string) { t.Error(s) }
	r.model = func(name string) jp.Model { return jp.Model{Provider: "ollama", Name: name} }
	return r
}

const wantRecorded = `jp-c17776296015 "Plan the trip" hidden=true parent="" label=5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11 both=true
  {"timestamp":"2026-05-01 10:00:03.0","type":"turn_start","turn":1}
  {"content":"Plan the trip\nto Chur","metadata":{"convtools_seq":6},"timestamp":"2026-05-01 10:00:03.0","type":"chat_request","turn":1}
  {"message":"I ask.","metadata":{"convtools_seq":8},"timestamp":"2026-05-01 10:00:06.0","type":"chat_response","turn":1}
  {"arguments":{"text":"Zm9v"},"id":"a","metadata":{"convtools_seq":9},"name":"f","timestamp":"2026-05-01 10:00:06.0","type":"tool_call_request","turn":1}
  {"arguments":{"arguments":"not JSON"},"id":"b","metadata":{"convtools_seq":10},"name":"conv_create","timestamp":"2026-05-01 10:00:06.0","type":"tool_call_request","turn":1}
`

// Whatever a process has recorded before it was killed, the next one records the rest, and nothing twice.
func TestCrashes(t *testing.T) {
	t.Parallel()
	events := talk(t)
	last := events[len(events)-1].state
	whole := aWorkspace(t)
	r := record(t, whole)
	for _, e := range events {
		r.observe(e.Event, e.state)
	}
	all := allRecorded(t, whole)
	if !strings.HasPrefix(all, wantRecorded) {
		t.Errorf("want it to begin with\n%s\ngot\n%s", wantRecorded, all)
	}
	if as := r.recordedAs(child); as == "" || as == r.recordedAs(talking) || r.recordedAs("other") != "" {
		t.Errorf("recorded as %s and %s", r.recordedAs(talking), as)
	}
	r.finish(last)
	if diff := cmp.Diff(all, allRecorded(t, whole)); diff != "" {
		t.Errorf("what is recorded is recorded again:\n%s", diff)
	}
	for crash := range len(events) {
		w := aWorkspace(t)
		before := record(t, w)
		for _, e := range events[:crash] {
			before.observe(e.Event, e.state)
		}
		after := record(t, w)
		for _, e := range events[crash:] {
			after.observe(e.Event, e.state)
		}
		if diff := cmp.Diff(all, allRecorded(t, w)); diff != "" {
			t.Errorf("killed after event %d (-want +got):\n%s", crash, diff)
		}
		if crash%8 > 0 {
			continue
		}
		w = aWorkspace(t)
		before = record(t, w)
		for _, e := range events[:crash] {
			before.observe(e.Event, e.state)
		}
		record(t, w).finish(last) // of a session that has finished
		if diff := cmp.Diff(all, allRecorded(t, w)); diff != "" {
			t.Errorf("killed after event %d, and only opened then (-want +got):\n%s", crash, diff)
		}
	}
}

// What JP, or a person, does to what is recorded stays, and is no reason to record anything again.
func TestOthersWrite(t *testing.T) {
	t.Parallel()
	events := talk(t)
	last := events[len(events)-1].state
	w := aWorkspace(t)
	middle := slices.IndexFunc(events, func(e happened) bool { return e.Kind == session.TaskComplete }) + 1
	before := record(t, w)
	for _, e := range events[:middle] {
		before.observe(e.Event, e.state)
	}
	id := before.recordedAs(child)
	writer := w.Writer(jp.WriterOptions{})
	title := "Hotels in Chur"
	if _, err := writer.Edit(t.Context(), id, func(transcript.Conversation) jp.Change { return jp.Change{Title: &title} }); err != nil {
		t.Fatal(err)
	}
	said := jp.NewEvent{At: time.Now(), Kind: transcript.KindUser, Text: "Said with JP."}
	if err := writer.Append(context.Background(), id, said); err != nil {
		t.Fatal(err)
	}
	record(t, w).finish(last)
	all := allRecorded(t, w)
	for _, text := range []string{title, "Said with JP.", "The Post.", "The Adler.", `[image/png of `} {
		if !strings.Contains(all, text) {
			t.Errorf("%q is missing in\n%s", text, all)
		}
	}
	if n := strings.Count(all, `"message":"The Adler."`); n != 1 {
		t.Errorf("it is recorded %d times", n)
	}
}
