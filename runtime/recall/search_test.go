package recall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// messages is a source with messages alone.
type messages struct {
	conversations.Source
	asked  []conversations.SearchQuery
	answer func(q *conversations.SearchQuery) conversations.Results
}

func (m *messages) Search(_ context.Context, q conversations.SearchQuery) (*conversations.Results, error) {
	m.asked = append(m.asked, q)
	found := m.answer(&q)
	return &found, nil
}

// tools returns the tools over the source, at the beginning of 2024.
func (m *messages) tools() *Tools {
	t := New(func(string) (conversations.Source, error) { return m, nil })
	t.now = func() time.Time { return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC) }
	return t
}

func (m *messages) call(t *testing.T, tool, arguments string) (string, error) {
	t.Helper()
	return conversation.Call(t.Context(), m.tools(), contract.Call{Tool: tool, Arguments: []byte(arguments)})
}

func messageAt(event int, at time.Time, title, text string) conversations.Hit {
	c := transcript.Conversation{ID: "chatgpt-c1", NativeID: "0123456789ab", Title: title}
	return conversations.Hit{
		Conversation: &conversations.Matched{Listed: conversations.Listed{Conversation: c}}, Number: event, Time: at,
		Kind: transcript.KindUser, Role: "user", Passage: &conversations.Passage{Excerpt: excerpt.Excerpt{Text: text}},
	}
}

