package recall

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

func TestBeginning(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 40)
	for _, tc := range []struct{ name, said, want string }{
		{"one line", "Should we retry?", "Should we retry?"},
		{"nothing", "", ""},
		{"blank", " \n\t\n", ""},
		{"wrapped lines", "Should we\n  retry a\r\n\r\n500?\n", "Should we retry a 500?"},
		{"too long", long, strings.Repeat("word ", 17) + "word…"},
		{"characters, not bytes", strings.Repeat("潮", 121), strings.Repeat("潮", 89) + "…"},

		{"heading and prose", "# Speed\n\nWhy so slow?", "Speed Why so slow?"},
		{"fence first", "```\n503\n```\nWhy?", "``` 503 ``` Why?"},
		{"hidden characters", "a\x1b[31mb\u202ec\x00", "a␛[31mb\\u{202E}c␀"},
		{"not UTF-8", "a\xffb", "ab"},
		{"joined pictures", "👩🏽\u200d💻 ok", "👩🏽\u200d💻 ok"},
		{"markup", "</title>]]> <b>", "</title>]]> <b>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := beginning(tc.said); got != tc.want {
				t.Errorf("beginning(%q) = %q, want %q", tc.said, got, tc.want)
			}
		})
	}
}

func FuzzBeginning(f *testing.F) {
	f.Add("# Speed\n```\n503\n503\n```\nWhy?")
	f.Add("> \n|\n#x\n- \u200d\u202e\x00\xff")
	f.Add("~~~~~\n~~~\n\n~~~~~~")
	f.Add("<a b>\n</a>\n<>\n</c>\n\n</a>\n<")
	f.Fuzz(func(t *testing.T, said string) {
		got := beginning(said)
		if n := utf8.RuneCountInString(got); n > maxBeginning {
			t.Errorf("%d characters: %q", n, got)
		}
		if shown := text.Line(got); shown != got || strings.ContainsAny(got, "\n\r\t") {
			t.Errorf("%q is not visible on one line", got)
		}
		if got == "" && strings.TrimSpace(said) != "" {
			t.Errorf("nothing of %q", said)
		}
	})
}

// requestsOf is a source of one conversation with these requests.
type requestsOf struct {
	conversations.Source
	events []conversations.Event
	asked  conversations.ReadQuery
}

func (s *requestsOf) Read(_ context.Context, q conversations.ReadQuery) (conversations.Reading, iter.Seq[*conversations.Event], error) {
	s.asked = q
	return conversations.Reading{}, func(yield func(*conversations.Event) bool) {
		for i := 0; i < len(s.events) && yield(&s.events[i]); i++ {
		}
	}, nil
}

func TestReadOutline(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 17, 9, 12, 5, 0, time.UTC)
	source := &requestsOf{events: []conversations.Event{
		{Event: transcript.Event{Turn: 1, Kind: transcript.KindUser, Time: at, Text: []byte("潮?")}, Number: 1},
		{Event: transcript.Event{Turn: 1, Kind: transcript.KindAssistant, Text: []byte("Let me see.")}, Number: 2},
		{Event: transcript.Event{Turn: 1, Kind: transcript.KindStructured, Text: []byte("{}")}, Number: 4},
		{Event: transcript.Event{Turn: 1, Kind: transcript.KindAssistant, Text: []byte(" \n")}, Number: 5},
		{Event: transcript.Event{Turn: 2, Kind: transcript.KindAssistant, Text: []byte("Nobody asked for this.")}, Number: 6},
		{Event: transcript.Event{Turn: 2, Kind: transcript.KindUser, Text: []byte("```\n潮503\n```\nWhy?")}, Number: 7},
		{Event: transcript.Event{Turn: 3, Kind: transcript.KindUser, Text: []byte("One?")}, Number: 8},
		{Event: transcript.Event{Turn: 3, Kind: transcript.KindAssistant, Text: []byte("Let me look:\n")}, Number: 9},
		{Event: transcript.Event{Turn: 3, Kind: transcript.KindUser, Text: []byte("Two?")}, Number: 10},
		{Event: transcript.Event{Turn: 3, Kind: transcript.KindAssistant, Text: []byte("Two.")}, Number: 11},
		{Event: transcript.Event{Turn: 3, Kind: transcript.KindUser, Text: []byte("Three?")}, Number: 12},
		{Event: transcript.Event{Turn: 3, Kind: transcript.KindAssistant, Text: []byte("All three.")}, Number: 13},
		{Event: transcript.Event{Turn: 3, Kind: transcript.KindUser, Text: []byte("Four?")}, Number: 14},
		{Event: transcript.Event{Turn: 3, Kind: transcript.KindAssistant, Text: []byte("Now:")}, Number: 15},
		{Event: transcript.Event{Turn: 3, Kind: transcript.KindUser, Text: []byte("Never mind.")}, Number: 16},
		{Event: transcript.Event{Turn: 4, Kind: transcript.KindUser, Text: []byte("List?")}, Number: 17},
		{Event: transcript.Event{Turn: 4, Kind: transcript.KindAssistant, Text: []byte("The list is in:")}, Number: 18},
		{Event: transcript.Event{Turn: 5, Kind: transcript.KindUser, Text: []byte("Thanks.")}, Number: 19},
	}}
	o, err := readOutline(t.Context(), source, "jp-c1")
	if err != nil {
		t.Fatal(err)
	}
	want := []conversation.ListRequest{
		{Event: 1, Turn: 1, Day: "2026-03-17", Chars: 2, Text: "潮?", Answer: 4, AnswerChars: 2},
		{Event: 7, Turn: 2, Chars: 17, Text: "``` 潮503 ``` Why?"},
		{Event: 8, Turn: 3, Chars: 4, Text: "One?", Answer: 9, AnswerChars: 13},
		{Event: 10, Turn: 3, Chars: 4, Text: "Two?", Answer: 11, AnswerChars: 4},
		{Event: 12, Turn: 3, Chars: 6, Text: "Three?", Answer: 13, AnswerChars: 10},
		{Event: 14, Turn: 3, Chars: 5, Text: "Four?", Answer: 15, AnswerChars: 4},
		{Event: 16, Turn: 3, Chars: 11, Text: "Never mind."},
		{Event: 17, Turn: 4, Chars: 5, Text: "List?", Answer: 18, AnswerChars: 15},
		{Event: 19, Turn: 5, Chars: 7, Text: "Thanks."},
	}
	if diff := cmp.Diff(outline(want), o); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if source.asked.ID != "jp-c1" {
		t.Errorf("asked for %+v", source.asked)
	}
	for kind := transcript.KindUnknown; kind <= transcript.KindCompaction; kind++ {
		isRead := kind == transcript.KindUser || kind == transcript.KindAssistant || kind == transcript.KindStructured
		if source.asked.Kinds(kind) != isRead {
			t.Errorf("asked for %v: %v", kind, source.asked.Kinds(kind))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readOutline(ctx, source, "jp-c1"); err == nil {
		t.Error("goes on when it has to stop")
	}
}
