package recall

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// TestForms: each form of a turn has no more than the one before, leaves out what is
// needed least and stands nearest to the middle, and counts it.
func TestForms(t *testing.T) {
	t.Parallel()
	for seed := range cases.Of(uint64(20)) {
		r := rand.New(rand.NewPCG(seed, 11))
		var d digest
		ranked := map[rank][]int{}
		n := 1 + r.IntN([]int{4, 40, 300, 1000}[r.IntN(4)])
		for number := 1; number <= n; number++ {
			rank := rank(r.IntN(ranks))
			if seed%3 == 0 {
				rank = rank / 2 // fewer of what is needed
			}
			e := newEvent(&conversations.Event{Number: number, Text: []byte(strings.Repeat("line of text\n", r.IntN(100)))}, math.MaxInt)
			d[rank] = append(d[rank], e.shortened(maxText))
			ranked[rank] = append(ranked[rank], number)
		}
		before, size := n+1, math.MaxInt
		for k := range d.forms() {
			if k > 30 && k < d.forms()-1 && k%17 > 0 {
				continue
			}
			events := d.form(k)
			if _, shown := d.plan(k); shown != len(events) || len(events) > before {
				t.Fatalf("seed %d, form %d: %d events of %d are planned, there are %d, and %d in the one before", seed, k, shown, n, len(events), before)
			}
			shown := map[int]bool{}
			chars := 0
			for i := range events {
				shown[events[i].shown.Event] = true
				chars += events[i].body.length()
				if i > 0 && events[i-1].shown.Event >= events[i].shown.Event {
					t.Fatalf("seed %d, form %d: not in order", seed, k)
				}
			}
			if chars > size {
				t.Errorf("seed %d, form %d: %d characters, and %d in the one before", seed, k, chars, size)
			}
			before, size = len(events), chars
			checkForm(t, fmt.Sprintf("seed %d, form %d", seed, k), ranked, shown)
		}
		if before != 0 {
			t.Errorf("seed %d: the last form has %d events", seed, before)
		}
	}
}

// checkForm checks which events are shown.
func checkForm(t *testing.T, name string, ranked map[rank][]int, shown map[int]bool) {
	t.Helper()
	gone := false // something of a rank above is
	for r := rank(ranks - 1); r >= 0; r-- {
		numbers := ranked[r]
		from, to := 0, len(numbers)
		for from < to && shown[numbers[from]] {
			from++
		}
		for to > from && shown[numbers[to-1]] {
			to--
		}
		for _, number := range numbers[from:to] {
			if shown[number] {
				t.Fatalf("%s: event %d is shown between some that are not", name, number)
			}
		}
		kept := from + len(numbers) - to
		if gone && kept > 0 {
			t.Errorf("%s: %d events of rank %d are shown while some above are not", name, kept, r)
		}
		if from == to {
			continue
		}
		gone = true
		if kept > 20 && (from < kept*35/100 || from > kept*45/100) {
			t.Errorf("%s: %d of %d events are from the beginning, want 40 %%", name, from, kept)
		}
	}
}

// TestAnswersAreHeldBack: requests and answers are found while events stream by, in
// order, whatever stands between them.
func TestAnswersAreHeldBack(t *testing.T) {
	t.Parallel()
	r := newReading(contract.Call{}, conversation.ReadParams{Include: []string{"requests", "answers", "tool_results"}})
	kinds := []transcript.Kind{
		transcript.KindTurnStart, transcript.KindUser, transcript.KindAssistant, transcript.KindToolCall, transcript.KindToolResult,
		transcript.KindStructured, transcript.KindToolResult, transcript.KindAssistant, transcript.KindUser, transcript.KindUser, transcript.KindReasoning,
	}
	text := map[int]string{7: " \n"} // said nothing
	for i, kind := range kinds {
		r.add(&conversations.Event{Number: i, Turn: 1, Kind: kind, Text: []byte(cmp.Or(text[i], "words"))})
	}
	r.add(&conversations.Event{Number: 11, Turn: 2, Kind: transcript.KindAssistant, Text: []byte("words")})
	r.settle(true)
	var got []int
	for _, e := range r.events {
		if e.isAsked {
			got = append(got, e.shown.Event)
		}
	}
	if want := []int{1, 4, 5, 6, 8, 9, 11}; !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}
