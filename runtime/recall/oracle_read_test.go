package recall_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/cases"
	visible "github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
)

// recordedEvent is what was recorded, and how an answer has to name it.
type recordedEvent struct {
	turn  int
	kind  string // event_kind
	words string
}

// recordedConversation is a command line that prints a conversation: the
// oracle's own idea of turns and cut texts.
type recordedConversation struct {
	turns  int
	events []recordedEvent
}

func (c *recordedConversation) Run(ctx context.Context, cmd process.Command) (process.Result, error) {
	var records []string
	for i, e := range c.events {
		stamp := fmt.Sprintf(`{"timestamp":"2025-12-04 %02d:%02d:%02d.5"}`, i/3600, i/60%60, i%60)
		words := e.words
		if e.kind == "structured" {
			words = text(words)
		}
		records = append(records, joined(said(e.kind, e.turn, words), stamp))
	}
	return (&cli{print: printed(records...)}).Run(ctx, cmd)
}

func randomText(r *rand.Rand, n int) string {
	pieces := []string{"abc ", "\n", "]]>", "<x>", "\r\n", "潮", "\u202e", "\x1b[0m", "🌊", "`", "\\", `"`, "&amp;", "[… 5 of 9 chars …]"}
	if r.IntN(3) > 0 {
		pieces = pieces[:2] // mostly plain
	}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	if n > 0 && r.IntN(4) == 0 {
		b.WriteString(":")
	}
	return b.String()
}

func randomConversation(r *rand.Rand) *recordedConversation {
	c := &recordedConversation{turns: 1 + r.IntN(6)}
	kinds := []string{"user", "assistant", "assistant", "structured", "reasoning", "tool_call", "tool_result", "inquiry"}
	lengths := []int{0, 3, 40, 400, 1499, 3000, 12_000, 45_000, 90_000}
	longest := 1 + r.IntN(len(lengths))
	busy := 1 + r.IntN(12)
	if r.IntN(5) == 0 {
		busy, longest = 900, 1+r.IntN(4)
		c.turns = 1 + r.IntN(2)
	}
	for turn := 1; turn <= c.turns; turn++ {
		c.events = append(c.events, recordedEvent{turn, "user", randomText(r, lengths[r.IntN(longest)])})
		for range r.IntN(busy) {
			c.events = append(c.events, recordedEvent{turn, kinds[r.IntN(len(kinds))], randomText(r, lengths[r.IntN(longest)])})
		}
	}
	return c
}

// included are the kinds that a value of include asks for, whatever stands around
// the event.
var included = map[string][]string{
	"chat": {"user", "assistant", "structured"}, "requests": {"user"}, "reasoning": {"reasoning"},
	"tool_calls": {"tool_call"}, "tool_results": {"tool_result"}, "inquiries": {"inquiry"},
}

// readCall is a random call and the events it asks for.
type readCall struct {
	Turn, Last, Event, Around, Part *int
	Include                         []string
}

func (c readCall) arguments() string {
	args := map[string]any{"id": readID}
	if c.Include != nil {
		args["include"] = c.Include
	}
	for name, n := range map[string]*int{"turn": c.Turn, "last": c.Last, "event": c.Event, "around": c.Around, "part": c.Part} {
		if n != nil {
			args[name] = *n
		}
	}
	return string(must(json.Marshal(args)))
}

func (c readCall) turns(all int) (first, last int) {
	switch {
	case c.Turn != nil:
		return *c.Turn, *c.Turn
	case c.Last != nil:
		return max(1, all-*c.Last+1), all
	default:
		return 1, all
	}
}

// numbered is an event by its number.
type numbered struct {
	recordedEvent
	number, request int
	isAnswer        bool
}

// numbered numbers all events, and finds the answers.
func (c *recordedConversation) numbered() []numbered {
	var all []numbered
	requests := 0
	for i, e := range c.events {
		if e.kind == "user" {
			requests++
		}
		isAnswer := isChat(e.kind) && strings.TrimSpace(visible.Visible(e.words)) != ""
		for _, later := range c.events[i+1:] {
			if !isAnswer || later.kind == "user" || later.turn != e.turn {
				break
			}
			isAnswer = !isChat(later.kind) || strings.TrimSpace(visible.Visible(later.words)) == ""
		}
		all = append(all, numbered{e, i + 1, requests, isAnswer})
	}
	return all
}

// isBlank reports whether the assistant said, or thought, nothing.
func (e numbered) isBlank() bool {
	return (isChat(e.kind) || e.kind == "reasoning") && strings.TrimSpace(visible.Visible(e.words)) == ""
}

