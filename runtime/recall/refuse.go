package recall

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
)

// refusal says why several turns cannot be returned at once, with numbers that
// work: each call it names was measured, and fits.
func (r *reading) refusal() error {
	const limit = conversation.ReadMaxChars
	chat := []string{conversation.ReadIncludeChat}
	whole := r.measure(r.turns, r.params.Include)
	for _, e := range r.selection(r.turns, r.params.Include) {
		whole += e.body.missing()
	}
	message := fmt.Sprintf("Conversation %s is %s, about %s characters", r.id, count(len(r.turns), "turn", "turns"), short(whole))
	if len(r.turns) < r.total {
		message = fmt.Sprintf("The last %s of conversation %s are about %s characters", count(len(r.turns), "turn", "turns"), r.id, short(whole))
	}

	var ways []string
	n, size := r.most(r.params.Include)
	if n > 0 {
		ways = append(ways, fmt.Sprintf("last=%d (%s)", n, short(size)))
	}
	if len(r.params.Include) > 1 && slices.Contains(r.params.Include, chat[0]) {
		// Worth naming where it shows more turns.
		more, size := r.most(chat)
		switch {
		case more == len(r.turns) && r.params.Last == nil:
			ways = append(ways, fmt.Sprintf(`include=["chat"] (%s)`, short(size)))
		case more > n:
			ways = append(ways, fmt.Sprintf(`last=%d, include=["chat"] (%s)`, more, short(size)))
		}
	}
	one := "any one turn=N"
	if r.params.Last != nil {
		one += " in place of last"
	}
	ways = append(ways, one+", shortened where it is longer")
	return contract.Fixable(fmt.Sprintf("%s; the limit is %d. What fits, the rest of the call unchanged: %s. Largest: %s.",
		message, limit, strings.Join(ways, "; "), r.largest(3)))
}

// measure is how long the answer with these turns would be.
func (r *reading) measure(turns []int, include []string) int {
	events := r.selection(turns, include)
	if n := estimate(events); n > 4*conversation.ReadMaxChars {
		return n // nobody needs it to the character
	}
	return chars(r.envelope(turns, events, r.cutNotes(events)))
}

// most is the largest number of turns from the end that fits, and its size.
func (r *reading) most(include []string) (n, size int) {
	// sort.Search finds the first count that does not fit; sizes grow with it.
	n = sort.Search(len(r.turns), func(i int) bool {
		return r.measure(r.turns[len(r.turns)-1-i:], include) > conversation.ReadMaxChars
	})
	if n == 0 {
		return 0, 0
	}
	return n, r.measure(r.turns[len(r.turns)-n:], include)
}

// largest names the n longest turns.
func (r *reading) largest(n int) string {
	size := map[int]int{}
	for _, e := range r.selection(r.turns, r.params.Include) {
		size[e.turn] += e.body.chars
	}
	turns := slices.Clone(r.turns)
	sort.SliceStable(turns, func(i, j int) bool { return size[turns[i]] > size[turns[j]] })
	var parts []string
	for _, turn := range turns[:min(n, len(turns))] {
		parts = append(parts, fmt.Sprintf("turn %d (%s)", turn, short(size[turn])))
	}
	return strings.Join(parts, ", ")
}

// short writes a size the way people say it: 812, 31k, 1.05M. It rounds up.
func short(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n <= 999_000:
		return fmt.Sprintf("%dk", (n+999)/1000)
	default:
		return fmt.Sprintf("%.2fM", float64((n+9_999)/10_000)/100)
	}
}
