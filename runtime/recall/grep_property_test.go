package recall_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/cases"
	visible "github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/recall"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// heard is an event of a random workspace; number 0 is a title.
type heard struct {
	number int
	scope  string
	lines  []string
	own    bool // a result of one of the conversation tools
}

// isUsual reports whether an event is searched where scopes are not given. That of a call has
// no text to look for.
func (e *heard) isUsual() bool { return !e.own && e.scope != "tool-call" }

func (e *heard) said() bool { return e.scope == "user" || e.scope == "assistant" }

// heardConversation is a conversation of a random workspace.
type heardConversation struct {
	id     string
	events []heard
}

// randomLine is a line that may hold a word that is searched for, and is often equal to
// others.
func randomLine(r *rand.Rand) string {
	words := []string{
		"retry", "the retry", "cap", "a delay", "delay cap", "retry cap", "other", "more words than these", "", "  ", "}", "\t\tretry",
		"]]> retry", "<hit>retry</hit>", "</event>", "retry \u202e x", "\x1b[0m retry", "潮 retry", "&amp; cap", "…",
	}
	line := words[r.IntN(len(words))]
	switch r.IntN(6) {
	case 0:
		line += " " + words[r.IntN(len(words))]
	case 1:
		line += fmt.Sprint(" ", r.IntN(40))
	case 2:
		if r.IntN(8) == 0 {
			line += strings.Repeat(" filler", r.IntN(400)) + " retry"
		}
	}
	return line
}

func randomWorkspace(r *rand.Rand, w *jptest.Workspace) []heardConversation {
	var all []heardConversation
	for i := range 1 + r.IntN(30) {
		c := w.Conversation(fmt.Sprint(17600000000+i*1000), "x")
		heardHere := heardConversation{id: c.ID()}
		title := strings.TrimSpace(randomLine(r))
		c.Title(title)
		heardHere.events = append(heardHere.events, heard{scope: "title", lines: []string{title}})
		c.TurnStart()
		for range 1 + r.IntN(7) {
			e := heard{number: len(heardHere.events)}
			for range 1 + r.IntN(8) {
				e.lines = append(e.lines, randomLine(r))
			}
			text := strings.Join(e.lines, "\n")
			switch r.IntN(5) {
			case 0:
				e.scope = "user"
				c.User(text)
			case 1:
				e.scope = "assistant"
				c.Assistant(text)
			case 2:
				e.scope = "reasoning"
				c.Reasoning(text)
			default:
				id, tool := fmt.Sprint("call", e.number), "fs_read"
				e.own = r.IntN(4) == 0
				if e.own {
					tool = "mcp__convtools__conversation_grep"
				}
				c.ToolCall(id, tool, map[string]any{})
				heardHere.events = append(heardHere.events, heard{number: e.number, scope: "tool-call", own: e.own, lines: []string{tool}})
				e.number++
				e.scope = "tool-result"
				c.ToolResult(id, text, false)
			}
			heardHere.events = append(heardHere.events, e)
		}
		all = append(all, heardHere)
	}
	slices.Reverse(all) // newest first
	return all
}

// expected is a matching line and where it is shown.
type expected struct {
	id     string
	number int
	line   string
}

// theOrder is the lines that all pages together show, in order, and how many match in
// all: the plainest way to say what is promised. also is how many other events hold a
// line, and more how many lines of an event are shown neither there nor elsewhere.
func theOrder(all []heardConversation, holds func(line string) bool) (order []expected, matches int, also map[expected]int, more map[string]int) {
	also, more = map[expected]int{}, map[string]int{}
	first := map[string]expected{} // by what a line is but for white space: where it is shown
	queues := make([][]expected, len(all))
	class := func(e *heard) int {
		switch {
		case e.said():
			return 0
		case e.number == 0:
			return 1
		case e.scope != "reasoning":
			return 2
		}
		return 3
	}
	for i := range all {
		for c := range 4 {
			for j := range all[i].events {
				e := &all[i].events[j]
				if class(e) != c {
					continue
				}
				seen := map[string]bool{}
				here := 0
				for _, line := range e.lines {
					if !holds(line) {
						continue
					}
					matches++
					more[fmt.Sprint(all[i].id, ":", e.number)]++
					sum := strings.Join(strings.Fields(line), " ")
					if here++; here > 3 || seen[sum] {
						continue
					}
					seen[sum] = true
					more[fmt.Sprint(all[i].id, ":", e.number)]--
					if at, ok := first[sum]; ok {
						also[at]++
						continue
					}
					first[sum] = expected{all[i].id, e.number, line}
					queues[i] = append(queues[i], first[sum])
				}
			}
		}
	}
	for round, left := 0, true; left; round++ { // in turn one of each conversation
		left = false
		for _, q := range queues {
			if round < len(q) {
				order, left = append(order, q[round]), true
			}
		}
	}
	return order, matches, also, more
}

