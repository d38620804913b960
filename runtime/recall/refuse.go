package recall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
)

// outlineChars is how many characters an outline has in a refusal.
const outlineChars = 6000

// refusal says why several turns cannot be returned at once, with numbers that
// work: each call it names was measured, and fits. The outline says where to look.
func (r *reading) refusal(asked []turn) error {
	message := fmt.Sprintf("Conversation %s is %s, %s characters", r.ID, count(len(r.turns), "turn", "turns"), short(r.chars))
	if len(r.turns) < r.Turns {
		message = fmt.Sprintf("The last %s of conversation %s are %s characters", count(len(r.turns), "turn", "turns"), r.ID, short(r.chars))
	}
	ways := []string{"event=N", "turn=N"}
	n := most(asked, r.fits)
	if n > 1 || n == 1 && chars(r.envelope(latest(asked, 1), 0, 0)) <= usualRead {
		ways = append(ways, fmt.Sprintf("last=%d (%s)", n, short(r.measure(latest(asked, n)))))
	} else {
		ways = append(ways, "last=1") // of which the least important is shortened first
	}
	results := []string{"requests", "answers"}
	if slices.ContainsFunc(r.params.Include, func(i string) bool { return !slices.Contains(results, i) }) {
		// Worth naming where it shows more turns.
		all := r.grouped((*event).isResult)
		more := most(all, r.fits)
		size := r.measure(latest(all, more))
		switch {
		case more == len(r.turns) && r.params.Last == nil:
			ways = append(ways, fmt.Sprintf(`include=%s (%s)`, list(results), short(size)))
		case more > n:
			ways = append(ways, fmt.Sprintf(`last=%d, include=%s (%s)`, more, list(results), short(size)))
		}
	}
	return &contract.Error{
		Message: fmt.Sprintf("%s: more than the %d of one answer, even shortened. What fits: %s.\n\nIts requests, with about what reading the turn takes:\n%s",
			message, conversation.ReadMaxChars, strings.Join(ways, "; "), r.outlined(asked)),
		Caller: true, Err: errTooMuch,
	}
}

// outlined is the outline of what is asked for, a request to a line.
func (r *reading) outlined(asked []turn) string {
	seen := 0
	row := func(q *request) string {
		size := ""
		if i := slices.Index(r.turns, q.turn); i >= 0 && q.turn != seen && len(asked[i].events) > 0 {
			size = fmt.Sprintf(" (%s)", short(min(asked[i].cost(), conversation.ReadMaxChars)))
		}
		return fmt.Sprintf("turn=%d event=%d%s: %s", q.turn, q.number, size, q.text)
	}
	requests := r.requests.within(outlineChars, func(q *request) int { return envelope.Chars([]byte(row(q))) + 1 })
	var lines []string
	for i := range requests.requests {
		if requests.left > 0 && i == requests.before {
			lines = append(lines, fmt.Sprintf("[... %s ...]", count(requests.left, "request", "requests")))
		}
		q := &requests.requests[i]
		lines = append(lines, row(q))
		seen = q.turn
	}
	return strings.Join(lines, "\n")
}

// measure is how long the answer with these turns would be.
func (r *reading) measure(turns []turn) int { return chars(r.several(turns)) }

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
