package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// Turns are numbered, questions are paired with their answers, and what a list shows is noted.
func TestTalk(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	talk := Talk{Inquiry: "ask"}
	talk.Say(transcript.KindAssistant, at, nil)
	talk.Say(transcript.KindAssistant, at, []byte("Before"))
	talk.Prompt(at, []byte("\n # Go\n on"))
	talk.Call(at, "Read", "c1", []byte(`{}`), nil)
	talk.Call(at, "ask", "c2", []byte(`{"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"b"}]},{"question":"Why?"}]}`), nil)
	talk.Result(at, "c2", false, []byte("a"))
	talk.Call(at, "ask", "c3", []byte(`{}`), nil)
	talk.Result(at, "c1", true, []byte("gone"))
	talk.Compact(at)
	talk.Prompt(at.Add(time.Hour), nil)
	var b strings.Builder
	for _, e := range talk.Take() {
		fmt.Fprintf(&b, "%d %s %s %q %t\n", e.Turn, e.Kind, e.Name, e.Text, e.Failed)
	}
	want := `1 assistant  "Before" false
2 user  "\n # Go\n on" false
2 tool_call Read "" false
2 inquiry  "Which?\n- a\n- b\nWhy?" false
2 inquiry_response  "a" false
2 tool_call ask "" false
2 tool_result  "gone" true
0 compaction  "" false
3 user  "" false
`
	if got := b.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if talk.Request != "Go\non" || !talk.Last.Equal(at.Add(time.Hour)) || !talk.Told || len(talk.Take()) != 0 {
		t.Errorf("%+v", talk)
	}
}

func TestTitle(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"": "", "\n \n first\nsecond": "first", strings.Repeat("x", 99): strings.Repeat("x", 99), "a\x00b": "a\x00b",
	} {
		if got := Title(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	if got := Title(strings.Repeat("東", 1000)); len([]rune(got)) > 101 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}
