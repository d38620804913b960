package recall

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
)

// refusal says why several turns cannot be returned at once, with numbers that
// work: each call it names was measured, and fits.
func (r *reading) refusal() error {
	const limit = conversation.ReadMaxChars
	message := fmt.Sprintf("Conversation %s is %s, about %s characters", r.ID, count(r.turns, "turn", "turns"), short(r.whole()))
	if r.turns < r.Turns {
		message = fmt.Sprintf("The last %s of conversation %s are about %s characters", count(r.turns, "turn", "turns"), r.ID, short(r.whole()))
	}

	var ways []string
	n, size := r.recent.most(r.measure)
	if n > 0 {
		ways = append(ways, fmt.Sprintf("last=%d (%s)", n, short(size)))
	}
	if len(r.params.Include) > 1 && slices.Contains(r.params.Include, conversation.ReadIncludeChat) {
		// Worth naming where it shows more turns.
		more, size := r.chat.most(r.measure)
		switch {
		case more == r.turns && r.params.Last == nil:
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
	var longest []string
	for _, t := range r.largest.turns {
		longest = append(longest, fmt.Sprintf("turn %d (%s)", t.number, short(t.size)))
	}
	return &contract.Error{
		Message: fmt.Sprintf("%s; the limit is %d. What fits, the rest of the call unchanged: %s. Largest: %s.",
			message, limit, strings.Join(ways, "; "), strings.Join(longest, ", ")),
		Caller: true, Err: errTooMuch,
	}
}

// errTooMuch is the cause of a refusal: a call for less works.
var errTooMuch = errors.New("more than an answer can have")

// whole is how long the answer with all turns would be. Of one that is several
// times too long nobody needs it to the character.
func (r *reading) whole() int {
	if r.recent.partial || r.size > 4*conversation.ReadMaxChars {
		return r.size + r.missing
	}
	return r.measure(r.recent.turns) + r.missing
}

// measure is how long the answer with these turns would be.
func (r *reading) measure(turns []turn) int { return chars(r.envelope(turns, cutNotes(r, turns))) }

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
