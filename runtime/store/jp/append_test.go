package jp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/transcript"
)

// What is added late goes where it belongs: before the turns that began later, under the model of the conversation.
func TestAppendedWhereItBelongs(t *testing.T) {
	t.Parallel()
	const (
		delta   = `{"delta":{"assistant":{"model":{"id":{"provider":"openai","name":"gpt"}}}},"timestamp":"2026-05-01 10:%02d:00.0","type":"config_delta"}`
		style   = `{"delta":{"style":{}},"timestamp":"2026-05-01 10:%02d:00.0","type":"config_delta"}`
		compact = `{"from_turn":0,"to_turn":0,"timestamp":"2026-05-01 10:%02d:00.0","type":"compaction"}`
		begin   = `{"timestamp":"2026-05-01 10:%02d:00.0","type":"turn_start"}`
		asked   = `{"content":"jp","timestamp":"2026-05-01 10:%02d:00.0","type":"chat_request"}`
	)
	at := func(form string, minute int) string { return fmt.Sprintf(form, minute) }
	turn := func(minute int) string { return at(begin, minute) + ",\n" + at(asked, minute) }
	for name, test := range map[string]struct {
		base   string
		before []string
		turn   bool // what is added begins one
		want   string
	}{
		"last":               {before: []string{turn(1)}, turn: true, want: "turn_start 1, jp 1, turn_start 5, ours 5"},
		"under JP's model":   {before: []string{turn(1), at(delta, 3), turn(3)}, turn: true, want: "turn_start 1, jp 1, gpt 3, turn_start 3, jp 3, ollama/own 5, turn_start 5, ours 5, openai/gpt 5"},
		"of a turn":          {before: []string{turn(1), at(delta, 3), turn(3)}, want: "turn_start 1, jp 1, gpt 3, turn_start 3, jp 3, ollama/own 5, ours 5, openai/gpt 5"},
		"before JP's":        {before: []string{turn(1), at(style, 7), at(delta, 7), turn(7), turn(8)}, turn: true, want: "turn_start 1, jp 1, turn_start 5, ours 5,  7, gpt 7, turn_start 7, jp 7, turn_start 8, jp 8"},
		"between JP's":       {before: []string{turn(1), at(delta, 2), turn(2), turn(7)}, turn: true, want: "turn_start 1, jp 1, gpt 2, turn_start 2, jp 2, ollama/own 5, turn_start 5, ours 5, openai/gpt 5, turn_start 7, jp 7"},
		"before all":         {before: []string{turn(7)}, turn: true, want: "turn_start 5, ours 5, turn_start 7, jp 7"},
		"JP's ended later":   {before: []string{turn(1), at(asked, 9)}, turn: true, want: "turn_start 1, jp 1, jp 9, turn_start 5, ours 5"},
		"a later compaction": {before: []string{turn(1), turn(7), at(compact, 8)}, turn: true, want: "turn_start 1, jp 1, turn_start 7, jp 7,  8, turn_start 5, ours 5"},
		"the same model":     {base: `{"assistant":{"model":{"id":"openai/gpt"}}}`, before: []string{at(delta, 3), turn(3)}, turn: true, want: "gpt 3, turn_start 3, jp 3, turn_start 5, ours 5"},
		"no model":           {base: `{}`, before: []string{at(delta, 3), turn(3)}, turn: true, want: "gpt 3, turn_start 3, jp 3, turn_start 5, ours 5"},
		"nothing before":     {turn: true, want: "turn_start 5, ours 5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := test.base
			if base == "" {
				base = `{"assistant":{"model":{"id":{"provider":"ollama","name":"own"}}}}`
			}
			for _, dir := range []string{inProject + "10-x", inUser + "10-x"} {
				f.write(dir+"/metadata.json", testTitle)
				f.write(dir+"/base_config.json", base)
				f.write(dir+"/events.json", "["+strings.Join(test.before, ",\n")+"]\n")
			}
			five := time.Date(2026, 5, 1, 10, 5, 0, 0, time.UTC)
			events := []NewEvent{{At: five, Kind: transcript.KindTurnStart}, {At: five, Kind: transcript.KindUser, Text: "ours"}}
			if !test.turn {
				events = events[1:]
			}
			if err := f.open().Writer(WriterOptions{}).Append(t.Context(), "jp-c10", events...); err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{inProject + "10-x", inUser + "10-x"} {
				if diff := cmp.Diff(test.want, told(t, f.read(dir+"/events.json"))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

// told returns what a stream has, an event after the other, with its minute.
func told(t *testing.T, stream string) string {
	t.Helper()
	var events []struct {
		Type, Content, Timestamp string
		Delta                    struct {
			Assistant struct{ Model struct{ ID any } }
		}
	}
	if err := json.Unmarshal([]byte(stream), &events); err != nil {
		t.Fatalf("%v: %s", err, stream)
	}
	var all []string
	for _, e := range events {
		what := e.Content
		if e.Type == "turn_start" {
			what = e.Type
		}
		switch id := e.Delta.Assistant.Model.ID.(type) {
		case string:
			what = id
		case map[string]any:
			what = id["name"].(string)
		}
		at, err := transcript.ParseTimestamp(e.Timestamp)
		if err != nil {
			t.Error(err)
		}
		all = append(all, fmt.Sprintf("%s %d", what, at.Minute()))
	}
	return strings.Join(all, ", ")
}