func isChat(kind string) bool { return kind == "assistant" || kind == "structured" }

// selects are the events that a call for turns asks for and that say anything.
func (c readCall) selects(conv *recordedConversation) []numbered {
	first, last := c.turns(conv.turns)
	var out []numbered
	for _, e := range conv.numbered() {
		wanted := slices.ContainsFunc(c.Include, func(i string) bool {
			return slices.Contains(included[i], e.kind) || i == "answers" && e.isAnswer
		})
		if wanted && !e.isBlank() && first <= e.turn && e.turn <= last {
			out = append(out, e)
		}
	}
	return out
}

func randomRead(r *rand.Rand, turns int) readCall {
	c := readCall{}
	for _, include := range []string{"chat", "reasoning", "tool_calls", "tool_results", "inquiries"} {
		if r.IntN(4) > 0 {
			c.Include = append(c.Include, include)
		}
	}
	switch r.IntN(6) {
	case 0:
		c.Include = []string{"requests", "answers"}
	case 1:
		c.Include = []string{"answers", "tool_results"}
	}
	if c.Include == nil {
		c.Include = []string{"requests"}
	}
	n := 1 + r.IntN(turns)
	switch r.IntN(3) {
	case 0:
		c.Turn = &n
	case 1:
		n += r.IntN(3)
		c.Last = &n
	}
	return c
}

func read(t *testing.T, conv *recordedConversation, call readCall) (string, error) {
	t.Helper()
	return conversation.Call(t.Context(), over(conv), contract.Call{Tool: "conversation_read", Arguments: []byte(call.arguments())})
}

// TestReadAgainstOracle compares answers with what was recorded: complete and
// in order where everything fits; marked, counted and within the cap where it
// does not; refused only where several turns are too much, with calls that work.
func TestReadAgainstOracle(t *testing.T) {
	t.Parallel()
	outcomes := map[string]int{}
	for seed := range cases.Of(uint64(40)) {
		r := rand.New(rand.NewPCG(seed, 1))
		conv := randomConversation(r)
		call := randomRead(r, conv.turns)
		answer, err := read(t, conv, call)
		if err != nil {
			outcomes["refused"]++
			checkRefusal(t, conv, call, err)
		} else {
			outcomes[checkRead(t, conv, call, answer)]++
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, call.arguments())
		}
	}
	for _, outcome := range []string{"refused", "whole", "shortened", "left out"} {
		if outcomes[outcome] == 0 {
			t.Errorf("no answer is %s: the test has lost its subject: %v", outcome, outcomes)
		}
	}
}

var (
	omitted = regexp.MustCompile(`(?m)^\[… (\d+) chars …\]$`)
	leftOut = regexp.MustCompile(`(\d+) of (\d+) events are left out, the first is event=(\d+)[;.]`)
)

// inTurn is an event of an answer.
type inTurn struct {
	turn int
	answerElement
}

func eventsOf(root *answerElement) []inTurn {
	var got []inTurn
	for _, turn := range root.all("turn") {
		for _, e := range turn.all("event") {
			got = append(got, inTurn{must(strconv.Atoi(turn.attr("index"))), e})
		}
	}
	return got
}

// notesOf checks what goes for the notes of any answer.
func notesOf(t *testing.T, root *answerElement) string {
	t.Helper()
	notes := root.all("note")
	if len(notes) > 3 {
		t.Errorf("%d notes", len(notes))
	}
	all := ""
	for _, n := range notes {
		all += n.Text + "\n"
	}
	return all
}

