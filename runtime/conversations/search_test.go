package conversations_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/transcript"
)

// pieces are what random texts are made of: words that are searched for, others
// that fold to them or nearly, and what JSON has to escape.
var pieces = []string{
	"retry", "Retry", "policy", "POLICY", "re", "try", "\u212aelvin", "kelvin", "mi\u017ft", "MIST", "ß", "\u00e9t\u00e9", "\u65e5\u672c",
	"\n", "\n", "\r\n", "\r", "\t", " ", " ", "  ", `"`, `\`, `\n`, `\u0041`, "/", "{", "}", ":", ",", "[", "null", "\x00", "\u2028", "\U0001f600", "retry policy", `"retry"`,
}

var patterns = []string{
	"retry", "RETRY", "try", "policy", "kelvin", "mist", "\u212aELVIN", "\u00c9T\u00c9", "\u65e5", "e", "y p", "retry policy", `"retry"`, `"`, `\`, `\n`, `\\`, "\t", " ", "  ", `": "`,
	"retry\"", "/", "fs_read", "conversation_grep", "retryretry", "policy,", "\U0001f600", "null", "A", "nretry", "tpolicy",
	`retry": "`, `y": null`, `policy": [`, "retry\"policy", "retry/retry", "try\tpolicy",
}

func randomText(rng *rand.Rand, most int) string {
	var b strings.Builder
	for range rng.IntN(most) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
	}
	return b.String()
}

func randomArguments(rng *rand.Rand, depth int) any {
	switch n := rng.IntN(8); {
	case n == 0 && depth > 0:
		return nil
	case n == 1:
		return rng.IntN(100)
	case n == 2 && depth < 3:
		return []any{randomArguments(rng, depth+1), randomArguments(rng, depth+1)}
	case n < 5 && depth > 0:
		return randomText(rng, 12)
	}
	object := map[string]any{}
	if depth < 3 {
		for range rng.IntN(3) {
			object["k"+randomText(rng, 3)] = randomArguments(rng, depth+1)
		}
	}
	return object
}

var toolNames = []string{"fs_read", "fs_read", "conversation_grep", "mcp__x__conversation_read", "say \"retry\"\nre", ""}

// ownTool is [conversations.SearchQuery.Own].
func ownTool(name string) bool { return strings.Contains(name, "conversation_") }

// randomConversations is a workspace in which anything may happen, within what a
// store reads.
func randomConversations(t *testing.T, rng *rand.Rand) *conversations.Library {
	t.Helper()
	return open(t, func(w *jptest.Workspace, _ string) {
		for i := range 1 + rng.IntN(4) {
			c := w.Conversation(fmt.Sprint(17600000000+i*1000), "x").Title(strings.NewReplacer("\n", " ", "\r", " ", "\x00", "").Replace(randomText(rng, 8)))
			if rng.IntN(8) == 0 {
				c.Set("hidden", true)
			}
			randomEvents(rng, c)
			if rng.IntN(8) == 0 {
				c.Edit(jptest.EventsFile, func(data []byte) []byte { return data[:max(len(data)-20, 1)] })
			}
		}
	})
}

func randomEvents(rng *rand.Rand, c *jptest.Conversation) {
	id := func() string { return []string{"a", "b", "c", "d", ""}[rng.IntN(5)] }
	for range rng.IntN(30) {
		switch rng.IntN(12) {
		case 0:
			c.TurnStart()
		case 1:
			c.User(randomText(rng, 20))
		case 2:
			c.Assistant(randomText(rng, 20))
		case 3:
			c.Reasoning(randomText(rng, 5))
		case 4, 5:
			c.ToolCall(id(), toolNames[rng.IntN(len(toolNames))], randomArguments(rng, 0))
		case 6, 7:
			c.ToolResult(id(), randomText(rng, 30), false)
		case 8:
			c.Inquiry("q", randomText(rng, 5)).Event("inquiry_response", "id", "q", "answer", "retry")
		case 9:
			c.Event("chat_response", "data", randomArguments(rng, rng.IntN(2)))
		case 10:
			c.Event("config_delta", "delta", map[string]any{"retry": "policy"})
		case 11:
			// Escapes that no writer of ours makes.
			c.RawEvent(`{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_request","id":"a","name":"f\u0073_read","arguments":{ "a\/b" : "re\u0074ry \ud83d\ude00\ud83d \u006Eo\\n" }}`)
		}
		if rng.IntN(6) == 0 {
			c.Later(1e9 * 3600 * 100)
		}
	}
}

// recorded is an event as the oracle sees it.
type recordedEvent struct {
	number, turn int
	scope        transcript.Scopes
	text         string
	chars        int
	time         string
	own          bool
}

var jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// recordedEvents reads all events of a conversation and decodes all of them.
func recordedEvents(t *testing.T, l *conversations.Library, id transcript.ID) (all []recordedEvent, turns int) {
	t.Helper()
	ids := map[string]bool{}
	var unnamed []bool
	r, err := readEach(t.Context(), l, conversations.ReadQuery{ID: string(id)}, func(e *conversations.Event) error {
		if e.Kind == transcript.KindUser || e.Kind == transcript.KindTurnStart {
			unnamed = nil
		}
		if e.Kind == transcript.KindTurnStart {
			return nil
		}
		r := recordedEvent{
			number: len(all) + 1, turn: e.Turn, scope: e.Kind.Scope(), text: string(e.Body()),
			chars: utf8.RuneCount(e.Body()), time: e.Time.String(),
		}
		switch e.Kind {
		case transcript.KindToolCall:
			r.text = e.Name
			if len(e.Arguments) == 0 {
				t.Errorf("arguments that are no JSON: %q", e.Text)
			}
			if text := string(e.Body()); text != "" && text != "{}" && text != "[]" {
				r.text += "\n" + jsonString.ReplaceAllStringFunc(text, func(literal string) string {
					var s string
					if err := json.Unmarshal([]byte(literal), &s); err != nil {
						t.Errorf("%s: %v", literal, err)
					}
					return `"` + s + `"`
				})
			}
			r.own = ownTool(e.Name)
			if e.CallID == "" {
				unnamed = append(unnamed, r.own)
			} else {
				ids[e.CallID] = r.own
			}
		case transcript.KindToolResult:
			r.own = ids[e.CallID]
			if e.CallID == "" && len(unnamed) > 0 {
				r.own, unnamed = unnamed[0], unnamed[1:]
			}
		case transcript.KindStructured:
			if len(e.Arguments) > 0 {
				r.text = "" // it is not searched
			}
		}
		all = append(all, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, r.Turns
}

// linesOf returns the lines of a text.
func linesOf(text string) []string {
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

// answer is all that a search says.
type answer struct {
	Total, Own, Searched int
	Conversations        []string
	Events               []string
}

// naiveSearch answers a query in the plainest way.
func naiveSearch(t *testing.T, l *conversations.Library, q *conversations.SearchQuery, expr string) answer {
	t.Helper()
	re := regexp.MustCompile(expr)
	listing, err := l.List(t.Context(), conversations.ListQuery{Sort: q.Sort, Ascending: q.Ascending})
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	for _, c := range listing.Conversations {
		if len(q.IDs) > 0 && !slices.Contains(q.IDs, string(c.ID)) {
			continue
		}
		a.Searched++
		all, turns := recordedEvents(t, l, c.ID)
		all = append([]recordedEvent{{scope: transcript.ScopeTitle, text: c.Title, time: time.Time{}.String()}}, all...)
		matches := 0
		for _, e := range all {
			isOwn := e.own && q.Own != nil
			asked := q.Scopes&e.scope != 0 || q.Scopes == 0 && !q.OwnToo && e.scope != 0
			if !asked && !(isOwn && q.OwnToo) {
				continue
			}
			n := 0
			for _, line := range linesOf(e.text) {
				if re.MatchString(line) {
					n++
				}
			}
			switch {
			case n == 0:
			case isOwn && !q.OwnToo:
				a.Own += n
			default:
				matches += n
				a.Events = append(a.Events, fmt.Sprintf("%s %d turn %d %s %s: %d lines of %q", c.ID, e.number, e.turn, e.scope, e.time, n, e.text))
			}
		}
		if matches > 0 {
			a.Conversations = append(a.Conversations, fmt.Sprintf("%s %q: %d in %d turns", c.ID, c.Title, matches, turns))
		}
		a.Total += matches
	}
	return a
}

// search asks the library.
func search(t *testing.T, l *conversations.Library, q *conversations.SearchQuery) answer {
	t.Helper()
	found, err := l.Search(t.Context(), *q)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{Total: found.Total, Own: found.Own, Searched: found.Searched}
	for i := range found.Hits {
		h := &found.Hits[i]
		content, err := found.Read(h)
		if err != nil {
			t.Fatal(err)
		}
		a.Events = append(a.Events, fmt.Sprintf("%s %d turn %d %s %s: %d lines of %q", h.Conversation.ID, h.Number, h.Turn, h.Scope, h.Time, h.Lines, content))
	}
	for _, c := range found.Conversations {
		a.Conversations = append(a.Conversations, fmt.Sprintf("%s %q: %d in %d turns", c.ID, c.Title, c.Matches, c.Size.Turns))
	}
	return a
}

func randomQuery(t *testing.T, rng *rand.Rand) (q conversations.SearchQuery, expr string) {
	t.Helper()
	q.Scopes = transcript.ScopeAll
	if rng.IntN(3) == 0 {
		q.Scopes = transcript.Scopes(rng.IntN(int(transcript.ScopeAll) + 1))
	}
	if rng.IntN(2) == 0 {
		q.Own, q.OwnToo = ownTool, rng.IntN(2) == 0
	}
	q.Sort, q.Ascending = []conversations.Sort{conversations.ByActivity, conversations.ByCreation}[rng.IntN(2)], rng.IntN(2) == 0
	pattern, isRegex, ignoreCase := patterns[rng.IntN(len(patterns))], rng.IntN(4) == 0, rng.IntN(2) == 0
	expr = regexp.QuoteMeta(pattern)
	if isRegex {
		pattern = []string{"re.?try", `\bretry\b`, "^p", "y$", "[k\u212a]", "(retry|policy)+", "^$", "é."}[rng.IntN(8)]
		expr = pattern
	}
	if ignoreCase {
		expr = "(?i)" + expr
	}
	var err error
	if q.Pattern, err = excerpt.Compile(pattern, isRegex, ignoreCase); err != nil {
		t.Fatal(err)
	}
	return q, expr
}

// A search finds all that is found by reading everything and looking at each line.
func TestSearchAgainstAnOracle(t *testing.T) {
	t.Parallel()
	matched := 0
	for seed := range cases.Of(uint64(6)) {
		rng := rand.New(rand.NewPCG(seed, 17))
		l := randomConversations(t, rng)
		listing, err := l.List(t.Context(), conversations.ListQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			q, expr := randomQuery(t, rng)
			if len(listing.Conversations) > 0 && rng.IntN(4) == 0 {
				q.IDs = []string{string(listing.Conversations[rng.IntN(len(listing.Conversations))].ID)}
			}
			want, got := naiveSearch(t, l, &q, expr), search(t, l, &q)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, %q in %+v (-want +got):\n%s", seed, expr, q, diff)
			}
			matched += len(got.Events)
		}
	}
	if matched < 400 {
		t.Errorf("only %d events matched", matched)
	}
}

// literal is a pattern of one line.
func literal(t *testing.T, text string, ignoreCase bool) *excerpt.Pattern {
	t.Helper()
	p, err := excerpt.Compile(text, false, ignoreCase)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSearchErrors(t *testing.T) {
	t.Parallel()
	var notFound *conversations.NotFoundError
	if _, err := several(t).Search(t.Context(), conversations.SearchQuery{Pattern: literal(t, "x", true), Filter: conversations.Filter{IDs: []string{"5"}}}); !errors.As(err, &notFound) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := several(t).Search(ctx, conversations.SearchQuery{Pattern: literal(t, "x", true)}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// What is left out, or cannot be read to its end, is part of the answer, each time it is asked.
func TestSearchOmits(t *testing.T) {
	t.Parallel()
	l := several(t)
	for range 2 {
		found, err := l.Search(t.Context(), conversations.SearchQuery{Pattern: literal(t, "retry", true), Filter: conversations.Filter{Exclude: []string{"17600000000"}}})
		if err != nil {
			t.Fatal(err)
		}
		if found.Hidden != 1 || !slices.Equal(found.Excluded, []transcript.ID{"jp-c17600000000"}) || found.Searched != 3 || found.Total != 2 {
			t.Errorf("%+v", found)
		}
		kinds := map[store.ProblemKind]transcript.ID{}
		for _, p := range found.Problems {
			kinds[p.Kind] = p.ID
		}
		if want := map[store.ProblemKind]transcript.ID{store.BadMetadata: "jp-c17660000000", store.DamagedEvents: "jp-c17640000000"}; !maps.Equal(kinds, want) {
			t.Errorf("problems %v, want %v", kinds, want)
		}
	}
}

// Whatever stands in a line of an event is found, however it is stored: no test on
// the bytes as they are stored leaves it out.
func TestEveryPartOfAnEventIsFound(t *testing.T) {
	t.Parallel()
	words := []string{"retry", "policy", "kelvin", "Tide", "marks", "4711", "x", "\u00e9t\u00e9", `"`, "\n", " ", ": ", "\\", "/"}
	tried := 0
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 23))
		text := func() string {
			var b strings.Builder
			for range 1 + rng.IntN(6) {
				b.WriteString(words[rng.IntN(len(words)-rng.IntN(len(words)-1))])
			}
			return b.String()
		}
		l := open(t, func(w *jptest.Workspace, _ string) {
			c := w.Conversation("17600000000", "x")
			for range 12 {
				c.ToolCall("a", words[rng.IntN(4)], map[string]any{text(): text(), "list": []any{text(), 4711, nil, map[string]any{"path": text()}}})
				c.ToolResult("a", text(), false).User(text())
			}
		})
		all, _ := recordedEvents(t, l, "jp-c17600000000")
		for range 60 {
			e := &all[rng.IntN(len(all))]
			lines := linesOf(e.text)
			if len(lines) == 0 {
				continue
			}
			line := []rune(lines[rng.IntN(len(lines))])
			from := rng.IntN(len(line) + 1)
			pattern := string(line[from:min(len(line), from+4+rng.IntN(14))])
			if pattern == "" {
				continue
			}
			tried++
			ignoreCase := rng.IntN(2) == 0
			if ignoreCase {
				pattern = strings.ToUpper(pattern)
			}
			found, err := l.Search(t.Context(), conversations.SearchQuery{Pattern: literal(t, pattern, ignoreCase)})
			if err != nil || !slices.ContainsFunc(found.Hits, func(h conversations.Hit) bool { return h.Number == e.number }) {
				t.Fatalf("seed %d: %q is not found in event %d, %q (%v)", seed, pattern, e.number, e.text, err)
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d patterns", tried)
	}
}

// Results belong to the calls whose id they have, however these are interleaved.
func TestOwnTools(t *testing.T) {
	t.Parallel()
	l := open(t, func(w *jptest.Workspace, _ string) {
		c := w.Conversation("17600000000", "x").TurnStart().User("retry") // 1
		call := func(id, tool string) { c.ToolCall(id, tool, map[string]any{"pattern": "retry"}) }
		result := func(id string) { c.ToolResult(id, "retry\nretry", false) }
		call("1", "conversation_grep") // 2, own
		call("2", "fs_grep")
		call("3", "mcp__x__conversation_read") // 4, own
		result("2")
		result("3") // 6, own
		result("1") // 7, own
		call("1", "fs_grep")
		result("1")
		result("unknown")
		call("", "fs_grep")
		call("", "conversation_grep") // 12, own
		result("")
		result("") // 14, own
		result("")
		call("", "conversation_grep") // 16, own, never answered
		c.TurnStart().User("retry")
		call("", "fs_grep")
		result("")
	})
	numbers := func(q conversations.SearchQuery) (all []int, found *conversations.Results) {
		q.Pattern, q.Own = literal(t, "retry", false), ownTool
		found, err := l.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range found.Hits {
			all = append(all, h.Number)
		}
		return all, found
	}
	own, others := []int{2, 4, 6, 7, 12, 14, 16}, []int{1, 3, 5, 8, 9, 10, 11, 13, 15, 17, 18, 19}
	if got, found := numbers(conversations.SearchQuery{Scopes: transcript.ScopeAll}); !slices.Equal(got, others) || found.Own != 10 {
		t.Errorf("%v, %d own", got, found.Own)
	}
	if got, found := numbers(conversations.SearchQuery{OwnToo: true}); !slices.Equal(got, own) || found.Own != 0 || found.Total != 10 {
		t.Errorf("%v, %+v", got, found)
	}
	if got, found := numbers(conversations.SearchQuery{Scopes: transcript.ScopeChat}); !slices.Equal(got, []int{1, 17}) || found.Own != 0 {
		t.Errorf("%v, %d own, which the scopes leave out anyway", got, found.Own)
	}
}

// A search of very many events holds little of each.
func TestManyHits(t *testing.T) {
	const events, conversationCount = 40_000, 3
	l := open(t, func(w *jptest.Workspace, _ string) {
		text := `[{"timestamp":"2026-05-29 19:42:36.5","type":"turn_start"}` + strings.Repeat(`,{"timestamp":"2026-05-29 19:42:36.5","type":"chat_request","content":"a needle\nand a needle"}`, events) + "]"
		for i := range conversationCount {
			w.Conversation(fmt.Sprint(17600000000+i), "x").File(jptest.EventsFile, []byte(text))
		}
	})
	found, err := l.Search(t.Context(), conversations.SearchQuery{Pattern: literal(t, "needle", false)})
	if err != nil || found.Total != 2*events*conversationCount || len(found.Conversations) != conversationCount {
		t.Fatalf("%d lines in %d conversations, %v", found.Total, len(found.Conversations), err)
	}
	for n, h := range found.Hits {
		if want := n%events + 1; h.Number != want || h.Turn != 1 || h.Lines != 2 || h.Conversation.ID != transcript.ID(fmt.Sprint("jp-c", 17600000000+n/events)) {
			t.Fatalf("event %d of all is %+v", n, h)
		}
	}
}
