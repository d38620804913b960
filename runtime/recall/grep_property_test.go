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
func theOrder(all []heardConversation, pattern string) (order []expected, matches int, also map[expected]int, more map[string]int) {
	more = map[string]int{}
	type key struct {
		conversation, event int
		sum                 string
	}
	first := map[string]key{} // by what the line is but for white space: where it is shown
	sum := func(line string) string { return strings.Join(strings.Fields(line), " ") }
	holders := map[string]int{}
	shownOf := func(e *heard) (lines []string) {
		for _, line := range e.lines {
			if strings.Contains(line, pattern) && len(lines) < 3 {
				lines = append(lines, line)
			}
		}
		return lines
	}
	for i := range all {
		for j := range all[i].events {
			e := &all[i].events[j]
			if e.own {
				continue
			}
			seen := map[string]bool{}
			for _, line := range shownOf(e) {
				s := sum(line)
				if k, ok := first[s]; !ok || k.conversation == i {
					first[s] = key{i, j, s}
				}
				if !seen[s] {
					holders[s]++
				}
				seen[s] = true
			}
		}
	}
	also = map[expected]int{}
	queues := make([][][]expected, len(all)) // by conversation: the lines of each event that has some
	for i := range all {
		var said, titles, tools, reasoning [][]expected
		for j := range all[i].events {
			e := &all[i].events[j]
			if e.own {
				continue
			}
			var here []expected
			seen := map[string]bool{}
			for _, line := range e.lines {
				if strings.Contains(line, pattern) {
					matches++
					more[fmt.Sprint(all[i].id, ":", e.number)]++
				}
			}
			for _, line := range shownOf(e) {
				s := sum(line)
				if first[s] != (key{i, j, s}) || !seen[s] {
					more[fmt.Sprint(all[i].id, ":", e.number)]--
				}
				if first[s] == (key{i, j, s}) && !seen[s] {
					x := expected{all[i].id, e.number, line}
					here = append(here, x)
					also[x] = holders[s] - 1
				}
				seen[s] = true
			}
			switch {
			case here == nil:
			case e.said():
				said = append(said, here)
			case e.number == 0:
				titles = append(titles, here)
			case e.scope == "reasoning":
				reasoning = append(reasoning, here)
			default:
				tools = append(tools, here)
			}
		}
		queues[i] = slices.Concat(said, titles, tools, reasoning)
	}
	for round := 0; ; round++ {
		any := false
		for _, q := range queues {
			if round < len(q) {
				order = append(order, q[round]...)
				any = true
			}
		}
		if !any {
			break
		}
	}
	var ahead, rest []expected // one line of each conversation stands before all others
	begun := map[string]bool{}
	for _, e := range order {
		if begun[e.id] {
			rest = append(rest, e)
			continue
		}
		begun[e.id] = true
		ahead = append(ahead, e)
	}
	return append(ahead, rest...), matches, also, more
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
func (h *shownHit) shows(e expected) bool {
	if h.id != e.id || h.number != e.number {
		return false
	}
	if utf8.RuneCountInString(e.line) > 100 {
		return strings.Contains(h.text, "retry") || strings.Contains(h.text, "cap")
	}
	return h.text == visible.Line(e.line)
}

// TestGrepPages: all pages together show each line once, in the order that is
// promised, and say what they leave out.
func TestGrepPages(t *testing.T) {
	t.Parallel()
	pages, joined, more := 0, 0, 0
	for seed := range cases.Of(uint64(20)) {
		r := rand.New(rand.NewPCG(seed, 7))
		var all []heardConversation
		tools := overSource(workspaceOf(t, func(w *jptest.Workspace) { all = randomWorkspace(r, w) }))
		order, matches, also, notShown := theOrder(all, "retry")
		limit := 1 + r.IntN(60)
		for offset := 0; offset < len(order); pages++ {
			root := grepping(t, tools, map[string]any{"pattern": "retry", "limit": limit, "offset": offset, "ignore_case": false})
			hits := shownHits(t, root)
			if root.attr("matches") != strconv.Itoa(matches) || len(hits) == 0 || len(hits) > limit {
				t.Fatalf("seed %d: matches=%s of %d, %d hits of %d", seed, root.attr("matches"), matches, len(hits), limit)
			}
			for _, want := range order[offset : offset+len(hits)] {
				i := slices.IndexFunc(hits, func(h shownHit) bool { return h.shows(want) })
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
			more += checkUnshown(t, all, order, offset, root)
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
	if pages < 100 || joined < 100 || more < 100 {
		t.Errorf("%d pages, %d joined, %d without a hit: too few to tell", pages, joined, more)
	}
}

// checkUnshown checks the conversations of an answer that have no hit in it.
func checkUnshown(t *testing.T, all []heardConversation, order []expected, offset int, root *answerElement) int {
	t.Helper()
	shown := map[string]bool{}
	for _, e := range order[:offset+atoi(linesShown(root))] {
		shown[e.id] = true
	}
	var want, got []string
	for i := range all {
		holds := slices.ContainsFunc(all[i].events, func(e heard) bool {
			return !e.own && slices.ContainsFunc(e.lines, func(line string) bool { return strings.Contains(line, "retry") })
		})
		if holds && !shown[all[i].id] {
			want = append(want, all[i].id)
		}
	}
	for _, c := range root.all("conversation") {
		if len(c.all("hit"))+len(c.all("event")) == 0 {
			got = append(got, c.attr("id"))
		}
	}
	if !slices.Equal(got, want[:min(len(want), 20)]) {
		t.Errorf("without a hit: %v, want %v", got, want)
	}
	if n := len(want) - 20; n > 0 && !strings.Contains(notesOf(t, root), fmt.Sprint(n, " more conversation")) {
		t.Errorf("%d conversations are not counted in %q", n, notesOf(t, root))
	}
	return len(got)
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

// The calls that notes advise.
var (
	ofOneEvent   = regexp.MustCompile(`ids=\["([^"]+)"\], event=(\d+) shows all (\d+)`)
	ownMatches   = regexp.MustCompile(`(\d+) match(?:es)? in calls and results of these tools \(scopes=\["recall"\]`)
	tryPattern   = regexp.MustCompile(`pattern=("(?:[^"\\]|\\.)*"): (\d+) (match|event)`)
	withChange   = regexp.MustCompile(`(Without scopes|Without ids|Without event|With ignore_case=true): (\d+) (match|event)`)
	lastOffset   = regexp.MustCompile(`past the last of the \d+ lines? that can be shown; offset=(\d+) shows the last`)
	saidIsSooner = `scopes=["user","assistant"] leaves out reasoning and tool traffic`
)

// TestGrepAdvice: each call that a note advises works, and shows what the note says.
func TestGrepAdvice(t *testing.T) {
	t.Parallel()
	advised := map[string]int{}
	for seed := range cases.Of(uint64(45)) {
		r := rand.New(rand.NewPCG(seed, 8))
		tools := overSource(workspaceOf(t, func(w *jptest.Workspace) { randomWorkspace(r, w) }))
		patterns := []string{"retry", "RETRY", "cap", "nothing", "delay nothing", "Cap delay", "retry delay other", "RETRY|delay cap", "cap|nothing at all", "nothing|never", "conversation_grep", "fs_read", "words cap", "more Words"}
		arguments := map[string]any{"pattern": patterns[r.IntN(len(patterns))], "ignore_case": r.IntN(2) == 0, "limit": 1 + r.IntN(20)}
		if r.IntN(3) == 0 {
			arguments["scopes"] = [][]string{{"user"}, {"tool"}, {"chat", "title"}, {"inquiry"}}[r.IntN(4)]
		}
		if r.IntN(3) == 0 {
			arguments["ids"] = []string{"jp-c17600000000"}
			if r.IntN(2) == 0 {
				arguments["event"] = 1
			}
		}
		if r.IntN(6) == 0 {
			arguments["offset"] = r.IntN(200)
		}
		root := grepping(t, tools, arguments)
		notes := notesOf(t, root)
		changed := func(change map[string]any, without ...string) *answerElement {
			call := maps.Clone(arguments)
			delete(call, "offset")
			maps.Copy(call, change)
			for _, name := range without {
				delete(call, name)
			}
			return grepping(t, tools, call)
		}
		found := func(root *answerElement) int {
			n := atoi(root.attr("matches"))
			if root.attr("words") == "apart" {
				m := regexp.MustCompile(`(\d+) events? ha`).FindStringSubmatch(notesOf(t, root))
				n = atoi(m[1])
			}
			return n
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
			if one.attr("matches") != m[3] && one.attr("words") == "" || strconv.Itoa(lines) != m[3] {
				t.Errorf("seed %d: %s, and event %s has matches=%s, and shows %d", seed, m[0], m[2], one.attr("matches"), lines)
			}
		}
		if m := ownMatches.FindStringSubmatch(notes); m != nil {
			advised["recall"]++
			if got := found(changed(map[string]any{"scopes": []string{"recall"}})); got < atoi(m[1]) {
				t.Errorf("seed %d: %s, and it finds %d", seed, m[0], got)
			}
		}
		if m := tryPattern.FindStringSubmatch(notes); m != nil {
			advised["pattern"]++
			word, err := strconv.Unquote(m[1])
			other := changed(map[string]any{"pattern": word, "limit": 200})
			if err != nil || found(other) != atoi(m[2]) || other.attr("words") == "apart" != (m[3] == "event") {
				t.Errorf("seed %d: %s finds %d, words=%q", seed, m[0], found(other), other.attr("words"))
			}
		}
		for _, m := range withChange.FindAllStringSubmatch(notes, -1) {
			advised[m[1]]++
			var other *answerElement
			switch m[1] {
			case "Without scopes":
				other = changed(nil, "scopes")
			case "Without ids":
				other = changed(nil, "ids")
			case "Without event":
				other = changed(nil, "event")
			default:
				other = changed(map[string]any{"ignore_case": true})
			}
			if got := found(other); got != atoi(m[2]) || other.attr("words") == "apart" != (m[3] == "event") {
				t.Errorf("seed %d: %s, and it finds %d, words=%q", seed, m[0], got, other.attr("words"))
			}
		}
		if strings.Contains(notes, saidIsSooner) {
			advised["said"]++
			if said := changed(map[string]any{"scopes": []string{"user", "assistant"}}); linesShown(said) == "0" {
				t.Errorf("seed %d: nothing was said", seed)
			}
		}
	}
	for _, what := range []string{"offset", "last", "event", "recall", "pattern", "Without scopes", "Without ids", "Without event", "With ignore_case=true", "said"} {
		if advised[what] == 0 {
			t.Errorf("%s was never advised, in %v", what, advised)
		}
	}
}

// TestGrepAlternatives: all pages of a pattern with alternatives together show each line
// that holds any of them, and their counts are those of each alone.
func TestGrepAlternatives(t *testing.T) {
	t.Parallel()
	pages := 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 19))
		var all []heardConversation
		tools := overSource(workspaceOf(t, func(w *jptest.Workspace) { all = randomWorkspace(r, w) }))
		words := [][]string{{"retry", "cap"}, {"delay", "never", "words"}}[r.IntN(2)]
		want := map[string]bool{} // lines but for white space: equal ones of different events are shown once
		lines := 0
		events := make([]int, len(words))
		for i := range all {
			for _, e := range all[i].events {
				if e.own {
					continue
				}
				held, shown := make([]bool, len(words)), 0
				for _, line := range e.lines {
					holds := false
					for j, word := range words {
						if strings.Contains(line, word) {
							holds, held[j] = true, true
						}
					}
					if !holds {
						continue
					}
					lines++
					if shown++; shown <= 3 {
						want[strings.Join(strings.Fields(visible.Line(line)), " ")] = true
					}
				}
				for j := range held {
					if held[j] {
						events[j]++
					}
				}
			}
		}
		if lines == 0 {
			continue
		}
		for offset := 0; ; pages++ {
			root := grepping(t, tools, map[string]any{"pattern": strings.Join(words, " | "), "ignore_case": false, "offset": offset})
			if root.attr("matches") != strconv.Itoa(lines) || root.attr("words") != "any" {
				t.Fatalf("seed %d: matches=%s, want %d, words=%q", seed, root.attr("matches"), lines, root.attr("words"))
			}
			notes := notesOf(t, root)
			for j, word := range words {
				unit := "events"
				if events[j] == 1 {
					unit = "event"
				}
				if says := fmt.Sprintf("%q %d %s", word, events[j], unit); !strings.Contains(notes, says) {
					t.Errorf("seed %d: %q is not in %q", seed, says, notes)
				}
			}
			for _, h := range shownHits(t, root) {
				text := strings.Join(strings.Fields(h.text), " ")
				if utf8.RuneCountInString(text) > 100 {
					for line := range want {
						if utf8.RuneCountInString(line) > 100 && strings.HasPrefix(line, text[:20]) {
							delete(want, line)
							break
						}
					}
					continue
				}
				if !want[text] {
					t.Errorf("seed %d: %q is shown, or twice", seed, h.text)
				}
				delete(want, text)
			}
			if offset = offsetAdvised(t, root); offset == 0 {
				break
			}
		}
		for line := range want {
			if utf8.RuneCountInString(line) <= 100 {
				t.Errorf("seed %d: %q is on no page", seed, line)
			}
		}
	}
	if pages < 5 {
		t.Errorf("%d pages: too few to tell", pages)
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
	if linesShown(root) != "1" || root.attr("matches") != "100021" || offsetAdvised(t, root) != 0 || !strings.Contains(notes, "offset reaches no further") {
		t.Errorf("returned=%s of %s, and %s", linesShown(root), root.attr("matches"), notes)
	}
}

// TestGrepContext: context is lines of the event, in order, around its matches.
func TestGrepContext(t *testing.T) {
	t.Parallel()
	runs := 0
	for seed := range cases.Of(uint64(25)) {
		r := rand.New(rand.NewPCG(seed, 9))
		var all []heardConversation
		tools := overSource(workspaceOf(t, func(w *jptest.Workspace) { all = randomWorkspace(r, w) }))
		most := r.IntN(4)
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
						if len(lines) != 1 || !strings.Contains(h.Text, "retry") {
							t.Errorf("seed %d: a match %q", seed, h.Text)
						}
					} else {
						runs++
						if reach := 2 * 4 * most; len(lines) > reach+1 { // and one for those left out
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

// TestGrepApart: where words stand apart, each event that is shown holds all of them,
// and where none does the counts are right.
func TestGrepApart(t *testing.T) {
	t.Parallel()
	apart, nowhere := 0, 0
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 10))
		var all []heardConversation
		tools := overSource(workspaceOf(t, func(w *jptest.Workspace) { all = randomWorkspace(r, w) }))
		words := [][]string{{"these", "delay"}, {"&amp;", "潮", "cap"}, {"0m", "hit", "delay"}, {"these", "0m", "潮"}, {"quorum", "cap"}}[r.IntN(5)]
		root := grepping(t, tools, map[string]any{"pattern": "  " + strings.Join(words, "  (") + "?"})
		if root.attr("matches") != "0" {
			t.Fatalf("seed %d: matches=%s", seed, root.attr("matches"))
		}
		holds := func(e *heard, word string) bool {
			return strings.Contains(strings.ToLower(strings.Join(e.lines, "\n")), strings.Trim(word, "&;"))
		}
		counts, together := make([]int, len(words)), 0
		for i := range all {
			for j := range all[i].events {
				e := &all[i].events[j]
				if e.own {
					continue
				}
				every := true
				for w, word := range words {
					if holds(e, word) {
						counts[w]++
					} else {
						every = false
					}
				}
				if every {
					together++
				}
			}
		}
		notes := notesOf(t, root)
		if together == 0 {
			nowhere++
			for w, word := range words {
				if !strings.Contains(notes, fmt.Sprintf("%q %d event", strings.Trim(word, "&;"), counts[w])) {
					t.Errorf("seed %d: %q is in %d events, in %s", seed, word, counts[w], notes)
				}
			}
			continue
		}
		apart++
		if root.attr("words") != "apart" || !strings.Contains(notes, fmt.Sprint(together, " event")) {
			t.Errorf("seed %d: words=%q, %d events in %s", seed, root.attr("words"), together, notes)
		}
		events := 0
		for _, c := range root.all("conversation") {
			in := all[slices.IndexFunc(all, func(h heardConversation) bool { return h.id == c.attr("id") })]
			for _, e := range c.all("event") {
				events++
				event := in.events[atoi(e.attr("event"))]
				for _, word := range words {
					if !holds(&event, word) {
						t.Errorf("seed %d: %q is not in event %d of %s", seed, word, event.number, in.id)
					}
				}
			}
		}
		if events == 0 || events > 8 {
			t.Errorf("seed %d: %d events of %d", seed, events, together)
		}
	}
	if apart < 10 || nowhere < 10 {
		t.Errorf("%d apart, %d nowhere: too few to tell", apart, nowhere)
	}
}
