package recall

import (
	"context"
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
		{"too long", long, strings.Repeat("word ", 23) + "word…"},
		{"characters, not bytes", strings.Repeat("潮", 121), strings.Repeat("潮", 119) + "…"},

		{"fence first", "```sh\n$ ls\n```\nWhy so slow?", "Why so slow?"},
		{"longer fence", "````\n```\n````\nWhy?", "Why?"},
		{"no fence, but code", "```ls``` is slow", "```ls``` is slow"},
		{"indented wrap", "Why\n    so slow?", "Why so slow?"},
		{"heading and prose", "# Speed\n\nWhy so slow?", "Why so slow?"},
		{"heading, tags and prose", "# Speed\n#task #idea\n---\nWhy so slow?", "Why so slow?"},
		{"heading of a list", "# To do for #450\n## More\n- [x] one\n- two", "- [x] one - two"},
		{"heading of a numbered list", "# To do\n1. one", "1. one"},
		{"quotation first", "> It is slow\n> always\n\nNo.", "No."},
		{"table first", "| a | b |\n|---|---|\nWhich?", "Which?"},
		{"element first", "<context a=\"b\">\n<x>\nold words\n</context>\nWhich?", "Which?"},
		{"element on one line", "<command>/clear</command>\nWhich?", "Which?"},
		{"empty element", "<files/>\nWhich?", "Which?"},
		{"element without an end", "<context>\nWhich?", "Which?"},
		{"element alone", "<context>\nold words\n</context>", "old words"},
		{"element that is too long", "<context>\nold" + "\n" + "words\n</context>\nWhich?", "Which?"},
		{"prose between tags", "<b>Which</b> of <i>them</i>", "<b>Which</b> of <i>them</i>"},
		{"no tag", "< 3 >", "< 3 >"},

		{"fence inside", "I see:\n```\n503\n```\nWhy?", "I see: … Why?"},
		{"fences inside", "I see:\n```\n503\n```\n> a\n\nWhy?\n```\n504\n```", "I see: … Why?"},
		{"quotations between", "> a\n\nyes\n\n> b\n\nno", "yes … no"},

		{"heading alone", "## Speed ", "Speed"},
		{"fence alone", "```go\nx := 1\ny := 2\n```", "x := 1 y := 2"},
		{"quotation alone", "> It is\n> slow", "It is slow"},
		{"rule alone", "---", "---"},
		{"tags alone", "#task", "task"},

		{"question behind a fence that is too long", "```\n503" + "\n" + "503\n503\n```\n\nWhy?", "Why?"},
		{"prose on both sides of it", "I see:\n```\n503" + "\n" + "503\n503\n```\n\nWhy?", "I see: … Why?"},
		{"fences in the end", "> a" + "\n" + "b\n```\nc\n```\nWhy?", "b … Why?"},
		{"no prose in the end", "```\n503\n504" + "\n" + "503\n```", "503 504 503"},
		{"enough before it", long + "\n" + "x\nWhy?", strings.Repeat("word ", 23) + "word…"},

		{"hidden characters", "a\x1b[31mb\u202ec\x00", "a␛[31mb\\u{202E}c␀"},
		{"not UTF-8", "a\xffb", "a\ufffdb"},
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

// TestOutlineWithout compares with a list of all requests.
func TestOutlineWithout(t *testing.T) {
	t.Parallel()
	for n := range 12 {
		var all outline
		for i := range n {
			all.requests = append(all.requests, conversation.ListRequest{Event: i + 1})
		}
		for left := range n + 1 {
			some := all.without(left)
			verify(t, &some, n)
			if before, behind := some.before, len(some.requests)-some.before; some.left != left || before-behind != (n-left)%2 {
				t.Errorf("%d of %d are left out, with %d before what is left out and %d behind it", some.left, n, before, behind)
			}
		}
	}
}

// verify checks that an outline is the first and the last of n requests.
func verify(t *testing.T, o *outline, n int) {
	t.Helper()
	if len(o.requests)+o.left != n {
		t.Fatalf("%d held and %d left out of %d", len(o.requests), o.left, n)
	}
	for i := range o.requests {
		want := i + 1
		if o.left > 0 && i >= o.before {
			want += o.left
		}
		if o.requests[i].Event != want {
			t.Fatalf("request %d stands at %d, want %d", o.requests[i].Event, i, want)
		}
	}
}

// requestsOf is a source of one conversation with these requests.
type requestsOf struct {
	conversations.Source
	events []conversations.Event
	asked  conversations.ReadQuery
}

func (s *requestsOf) Read(_ context.Context, q conversations.ReadQuery) (conversations.Reading, error) {
	s.asked = q
	for i := range s.events {
		if err := q.Event(&s.events[i]); err != nil {
			return conversations.Reading{}, err
		}
	}
	return conversations.Reading{}, nil
}

func TestReadOutline(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 17, 9, 12, 5, 0, time.UTC)
	source := &requestsOf{events: []conversations.Event{
		{Number: 1, Turn: 1, Kind: transcript.KindUser, Time: at, Text: []byte("潮?")},
		{Number: 2, Turn: 1, Kind: transcript.KindAssistant, Text: []byte("Let me see.")},
		{Number: 4, Turn: 1, Kind: transcript.KindStructured, Text: []byte("{}")},
		{Number: 5, Turn: 1, Kind: transcript.KindAssistant, Text: []byte(" \n")},
		{Number: 6, Turn: 2, Kind: transcript.KindAssistant, Text: []byte("Nobody asked for this.")},
		{Number: 7, Turn: 2, Kind: transcript.KindUser, Text: []byte("```\n潮503\n```\nWhy?")},
		{Number: 8, Turn: 3, Kind: transcript.KindUser, Text: []byte("One?")},
		{Number: 9, Turn: 3, Kind: transcript.KindAssistant, Text: []byte("Let me look:\n")},
		{Number: 10, Turn: 3, Kind: transcript.KindUser, Text: []byte("Two?")},
		{Number: 11, Turn: 3, Kind: transcript.KindAssistant, Text: []byte("Two.")},
		{Number: 12, Turn: 3, Kind: transcript.KindUser, Text: []byte("Three?")},
		{Number: 13, Turn: 3, Kind: transcript.KindAssistant, Text: []byte("All three.")},
		{Number: 14, Turn: 3, Kind: transcript.KindUser, Text: []byte("Four?")},
		{Number: 15, Turn: 3, Kind: transcript.KindAssistant, Text: []byte("Now:")},
		{Number: 16, Turn: 3, Kind: transcript.KindUser, Text: []byte("Never mind.")},
		{Number: 17, Turn: 4, Kind: transcript.KindUser, Text: []byte("List?")},
		{Number: 18, Turn: 4, Kind: transcript.KindAssistant, Text: []byte("The list is in:")},
		{Number: 19, Turn: 5, Kind: transcript.KindUser, Text: []byte("Thanks.")},
	}}
	o, err := readOutline(t.Context(), source, "jp-c1")
	if err != nil {
		t.Fatal(err)
	}
	want := []conversation.ListRequest{
		{Event: 1, Turn: 1, Day: "2026-03-17", Chars: 2, Text: "潮?", Answer: 4, AnswerChars: 2},
		{Event: 7, Turn: 2, Chars: 17, Text: "Why?"},
		{Event: 8, Turn: 3, Chars: 4, Text: "One?", Answer: 9, AnswerChars: 13},
		{Event: 10, Turn: 3, Chars: 4, Text: "Two?", Answer: 11, AnswerChars: 4},
		{Event: 12, Turn: 3, Chars: 6, Text: "Three?", Answer: 13, AnswerChars: 10},
		{Event: 14, Turn: 3, Chars: 5, Text: "Four?", Answer: 15, AnswerChars: 4},
		{Event: 16, Turn: 3, Chars: 11, Text: "Never mind."},
		{Event: 17, Turn: 4, Chars: 5, Text: "List?", Answer: 18, AnswerChars: 15},
		{Event: 19, Turn: 5, Chars: 7, Text: "Thanks."},
	}
	if diff := cmp.Diff(want, o.requests); diff != "" {
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