func checkRead(t *testing.T, conv *recordedConversation, call readCall, answer string) (outcome string) {
	t.Helper()
	root := check(t, "conversation_read", answer)
	want := call.selects(conv)
	first, last := call.turns(conv.turns)
	number := func(n int, isGiven bool) string {
		if !isGiven {
			return ""
		}
		return strconv.Itoa(n)
	}
	for name, value := range map[string]string{
		"turns": number(last-first+1, first < last), "total_turns": number(conv.turns, true),
		"first_turn": number(first, first < last), "last_turn": number(last, first < last),
	} {
		if root.attr(name) != value {
			t.Errorf("%s=%q, want %q", name, root.attr(name), value)
		}
	}
	for i, turn := range root.all("turn") {
		if turn.attr("index") != strconv.Itoa(first+i) {
			t.Errorf("turn %d has index %s", first+i, turn.attr("index"))
		}
	}
	got := eventsOf(root)
	if root.attr("events") != number(len(got), len(got) > 0) {
		t.Errorf("events=%s, but there are %d", root.attr("events"), len(got))
	}
	notes := notesOf(t, root)
	outcome = "whole"
	if len(got) < len(want) {
		outcome = "left out"
		want = checkLeftOut(t, conv, got, want, notes)
	}
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	limit := 1500
	if len(want) == 1 && first == last {
		limit = 8000
	}
	cut := 0
	for i := range got {
		if got[i].turn != want[i].turn || got[i].attr("event_kind") != want[i].kind || got[i].attr("event") != strconv.Itoa(want[i].number) {
			t.Fatalf("event %d is %s %s in turn %d, want %s %d in turn %d", i, got[i].attr("event_kind"), got[i].attr("event"), got[i].turn, want[i].kind, want[i].number, want[i].turn)
		}
		if checkBody(t, &got[i].answerElement, want[i].recordedEvent, limit) {
			cut++
		}
	}
	checkRequests(t, got, want)
	if cut > 0 && outcome == "whole" {
		outcome = "shortened"
	}
	if (root.attr("truncated") == "true") != (outcome != "whole") {
		t.Errorf("truncated=%s of an answer that is %s", root.attr("truncated"), outcome)
	}
	if cut > 0 && !strings.Contains(notes, "shortened") {
		t.Errorf("no note about shortened texts: %s", notes)
	}
	checkAdvice(t, conv, notes)
	return outcome
}

// checkLeftOut compares a note with the events that are shown, and returns those that
// have to be.
func checkLeftOut(t *testing.T, conv *recordedConversation, got []inTurn, want []numbered, notes string) []numbered {
	t.Helper()
	m := leftOut.FindStringSubmatch(notes)
	if m == nil {
		t.Fatalf("%d of %d events are left out, and no note says so: %s", len(want)-len(got), len(want), notes)
	}
	var shown, missing []numbered
	for _, w := range want {
		if slices.ContainsFunc(got, func(e inTurn) bool { return e.attr("event") == strconv.Itoa(w.number) }) {
			shown = append(shown, w)
		} else {
			missing = append(missing, w)
		}
	}
	if m[1] != strconv.Itoa(len(missing)) || m[2] != strconv.Itoa(len(want)) || m[3] != strconv.Itoa(missing[0].number) {
		t.Errorf("%d of %d events are left out, event %d first, but the note says: %s", len(missing), len(want), missing[0].number, m[0])
	}
	// What is needed least goes first.
	rank := func(e numbered) int {
		switch {
		case e.kind == "user", e.isAnswer:
			return 2
		case isChat(e.kind):
			return 1
		default:
			return 0
		}
	}
	for _, gone := range missing {
		for _, kept := range shown {
			if rank(gone) > rank(kept) {
				t.Fatalf("%s %d is left out while %s %d is shown", gone.kind, gone.number, kept.kind, kept.number)
			}
		}
	}
	return shown
}

// checkRequests checks that exchanges of a turn are told apart, and by what.
func checkRequests(t *testing.T, got []inTurn, want []numbered) {
	t.Helper()
	for i := range got {
		several := slices.ContainsFunc(want, func(w numbered) bool { return w.turn == want[i].turn && w.request != want[i].request })
		said := ""
		if several && (i == 0 || want[i-1].turn != want[i].turn || want[i-1].request != want[i].request) {
			said = strconv.Itoa(want[i].request)
		}
		if got[i].attr("request") != said {
			t.Errorf("event %d: request=%q, want %q", want[i].number, got[i].attr("request"), said)
		}
	}
}

