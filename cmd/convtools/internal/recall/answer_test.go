package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const grepAnswer = `<conversation_grep matches="3" searched="12">
  <conversation id="jp-c1" turns="9">
    <title>On <![CDATA[<lighthouses>]]></title>
    <event event="7" turn="2" scope="user"><hit is_match="false">before it</hit><hit>the lamp is
out</hit></event>
    <event event="9" turn="3"><hit>the lamp is lit</hit></event>
  </conversation>
  <conversation id="jp-c2"><hit scope="title">lamp</hit></conversation>
  <note>3 of 3 matches: the wick.</note>
</conversation_grep>`

func TestResolve(t *testing.T) {
	t.Parallel()
	earlier := pieces(`<conversation_list><conversation id="jp-c3"><title>lamp is dear</title></conversation></conversation_list>`)
	seen := [][]piece{earlier, pieces(grepAnswer)}
	for _, test := range []struct {
		name string
		call call
		want map[string]any
		err  string // empty where there is none
	}{
		{"without references", call{Grep: map[string]any{"pattern": "lamp", "limit": int64(3)}}, map[string]any{"pattern": "lamp", "limit": int64(3)}, ""},
		{"what the element stands in", call{At: "lamp is lit", Read: map[string]any{"id": "$id", "event": "$event"}}, map[string]any{"id": "jp-c1", "event": 9}, ""},
		{"broken lines", call{At: "lamp is out", Read: map[string]any{"id": "$id", "turn": "$turn"}}, map[string]any{"id": "jp-c1", "turn": 2}, ""},
		{"in a list", call{At: "On <lighthouses>", Grep: map[string]any{"ids": []any{"$id"}}}, map[string]any{"ids": []any{"jp-c1"}}, ""},
		{"the latest answer first", call{At: "lamp is", Read: map[string]any{"id": "$id"}}, map[string]any{"id": "jp-c1"}, ""},
		{"an earlier answer", call{At: "lamp is dear", Read: map[string]any{"id": "$id"}}, map[string]any{"id": "jp-c3"}, ""},
		{"nothing shows it", call{At: "the wick burns", Read: map[string]any{"id": "$id"}}, nil, "no answer shows"},
		{"no such attribute", call{At: "lamp is dear", Read: map[string]any{"id": "$id", "event": "$event"}}, nil, "there is no event"},
		{"a reference to nothing", call{Read: map[string]any{"id": "$id"}}, nil, "there is no id"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := test.call.resolve(seen)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("resolve (-want +got):\n%s", diff)
			}
			switch {
			case test.err == "" && err != nil:
				t.Errorf("resolve: %v", err)
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Errorf("resolve: error %v, want one with %q", err, test.err)
			}
		})
	}
}

func TestShows(t *testing.T) {
	t.Parallel()
	root := pieces(grepAnswer)
	for _, test := range []struct {
		sentence sentence
		want     bool
	}{
		{sentence{"jp-c1", "the lamp is out"}, true},
		{sentence{"jp-c1", "On <light"}, true},
		{sentence{"jp-c2", "lamp"}, true},
		{sentence{"jp-c2", "the lamp is out"}, false},       // said in another conversation
		{sentence{"jp-c1", "before it the lamp"}, false},    // two hits
		{sentence{"jp-c1", "3 of 3 matches"}, false},        // a note is no answer
		{sentence{"jp-c1", "the lamp is lit, too"}, false},  // nowhere
		{sentence{"", "3 of 3 matches: the wick."}, false},  // nor is it one of no conversation
		{sentence{"jp-c1", "the lamp is\n   lit "}, true},   // however it is broken
		{sentence{"jp-c1", "is_match"}, false},              // markup is no answer
		{sentence{"jp-c1", "On <![CDATA[<lighthou"}, false}, // nor are delimiters
	} {
		if got := shows(root, test.sentence); got != test.want {
			t.Errorf("shows(%+v) = %t, want %t", test.sentence, got, test.want)
		}
	}
}

func TestShowsNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer string
		want   bool
	}{
		{`<conversation_grep matches="0" searched="12"><note>Nothing in 12 conversations.</note></conversation_grep>`, true},
		{`<conversation_grep matches="0" searched="12"><conversation id="x"/><note>12 searched</note></conversation_grep>`, true},
		{`<conversation_grep matches="0" searched="12"><note>Nothing in 10 live and 2 archived ones.</note></conversation_grep>`, true},
		{`<conversation_grep matches="0" searched="12"/>`, false},
		{`<conversation_grep matches="1" searched="12"><note>1 in 12 conversations.</note></conversation_grep>`, false},
		{`<conversation_grep matches="0" searched="12" words="apart"><event><hit>a b</hit></event><note>12</note></conversation_grep>`, false},
		{`<conversation_read matches="0" searched="12"><note>12</note></conversation_read>`, false},
	} {
		if got := showsNothing(pieces(test.answer)); got != test.want {
			t.Errorf("showsNothing of %s = %t, want %t", test.answer, got, test.want)
		}
	}
}