// grepping calls conversation_grep.
func grepping(t *testing.T, tools *recall.Tools, arguments map[string]any) *answerElement {
	t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := conversation.Call(t.Context(), tools, contract.Call{Tool: "conversation_grep", Arguments: raw})
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	root := check(t, "conversation_grep", answer)
	notesOf(t, root)
	if limit, ok := arguments["limit"].(int); (!ok || limit <= 50) && arguments["context"] == nil && utf8.RuneCountInString(answer) > 10_000 {
		t.Errorf("%s: %d characters", raw, utf8.RuneCountInString(answer))
	}
	return root
}

// linesShown is how many matching lines an answer says that it shows.
func linesShown(root *answerElement) string {
	return cmp.Or(root.attr("returned"), root.attr("matches"))
}

// shownHit is a matching line of an answer.
type shownHit struct {
	id     string
	number int
	text   string
	also   string
}

// shownHits returns the matching lines of an answer as they stand, and checks what each event
// says of itself.
func shownHits(t *testing.T, root *answerElement) (hits []shownHit) {
	t.Helper()
	add := func(id string, number int, list []answerElement) {
		for i := range list {
			if list[i].attr("is_match") == "" {
				hits = append(hits, shownHit{id, number, list[i].Text, list[i].attr("also")})
			}
		}
	}
	for _, c := range root.all("conversation") {
		add(c.attr("id"), 0, c.all("hit"))
		for _, e := range c.all("event") {
			number, err := strconv.Atoi(e.attr("event"))
			if err != nil || number < 1 {
				t.Errorf("event=%q", e.attr("event"))
			}
			add(c.attr("id"), number, e.all("hit"))
		}
	}
	if got := linesShown(root); got != strconv.Itoa(len(hits)) {
		t.Errorf("returned=%s of %d hits", got, len(hits))
	}
	return hits
}

// shows reports whether a hit may be how a line is shown.
func (h *shownHit) shows(e expected, like *regexp.Regexp) bool {
	if h.id != e.id || h.number != e.number {
		return false
	}
	if utf8.RuneCountInString(e.line) > 100 {
		return like.MatchString(h.text)
	}
	return h.text == visible.Line(e.line)
}

