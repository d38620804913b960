package conversations_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/conversations"
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

// ownTool is [conversations.EventQuery.Own].
func ownTool(name string) bool { return strings.Contains(name, "conversation_") }

// randomConversations is a workspace in which anything may happen, within what a
// store reads.
func randomConversations(t *testing.T, rng *rand.Rand) *conversations.Library {
	t.Helper()
	return open(t, func(w *jptest.Workspace, _ string) {
		for i := range 1 + rng.IntN(4) {
			c := w.Conversation(fmt.Sprint(17600000000+i*1000), "x").Title(strings.NewReplacer("\n", " ", "\r", " ", "\x00", "").Replace(randomText(rng, 8)))
			if rng.IntN(8) == 0 {
				c.Hidden()
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
			c.Encode(jptest.Encoding(rng.IntN(3))).ToolCall(id(), toolNames[rng.IntN(len(toolNames))], randomArguments(rng, 0))
		case 6, 7:
			c.Encode(jptest.Encoding(rng.IntN(3))).ToolResult(id(), randomText(rng, 30), false)
		case 8:
			c.Inquiry("q", jptest.Question{Text: randomText(rng, 5)}).InquiryResponse("q", "retry")
		case 9:
			c.Structured(randomArguments(rng, rng.IntN(2)))
		case 10:
			c.ConfigDelta(map[string]any{"retry": "policy"})
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
	r, err := l.Read(t.Context(), conversations.ReadQuery{ID: string(id), Event: func(e *conversations.Event) error {
		if e.Kind == transcript.KindUser || e.Kind == transcript.KindTurnStart {
			unnamed = nil
		}
		if e.Kind == transcript.KindTurnStart {
			return nil
		}
		r := recordedEvent{
			number: len(all) + 1, turn: e.Turn, scope: e.Kind.Scope(), text: string(e.Text),
			chars: utf8.RuneCount(e.Text), time: e.Time.String(),
		}
		switch e.Kind {
		case transcript.KindToolCall:
			r.text = e.Name
			if !e.JSON {
				t.Errorf("arguments that are no JSON: %q", e.Text)
			}
			if text := string(e.Text); text != "" && text != "{}" && text != "[]" {
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
			if e.JSON {
				r.text = "" // it is not searched
			}
		}
		all = append(all, r)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return all, r.Turns
}

// oracle answers a query in the plainest way.
type oracle struct {
	q     conversations.EventQuery
	words []*regexp.Regexp
}

func newOracle(q conversations.EventQuery) *oracle {
	o := &oracle{q: q}
	texts := q.Words
	if len(texts) == 0 {
		texts = []string{q.Pattern}
	}
	for _, text := range texts {
		expr := regexp.QuoteMeta(text)
		if q.IgnoreCase {
			expr = "(?i)" + expr
		}
		o.words = append(o.words, regexp.MustCompile(expr))
	}
	return o
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

func (o *oracle) lineMatches(line string) bool {
	return slices.ContainsFunc(o.words, func(re *regexp.Regexp) bool { return re.MatchString(line) })
}

// event returns how an event matches; nil where it does not.
func (o *oracle) event(id transcript.ID, e *recordedEvent) *conversations.EventMatch {
	held := 0
	for _, re := range o.words {
		if re.MatchString(e.text) {
			held++
		}
	}
	isApart := len(o.q.Words) > 0 && !o.q.Any
	if held == 0 || isApart && held < len(o.words) {
		return nil
	}
	m := &conversations.EventMatch{Number: e.number, Turn: e.turn, Scope: e.scope}
	lines := linesOf(e.text)
	shown := map[int]bool{}
	for i, line := range lines {
		if o.lineMatches(line) {
			m.Matches++
			if o.q.MaxLines == 0 || (!isApart || o.q.Number != 0) && len(shown) < o.q.MaxLines {
				shown[i] = true
			}
		}
	}
	if isApart {
		var at []int
		m.Spread, at = o.shortest(e.text)
		for _, offset := range at {
			if line := strings.Count(e.text[:offset], "\n"); o.q.MaxLines > 0 && o.q.Number == 0 && len(shown) < o.q.MaxLines {
				shown[line] = true
			}
		}
	}
	if o.q.Wanted != nil && !o.q.Wanted(id, e.number) {
		return m
	}
	m.Chars = e.chars
	for i, line := range lines {
		near := false
		for j := i - o.q.Context; j <= i+o.q.Context; j++ {
			near = near || shown[j]
		}
		if near {
			h := fnv.New64a()
			h.Write([]byte(strings.Join(strings.Fields(line), " ")))
			m.Lines = append(m.Lines, conversations.EventLine{Number: i + 1, IsMatch: shown[i], Text: line, Sum: h.Sum64()})
		}
	}
	return m
}

// shortest tries all parts of a text.
func (o *oracle) shortest(text string) (spread int, at []int) {
	starts := []int{}
	for i := range text {
		starts = append(starts, i)
	}
	for _, i := range starts {
		end := i
		var matches []int
		for _, re := range o.words {
			loc := re.FindStringIndex(text[i:])
			if loc == nil {
				return spread, at
			}
			matches = append(matches, i+loc[0])
			end = max(end, i+loc[1])
		}
		if n := utf8.RuneCountInString(text[i:end]); spread == 0 || n < spread {
			slices.Sort(matches)
			spread, at = n, matches
		}
	}
	return spread, at
}

// answer is all that a search says.
type answer struct {
	Total, Own, Searched int
	Words                []int
	Together             []transcript.ID
	Conversations        []string
	Events               []string
}

func describe(id transcript.ID, m *conversations.EventMatch, time string) string {
	text, _ := json.Marshal(m.Lines)
	return fmt.Sprintf("%s event %d turn %d %s %q chars %d matches %d spread %d %s", id, m.Number, m.Turn, m.Scope, time, m.Chars, m.Matches, m.Spread, text)
}

func (o *oracle) answer(t *testing.T, l *conversations.Library) answer {
	t.Helper()
	listing, err := l.List(t.Context(), conversations.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	var together []transcript.ID
	if len(o.q.Words) > 0 {
		a.Words = make([]int, len(o.words))
	}
	for _, c := range listing.Conversations {
		if len(o.q.IDs) > 0 && !slices.Contains(o.q.IDs, string(c.ID)) {
			continue
		}
		a.Searched++
		all, turns := recordedEvents(t, l, c.ID)
		if o.q.Number == 0 {
			all = append([]recordedEvent{{scope: transcript.ScopeTitle, text: c.Title, chars: utf8.RuneCountInString(c.Title)}}, all...)
		}
		matches := 0
		held := make([]bool, len(o.words))
		for _, e := range all {
			e.own = e.own && o.q.Own != nil
			leftOut := e.own && !o.q.OwnToo
			if o.q.Number != 0 && e.number != o.q.Number || o.q.Scopes&e.scope == 0 && !(e.own && o.q.OwnToo) {
				continue
			}
			for i, re := range o.words {
				if !leftOut && re.MatchString(e.text) && a.Words != nil {
					a.Words[i]++
					held[i] = true
				}
			}
			m := o.event(c.ID, &e)
			if m == nil {
				continue
			}
			n := m.Matches
			if len(o.q.Words) > 0 && !o.q.Any {
				n = 1
			}
			if leftOut {
				a.Own += n
				continue
			}
			matches += n
			if e.number == 0 {
				e.time = "0001-01-01 00:00:00 +0000 UTC"
			}
			a.Events = append(a.Events, describe(c.ID, m, e.time))
		}
		if matches > 0 {
			a.Conversations = append(a.Conversations, fmt.Sprintf("%s %q: %d in %d turns", c.ID, c.Title, matches, turns))
		}
		a.Total += matches
		if a.Words != nil && !slices.Contains(held, false) {
			together = append(together, c.ID)
		}
	}
	if a.Total == 0 && !o.q.Any {
		a.Together = together
	}
	return a
}

// searchEvents asks the library.
func searchEvents(t *testing.T, l *conversations.Library, q conversations.EventQuery) answer {
	t.Helper()
	var a answer
	q.Event = func(m *conversations.EventMatch) error {
		a.Events = append(a.Events, describe(m.Conversation.ID, m, m.Time.String()))
		return nil
	}
	found, err := l.SearchEvents(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	a.Total, a.Own, a.Searched, a.Words, a.Together = found.Total, found.Own, found.Searched, found.Words, found.Together
	for _, c := range found.Conversations {
		a.Conversations = append(a.Conversations, fmt.Sprintf("%s %q: %d in %d turns", c.ID, c.Title, c.Matches, c.Turns))
	}
	return a
}

func randomQuery(rng *rand.Rand) conversations.EventQuery {
	q := conversations.EventQuery{
		Pattern: patterns[rng.IntN(len(patterns))], IgnoreCase: rng.IntN(2) == 0, Scopes: transcript.ScopeAll,
		Context: rng.IntN(3), MaxLines: rng.IntN(4),
	}
	if rng.IntN(3) == 0 {
		q.Scopes = transcript.Scopes(rng.IntN(int(transcript.ScopeAll) + 1))
	}
	if rng.IntN(2) == 0 {
		q.Own, q.OwnToo = ownTool, rng.IntN(2) == 0
	}
	if rng.IntN(3) == 0 {
		q.Wanted = func(_ transcript.ID, number int) bool { return number%2 == 0 }
	}
	if rng.IntN(2) == 0 {
		for range 1 + rng.IntN(3) {
			q.Words = append(q.Words, patterns[rng.IntN(len(patterns))])
		}
	}
	q.Any = len(q.Words) > 0 && rng.IntN(2) == 0
	for i, word := range q.Words {
		if word == "" {
			q.Words[i] = "retry"
		}
	}
	if q.Pattern == "" {
		q.Pattern = "retry"
	}
	return q
}

// A search finds what reading everything and looking at each line finds.
func TestSearchEventsAgainstAnOracle(t *testing.T) {
	t.Parallel()
	matched := 0
	for seed := range cases.Of(uint64(15)) {
		rng := rand.New(rand.NewPCG(seed, 17))
		l := randomConversations(t, rng)
		listing, err := l.List(t.Context(), conversations.ListQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			q := randomQuery(rng)
			if len(listing.Conversations) > 0 && rng.IntN(4) == 0 {
				c := listing.Conversations[rng.IntN(len(listing.Conversations))]
				q.IDs = []string{string(c.ID)}
				if all, _ := recordedEvents(t, l, c.ID); len(all) > 0 && rng.IntN(2) == 0 {
					q.Number = 1 + rng.IntN(len(all))
				}
			}
			want, got := newOracle(q).answer(t, l), searchEvents(t, l, q)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, %+v (-want +got):\n%s", seed, q, diff)
			}
			matched += len(got.Events)
		}
	}
	if matched < 1000 {
		t.Errorf("only %d events matched", matched)
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
				c.Encode(jptest.Encoding(rng.IntN(3)))
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
			q := conversations.EventQuery{Pattern: pattern, IgnoreCase: rng.IntN(2) == 0, Scopes: transcript.ScopeAll}
			if q.IgnoreCase {
				q.Pattern = strings.ToUpper(pattern)
			}
			found := false
			q.Event = func(m *conversations.EventMatch) error {
				found = found || m.Number == e.number
				return nil
			}
			if _, err := l.SearchEvents(t.Context(), q); err != nil || !found {
				t.Fatalf("seed %d: %q is not found in event %d, %q (%v)", seed, q.Pattern, e.number, e.text, err)
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d patterns", tried)
	}
}

// Events are found where lines are, and with the same lines, but for the arguments
// of tool calls, which are searched as they were meant.
func TestSearchEventsFindsTheLinesOfSearch(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 29))
		l := randomConversations(t, rng)
		for range 10 {
			q := randomQuery(rng)
			q.Words, q.Own, q.Wanted, q.MaxLines = nil, nil, nil, 0
			q.MaxLine, q.MaxWindows = conversations.MinWindow+rng.IntN(30), 1
			if q.Scopes &^= transcript.ScopeToolCall; q.Scopes == 0 {
				q.Scopes = transcript.ScopeToolResult
			}
			var want, got []string
			lines, err := l.Search(t.Context(), conversations.SearchQuery{
				Pattern: q.Pattern, IgnoreCase: q.IgnoreCase, Scopes: q.Scopes, Context: q.Context, MaxLine: q.MaxLine, CountAll: true,
				Line: func(line *conversations.Line) error {
					want = append(want, fmt.Sprint(line.Conversation.ID, line.Turn, line.Scope, line.Time, line.Number, line.IsMatch, line.Chars, string(line.Text)))
					return nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			q.Event = func(m *conversations.EventMatch) error {
				for _, line := range m.Lines {
					got = append(got, fmt.Sprint(m.Conversation.ID, m.Turn, m.Scope, m.Time, line.Number, line.IsMatch, line.Chars, line.Text))
				}
				return nil
			}
			events, err := l.SearchEvents(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, %+v (-want +got):\n%s", seed, q, diff)
			}
			if lines.Total != events.Total || lines.Searched != events.Searched || lines.Matched != len(events.Conversations) ||
				fmt.Sprint(lines.Aside) != fmt.Sprint(events.Aside) {
				t.Fatalf("seed %d, %+v: lines %+v, events %+v", seed, q, lines, events)
			}
			for i, c := range events.Conversations {
				if m := lines.Conversations[i]; m.ID != c.ID || m.Matches != c.Matches || m.Turns != c.Turns {
					t.Fatalf("%+v, %+v", m, c)
				}
			}
		}
	}
}

// Of an event that is searched alone, its lines follow one another, so that they can be
// paged.
func TestLinesOfOneEventAreTheFirst(t *testing.T) {
	t.Parallel()
	l := open(t, func(w *jptest.Workspace, _ string) {
		w.Conversation("17600000000", "x").TurnStart().User("cap\nno\nretry\nno\ncap\nno\nretry cap")
	})
	for number, want := range [][]string{{"retry cap"}, {"cap", "retry"}} {
		found, err := l.SearchEvents(t.Context(), conversations.EventQuery{
			Words: []string{"retry", "cap"}, Scopes: transcript.ScopeAll, Number: number, MaxLines: 2,
			Filter: conversations.Filter{IDs: []string{"17600000000"}},
			Event: func(m *conversations.EventMatch) error {
				var lines []string
				for _, line := range m.Lines {
					lines = append(lines, line.Text)
				}
				if m.Matches != 4 || !slices.Equal(lines, want) {
					t.Errorf("number %d: %d matches, %q", number, m.Matches, lines)
				}
				return nil
			},
		})
		if err != nil || found.Total != 1 {
			t.Errorf("number %d: %+v, %v", number, found, err)
		}
	}
}

func TestSearchEventsErrors(t *testing.T) {
	t.Parallel()
	l := several(t)
	var pattern *conversations.PatternError
	for _, q := range []conversations.EventQuery{{}, {Pattern: "a\nb"}, {Words: []string{"a", ""}}, {Words: []string{"a\rb"}}, {Words: make([]string, conversations.MaxWords+1)}} {
		if _, err := l.SearchEvents(t.Context(), q); !errors.As(err, &pattern) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	var notFound *conversations.NotFoundError
	if _, err := l.SearchEvents(t.Context(), conversations.EventQuery{Pattern: "x", Filter: conversations.Filter{IDs: []string{"5"}}}); !errors.As(err, &notFound) {
		t.Errorf("%v", err)
	}
	var outside *conversations.EventRangeError
	for id, events := range map[string]int{"17600000000": 3, "17640000000": 1} { // the other one is damaged
		for _, n := range []int{-1, events + 1} {
			q := conversations.EventQuery{Pattern: "x", Number: n, Filter: conversations.Filter{IDs: []string{id}}}
			if _, err := l.SearchEvents(t.Context(), q); !errors.As(err, &outside) || outside.Number != n || outside.Events != events || outside.ID != transcript.ID("jp-c"+id) {
				t.Errorf("event %d of %s: %v", n, id, err)
			}
		}
	}
	two := conversations.EventQuery{Pattern: "retry", IgnoreCase: true, Scopes: transcript.ScopeAll, Number: 3, Filter: conversations.Filter{IDs: []string{"17600000000", "17610000000"}}}
	if found, err := l.SearchEvents(t.Context(), two); err != nil || found.Total != 0 || found.Searched != 2 {
		t.Errorf("%+v, %v", found, err)
	}
	enough := errors.New("enough")
	for _, words := range [][]string{nil, {"retry"}} {
		q := conversations.EventQuery{Pattern: "retry", Words: words, IgnoreCase: true, Scopes: transcript.ScopeAll, Event: func(*conversations.EventMatch) error { return enough }}
		if _, err := l.SearchEvents(t.Context(), q); !errors.Is(err, enough) {
			t.Errorf("%v", err)
		}
	}
}

// What is left out, or cannot be read to its end, is part of the answer.
func TestSearchEventsAside(t *testing.T) {
	t.Parallel()
	q := conversations.EventQuery{Pattern: "retry", IgnoreCase: true, Scopes: transcript.ScopeAll, Filter: conversations.Filter{Exclude: []string{"17600000000"}}}
	found, err := several(t).SearchEvents(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if found.Aside.Hidden != 1 || !slices.Equal(found.Aside.Excluded, []transcript.ID{"jp-c17600000000"}) || found.Searched != 3 || found.Total != 2 {
		t.Errorf("%+v", found)
	}
	kinds := map[conversations.ProblemKind]transcript.ID{}
	for _, p := range found.Aside.Problems {
		kinds[p.Kind] = p.ID
	}
	if want := map[conversations.ProblemKind]transcript.ID{conversations.BadMetadata: "jp-c17660000000", conversations.DamagedEvents: "jp-c17640000000"}; !maps.Equal(kinds, want) {
		t.Errorf("problems %v, want %v", kinds, want)
	}
	q.Exclude, q.IDs, q.Number = []string{"17600000000"}, []string{"17600000000"}, 99
	if found, err := several(t).SearchEvents(t.Context(), q); err != nil || found.Searched != 0 || len(found.Aside.Excluded) != 1 {
		t.Errorf("%+v, %v", found, err)
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
	numbers := func(q conversations.EventQuery) (all []int, found conversations.EventMatches) {
		q.Pattern, q.Own = "retry", ownTool
		q.Event = func(m *conversations.EventMatch) error {
			all = append(all, m.Number)
			return nil
		}
		found, err := l.SearchEvents(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return all, found
	}
	own, others := []int{2, 4, 6, 7, 12, 14, 16}, []int{1, 3, 5, 8, 9, 10, 11, 13, 15, 17, 18, 19}
	if got, found := numbers(conversations.EventQuery{Scopes: transcript.ScopeAll}); !slices.Equal(got, others) || found.Own != 10 {
		t.Errorf("%v, %d own", got, found.Own)
	}
	if got, found := numbers(conversations.EventQuery{OwnToo: true}); !slices.Equal(got, own) || found.Own != 0 || found.Total != 10 {
		t.Errorf("%v, %+v", got, found)
	}
	if got, found := numbers(conversations.EventQuery{Scopes: transcript.ScopeChat}); !slices.Equal(got, []int{1, 17}) || found.Own != 0 {
		t.Errorf("%v, %d own, which the scopes leave out anyway", got, found.Own)
	}
	if got, found := numbers(conversations.EventQuery{Scopes: transcript.ScopeAll, Number: 6}); got != nil || found.Own != 2 {
		t.Errorf("%v, %d own", got, found.Own)
	}
	if _, found := numbers(conversations.EventQuery{Scopes: transcript.ScopeAll, Words: []string{"RE", "try"}}); found.Own != 0 || found.Words[0] != 0 || found.Words[1] != 12 {
		t.Errorf("%+v", found)
	}
	if _, found := numbers(conversations.EventQuery{Scopes: transcript.ScopeAll, Words: []string{"RE", "try"}, IgnoreCase: true}); found.Own != 7 || found.Words[0] != 12 || found.Total != 12 {
		t.Errorf("%+v", found)
	}
}

// Events that find no room in memory are searched for again, and nothing is lost,
// doubled or out of order.
func TestEventsThatFindNoRoom(t *testing.T) {
	const events, conversationCount = 60_000, 3
	l := open(t, func(w *jptest.Workspace, _ string) {
		text := `[{"timestamp":"2026-05-29 19:42:36.5","type":"turn_start"}` + strings.Repeat(`,{"timestamp":"2026-05-29 19:42:36.5","type":"chat_request","content":"a needle\nand a needle"}`, events) + "]"
		for i := range conversationCount {
			w.Conversation(fmt.Sprint(17600000000+i), "x").File(jptest.EventsFile, []byte(text))
		}
	})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, peak := 0, uint64(0)
	found, err := l.SearchEvents(t.Context(), conversations.EventQuery{
		Pattern: "needle", Scopes: transcript.ScopeAll, MaxLines: 1,
		Event: func(m *conversations.EventMatch) error {
			want := n%events + 1
			if m.Number != want || m.Turn != 1 || m.Matches != 2 || len(m.Lines) != 1 || m.Lines[0].Text != "a needle" || m.Chars != 21 ||
				m.Conversation.ID != transcript.ID(fmt.Sprint("jp-c", 17600000000+n/events)) {
				t.Fatalf("event %d of all is %+v of %+v", n, m, m.Conversation)
			}
			if n++; n%events == 1 {
				runtime.GC()
				runtime.ReadMemStats(&after)
				peak = max(peak, after.HeapAlloc)
			}
			return nil
		},
	})
	if err != nil || n != events*conversationCount || found.Total != 2*n || len(found.Conversations) != conversationCount {
		t.Errorf("%d events, %d lines, %v", n, found.Total, err)
	}
	if grown := int64(peak) - int64(before.HeapAlloc); grown > 40<<20 {
		t.Errorf("%d bytes more are held", grown)
	}
}

// A search ends soon after its context, also within one event.
func TestSearchEventsIsCanceled(t *testing.T) {
	t.Parallel()
	l := open(t, func(w *jptest.Workspace, _ string) {
		w.Conversation("17600000000", "x").User(strings.Repeat("a needle\n", 1_000_000))
	})
	for _, words := range [][]string{nil, {"needle", "a"}} {
		ctx, cancel := context.WithCancel(t.Context())
		found, err := l.SearchEvents(ctx, conversations.EventQuery{
			Pattern: "needle", Words: words, Scopes: transcript.ScopeAll,
			Wanted: func(transcript.ID, int) bool {
				cancel()
				return false
			},
			Event: func(*conversations.EventMatch) error { return nil },
		})
		if !errors.Is(err, context.Canceled) || found.Total != 0 {
			t.Errorf("%d matches, %v", found.Total, err)
		}
	}
}
