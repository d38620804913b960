package log

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

// Logs from when the calls of a response and their results had events of their own lead to the same state as then. A session
// that ended at any record recovers.
func TestLogWithFrames(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "v2-frames.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	var state session.State
	for n := 2; n < len(lines); n++ {
		state, _, err = load("a log", bytes.NewReader(bytes.Join(lines[:n], nil)))
		if err != nil {
			t.Fatalf("%d records: %v", n-1, err)
		}
		if _, _, err := session.Step(state, time.Now(), session.Recover{}); err != nil {
			t.Errorf("%d records: %v", n-1, err)
		}
	}
	list := session.Item{Item: model.Item{Kind: session.ToolCall, Name: session.ConvList}}
	want, err := os.ReadFile(filepath.Join("testdata", "v2-frames.list.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := state.Answer(state.Root().ID, list); got+"\n" != string(want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