// TestGrepPages: all pages together show each line once, in the order that is
// promised, and say what they leave out.
func TestGrepPages(t *testing.T) {
	t.Parallel()
	pages, joined, more := 0, 0, 0
	for seed := range cases.Of(uint64(10)) {
		r := rand.New(rand.NewPCG(seed, 7))
		var all []heardConversation
		tools := overSource(workspaceOf(t, func(w *jptest.Workspace) { all = randomWorkspace(r, w) }))
		asked := []struct {
			arguments map[string]any
			like      string
			searched  func(*heard) bool
		}{
			{map[string]any{"pattern": "retry", "ignore_case": false}, "retry", (*heard).isUsual},
			{map[string]any{"pattern": "rETRy"}, "retry", (*heard).isUsual},
			{map[string]any{"pattern": "(re|he )try|A.D.L", "regex": true}, "(?i)(re|he )try|A.D.L", (*heard).isUsual},
			{map[string]any{"pattern": `^\s*(a|re)[^e]*$`, "regex": true, "ignore_case": false}, `^\s*(a|re)[^e]*$`, (*heard).isUsual},
			{map[string]any{"pattern": "</", "scopes": []string{"chat", "tool-result"}}, "</", func(e *heard) bool {
				return !e.own && e.number > 0 && e.scope != "tool-call"
			}},
			{map[string]any{"pattern": "ret", "scopes": []string{"recall", "title"}}, "ret", func(e *heard) bool { return e.own || e.number == 0 }},
		}[seed%6]
		for i := range all {
			all[i].events = slices.DeleteFunc(all[i].events, func(e heard) bool { return !asked.searched(&e) })
		}
		like := regexp.MustCompile(asked.like)
		order, matches, also, notShown := theOrder(all, like.MatchString)
		limit := 1 + r.IntN(60)
		for offset := 0; offset < len(order); pages++ {
			arguments := map[string]any{"limit": limit, "offset": offset}
			maps.Copy(arguments, asked.arguments)
			root := grepping(t, tools, arguments)
			hits := shownHits(t, root)
			if root.attr("matches") != strconv.Itoa(matches) || len(hits) == 0 || len(hits) > limit {
				t.Fatalf("seed %d: matches=%s of %d, %d hits of %d", seed, root.attr("matches"), matches, len(hits), limit)
			}
			for _, want := range order[offset : offset+len(hits)] {
				i := slices.IndexFunc(hits, func(h shownHit) bool { return h.shows(want, like) })
				if i < 0 {
					t.Fatalf("seed %d, offset %d: %+v is not in %+v", seed, offset, want, hits)
				}
				named := 0
				if hits[i].also != "" {
					for _, name := range strings.Split(hits[i].also, ",") {
						n := 1
						if rest, ok := strings.CutPrefix(name, "+"); ok {
							n, _ = strconv.Atoi(rest)
						}
						named += n
					}
				}
				if named != also[want] {
					t.Errorf("seed %d: also=%q, want %d others", seed, hits[i].also, also[want])
				}
				joined += named
				hits = slices.Delete(hits, i, i+1)
			}
			for _, c := range root.all("conversation") {
				for _, e := range c.all("event") {
					want := ""
					if n := notShown[c.attr("id")+":"+e.attr("event")]; n > 0 {
						want = strconv.Itoa(n)
					}
					if e.attr("more") != want {
						t.Errorf("seed %d: event %s of %s: more=%q, want %q", seed, e.attr("event"), c.attr("id"), e.attr("more"), want)
					}
				}
			}
			more += checkUnshown(t, all, like, order, offset, root)
			next := offsetAdvised(t, root)
			offset += atoi(linesShown(root))
			if offset < len(order) && next != offset || offset == len(order) && next != 0 {
				t.Fatalf("seed %d: offset=%d is advised, want %d of %d", seed, next, offset, len(order))
			}
			if truncated := root.attr("truncated") == "true"; truncated != (offset < len(order)) {
				t.Errorf("seed %d: truncated=%v", seed, truncated)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if pages < 40 || joined < 100 || more < 100 {
		t.Errorf("%d pages, %d joined, %d without a hit: too few to tell", pages, joined, more)
	}
}

// checkUnshown checks the conversations of an answer that have no hit in it.
func checkUnshown(t *testing.T, all []heardConversation, like *regexp.Regexp, order []expected, offset int, root *answerElement) int {
	t.Helper()
	shown := map[string]bool{}
	for _, e := range order[:offset+atoi(linesShown(root))] {
		shown[e.id] = true
	}
	matching := 0
	var want, got []string
	for i := range all {
		if !slices.ContainsFunc(all[i].events, func(e heard) bool { return slices.ContainsFunc(e.lines, like.MatchString) }) {
			continue
		}
		if matching++; !shown[all[i].id] {
			want = append(want, all[i].id)
		}
	}
	for _, c := range root.all("conversation") {
		if len(c.all("hit"))+len(c.all("event")) == 0 {
			got = append(got, c.attr("id"))
		}
	}
	if len(got) > 5 || len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
		t.Errorf("without a hit: %v, want the first of %v", got, want)
	}
	counted := ""
	if len(got) < len(want) {
		counted = strconv.Itoa(matching)
	}
	if root.attr("conversations") != counted {
		t.Errorf("conversations=%q, want %q: %d of %d are named", root.attr("conversations"), counted, len(got), len(want))
	}
	return len(want)
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

var nextPage = regexp.MustCompile(`offset=(\d+) shows the next`)

// offsetAdvised is the offset that is said to show the next page; 0 where none is.
func offsetAdvised(t *testing.T, root *answerElement) int {
	t.Helper()
	if m := nextPage.FindStringSubmatch(notesOf(t, root)); m != nil {
		return atoi(m[1])
	}
	return 0
}

// The calls that notes advise, and what they say of words.
var (
	ofOneEvent = regexp.MustCompile(`ids=\["([^"]+)"\], event=(\d+) shows all (\d+)`)
	ownMatches = regexp.MustCompile(`(\d+) match(?:es)? in calls and results of these tools \(scopes=\["recall"\]`)
	lastOffset = regexp.MustCompile(`past the last of the \d+ lines? that can be shown; offset=(\d+) shows the last`)
	wordCount  = regexp.MustCompile(`"(\w+)" (\d+) events?`)
)

// TestGrepAdvice: each call that a note advises works, and shows what the note says; and where
// nothing matches, each word of the pattern is in as many events as a note says.
func TestGrepAdvice(t *testing.T) {
	t.Parallel()
	advised := map[string]int{}
	for seed := range cases.Of(uint64(45)) {
		r := rand.New(rand.NewPCG(seed, 8))
		var all []heardConversation
		tools := overSource(workspaceOf(t, func(w *jptest.Workspace) { all = randomWorkspace(r, w) }))
		patterns := []string{"retry", "cap", "nothing", "delay nothing", "Cap delay", "retry delay other", "conversation_grep", "fs_read", "words cap", "more Words"}
		arguments := map[string]any{"pattern": patterns[r.IntN(len(patterns))], "limit": []int{1 + r.IntN(20), 200}[r.IntN(2)]}
		if r.IntN(3) == 0 {
			arguments["ids"] = []string{"jp-c17600000000"}
		}
		if r.IntN(3) == 0 {
			arguments["offset"] = r.IntN(200)
		}
		root := grepping(t, tools, arguments)
		notes := notesOf(t, root)
		changed := func(change map[string]any) *answerElement {
			call := maps.Clone(arguments)
			delete(call, "offset")
			maps.Copy(call, change)
			return grepping(t, tools, call)
		}
		if offset := offsetAdvised(t, root); offset > 0 {
			advised["offset"]++
			if next := changed(map[string]any{"offset": offset}); linesShown(next) == "0" {
				t.Errorf("seed %d: nothing at offset %d", seed, offset)
			}
		}
		if m := lastOffset.FindStringSubmatch(notes); m != nil {
			advised["last"]++
			if last := changed(map[string]any{"offset": atoi(m[1])}); linesShown(last) != "1" {
				t.Errorf("seed %d: not the last line is at %s", seed, m[1])
			}
		}
		if m := ofOneEvent.FindStringSubmatch(notes); m != nil {
			advised["event"]++
			one := changed(map[string]any{"ids": []string{m[1]}, "event": atoi(m[2]), "limit": 200})
			lines := 0
			for _, c := range one.all("conversation") {
				for _, e := range c.all("event") {
					for _, h := range e.all("hit") {
						lines += atoi(cmp.Or(h.attr("times"), "1"))
					}
				}
			}
			if one.attr("matches") != m[3] || strconv.Itoa(lines) != m[3] {
				t.Errorf("seed %d: %s, and event %s has matches=%s, and shows %d", seed, m[0], m[2], one.attr("matches"), lines)
			}
		}
		if m := ownMatches.FindStringSubmatch(notes); m != nil {
			advised["recall"]++
			if got := changed(map[string]any{"scopes": []string{"recall"}}).attr("matches"); got != m[1] {
				t.Errorf("seed %d: %s, and it finds %s", seed, m[0], got)
			}
		}
		words := wordCount.FindAllStringSubmatch(notes, -1)
		if several := strings.Contains(arguments["pattern"].(string), " "); root.attr("matches") == "0" && several != (len(words) > 1) {
			t.Errorf("seed %d: %q has these words: %q", seed, arguments["pattern"], words)
		}
		for _, word := range words {
			advised["words"]++
			events := 0
			for i := range all {
				for j := range all[i].events {
					e := &all[i].events[j]
					if arguments["ids"] == nil || all[i].id == "jp-c17600000000" {
						if e.number > 0 && !e.own && strings.Contains(strings.ToLower(strings.Join(e.lines, "\n")), strings.ToLower(word[1])) {
							events++
						}
					}
				}
			}
			if word[2] != strconv.Itoa(events) {
				t.Errorf("seed %d: %s, and there are %d", seed, word[0], events)
			}
		}
	}
	for _, what := range []string{"offset", "last", "event", "recall", "words"} {
		if advised[what] == 0 {
			t.Errorf("%s was never advised, in %v", what, advised)
		}
	}
}

// TestGrepOneEvent: all pages of one event together show each of its matching lines, equal
// ones once, with how many there are.
func TestGrepOneEvent(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 12))
		var lines []string
		for range 1 + r.IntN(60) {
			lines = append(lines, fmt.Sprintf("%s %d", []string{"retry", "retry", "wait"}[r.IntN(3)], r.IntN(12)))
		}
		tools := overSource(workspaceOf(t, func(w *jptest.Workspace) {
			w.Conversation("17600000000", "x").TurnStart().User(strings.Join(lines, "\n"))
		}))
		var order []string
		times, matches := map[string]int{}, 0
		for _, line := range lines {
			if strings.HasPrefix(line, "retry") {
				if times[line]++; times[line] == 1 {
					order = append(order, line)
				}
				matches++
			}
		}
		limit := 1 + r.IntN(15)
		for offset := 0; offset < len(order); {
			root := grepping(t, tools, map[string]any{"pattern": "retry", "ids": []string{"jp-c17600000000"}, "event": 1, "limit": limit, "offset": offset})
			hits := root.all("conversation")[0].all("event")[0].all("hit")
			if len(hits) != min(limit, len(order)-offset) || root.attr("matches") != strconv.Itoa(matches) {
				t.Fatalf("seed %d: %d hits of %d from %d on, matches=%s of %d", seed, len(hits), len(order), offset, root.attr("matches"), matches)
			}
			for i, h := range hits {
				if want := order[offset+i]; h.Text != want || cmp.Or(h.attr("times"), "1") != strconv.Itoa(times[want]) {
					t.Errorf("seed %d: %q times=%s, want %q times=%d", seed, h.Text, h.attr("times"), want, times[want])
				}
			}
			next := offsetAdvised(t, root)
			if offset += len(hits); next != offset && (next != 0 || offset < len(order)) {
				t.Fatalf("seed %d: offset=%d is advised behind %d of %d", seed, next, offset, len(order))
			}
		}
	}
}

