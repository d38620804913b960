package recall

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// keepingAll is a reading that keeps everything: what one that does not must agree
// with.
func keepingAll(p conversation.ReadParams) *reading {
	r := newReading(contract.Call{}, p)
	r.recent.limit, r.chat.limit = math.MaxInt, math.MaxInt
	r.single = nil
	return r
}

// finish makes samples of all events of the only turn.
func (r *reading) finish(events map[string][]event) {
	r.single = map[string]*sample{"": {}}
	for include, all := range events {
		s := &sample{first: all, n: len(all)}
		for i := range all {
			if searchable(all[i].shown.EventKind) {
				s.searchable++
			}
		}
		r.single[include] = s
	}
}

// TestKeptIsEnough: what a reading does not keep makes no difference to its answer.
func TestKeptIsEnough(t *testing.T) {
	t.Parallel()
	kinds := []transcript.Kind{
		transcript.KindUser, transcript.KindAssistant, transcript.KindReasoning, transcript.KindStructured,
		transcript.KindToolCall, transcript.KindToolResult, transcript.KindToolResult, transcript.KindInquiry,
	}
	lengths := []int{0, 1, 30, 200, 350, 500, 2000, 9000, 39_000, 60_000}
	outcomes := map[string]int{}
	for seed := range uint64(80) {
		random := rand.New(rand.NewPCG(seed, 9))
		turns := 1
		if seed%2 == 0 {
			turns = 1 + random.IntN(40)
		}
		events := 1 + random.IntN([]int{5, 40, 300, 1500}[random.IntN(4)])
		longest := 1 + random.IntN(len(lengths))
		if events*turns > 3000 {
			longest = min(longest, 5)
		}
		p := conversation.ReadParams{Include: []string{"chat", "reasoning", "tool_calls", "tool_results", "inquiries"}}
		if random.IntN(4) == 0 {
			p.Include = p.Include[1+random.IntN(4):]
		}
		kept, all := newReading(contract.Call{}, p), keepingAll(p)
		list := map[string][]event{"": nil}
		number := 0
		for turn := 1; turn <= turns; turn++ {
			for range events {
				e := conversations.Event{Turn: turn, Kind: kinds[random.IntN(len(kinds))]}
				word := string(rune('a' + number%26))
				number++
				e.Text = []byte(strings.Repeat(word, lengths[random.IntN(longest)]))
				if n := len(e.Text); n > conversation.ReadMaxChars {
					e.Chars, e.Head = n, conversation.ReadMaxChars*6/10
					e.Text = e.Text[:conversation.ReadMaxChars]
				}
				kept.add(&e)
				all.add(&e)
				if kind := kindOf(e.Kind); all.shows(kind) {
					shown := newEvent(&e, kind)
					list[""] = append(list[""], shown)
					list[includeOf(kind)] = append(list[includeOf(kind)], shown)
				}
			}
		}
		for _, r := range []*reading{kept, all} {
			r.Reading = conversations.Reading{Turns: turns, FirstTurn: 1, LastTurn: turns}
			r.ID = "jp-c1"
			r.countTurns()
		}
		if turns == 1 {
			all.finish(list)
		}
		got, outcome := worded(kept.answer())
		want, _ := worded(all.answer())
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, %d turns of %d events (-everything kept +not):\n%.3000s", seed, turns, events, diff)
		}
		outcomes[outcome]++
	}
	for _, outcome := range []string{"whole", "shortened", "left out", "refused"} {
		if outcomes[outcome] < 5 {
			t.Errorf("only %d answers are %s: the test has lost its subject", outcomes[outcome], outcome)
		}
	}
}

func worded(e *conversation.ReadEnvelope, err error) (text, outcome string) {
	switch {
	case err != nil:
		return err.Error(), "refused"
	case strings.Contains(strings.Join(e.Notes, ""), "are left out"):
		outcome = "left out"
	case e.Truncated:
		outcome = "shortened"
	default:
		outcome = "whole"
	}
	return string(e.Bytes()), outcome
}

// TestKeptIsBounded: however much is read, what is kept of it is some times what an
// answer can have.
func TestKeptIsBounded(t *testing.T) {
	t.Parallel()
	const limit = 80 * conversation.ReadMaxChars // characters
	for name, tc := range map[string]struct {
		perTurn, events int
		text            string
	}{
		"one turn of small events":   {math.MaxInt, 300_000, "a line"},
		"one turn of empty events":   {math.MaxInt, 300_000, ""},
		"one turn of long events":    {math.MaxInt, 1500, strings.Repeat("潮", 4000)},
		"many turns of one event":    {1, 300_000, "a line"},
		"many turns of empty events": {1, 300_000, ""},
		"long turns":                 {50, 1500, strings.Repeat("x", 40_000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := conversation.ReadParams{Include: []string{"chat", "reasoning", "tool_calls", "tool_results", "inquiries"}}
			r := newReading(contract.Call{}, p)
			most := 0
			for i := range tc.events {
				kind := []transcript.Kind{transcript.KindUser, transcript.KindToolResult, transcript.KindReasoning, transcript.KindAssistant}[i%4]
				r.add(&conversations.Event{Turn: 1 + i/tc.perTurn, Kind: kind, Text: []byte(tc.text)})
				if i%997 == 0 || i == tc.events-1 {
					most = max(most, r.held())
				}
			}
			if most > limit {
				t.Errorf("%d characters and frames are held", most)
			}
		})
	}
}

// held is how many characters a reading holds, with a frame for each event and
// turn.
func (r *reading) held() int {
	n := 0
	count := func(events []event) {
		for i := range events {
			n += leastFrame + len([]rune(events[i].body.kept))
		}
	}
	for _, w := range []*window{&r.recent, &r.chat} {
		for i := range w.turns {
			n += leastTurn
			count(w.turns[i].events)
		}
	}
	for _, s := range r.single {
		count(s.first)
		count(s.last)
	}
	return n
}
