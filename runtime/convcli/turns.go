package convcli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// turnOptions is the flags that select turns.
type turnOptions struct {
	turn, from, to string
	last, first    int
}

func (o *turnOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.turn, "turn", "", "only turn `N`, or turns A..B, A.. or ..B")
	flags.IntVar(&o.last, "last", 1, "only the last `N` turns")
	flags.IntVar(&o.first, "first", 1, "only the first `N` turns")
	flags.Lookup("last").NoOptDefVal = "1"
	flags.Lookup("first").NoOptDefVal = "1"
	flags.StringVar(&o.from, "from", "", "from turn `X` on: a number, -N counted from the end, an age such as 5h, or last-compaction")
	flags.StringVar(&o.to, "to", "", "up to turn `X`: a number, -N counted from the end, or an age such as 5h")
}

// turnView is what the selection of turns asks about a conversation.
type turnView struct {
	now       func() time.Time
	starts    func() []time.Time // by turn number from 1 on; zero when unknown
	compacted func() int         // last turn a compaction covers, 0 for none
}

// turnSelector is a parsed selection of turns.
type turnSelector struct {
	ranged      bool // --turn: bounds out of range are an error
	first, last bound
}

// bound is one end of a selection.
type bound struct {
	kind boundKind
	n    int           // for numbers: counted from 1, or from the end
	age  time.Duration // for boundAge
	text string        // as given
}

type boundKind int

const (
	boundNone       boundKind = iota
	boundNumber               // turn n
	boundEnd                  // n turns from the end: 1 is the last
	boundAge                  // the first or last turn that began this long ago
	boundCompaction           // the first turn after the last compaction
	boundCount                // for --first: n turns from the start, clamped
	boundEndCount             // for --last: n turns up to the end, clamped
)

// parse checks that the flags fit together and reads them.
func (o *turnOptions) parse(flags *pflag.FlagSet) (turnSelector, error) {
	var s turnSelector
	var given []string
	for _, name := range []string{"turn", "last", "first"} {
		if flags.Changed(name) {
			given = append(given, "--"+name)
		}
	}
	between := flags.Changed("from") || flags.Changed("to")
	if between {
		given = append(given, "--from or --to")
	}
	if len(given) > 1 {
		return s, usageError("give only one of them", "%s exclude each other", strings.Join(given, " and "))
	}
	for _, count := range []struct {
		name  string
		value int
	}{{"last", o.last}, {"first", o.first}} {
		if count.value < 0 {
			return s, usageError("give the number of turns", "--%s cannot be %d", count.name, count.value)
		}
	}
	var err error
	switch {
	case flags.Changed("turn"):
		return parseRange(o.turn)
	case flags.Changed("last"):
		s.first = bound{kind: boundEndCount, n: o.last}
	case flags.Changed("first"):
		s.last = bound{kind: boundCount, n: o.first}
	case between:
		if s.first, err = parseBound("from", o.from, flags); err != nil {
			return s, err
		}
		s.last, err = parseBound("to", o.to, flags)
	}
	return s, err
}

// none reports whether the flags ask for no turns, whatever the conversation.
func (s turnSelector) none() bool {
	return s.first.kind == boundEndCount && s.first.n == 0 || s.last.kind == boundCount && s.last.n == 0
}

// parseRange reads N, A..B, A.., ..B and .. .
func parseRange(text string) (turnSelector, error) {
	s := turnSelector{ranged: true}
	from, to, isRange := strings.Cut(text, "..")
	if !isRange {
		to = from
	}
	if text == "" {
		return s, usageError("write --turn 3, --turn 2..5, --turn 2.. or --turn ..5", "--turn is empty")
	}
	for _, end := range []struct {
		text string
		b    *bound
	}{{from, &s.first}, {to, &s.last}} {
		if end.text == "" {
			continue
		}
		n, err := strconv.Atoi(end.text)
		if err != nil || n < 0 {
			return s, usageError("write --turn 3, --turn 2..5, --turn 2.. or --turn ..5; turns are counted from 1", "--turn cannot be %q", text)
		}
		*end.b = bound{kind: boundNumber, n: n, text: end.text}
	}
	if s.first.kind != boundNone && s.last.kind != boundNone && s.first.n > s.last.n {
		return s, usageError(fmt.Sprintf("write --turn %d..%d", s.last.n, s.first.n), "--turn %s ends before it begins", text)
	}
	return s, nil
}

