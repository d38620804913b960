package jp

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/transcript"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.open().Writer(WriterOptions{Now: time.Now})
	begun := time.Date(2026, 5, 1, 10, 0, 0, 250_000_000, time.UTC)
	event := NewEvent{
		At: begun, Kind: transcript.KindToolCall, Name: "f", CallID: "1", Arguments: json.RawMessage(`{"n":12345678901234567890,"list":["a<b",{"k":""}],"none":null}`),
		Metadata: map[string]any{"origin": "o", "n": 7},
	}
	n := New{
		Begun:  begun,
		Change: Change{Title: to("A title"), Hidden: to(true), Parent: to(transcript.ID("jp-c1")), Labels: map[string]*string{"origin": to("one")}},
		Events: []NewEvent{event}, Model: Model{Provider: "ollama", Name: "m"},
	}
	id, err := w.Create(t.Context(), n)
	if err != nil || id != "jp-c17776296002" {
		t.Fatalf("%s %v", id, err)
	}
	const dir = "conversations/17776296002-a-title/"
	for _, store := range []string{"project/.jp/", "data/workspace/project-" + testID + "/"} {
		if diff := cmp.Diff(`[
  {
    "arguments": {
      "n": 12345678901234567890,
      "list": [
        "YTxi",
        {
          "k": ""
        }
      ],
      "none": null
    },
    "id": "1",
    "metadata": {
      "n": 7,
      "origin": "bw=="
    },
    "name": "f",
    "timestamp": "2026-05-01 10:00:00.25",
    "type": "tool_call_request"
  }
]
`, f.read(store+dir+"events.json")); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", store, diff)
		}
		if diff := cmp.Diff(`{
  "title": "A title",
  "last_activated_at": "2026-05-01 10:00:00.25",
  "labels": {
    "hidden": "",
    "origin": "one",
    "parent_id": "jp-c1"
  },
  "hidden": true
}
`, f.read(store+dir+"metadata.json")); diff != "" {
			t.Errorf("%s: metadata (-want +got):\n%s", store, diff)
		}
		if base := f.read(store + dir + "base_config.json"); !strings.Contains(base, `"name": "m"`) || !strings.Contains(base, `"run": "ask"`) {
			t.Errorf("%s: base configuration\n%s", store, base)
		}
	}

	// It is found by its label, also in the archive, and another one has another id.
	if _, err := w.SetArchived(t.Context(), id, true); err != nil {
		t.Fatal(err)
	}
	n.Change, n.Events = Change{Labels: map[string]*string{"origin": to("two")}}, nil
	other, err := w.Create(t.Context(), n)
	if err != nil || other != "jp-c17776296001" {
		t.Errorf("%s %v", other, err)
	}
	for value, want := range map[string]transcript.ID{"one": id, "two": other, "three": ""} {
		if got, err := f.open().Labelled(t.Context(), begun, "origin", value); err != nil || got != want {
			t.Errorf("labelled %s: %s, %v", value, got, err)
		}
	}
	n.Events = []NewEvent{{}}
	if _, err := w.Create(t.Context(), n); err == nil {
		t.Error("an event that JP cannot load is added")
	}
	n.Labels = map[string]*string{"no label": to("")}
	n.Events = nil
	var label *BadLabelError
	if _, err := w.Create(t.Context(), n); !errors.As(err, &label) {
		t.Errorf("a label that JP does not take: %v", err)
	}
}

// TestNewAheadOfJP tests conversations that begin now or, as after the clock was set back, later: JP
// takes the number of the present, even if it is taken.
func TestNewAheadOfJP(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	w := f.writer()
	var ids []transcript.ID
	for i, begun := range []time.Time{writtenAt, writtenAt, writtenAt.Add(time.Hour)} {
		id, err := w.Create(t.Context(), New{Begun: begun, Change: Change{Labels: map[string]*string{"origin": to(strconv.Itoa(i))}}})
		if err != nil {
			t.Fatal(err)
		}
		fork, err := w.Fork(t.Context(), projected, ForkOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id, fork)
	}
	for _, id := range ids {
		if at := CreatedAt(id); at.After(writtenAt.Add(-200 * time.Millisecond)) {
			t.Errorf("%s is of %v, JP takes that of %v", id, at, writtenAt)
		}
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != 6 {
		t.Errorf("made: %v", ids)
	}
}
