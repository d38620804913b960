package conversations_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/transcript"
)

// numbered is an event as a reader gets it.
type numbered struct {
	Turn, Number, Request int
	Kind, Text            string
}

// expected numbers what is recorded, naively.
func expected(all []recorded) (events []numbered, size conversations.Size) {
	for _, r := range all {
		if r.Turn == 0 {
			continue
		}
		e := numbered{Turn: r.Turn, Kind: r.Kind, Text: r.Text}
		size.Turns = r.Turn
		if r.Kind != "turn_start" {
			size.Numbered++
			size.Chars += utf8.RuneCountInString(r.Text)
			e.Number = size.Numbered
		}
		if r.Kind == "user" {
			size.Requests++
		}
		e.Request = size.Requests
		events = append(events, e)
	}
	return events, size
}

func readNumbered(t *testing.T, l conversations.Source, q conversations.ReadQuery) (events []numbered, r conversations.Reading) {
	t.Helper()
	r, all, err := l.Read(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	for e := range all {
		events = append(events, numbered{e.Turn, e.Number, e.Request, e.Kind.String(), string(e.Body())})
	}
	return events, r
}

// Whatever is asked for, events have the numbers that they have in the whole
// conversation, which have no gaps, and listings count the same.
func TestNumbers(t *testing.T) {
	t.Parallel()
	const conversationsOfEach = 16
	var added [conversationsOfEach][]recorded
	l := open(t, func(w *jptest.Workspace, _ string) {
		for i := range added {
			r := rand.New(rand.NewPCG(uint64(i), 9))
			added[i] = addRandom(w.Conversation(fmt.Sprint(17600000000+i), "x"), r, r.IntN(60))
		}
	})
	listing, err := l.List(t.Context(), conversations.ListQuery{Sort: conversations.ByID, Ascending: true, Sizes: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range listing.Conversations {
		all, size := expected(added[i])
		if diff := cmp.Diff(&size, c.Size); diff != "" {
			t.Errorf("%s: size (-want +got):\n%s", c.ID, diff)
		}
		got, whole := readNumbered(t, l, conversations.ReadQuery{ID: string(c.ID)})
		if diff := cmp.Diff(all, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", c.ID, diff)
		}
		if whole.Turns != size.Turns || whole.Events != size.Numbered {
			t.Errorf("%s: %+v, want %+v", c.ID, whole, size)
		}
		if size.Numbered == 0 {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(i), 10))
		for range 20 {
			q, selects := randomSelection(r, size)
			q.ID = string(c.ID)
			var want []numbered
			first, last := 0, 0
			for _, e := range all {
				if !selects(e) {
					continue
				}
				if first == 0 {
					first = e.Turn
				}
				last = e.Turn
				if q.Kinds == nil || e.Kind == "assistant" || e.Kind == "turn_start" {
					want = append(want, e)
				}
			}
			got, reading := readNumbered(t, l, q)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %+v (-want +got):\n%s", c.ID, q, diff)
			}
			if reading.FirstTurn != first || reading.LastTurn != last || reading.Turns != size.Turns || reading.Events != size.Numbered {
				t.Errorf("%s, %+v: %+v, want the turns %d to %d of %+v", c.ID, q, reading, first, last, size)
			}
		}
	}
}

// randomSelection returns a query and whether an event is selected by it, kinds
// aside.
func randomSelection(r *rand.Rand, size conversations.Size) (q conversations.ReadQuery, selects func(numbered) bool) {
	if r.IntN(3) == 0 {
		q.Kinds = func(k transcript.Kind) bool {
			return k == transcript.KindAssistant || k == transcript.KindTurnStart
		}
	}
	first, last := 1+r.IntN(size.Numbered), r.IntN(size.Numbered+3)
	if r.IntN(2) == 0 {
		q.Events = conversations.EventRange{First: first, Last: last}
		return q, func(e numbered) bool { return e.Number >= first && (last == 0 || e.Number <= last) }
	}
	first, last = 1+r.IntN(size.Turns), 1+r.IntN(size.Turns)
	q.Turns = func(int) (int, int) { return first, last }
	return q, func(e numbered) bool { return first <= e.Turn && e.Turn <= last }
}

// Sizes are only of what is returned, and there where something is damaged.
func TestSizes(t *testing.T) {
	t.Parallel()
	l := several(t)
	for _, q := range []conversations.ListQuery{
		{Sizes: true},
		{Sizes: true, Sort: conversations.ByID, Limit: 2, Offset: 1},
		{Sizes: true, NoEvents: true, Sort: conversations.ByCreation},
	} {
		listing, err := l.List(t.Context(), q)
		if err != nil || len(listing.Conversations) == 0 {
			t.Fatal(listing, err)
		}
		for _, c := range listing.Conversations {
			r, _, err := l.Read(t.Context(), conversations.ReadQuery{ID: string(c.ID)})
			if err != nil {
				t.Fatal(err)
			}
			if c.Size == nil || c.Size.Turns != r.Turns || c.Size.Numbered != r.Events || c.Size.Chars == 0 {
				t.Errorf("%s: %+v; reading %+v", c.ID, c.Size, r)
			}
		}
	}
	plain, err := l.List(t.Context(), conversations.ListQuery{})
	if err != nil || slices.ContainsFunc(plain.Conversations, func(c conversations.Listed) bool { return c.Size != nil }) {
		t.Errorf("%+v, %v", plain, err)
	}
	gone := open(t, func(w *jptest.Workspace, _ string) {
		w.Conversation("17600000000", "x").User("x").File(jptest.EventsFile, nil)
	})
	listing, err := gone.List(t.Context(), conversations.ListQuery{Sizes: true})
	if err != nil || listing.Conversations[0].Size != nil || listing.Conversations[0].Damage == nil {
		t.Errorf("%+v, %v", listing, err)
	}
}

// Counting characters takes little more than the decoded texts, however large an event is.
func TestSizesAreBounded(t *testing.T) {
	const chars = 8 << 20
	l := open(t, func(w *jptest.Workspace, _ string) {
		long := strings.Repeat("0123456789abcde ", chars/16)
		w.Conversation("17600000000", "x").User(long).Event("tool_call_request", "id", "call", "name", "run", "arguments", map[string]any{"a": long})
	})
	allocated := func(what func() error) int {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := what()
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Error(err)
		}
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	list := func(q conversations.ListQuery) func() error {
		return func() error {
			listing, err := l.List(t.Context(), q)
			if size := listing.Conversations[0].Size; q.Sizes && (size == nil || size.Chars < 2*chars) {
				t.Errorf("size %+v", size)
			}
			return err
		}
	}
	byCreation := conversations.ListQuery{Sort: conversations.ByCreation}
	plain := allocated(list(byCreation)) // what reading the file takes
	byCreation.Sizes = true
	const decoded = chars /* said */ + 2*chars + chars/8 /* arguments, and as they are read */
	if sizes := allocated(list(byCreation)); sizes > plain+decoded+4<<20 {
		t.Errorf("counting the characters of %d bytes allocates %d more", 2*chars, sizes-plain)
	}
}

// recorded is an event that addRandom added, as it is read.
type recorded struct {
	Kind string // as transcript.Kind spells it
	Turn int    // from 1; 0 outside of all turns
	Text string
}

// addRandom adds n events of all kinds to a conversation that has none, and returns them. Their
// texts hold what is hard to cut: characters of several bytes, escapes, base64 that is not
// text, halves of surrogate pairs, bytes that are not UTF-8.
func addRandom(c *jptest.Conversation, r *rand.Rand, n int) []recorded {
	var all []recorded
	turn := 0
	for range n {
		e := randomEvent(c, r)
		if !slices.Contains([]string{"config_delta", "compaction", "unknown"}, e.Kind) {
			if e.Kind == "turn_start" || turn == 0 {
				turn++
			}
			e.Turn = turn
		}
		all = append(all, e)
	}
	return all
}

func randomEvent(c *jptest.Conversation, r *rand.Rand) recorded {
	pieces := []string{"a ", "word ", "\n", "\t", `"`, `\`, "<b>&amp;", "]]>", "東京", "😀", "e\u0301", "\x01", "\u202e"}
	var b strings.Builder
	for range r.IntN([]int{1, 4, 30, 1000}[r.IntN(4)]) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	text := b.String()
	value := map[string]any{"a text": text, "list": []any{1, "x", map[string]any{}, nil}}
	var shown strings.Builder
	encoder := json.NewEncoder(&shown)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	binary := "\xff\xfe" + text
	kinds := []struct {
		kind, text string
		add        func()
	}{
		{"user", text, func() { c.User(text) }},
		{"user", text, func() { c.User(text) }},
		{"user", "a😀\ufffd b\ufffdc", func() {
			c.RawEvent(`{"type":"chat_request","timestamp":"2026-05-29 19:42:36.5","content":"a\ud83d\ude00\ud83d b` + "\xff" + `c"}`)
		}},
		{"assistant", text, func() { c.Assistant(text) }},
		{"assistant", text, func() { c.Assistant(text) }},
		{"reasoning", text, func() { c.Reasoning(text) }},
		{"structured", strings.TrimSuffix(shown.String(), "\n"), func() { c.Event("chat_response", "data", value) }},
		{"structured", text, func() { c.Event("chat_response", "data", text) }},
		{"tool_call", strings.TrimSuffix(shown.String(), "\n"), func() { c.ToolCall("call", "fs_read", value) }},
		{"tool_result", text, func() { c.ToolResult("call", text, r.IntN(2) == 0) }},
		{"tool_result", text, func() {
			c.Event("tool_call_response", "id", "call", "content", base64.URLEncoding.EncodeToString([]byte(text)), "is_error", false)
		}},
		{"tool_result", base64.StdEncoding.EncodeToString([]byte(binary)), func() { // which is no text, and so base64 is read
			c.ToolResult("call", binary, false)
		}},
		{"inquiry", text, func() { c.Inquiry("call.q", text) }},
		{"inquiry_response", text, func() { c.Event("inquiry_response", "id", "call.q", "answer", text) }},
		{"config_delta", "", func() { c.Event("config_delta", "delta", map[string]any{"content": text}) }},
		{"compaction", "", func() {
			c.Event("compaction", "from_turn", 0, "to_turn", 0, "summary", map[string]string{"summary": text})
		}},
		{"unknown", "", func() {
			c.RawEvent(`{"type":"telemetry","timestamp":"2026-05-29 19:42:36.5","content":"aGVsbG8="}`)
		}},
		{"turn_start", "", func() { c.TurnStart() }},
	}
	chosen := kinds[r.IntN(len(kinds))]
	chosen.add()
	return recorded{Kind: chosen.kind, Text: chosen.text}
}