// parseBound reads the value of --from or --to.
func parseBound(flag, text string, flags *pflag.FlagSet) (bound, error) {
	if !flags.Changed(flag) {
		return bound{}, nil
	}
	b := bound{text: text}
	if flag == "from" && text == "last-compaction" {
		b.kind = boundCompaction
		return b, nil
	}
	if n, err := strconv.Atoi(text); err == nil {
		b.kind, b.n = boundNumber, n
		if n < 0 {
			b.kind, b.n = boundEnd, -n
		}
		return b, nil
	}
	if age, ok := parseAge(text); ok {
		b.kind, b.age = boundAge, age
		return b, nil
	}
	hint := "use a turn number, -N for the Nth turn from the end, or an age such as 30m, 5h, 2d or 3w"
	if flag == "from" {
		hint += ", or last-compaction"
	}
	return b, usageError(hint, "--%s cannot be %q", flag, text)
}

// parseAge reads a duration such as "5h", "2d 3h" or "90min".
func parseAge(text string) (time.Duration, bool) {
	rest := strings.ReplaceAll(text, " ", "")
	var total time.Duration
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		if err != nil {
			return 0, false
		}
		rest = rest[digits:]
		letters := len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzM"))
		unit := unitLength(rest[:letters])
		if unit == 0 || n > int(math.MaxInt64/unit) {
			return 0, false
		}
		if total += time.Duration(n) * unit; total < 0 {
			return 0, false
		}
		rest = rest[letters:]
	}
	return total, text != ""
}

func unitLength(name string) time.Duration {
	const day = 24 * time.Hour
	switch name {
	case "s", "sec", "secs", "second", "seconds":
		return time.Second
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "h", "hr", "hrs", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return day
	case "w", "week", "weeks":
		return 7 * day
	case "M", "month", "months":
		return 30*day + 10*time.Hour + 30*time.Minute // a twelfth of a year
	case "y", "year", "years":
		return 365*day + 6*time.Hour
	}
	return 0
}

// resolve returns the first and last turn selected of a conversation with so many
// turns; last is before first when none are.
func (s turnSelector) resolve(turns int, view turnView) (first, last int, err error) {
	first, last = 1, turns
	if first, err = s.first.resolve(first, turns, view, false); err != nil {
		return 0, 0, err
	}
	if last, err = s.last.resolve(last, turns, view, true); err != nil {
		return 0, 0, err
	}
	return first, last, nil
}

func (b bound) resolve(otherwise, turns int, view turnView, isLast bool) (int, error) {
	switch b.kind {
	case boundNumber:
		if b.n < 1 || b.n > turns {
			return 0, outOfRange(b.text, turns)
		}
		return b.n, nil
	case boundEnd:
		if isLast {
			return turns - b.n + 1, nil // before the beginning: nothing
		}
		return max(turns-b.n+1, 1), nil
	case boundEndCount:
		return max(turns-b.n+1, 1), nil
	case boundCount:
		return min(b.n, turns), nil
	case boundCompaction:
		return view.compacted() + 1, nil
	case boundAge:
		return turnAt(view.starts(), view.now().Add(-b.age), isLast), nil
	}
	return otherwise, nil
}

// turnAt returns the first turn that began at t or later, or the last one that
// began at t or earlier.
func turnAt(starts []time.Time, t time.Time, isLast bool) int {
	if isLast {
		for n := len(starts) - 1; n > 0; n-- {
			if !starts[n].IsZero() && !starts[n].After(t) {
				return n
			}
		}
		return 0
	}
	for n := 1; n < len(starts); n++ {
		if !starts[n].IsZero() && !starts[n].Before(t) {
			return n
		}
	}
	return len(starts)
}

func outOfRange(text string, turns int) error {
	hint := fmt.Sprintf("turns are numbered 1 to %d; --last prints the last one", turns)
	if turns == 0 {
		hint = "nothing has been said in it"
	}
	plural := "s"
	if turns == 1 {
		plural = ""
	}
	return failedHint(hint, "turn %s out of range (conversation has %d turn%s)", text, turns, plural)
}