// checkBody compares the text of an event with what is recorded, and reports whether
// it is shortened. It may be where it is longer than limit, and then is not longer than
// that, and has the number of characters that were recorded.
func checkBody(t *testing.T, got *answerElement, want recordedEvent, limit int) (isCut bool) {
	t.Helper()
	name, full, recorded := "content", visible.Visible(want.words), want.words
	if want.kind == "tool_call" {
		name = "arguments"
		full = "{\n  \"path\": " + text(want.words) + "\n}"
		recorded = full
	}
	if said := got.attr("chars"); said != "" && said != strconv.Itoa(utf8.RuneCountInString(recorded)) {
		t.Errorf("chars=%s of %d", said, utf8.RuneCountInString(recorded))
	}
	body := ""
	if e := got.all(name); len(e) > 0 {
		body = strings.TrimSuffix(strings.TrimPrefix(e[0].Text, "\n"), "\n")
	}
	isCut = got.attr("truncated") == "true"
	if want.kind == "tool_call" {
		lines := strings.Split(body, "\n")
		fence := lines[len(lines)-1]
		if !strings.HasPrefix(body, fence) || strings.Trim(fence, "`") != "" || len(fence) < 3 {
			t.Errorf("arguments are not fenced: %.100q", body)
		}
		body = strings.Join(lines[1:len(lines)-1], "\n")
		if !isCut {
			var a, b any
			if err := errors.Join(json.Unmarshal([]byte(body), &a), json.Unmarshal([]byte(full), &b)); err != nil || !cmp.Equal(a, b) {
				t.Errorf("arguments %.200q, want %.200q (%v)", body, full, err)
			}
			return false
		}
		if visible.Visible(full) != full {
			full = "" // made visible after the cut
		}
	}
	if !isCut {
		if body != full {
			t.Errorf("%s: text differs:\n%s", want.kind, cmp.Diff(full, body))
		}
		return false
	}
	checkMarks(t, body, full, limit)
	return true
}

// checkMarks checks that a text, if there is one, is what is kept with what the marks
// say is missing.
func checkMarks(t *testing.T, body, full string, limit int) {
	t.Helper()
	if !omitted.MatchString(body) {
		t.Errorf("no mark in %.300q", body)
	}
	if full == "" {
		return
	}
	if n := utf8.RuneCountInString(body); n > limit {
		t.Errorf("%d characters are shown", n)
	}
	if !continues([]rune(full), []rune(body), true) {
		t.Errorf("the marks of %.2000q do not fit %.300q", body, full)
	}
}

// continues reports whether body is full with marks in place of some parts. Recorded
// marks have other words.
func continues(full, body []rune, start bool) bool {
	for i := range body {
		if start || body[i] == '\n' {
			at := i
			if body[i] == '\n' {
				at++
			}
			rest := string(body[at:min(len(body), at+60)])
			if m := omitted.FindStringSubmatchIndex(rest); m != nil && m[0] == 0 {
				n, _ := strconv.Atoi(rest[m[2]:m[3]])
				after := body[at+utf8.RuneCountInString(rest[:m[1]]):]
				if len(after) > 0 && after[0] == '\n' {
					after = after[1:]
				}
				if n <= len(full) && continues(full[n:], after, false) {
					return true
				}
			}
		}
		start = false
		if len(full) == 0 || full[0] != body[i] {
			return false
		}
		full = full[1:]
	}
	return len(full) == 0
}

var advised = regexp.MustCompile(`event=(\d+)(?:, part=(\d+))?`)

// checkAdvice makes the calls that notes name.
func checkAdvice(t *testing.T, conv *recordedConversation, notes string) {
	t.Helper()
	for _, m := range advised.FindAllStringSubmatch(notes, -1) {
		n := must(strconv.Atoi(m[1]))
		call := readCall{Event: &n}
		if m[2] != "" {
			part := must(strconv.Atoi(m[2]))
			call.Part = &part
		}
		if _, err := read(t, conv, call); err != nil {
			t.Errorf("%s does not work: %v", m[0], err)
		}
	}
}