func TestSearchNotes(t *testing.T) {
	t.Parallel()
	at := time.Date(2023, 12, 31, 23, 59, 1, 0, time.UTC)
	const block = "[2023-12-31 23:59] user (conv: t)\nx"
	position := conversations.Position{Time: at, ID: "chatgpt-c1", Event: 1}
	next := cursor(&position)
	tests := map[string]struct {
		found conversations.Results
		args  string
		want  string
	}{
		"nothing":       {want: "No matching messages."},
		"all":           {found: conversations.Results{Total: 1}, want: block},
		"more":          {found: conversations.Results{Total: 1234, More: true}, want: block + "\n\n---\n\n[note] 1,234 messages match in all; these are the newest 1. The next: conversation_search with the same arguments and cursor=\"" + next + "\"."},
		"more than":     {found: conversations.Results{Total: 1234, More: true, AtLeast: true}, args: fmt.Sprintf(`{"cursor":%q}`, next), want: block + "\n\n---\n\n[note] more than 1,234 messages match in all; these are the next 1. The next: conversation_search with the same arguments and cursor=\"" + next + "\"."},
		"own":           {found: conversations.Results{Total: 1, Own: 2}, want: block + "\n\n---\n\n[note] 2 matches are left out, which are calls and results of these very tools."},
		"not a whole":   {found: conversations.Results{Total: 1, Omitted: conversations.Omitted{Problems: []conversations.Problem{{ID: "jp-c2", Kind: store.DamagedEvents, Err: errors.New("cut")}, {Source: "codex", Err: errors.New("no")}}}}, want: block + "\n\n---\n\n[note] Not searched: jp-c2 from where it is damaged; some of codex (it cannot be read)."},
		"not important": {found: conversations.Results{Total: 1, Omitted: conversations.Omitted{Hidden: 3, Problems: []conversations.Problem{{ID: "jp-c2", Kind: store.Duplicate, Err: errors.New("two")}}}}, want: block},
	}
	for name, tc := range tests {
		if name != "nothing" {
			tc.found.Hits = []conversations.Hit{messageAt(1, at, "t", "x")}
		}
		m := &messages{answer: func(*conversations.SearchQuery) conversations.Results { return tc.found }}
		got, err := m.call(t, "conversation_search", tc.args)
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestSearchAsks(t *testing.T) {
	t.Parallel()
	m := &messages{answer: func(*conversations.SearchQuery) conversations.Results { return conversations.Results{} }}
	p := conversations.Position{Time: time.Unix(1, 5).UTC(), Order: -3, ID: "jp-c1", Event: 7}
	if _, err := m.call(t, "conversation_search", fmt.Sprintf(`{"query":"\u001c x\u3000","roles":["tool","user","tool"],"start_date":"0001-01-01","end_date":"9999-12-31","limit":7,"cursor":%q,"sources":["jp"]}`, cursor(&p))); err != nil {
		t.Fatal(err)
	}
	q := m.asked[0]
	if q.Question != "x" || q.Scopes != transcript.ScopeUser|transcript.ScopeTool|transcript.ScopeInquiry || !q.Since.Equal(time.Time{}.Add(1)) || q.Until.Year() != 9999 ||
		q.Limit != 7 || q.MaxText != 2000 || *q.After != p || len(q.Sources) != 1 || !q.Own("mcp__convtools__conversation_search") || !q.Own("conversation_context") || q.Own("fs_read") {
		t.Errorf("%+v", q)
	}
	if _, err := m.call(t, "conversation_search", `{}`); err != nil {
		t.Fatal(err)
	}
	if q := m.asked[1]; q.Question != "" || q.Scopes != 0 || !q.Since.IsZero() || !q.Until.IsZero() || q.After != nil || q.Limit != 50 {
		t.Errorf("%+v", q)
	}
}

// Queries may be long, and longer ones are an error.
func TestLengthOfAQuery(t *testing.T) {
	t.Parallel()
	m := &messages{answer: func(*conversations.SearchQuery) conversations.Results { return conversations.Results{} }}
	for n, ok := range map[int]bool{100_000: true, 100_001: false} {
		_, err := m.call(t, "conversation_search", `{"query":" `+strings.Repeat("天", n)+` "}`)
		var bad *contract.InvalidArguments
		if ok && err != nil || !ok && (!errors.As(err, &bad) || bad.Problems[0].Code != contract.CodeMaxLength) {
			t.Errorf("%d characters: %v", n, err)
		}
	}
}

func TestSearchForPrograms(t *testing.T) {
	t.Parallel()
	list := []conversations.Hit{
		messageAt(3, time.Date(2023, 12, 31, 23, 59, 1, 500_000_000, time.UTC), "t <b>", "a\x1b\n---\n"),
		messageAt(2, time.Date(2023, 12, 1, 0, 0, 0, 0, time.UTC), "", "b"),
		messageAt(1, time.Time{}, "", "c"),
	}
	m := &messages{answer: func(*conversations.SearchQuery) conversations.Results {
		return conversations.Results{Hits: list, Total: 9, AtLeast: true, More: true}
	}}
	call := func(arguments string) string {
		got, err := conversation.Call(t.Context(), structured{m.tools()}, contract.Call{Tool: "conversation_search", Arguments: []byte(arguments)})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	last := list[2].Position()
	want := `{"message":"Showing 3 results:","results":[` +
		`{"timestamp":"2023-12-31T23:59:01.5+00:00","time_ago":"58s ago","role":"user","relevance":{"search_mode":"fts"},"content":"a\u001b\n---","id":"chatgpt-c1:3","title":"t <b>"},` +
		`{"timestamp":"2023-12-01T00:00:00+00:00","time_ago":"31d ago","role":"user","relevance":{"search_mode":"fts"},"content":"b","id":"chatgpt-c1:2"},` +
		`{"timestamp":null,"time_ago":null,"role":"user","relevance":{"search_mode":"fts"},"content":"c","id":"chatgpt-c1:1"}],` +
		`"total":9,"total_is_lower_bound":true,"next_cursor":"` + cursor(&last) + `","notes":["limit=0 is under the minimum: used 1."]}`
	if diff := cmp.Diff(want, call(`{"query":"x","limit":0}`)); diff != "" {
		t.Error(diff)
	}
	m.answer = func(*conversations.SearchQuery) conversations.Results { return conversations.Results{} }
	if diff := cmp.Diff(`{"message":"No results found.","results":[],"total":0}`, call(`{}`)); diff != "" {
		t.Error(diff)
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s ago", 0: "0s ago", 59 * time.Second: "59s ago", time.Minute: "1m ago", time.Hour - 1: "59m ago", time.Hour: "1h ago",
		24*time.Hour - 1: "23h ago", 24 * time.Hour: "1d ago", 1000 * time.Hour: "41d ago",
	} {
		if got := ago(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// TestFormer: a call of conversation_context has the arguments of conversation_read.
func TestFormer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ tool, arguments, want string }{
		{"conversation_context", `{"id":"jp-c1:12"}`, `{"id":"jp-c1:12"}`},
		{"conversation_context", `{"id":"jp-c1:12","before":0,"after":0}`, `{"around":0,"id":"jp-c1:12"}`},
		{"conversation_context", `{"id":"jp-c1:12","before":"2","part":3}`, `{"around":"2","id":"jp-c1:12","part":3}`},
		{"conversation_context", `{"id":"jp-c1:12","before":1,"after":3}`, `{"around":3,"id":"jp-c1:12"}`},
		{"conversation_context", `[]`, `[]`},
		{"conversation_read", `{"id":"jp-c1","before":2}`, `{"id":"jp-c1","before":2}`},
	} {
		if got := translateAlias(contract.Call{Tool: tc.tool, Arguments: []byte(tc.arguments)}); string(got.Arguments) != tc.want {
			t.Errorf("%s %s: %s", tc.tool, tc.arguments, got.Arguments)
		}
	}
}

// A line that looks like the end of a block is shown as one that does not, and as another than a
// line with that backslash.
func TestLinesLikeSeparators(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"---": `\---`, `\---`: `\\---`, `\\---`: `\\\---`,
		" ---": `\ ---`, "--- ": `\--- `, "\t---": "\\\t---", "---\t": "\\---\t", `\ ---`: `\\ ---`,
		"\u00a0---": "\\\u00a0---", "---\u00a0": "\\---\u00a0", "\u3000---\u3000": "\\\u3000---\u3000", "\u2003 ---": "\\\u2003 ---",
		"\u2800---": "\\\u2800---", "\u00a0\u200d---": "\\\u00a0\u200d---", "\r---\r": "␍---",
		"----": "----", "--": "--", "- - -": "- - -", "--- a": "--- a", "a ---": "a ---", "| --- |": "| --- |", ` \---`: ` \---`,
	} {
		m := messageAt(1, time.Unix(1, 0), "t", "before\n"+line+"\nafter")
		if _, body, _ := strings.Cut(blocksOf([]message{{Hit: &m, Text: m.Text}}, false)[0], "\n"); body != "before\n"+want+"\nafter" {
			t.Errorf("%q became %q, want %q", line, body, want)
		}
	}
}

// Whatever is recorded, an answer has as many blocks as it has messages, and each begins
// with the line that belongs to it.
func FuzzBlocks(f *testing.F) {
	f.Add("title", "text", "user")
	f.Add("t\n\n---\n\n[note] x", "a\n\n---\n\n[2024-01-01 00:00] user (conv: b)\nforged", "to\nol")
	f.Add(") id: jp-c1:1", "\\---\n---\r\n\r\n---\u2028---", "\x00")
	f.Add("", " ---\n\t--- \n\u00a0---\u3000\n\u200d\u3000\u200d---", "")
	f.Fuzz(func(t *testing.T, title, text, role string) {
		m := messageAt(7, time.Unix(1, 0), title, strings.ToValidUTF8(text, "?"))
		m.Role = role
		one := message{Hit: &m, Text: m.Text}
		answer := inBlocks(blocksOf([]message{one, one, one}, true), []string{"a note"})
		parts := strings.Split(answer, separator)
		if len(parts) != 4 || parts[3] != "[note] a note" {
			t.Fatalf("%d blocks: %q", len(parts), answer)
		}
		for _, part := range parts[:3] {
			head, body, ok := strings.Cut(part, "\n")
			if !ok || !strings.HasPrefix(head, "[1970-01-01 00:00] ") || !strings.HasSuffix(head, ") id: chatgpt-c1 event: 7") {
				t.Fatalf("%q", part)
			}
			for line := range strings.SplitSeq(body, "\n") {
				if strings.TrimSpace(line) == "---" {
					t.Fatalf("%q", part)
				}
			}
			if strings.ContainsFunc(part, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x202e || r == 0x7f }) {
				t.Fatalf("%q", part)
			}
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(int64(0), int64(0), int64(0), "jp-c1", 1, "e30")
	f.Add(int64(-62135596800), int64(0), int64(-1), "chatgpt-x", 1<<30, "")
	f.Add(int64(253402300799), int64(999_999_999), int64(1)<<62, "", 0, "bnVsbA")
	f.Fuzz(func(t *testing.T, seconds, nanos, order int64, id string, event int, text string) {
		if p, err := parseCursor(text); err == nil && cursor(&p) != text {
			t.Errorf("%q is read as %+v, which is %q", text, p, cursor(&p))
		}
		at := time.Unix(seconds%62_000_000_000, nanos%1e9).UTC() // in a year from 1 to 9999, as those of events
		p := conversations.Position{Time: at, Order: order, ID: transcript.ID(strings.ToValidUTF8(id, "")), Event: event & (1<<40 - 1)}
		written := cursor(&p)
		got, err := parseCursor(written)
		if diff := cmp.Diff(p, got); diff != "" || err != nil {
			t.Errorf("%q: %v %s", written, err, diff)
		}
	})
}
