package jpevents_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/internal/jpevents"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/google/go-cmp/cmp"
)

// compare compares the events of a valid stream with the oracle.
func compare(t *testing.T, data []byte) {
	t.Helper()
	want, err := oracle(data)
	if err != nil {
		t.Fatalf("the oracle does not read the stream: %v\n%s", err, data)
	}
	got, err := scan(string(data))
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d\n%s", len(got), len(want), data)
	}
	for i := range want {
		compareEvent(t, &got[i], want[i])
	}
	turns := 0
	for _, e := range want {
		turns = max(turns, e.turn)
	}
	if n := count(data).Turns; n != turns {
		t.Errorf("%d turns; want %d\n%s", n, turns, data)
	}
	compareCount(t, data, want)
}

func compareCount(t *testing.T, data []byte, want []oracleEvent) {
	t.Helper()
	totals := count(data)
	n, last, err := totals.Events, totals.LastAt, totals.Uncounted
	for i, e := range want {
		if _, ok := e.object["timestamp"].(string); !ok {
			if n != 0 || !last.IsZero() || err == nil {
				t.Errorf("Count = %d, %v, %v, though event %d has no timestamp", n, last, err, i)
			}
			return
		}
	}
	if n != len(want) || err != nil {
		t.Errorf("Count = %d, %v; want %d", n, err, len(want))
	}
}

func compareEvent(t *testing.T, got *jpevents.Event, want oracleEvent) {
	t.Helper()
	if !bytes.Equal(got.Raw, want.raw) {
		t.Errorf("raw is\n%s\nwant\n%s", got.Raw, want.raw)
	}
	if got.Kind.String() != want.kind || got.Turn != want.turn {
		t.Errorf("kind %v in turn %d, want %v in %d, of\n%s", got.Kind, got.Turn, want.kind, want.turn, want.raw)
	}
	d := got.Decode()
	text := eventtext.Searched(&d)
	if got.Kind == transcript.KindToolCall { // it is searched without escapes
		text = []byte(d.Name)
		switch body := eventtext.Body(&d); string(body) {
		case "", "{}", "[]":
		default:
			text = append(append(text, '\n'), body...)
		}
	}
	if string(text) != want.text || d.Encoding.String() != want.encoding {
		t.Errorf("text %q, %q; want %q, %q, of\n%s", text, d.Encoding, want.text, want.encoding, want.raw)
	}
	wantError, _ := want.object["is_error"].(bool)
	if d.Failed != wantError {
		t.Errorf("is_error %v of\n%s", d.Failed, want.raw)
	}
	for _, withMetadata := range []bool{true, false} {
		printed := eventtext.AppendJSON(nil, &d, withMetadata)
		var value map[string]any
		dec := json.NewDecoder(bytes.NewReader(printed))
		dec.UseNumber()
		if err := dec.Decode(&value); err != nil || dec.More() {
			t.Errorf("%v in %s, of\n%s", err, printed, want.raw)
		}
		if diff := cmp.Diff(oracleJSON(want, !withMetadata), value); diff != "" {
			t.Errorf("%t: %s\nof\n%s\n(-want +got)\n%s", withMetadata, printed, want.raw, diff)
		}
		if compact := compactJSON(printed); compact != string(printed) {
			t.Errorf("not compact: %s", printed)
		}
	}
}

func TestRandomStreams(t *testing.T) {
	t.Parallel()
	for seed := range cases.Of(uint64(600)) {
		compare(t, newGenerator(seed).stream())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// sampleFiles returns the events files of the sample workspace beside the
// repository.
func sampleFiles(t testing.TB) []string {
	t.Helper()
	const conversations = "../../../../../shared/data/jp-workspace/.jp/conversations"
	live, _ := filepath.Glob(conversations + "/*/events.json")
	archived, _ := filepath.Glob(conversations + "/.archive/*/events.json")
	if len(live) == 0 {
		t.Skipf("no sample workspace at %s", conversations)
	}
	return append(live, archived...)
}

func TestSampleWorkspace(t *testing.T) {
	t.Parallel()
	for _, file := range sampleFiles(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, data)
	}
}
