package recall

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
)

// outlineChars is how many characters an outline has in a refusal.
const outlineChars = 6000

// refusal says why several turns cannot be returned at once, with numbers that
// work: each call it names was measured, and fits. The outline says where to look.
func (r *reading) refusal(asked view) error {
	message := fmt.Sprintf("Conversation %s is %s, %s characters", r.ID, count(len(r.turns), "turn", "turns"), short(r.chars))
	if len(r.turns) < r.Turns {
		message = fmt.Sprintf("The last %s of conversation %s are %s characters", count(len(r.turns), "turn", "turns"), r.ID, short(r.chars))
	}
	size := func(v view) string { return short(chars(r.fitted(v))) }
	ways := []string{"event=N", "turn=N", "last=1"} // of which the least important is shortened first
	n := asked.most(r.fits)
	if last := asked.latest(n); n > 1 || n == 1 && chars(r.envelope(last, last.events)) <= usualRead {
		ways[2] = fmt.Sprintf("last=%d (%s)", n, size(last))
	}
	results := []string{"requests", "answers"}
	if slices.ContainsFunc(r.params.Include, func(i string) bool { return !slices.Contains(results, i) }) {
		// Worth naming where it shows more turns.
		all := r.view((*event).isResult)
		more := all.most(r.fits)
		switch last := all.latest(more); {
		case more == len(r.turns) && r.params.Last == nil:
			ways = append(ways, fmt.Sprintf(`include=%s (%s)`, list(results), size(last)))
		case more > n:
			ways = append(ways, fmt.Sprintf(`last=%d, include=%s (%s)`, more, list(results), size(last)))
		}
	}
	return &contract.Error{
		Message: fmt.Sprintf("%s: more than the %d of one answer, even shortened. What fits: %s.\n\nIts requests, with about what reading the turn takes:\n%s",
			message, conversation.ReadMaxChars, strings.Join(ways, "; "), r.outlined(asked)),
		Caller: true, Err: errTooMuch,
	}
}

// outlined is the outline of what is asked for, a request to a line.
func (r *reading) outlined(asked view) string {
	sizes := map[int]int{}
	for i := range asked.events {
		v := view{events: asked.events[i : i+1]}
		sizes[asked.events[i].turn] += v.cost()
	}
	all := outlineOf(r.events)
	rows := func(k int) string {
		o := all.without(k)
		seen := 0
		var rows []string
		for i := range o.requests {
			if o.left > 0 && i == o.before {
				rows = append(rows, fmt.Sprintf("[... %s ...]", count(o.left, "request", "requests")))
			}
			q, size := &o.requests[i], ""
			if cost := sizes[q.turn]; cost > 0 && q.turn != seen {
				size = fmt.Sprintf(" (%s)", short(min(cost, conversation.ReadMaxChars)))
			}
			seen = q.turn
			rows = append(rows, fmt.Sprintf("turn=%d event=%d%s: %s", q.turn, q.number, size, q.text))
		}
		return strings.Join(rows, "\n")
	}
	return rows(sort.Search(len(all.requests), func(k int) bool { return envelope.Chars([]byte(rows(k))) <= outlineChars }))
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