// TestGrepOneEventReach: of an event with more lines than are looked at, no page is named
// that has nothing.
func TestGrepOneEventReach(t *testing.T) {
	t.Parallel()
	tools := overSource(workspaceOf(t, func(w *jptest.Workspace) {
		w.Conversation("17600000000", "x").TurnStart().User(strings.Repeat("retry\n", 100_020) + "retry it")
	}))
	root := grepping(t, tools, map[string]any{"pattern": "retry", "ids": []string{"jp-c17600000000"}, "event": 1, "limit": 10})
	notes := notesOf(t, root)
	if linesShown(root) != "1" || root.attr("matches") != "100021" || offsetAdvised(t, root) != 0 || !strings.Contains(notes, "Only the first 100,000 matching lines") {
		t.Errorf("returned=%s of %s, and %s", linesShown(root), root.attr("matches"), notes)
	}
}

// TestGrepContext: context is lines of the event, in order, around its matches: with up to three of
// them in the hit of the match.
func TestGrepContext(t *testing.T) {
	t.Parallel()
	runs := 0
	for seed := range cases.Of(uint64(10)) {
		r := rand.New(rand.NewPCG(seed, 9))
		var all []heardConversation
		tools := overSource(workspaceOf(t, func(w *jptest.Workspace) { all = randomWorkspace(r, w) }))
		most := r.IntN(6)
		root := grepping(t, tools, map[string]any{"pattern": "retry", "limit": 200, "context": most})
		for _, c := range root.all("conversation") {
			in := all[slices.IndexFunc(all, func(h heardConversation) bool { return h.id == c.attr("id") })]
			for _, e := range c.all("event") {
				event := in.events[atoi(e.attr("event"))]
				if got := e.attr("scope"); got != event.scope {
					t.Errorf("seed %d: scope=%s, want %s", seed, got, event.scope)
				}
				var shown []string
				for _, h := range e.all("hit") {
					lines := strings.Split(h.Text, "\n")
					if h.attr("is_match") == "" {
						beside := 2 * most // and one for those left out
						if most > 3 {
							beside = -1
						}
						if len(lines) > beside+2 || !strings.Contains(h.Text, "retry") {
							t.Errorf("seed %d: a match %q", seed, h.Text)
						}
						if len(lines) > 1 {
							runs++
						}
					} else {
						runs++
						if reach := 2 * most; len(lines) > reach+1 { // and one for those left out
							t.Errorf("seed %d: %d lines of context, want at most %d", seed, len(lines), reach)
						}
					}
					shown = append(shown, lines...)
				}
				at := 0
				for _, line := range shown {
					if strings.TrimSpace(line) == "" {
						t.Errorf("seed %d: a blank line in %q", seed, shown)
					}
					if line == "…" || strings.Contains(line, "filler") {
						continue
					}
					for at < len(event.lines) && visible.Line(event.lines[at]) != line {
						at++
					}
					if at == len(event.lines) {
						t.Fatalf("seed %d: %q is no line at its place in %q", seed, line, event.lines)
					}
					at++
				}
			}
		}
	}
	if runs < 100 {
		t.Errorf("only %d runs of context", runs)
	}
}
