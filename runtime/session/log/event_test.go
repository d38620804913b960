package log

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

var epoch = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// Nothing of an event is lost where little of it is set.
func TestEventsRoundTrip(t *testing.T) {
	t.Parallel()
	item := func(kind model.Kind, i session.Item) session.Event {
		return session.Event{Seq: 1, At: epoch, Session: "s", Kind: kind, Item: i}
	}
	events := []session.Event{
		{Seq: 1, At: epoch, Session: "s", Kind: session.SessionStarted},
		item(session.AgentMessage, session.Item{Item: model.Text("", "")}),
		item(session.ToolCall, session.Item{Request: session.Request{Create: &session.Create{MCPAllowlist: []string{}}}}),
		item(session.ToolOutput, session.Item{}),
		{Seq: 5, At: epoch, Session: "s", Kind: session.ConversationOpened, Context: session.Context{Base: new(string), Capabilities: session.Capabilities{MCP: []string{}}}},
		{Seq: 6, At: epoch, Session: "s", Kind: session.TaskComplete, Last: new(string)},
		{Seq: 7, At: epoch, Session: "s", Kind: session.StopRequested},
	}
	line, err := recordOf(events)
	if err != nil {
		t.Fatal(err)
	}
	got, err := eventsIn(line)
	if err != nil || !reflect.DeepEqual(got, events) {
		t.Errorf("%v (-written +read):\n%s", err, cmp.Diff(events, got))
	}
}

// The form of a version stays as it is: what was written, of every kind and with every field set, is read, and written
// again the same.
func TestGolden(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "v2.jsonl")
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newReader(golden, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))[1:]
	for _, line := range lines[:len(lines)-1] {
		record, err := r.readRecord()
		if err != nil {
			t.Fatal(err)
		}
		again, err := recordOf(record)
		if err != nil {
			t.Fatal(err)
		}
		var want, got struct{ Events []any }
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-golden +written):\n%s", diff)
		}
	}
}
