package recall_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/generated/conversation"
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

func (c *recordedConversation) Run(_ context.Context, cmd process.Command) (process.Result, error) {
	most := math.MaxInt
	for _, arg := range cmd.Args {
		if value, ok := strings.CutPrefix(arg, "--max-text="); ok {
			most = must(strconv.Atoi(value))
		}
	}
	var records []string
	for i, e := range c.events {
		stamp := fmt.Sprintf(`{"timestamp":"2025-12-04 %02d:%02d:%02d.5"}`, i/3600, i/60%60, i%60)
		words := e.words
		if runes := []rune(words); len(runes) > most && e.kind != "tool_call" {
			head := most * 6 / 10
			words = string(runes[:head]) + string(runes[len(runes)-most+head:])
			stamp = joined(stamp, fmt.Sprintf(`{"chars":%d,"head_chars":%d}`, len(runes), head))
		}
		records = append(records, joined(said(e.kind, e.turn, words), stamp))
	}
	return process.Result{Stdout: []byte(printed(c.turns, 1, c.turns, "", records...))}, nil
}

func randomText(r *rand.Rand, n int) string {
	pieces := []string{"abc ", "\n", "]]>", "<x>", "\r\n", "潮", "\u202e", "\x1b[0m", "🌊", "`", "\\", `"`, "&amp;", "[... 5 of 9 chars omitted ...]"}
	if r.IntN(3) > 0 {
		pieces = pieces[:2] // mostly plain
	}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func randomConversation(r *rand.Rand) *recordedConversation {
	c := &recordedConversation{turns: 1 + r.IntN(6)}
	kinds := []string{"user", "assistant", "reasoning", "tool_call", "tool_result", "inquiry"}
	lengths := []int{0, 3, 40, 400, 3000, 12_000, 45_000, 90_000}
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

// included are the kinds that a value of include asks for.
var included = map[string][]string{
	"chat": {"user", "assistant", "structured"}, "reasoning": {"reasoning"},
	"tool_calls": {"tool_call"}, "tool_results": {"tool_result"}, "inquiries": {"inquiry"},
}

// readCall is a random call and the events it asks for.
type readCall struct {
	Turn, Last *int     `json:"-"`
	Include    []string `json:"-"`
}

func (c readCall) arguments() string {
	args := map[string]any{"id": readID, "include": c.Include}
	if c.Turn != nil {
		args["turn"] = *c.Turn
	}
	if c.Last != nil {
		args["last"] = *c.Last
	}
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return string(b)
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

func (c readCall) selects(conv *recordedConversation) []recordedEvent {
	first, last := c.turns(conv.turns)
	var out []recordedEvent
	for _, e := range conv.events {
		wanted := slices.ContainsFunc(c.Include, func(i string) bool { return slices.Contains(included[i], e.kind) })
		if wanted && first <= e.turn && e.turn <= last {
			out = append(out, e)
		}
	}
	return out
}

func randomRead(r *rand.Rand, turns int) readCall {
	c := readCall{Include: []string{"chat"}}
	for _, include := range []string{"reasoning", "tool_calls", "tool_results", "inquiries"} {
		if r.IntN(4) > 0 {
			c.Include = append(c.Include, include)
		}
	}
	if r.IntN(5) == 0 {
		c.Include = c.Include[len(c.Include)-1:]
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
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		conv := randomConversation(r)
		call := randomRead(r, conv.turns)
		answer, err := read(t, conv, call)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
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
		if outcomes[outcome] < 3 {
			t.Errorf("only %d answers are %s: the test has lost its subject", outcomes[outcome], outcome)
		}
	}
}

var (
	omitted = regexp.MustCompile(`\[\.\.\. (\d+) of (\d+) chars omitted \.\.\.\]`)
	leftOut = regexp.MustCompile(`Of the (\d+) events of turn \d+ the first (\d+) and the last (\d+) are here; (\d+) between them`)
)

func checkRead(t *testing.T, conv *recordedConversation, call readCall, answer string) (outcome string) {
	t.Helper()
	root := check(t, "conversation_read", answer)
	want := call.selects(conv)
	first, last := call.turns(conv.turns)
	for name, value := range map[string]int{
		"turns": last - first + 1, "total_turns": conv.turns, "first_turn": first, "last_turn": last,
	} {
		if root.attr(name) != strconv.Itoa(value) {
			t.Errorf("%s=%q, want %d", name, root.attr(name), value)
		}
	}
	outcome = "whole"
	type placed struct {
		turn int
		answerElement
	}
	var got []placed
	for i, turn := range root.all("turn") {
		if turn.attr("index") != strconv.Itoa(first+i) {
			t.Errorf("turn %d has index %s", first+i, turn.attr("index"))
		}
		for _, e := range turn.all("event") {
			got = append(got, placed{first + i, e})
		}
	}
	if root.attr("events") != strconv.Itoa(len(got)) {
		t.Errorf("events=%s, but there are %d", root.attr("events"), len(got))
	}
	notes := ""
	for _, n := range root.all("note") {
		notes += n.Text + "\n"
	}
	if len(got) < len(want) {
		outcome = "left out"
		m := leftOut.FindStringSubmatch(notes)
		if m == nil {
			t.Fatalf("%d of %d events are left out, and no note says so: %s", len(want)-len(got), len(want), notes)
		}
		if !strings.Contains(notes, " are left out. conversation_grep with ids=[") {
			t.Errorf("no call gets at what is left out: %s", notes)
		}
		head, _ := strconv.Atoi(m[2])
		tail, _ := strconv.Atoi(m[3])
		if head+tail != len(got) || m[1] != strconv.Itoa(len(want)) || m[4] != strconv.Itoa(len(want)-len(got)) || head == 0 || tail == 0 {
			t.Errorf("%d of %d events are shown, but the note says: %s", len(got), len(want), m[0])
		}
		want = slices.Concat(want[:head], want[len(want)-tail:])
	}
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	total, anyCut := 0, false
	longest := map[string]int{} // of texts that are shown, by kind
	cut := map[string]bool{}
	for i := range got {
		if got[i].turn != want[i].turn || got[i].attr("event_kind") != want[i].kind {
			t.Fatalf("event %d is %s in turn %d, want %s in turn %d", i, got[i].attr("event_kind"), got[i].turn, want[i].kind, want[i].turn)
		}
		shown, isCut := checkBody(t, &got[i].answerElement, want[i])
		total += shown
		anyCut = anyCut || isCut
		cut[want[i].kind] = cut[want[i].kind] || isCut
		longest[want[i].kind] = max(longest[want[i].kind], shown)
	}
	if root.attr("chars") != strconv.Itoa(total) {
		t.Errorf("chars=%s, want %d", root.attr("chars"), total)
	}
	if anyCut && outcome == "whole" {
		outcome = "shortened"
	}
	if (root.attr("truncated") == "true") != (outcome != "whole") {
		t.Errorf("truncated=%s of an answer that is %s", root.attr("truncated"), outcome)
	}
	if anyCut && !strings.Contains(notes, "shortened to keep within") {
		t.Errorf("no note about shortened texts: %s", notes)
	}
	// A kind gives only when those before it have given all they can.
	order := []string{"tool_result", "tool_call", "inquiry", "reasoning", "assistant", "user"}
	for i, kind := range order {
		for _, before := range order[:i] {
			if cut[kind] && longest[before] > 300+110 {
				t.Errorf("%s is shortened while %s still has %d characters", kind, before, longest[before])
			}
		}
	}
	checkReread(t, conv, call, notes, total)
	return outcome
}

// checkBody compares the text of an event and returns how much of it is shown.
func checkBody(t *testing.T, got *answerElement, want recordedEvent) (shown int, isCut bool) {
	t.Helper()
	name, full := "content", visible.Visible(want.words)
	if want.kind == "tool_call" {
		name = "arguments"
		full = "{\n  \"path\": " + text(want.words) + "\n}"
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
			return utf8.RuneCountInString(full), false
		}
		full = visible.Visible(full)
	}
	if !isCut {
		if body != full {
			t.Errorf("%s: text differs:\n%s", want.kind, cmp.Diff(full, body))
		}
		return utf8.RuneCountInString(full), false
	}
	// The mark is the one whose numbers add up; text may hold others.
	for _, m := range omitted.FindAllStringSubmatchIndex(body, -1) {
		if body[m[4]:m[5]] != got.attr("chars") {
			continue
		}
		head, tail := strings.TrimSuffix(body[:m[0]], "\n"), strings.TrimPrefix(body[m[1]:], "\n")
		missing, _ := strconv.Atoi(body[m[2]:m[3]])
		of, _ := strconv.Atoi(body[m[4]:m[5]])
		kept := of - missing
		headChars, tailChars := utf8.RuneCountInString(head), utf8.RuneCountInString(tail)
		if !strings.HasPrefix(full, head) || !strings.HasSuffix(full, tail) || kept != headChars+tailChars {
			if want.kind == "tool_call" {
				return kept, true // sanitizing changed lengths after the cut
			}
			continue
		}
		if kept > 20 && (headChars < kept*55/100 || headChars > kept*65/100) && strings.Count(want.words, "\n") == strings.Count(full, "\n") && full == want.words {
			t.Errorf("%s: %d of %d kept characters are from the head, want 60 %%", want.kind, headChars, kept)
		}
		return kept, true
	}
	t.Errorf("%s: no mark that fits: %.200q", want.kind, body)
	return 0, true
}

// checkReread makes the call that a note recommends and wants more to be shown.
func checkReread(t *testing.T, conv *recordedConversation, call readCall, notes string, shown int) {
	t.Helper()
	m := regexp.MustCompile(`Re-read with turn=(\d+), include=\["(\w+)"\] for more`).FindStringSubmatch(notes)
	if m == nil {
		return
	}
	turn, _ := strconv.Atoi(m[1])
	again := readCall{Turn: &turn, Include: []string{m[2]}}
	answer, err := read(t, conv, again)
	if err != nil {
		t.Fatalf("the recommended call fails: %v", err)
	}
	first, err := read(t, conv, call)
	if err != nil {
		t.Fatal(err)
	}
	if before, after := charsOf(t, first, included[m[2]]), charsOf(t, answer, included[m[2]]); after <= before {
		t.Errorf("re-reading shows %d characters of %s, and before it was %d", after, m[2], before)
	}
}

// charsOf counts the text shown of some kinds.
func charsOf(t *testing.T, answer string, kinds []string) int {
	t.Helper()
	n := 0
	for _, turn := range check(t, "conversation_read", answer).all("turn") {
		for _, e := range turn.all("event") {
			if !slices.Contains(kinds, e.attr("event_kind")) {
				continue
			}
			for _, body := range e.Children {
				n += utf8.RuneCountInString(body.Text)
			}
		}
	}
	return n
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
	size := 0
	for _, w := range call.selects(conv) {
		words, frame := visible.Visible(w.words), 160
		if w.kind == "tool_call" {
			words, frame = visible.Visible(text(w.words)), 260
		}
		size += utf8.RuneCountInString(words) + frame
	}
	if size < conversation.ReadMaxChars*8/10 {
		t.Errorf("refused, but about %d characters would fit", size)
	}
	_, ways, ok := strings.Cut(err.Error(), "the rest of the call unchanged: ")
	if !ok {
		t.Fatalf("names no call: %v", err)
	}
	ways, _, _ = strings.Cut(ways, ". Largest")
	best := 0
	for _, way := range strings.Split(ways, "; ") {
		again := call
		if m := regexp.MustCompile(`last=(\d+)`).FindStringSubmatch(way); m != nil {
			n, _ := strconv.Atoi(m[1])
			again.Last = &n
			if !strings.Contains(way, "include") {
				best = n
			}
		}
		if strings.Contains(way, `include=["chat"]`) {
			again.Include = []string{"chat"}
		}
		if strings.Contains(way, "turn=N") {
			for turn := first; turn <= last; turn++ {
				if _, err := read(t, conv, readCall{Turn: &turn, Include: call.Include}); err != nil {
					t.Errorf("turn=%d is refused: %v", turn, err)
				}
			}
			continue
		}
		answer, err := read(t, conv, again)
		if err != nil {
			t.Errorf("%q does not work: %v", way, err)
			continue
		}
		m := regexp.MustCompile(`\((\d+)(k?)\)`).FindStringSubmatch(way)
		if m == nil {
			t.Fatalf("%q has no size", way)
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
}
