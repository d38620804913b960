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
	limit := conversation.ReadMaxChars
	whole := r.measure(r.turns, r.params.Include)
	what := fmt.Sprintf("Conversation %s is %s, about %s characters", r.summary.ID, turnCount(len(r.turns)), short(whole))
	if len(r.turns) < r.total {
		what = fmt.Sprintf("The last %s of conversation %s are about %s characters", turnCount(len(r.turns)), r.summary.ID, short(whole))
	}
	message := fmt.Sprintf("%s; the limit is %d.", what, limit)

	var ways []string
	if n, size := r.most(r.params.Include); n > 0 {
		ways = append(ways, fmt.Sprintf("last=%d (%s)", n, short(size)))
	}
	chat := []string{conversation.ReadIncludeChat}
	if len(r.params.Include) != 1 || r.params.Include[0] != chat[0] {
		size := r.measure(r.turns, chat)
		if size <= limit {
			ways = append(ways, fmt.Sprintf(`include=["chat"] (%s)`, short(size)))
		} else if n, size := r.most(chat); n > 0 {
			ways = append(ways, fmt.Sprintf(`last=%d with include=["chat"] (%s)`, n, short(size)))
		}
	}
	ways = append(ways, "any one turn=N, shortened where it is longer")
	message += " What fits: " + strings.Join(ways, "; ") + "."
	if largest := r.largest(3); largest != "" {
		message += " Largest: " + largest + "."
	}
	return contract.Fixable(message)
}

// measure is how long the answer with these turns would be.
func (r *reading) measure(turns []int, include []string) int {
	events := r.selection(turns, include)
	if n := r.estimate(events); n > 4*conversation.ReadMaxChars {
		return n // nobody needs it to the character
	}
	return chars(r.envelope(turns, events, nil))
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

func turnCount(n int) string {
	if n == 1 {
		return "1 turn"
	}
	return fmt.Sprintf("%d turns", n)
}

// short writes a size the way people say it: 812, 31k, 1.05M. It rounds up, so
// that what is said to fit does.
func short(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_001:
		return fmt.Sprintf("%dk", (n+999)/1000)
	default:
		return fmt.Sprintf("%.2fM", float64((n+9_999)/10_000)/100)
	}
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
