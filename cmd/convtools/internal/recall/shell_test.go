package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// told is a conversation of three requests in two turns.
var told = recorded{id: "jp-c1", title: "On lamps", events: []event{
	{1, "user", "Is the lamp lit?"},
	{1, "reasoning", "I look."},
	{1, "assistant", "The lamp\nis out."},
	{2, "user", "Light it."},
	{2, "tool_call_request", "light lamp"},
	{2, "tool_call_response", "lit"},
	{2, "user", "Thanks."},
}}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		arguments map[string]any
		at        int
		want      string // the first letters of the events
	}{
		{"all", nil, 3, "IITLllT"},
		{"an event between others", map[string]any{"event": "$event"}, 3, "TLl"},
		{"a request with its answer", map[string]any{"event": "$event"}, 0, "IIT"},
		{"the last event", map[string]any{"event": "$event"}, 6, "lT"},
		{"a turn", map[string]any{"turn": "$turn"}, 5, "LllT"},
		{"the last turn", map[string]any{"last": int64(1)}, 0, "LllT"},
		{"more turns than there are", map[string]any{"last": int64(9)}, 0, "IITLllT"},
		{"what was said", map[string]any{"include": []any{"chat"}}, 0, "ITLT"},
		{"a side in a turn", map[string]any{"include": []any{"requests"}, "turn": "$turn"}, 4, "LT"},
		{"what tools did", map[string]any{"include": []any{"tool_calls", "tool_results"}}, 0, "ll"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			for _, e := range told.read(test.arguments, test.at) {
				got.WriteString(e.text[:1])
			}
			if got.String() != test.want {
				t.Errorf("read %q, want %q", &got, test.want)
			}
		})
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	other := recorded{id: "jp-c2", title: "More", events: []event{{1, "user", "The lamp is out."}}}
	conversations := []recorded{other, told}
	answered := question{Answers: []sentence{{In: "jp-c1", Says: "x"}}}
	for _, test := range []struct {
		text string
		q    question
		id   string
		at   int
	}{
		{"lamp is out", question{}, "jp-c2", 0},
		{"lamp is out", answered, "jp-c1", 2},
		{"On lamps", question{}, "jp-c1", 0},
		{"More", answered, "jp-c2", 0},
	} {
		of, at := place(conversations, call{At: test.text}, test.q)
		if of == nil || of.id != test.id || at != test.at {
			t.Errorf("place %q: %+v, event %d; want %s, %d", test.text, of, at, test.id, test.at)
		}
	}
	if of, _ := place(conversations, call{At: "the wick"}, answered); of != nil {
		t.Errorf("what nobody said was said in %s", of.id)
	}
}

func TestPeer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("潮", maxPrinted)
	search := call{Grep: map[string]any{}}
	for _, test := range []struct {
		name    string
		answers []sentence
		outputs []string // one a call
		want    cost
	}{
		{"at once", []sentence{{"", "is out"}}, []string{"lamp is\nout", "more"}, cost{1, 11, true}},
		{"in two outputs", []sentence{{"", "out"}, {"", "lit"}}, []string{"out", "lit", "more"}, cost{2, 6, true}},
		{"never", []sentence{{"", "dim"}}, []string{"out", "lit"}, cost{2, 6, false}},
		{"beyond what is shown", []sentence{{"", "out"}}, []string{long + "out"}, cost{1, maxPrinted, false}},
		{"nothing, as it should be", nil, []string{""}, cost{1, 0, true}},
		{"something, although there is no answer", nil, []string{"out"}, cost{1, 3, false}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			calls := make([]call, len(test.outputs))
			for i := range calls {
				calls[i] = search
			}
			next := 0
			got, err := peer(question{Answers: test.answers, Calls: calls}, nil, func(call, *recorded, int) ([]string, error) {
				next++
				return test.outputs[next-1 : next], nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(cost{})); diff != "" {
				t.Errorf("cost (-want +got):\n%s", diff)
			}
		})
	}
	lost := question{Calls: []call{{At: "the wick", Read: map[string]any{}}}}
	if _, err := peer(lost, nil, nil); err == nil {
		t.Error("a place that is nowhere gave no error")
	}
}

func TestParseRefusal(t *testing.T) {
	t.Parallel()
	root := parseRefusal("Conversation jp-c9 is 5 turns. What fits: event=N; last=1 (2k).\n\nturn=3 event=59 (16k): Light the lamp,\nturn=4 event=60: and put it out.")
	for _, test := range []struct{ text, name, want string }{
		{"Light the lamp", "event", "59"},
		{"Light the lamp", "turn", "3"},
		{"put it out", "event", "60"},
		{"put it out", "id", "jp-c9"},
	} {
		e := root.find(test.text)
		if e == nil {
			t.Fatalf("%q is not found", test.text)
		}
		if got, _ := e.attr(test.name); got != test.want {
			t.Errorf("%s of %q = %q, want %q", test.name, test.text, got, test.want)
		}
	}
	if !root.shows(sentence{"jp-c9", "put it out"}) || root.shows(sentence{"jp-c8", "put it out"}) {
		t.Error("what a refusal shows is not of its conversation")
	}
}