// checkRefusal makes every call that a refusal names.
func checkRefusal(t *testing.T, conv *recordedConversation, call readCall, err error) {
	t.Helper()
	var e *contract.Error
	if !errors.As(err, &e) || !e.Caller {
		t.Fatalf("not an error the caller can fix: %v", err)
	}
	first, last := call.turns(conv.turns)
	if first == last {
		t.Fatalf("a single turn is refused: %v", err)
	}
	if n := utf8.RuneCountInString(err.Error()); n > 7000 {
		t.Errorf("a refusal of %d characters", n)
	}
	size := 0
	for _, w := range call.selects(conv) {
		words := visible.Visible(w.words)
		if w.kind == "tool_call" {
			words = visible.Visible(text(w.words)) + strings.Repeat(" ", 100)
		}
		size += min(1500, utf8.RuneCountInString(words)) + 160
	}
	if size < conversation.ReadMaxChars*8/10 {
		t.Errorf("refused, but about %d characters would fit", size)
	}
	_, ways, ok := strings.Cut(err.Error(), "What fits: ")
	if !ok {
		t.Fatalf("names no call: %v", err)
	}
	ways, lines, _ := strings.Cut(ways, ".\n\n")
	best := 0
	for _, way := range strings.Split(ways, "; ") {
		if way == "event=N" || way == "turn=N" {
			continue // the lines below have numbers
		}
		again := call
		if m := regexp.MustCompile(`last=(\d+)`).FindStringSubmatch(way); m != nil {
			n, _ := strconv.Atoi(m[1])
			again.Last = &n
			if !strings.Contains(way, "include") {
				best = n
			}
		}
		if strings.Contains(way, `include=["requests","answers"]`) {
			again.Include = []string{"requests", "answers"}
		}
		answer, err := read(t, conv, again)
		if err != nil {
			t.Errorf("%q does not work: %v", way, err)
			continue
		}
		m := regexp.MustCompile(`\((\d+)(k?)\)`).FindStringSubmatch(way)
		if m == nil {
			if way != "last=1" {
				t.Errorf("%q has no size", way)
			}
			continue
		}
		said, _ := strconv.Atoi(m[1])
		if n := utf8.RuneCountInString(answer); m[2] == "k" && (n > said*1000 || n <= (said-1)*1000) || m[2] == "" && n != said {
			t.Errorf("%q has %d characters", way, n)
		}
	}
	if n := best + 1; 1 < n && n < last-first+1 { // a single turn is shortened
		again := call
		again.Last = &n
		if _, err := read(t, conv, again); err == nil {
			t.Errorf("last=%d is recommended, and last=%d fits too", best, n)
		}
	}
	checkOutline(t, conv, call, lines)
}

// checkOutline compares an outline with the requests of what was asked for, and makes
// the calls it names.
func checkOutline(t *testing.T, conv *recordedConversation, call readCall, lines string) {
	t.Helper()
	first, last := call.turns(conv.turns)
	var want []string
	for _, e := range conv.numbered() {
		if e.kind == "user" && first <= e.turn && e.turn <= last {
			want = append(want, fmt.Sprintf("turn=%d event=%d", e.turn, e.number))
		}
	}
	var got []string
	gone, tried := 0, map[string]bool{}
	for _, line := range strings.Split(lines, "\n")[1:] {
		if m := regexp.MustCompile(`^\[\.\.\. (\d+) requests? \.\.\.\]$`).FindStringSubmatch(line); m != nil {
			gone += must(strconv.Atoi(m[1]))
			continue
		}
		m := regexp.MustCompile(`^(turn=(\d+) event=(\d+))(?: \((\d+k?)\))?:`).FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("what is %q?", line)
		}
		got = append(got, m[1])
		turn := must(strconv.Atoi(m[2]))
		if len(got) > 6 || tried[m[2]] {
			continue
		}
		tried[m[2]] = true
		if _, err := read(t, conv, readCall{Turn: &turn, Include: call.Include}); err != nil {
			t.Errorf("turn=%d is refused: %v", turn, err)
		}
		checkAdvice(t, conv, m[1])
	}
	if gone == 0 && !slices.Equal(got, want) {
		t.Errorf("outline\n%s\nwant %v", lines, want)
	}
	if len(got)+gone != len(want) {
		t.Errorf("%d requests of %d", len(got)+gone, len(want))
	}
}

