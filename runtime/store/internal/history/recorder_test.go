package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// Turns are numbered, questions are paired with their answers, and the metadata of a list is noted.
func TestRecorder(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	var b strings.Builder
	r := Recorder{Inquiry: "ask", Yield: func(e *transcript.Event) bool {
		fmt.Fprintf(&b, "%d %d %s %s %q %t\n", e.Index, e.Turn, e.Kind, e.Name, e.Text, e.Failed)
		return true
	}}
	add := func(kind transcript.Kind, said string) {
		r.Add(transcript.Event{Kind: kind, Time: at, Text: []byte(said)})
	}
	call := func(name, id, arguments string) {
		r.Add(transcript.Event{Kind: transcript.KindToolCall, Time: at, Name: name, CallID: id, Arguments: []byte(arguments)})
	}
	result := func(id, said string, failed bool) {
		r.Add(transcript.Event{Kind: transcript.KindToolResult, Time: at, CallID: id, Text: []byte(said), Failed: failed})
	}
	add(transcript.KindAssistant, "")
	add(transcript.KindAssistant, "Before")
	add(transcript.KindUser, "\n # Go\n on")
	call("Read", "c1", `{}`)
	call("ask", "c2", `{"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"b"}]},{"question":"Why?"}]}`)
	result("c2", "a", false)
	call("ask", "c3", `{}`)
	result("c1", "gone", true)
	add(transcript.KindCompaction, "")
	r.Add(transcript.Event{Kind: transcript.KindUser, Time: at.Add(time.Hour)})
	want := `0 1 assistant  "Before" false
1 2 user  "\n # Go\n on" false
2 2 tool_call Read "" false
3 2 inquiry  "Which?\n- a\n- b\nWhy?" false
4 2 inquiry_response  "a" false
5 2 tool_call ask "" false
6 2 tool_result  "gone" true
7 0 compaction  "" false
8 3 user  "" false
`
	if got := b.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if r.Request != "Go\non" || !r.Last.Equal(at.Add(time.Hour)) || !r.Readable || r.Totals.Events != 9 {
		t.Errorf("%+v", r)
	}
}