// TestEveryCharacterCanBeReached walks all events and parts of random conversations
// by the notes of the answers, and puts the texts together again.
func TestEveryCharacterCanBeReached(t *testing.T) {
	t.Parallel()
	for seed := range cases.Of(uint64(3)) {
		r := rand.New(rand.NewPCG(seed, 3))
		conv := randomConversation(r)
		conv.events = conv.events[:min(len(conv.events), 8)]
		conv.turns = conv.events[len(conv.events)-1].turn
		all := conv.numbered()
		call := readCall{}
		one := 1
		call.Event = &one
		var parts []string
		for steps := 0; call.Event != nil; steps++ {
			n := *call.Event
			answer, err := read(t, conv, call)
			if err != nil || steps > 1000 {
				t.Fatalf("seed %d: %s: %v", seed, call.arguments(), err)
			}
			root := check(t, "conversation_read", answer)
			notes := notesOf(t, root)
			checkAround(t, all, n, call.Part, root)
			for _, e := range eventsOf(root) {
				if e.attr("event") == strconv.Itoa(n) {
					parts = append(parts, partOf(t, &e.answerElement, all[n-1].kind))
				}
			}
			call = readCall{}
			if m := regexp.MustCompile(`Next part: event=(\d+), part=(\d+)\.`).FindStringSubmatch(notes); m != nil {
				event, part := must(strconv.Atoi(m[1])), must(strconv.Atoi(m[2]))
				call.Event, call.Part = &event, &part
				continue
			}
			checkWhole(t, all[n-1].recordedEvent, parts)
			parts = nil
			checkWhere(t, n, len(all), root, notes)
			if after := n + 1; after <= len(all) {
				call.Event = &after
			}
			checkAdvice(t, conv, notes)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// checkWhere checks that the events before and after an event are in view, or in a
// note, and how many there are.
func checkWhere(t *testing.T, n, all int, root *answerElement, notes string) {
	t.Helper()
	if !strings.Contains(notes, fmt.Sprintf("Event %d of %d", n, all)) {
		t.Errorf("event %d of %d is not said to be that: %s", n, all, notes)
	}
	shown := map[int]bool{}
	for _, e := range eventsOf(root) {
		shown[must(strconv.Atoi(e.attr("event")))] = true
	}
	for word, number := range map[string]int{"before": n - 1, "after": n + 1} {
		isNamed := strings.Contains(notes, fmt.Sprintf("%s: event=%d", word, number))
		if isThere := 1 <= number && number <= all; isNamed != (isThere && !shown[number]) {
			t.Errorf("event %d %s event %d of %d: shown %v, named %v", number, word, n, all, shown[number], isNamed)
		}
	}
}

// checkAround checks what is shown beside the first part of an event: of a request
// its answer, of a call its result, and of a result its call.
func checkAround(t *testing.T, all []numbered, n int, part *int, root *answerElement) {
	t.Helper()
	only := all[n-1]
	partner := 0
	for _, e := range all {
		isBetween := func(kind string) bool {
			first, last := min(n, e.number), max(n, e.number)-1
			return slices.ContainsFunc(all[first:last], func(e numbered) bool { return e.kind == kind })
		}
		isPartner := e.number > n && only.kind == "user" && e.isAnswer ||
			e.number > n && only.kind == "tool_call" && e.kind == "tool_result" && !isBetween("tool_call") ||
			e.number < n && only.kind == "tool_result" && e.kind == "tool_call" && !isBetween("tool_call")
		if isPartner && e.turn == only.turn && part == nil && partner == 0 {
			partner = e.number
		}
	}
	limit := map[string]int{"user": 4500}[only.kind]
	for _, e := range eventsOf(root) {
		i := must(strconv.Atoi(e.attr("event")))
		if e.turn != all[i-1].turn || e.attr("event_kind") != all[i-1].kind {
			t.Errorf("event %d is a %s in turn %d", i, e.attr("event_kind"), e.turn)
		}
		if i == partner {
			checkBody(t, &e.answerElement, all[i-1].recordedEvent, max(limit, 300))
			partner = 0
		} else if i != n {
			t.Errorf("event %d is shown beside event %d", i, n)
		}
	}
	if partner > 0 {
		t.Errorf("event %d is not shown beside event %d", partner, n)
	}
}

// partOf is the text of a part.
func partOf(t *testing.T, e *answerElement, kind string) string {
	t.Helper()
	if e.attr("truncated") != "" {
		t.Errorf("a part is truncated: %v", e.Attrs)
	}
	name := "content"
	if kind == "tool_call" {
		name = "arguments"
	}
	body := ""
	if found := e.all(name); len(found) > 0 {
		body = strings.TrimSuffix(strings.TrimPrefix(found[0].Text, "\n"), "\n")
	}
	if kind == "tool_call" {
		lines := strings.Split(body, "\n")
		body = strings.Join(lines[1:len(lines)-1], "\n")
	}
	return body
}

// checkWhole checks that parts are a text, of which each is as it is shown.
func checkWhole(t *testing.T, want recordedEvent, parts []string) {
	t.Helper()
	full := []rune(want.words)
	if want.kind == "tool_call" {
		full = []rune("{\n  \"path\": " + text(want.words) + "\n}")
		if len(full) <= 8000 && len(parts) == 1 {
			checkBody(t, &answerElement{Children: []answerElement{{XMLName: xml.Name{Local: "arguments"}, Text: "```\n" + parts[0] + "\n```"}}}, want, 0)
			return
		}
	}
	for i, part := range parts {
		n := min(8000, len(full))
		if shown := visible.Visible(string(full[:n])); part != shown {
			t.Fatalf("part %d of a %s: %s", i+1, want.kind, cmp.Diff(shown, part))
		}
		full = full[n:]
	}
	if len(full) > 0 {
		t.Errorf("%d characters of a %s cannot be reached", len(full), want.kind)
	}
}
