package conversationcli

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/conversations"
)

// turnOptions is the flags that select turns.
type turnOptions struct {
	turn, from, to string
	last, first    int
	counts         []*countFlag // --last and --first
}

func (o *turnOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.turn, "turn", "", "only turn `N`, or turns A..B, A.. or ..B")
	o.addCounts(flags, "", "")
	flags.StringVar(&o.from, "from", "", "from turn `X` on: a number, -N counted from the end, an age such as 5h, or last-compaction")
	flags.StringVar(&o.to, "to", "", "up to turn `X`: a number, -N counted from the end, or an age such as 5h")
}

// addCounts defines --last and --first, with one letter for each, or none.
func (o *turnOptions) addCounts(flags *pflag.FlagSet, last, first string) {
	flags.IntVarP(&o.last, "last", last, 1, "only the last `N` turns")
	flags.IntVarP(&o.first, "first", first, 1, "only the first `N` turns")
	for _, name := range []string{"last", "first"} {
		flag := flags.Lookup(name)
		flag.NoOptDefVal = "1"
		count := &countFlag{Value: flag.Value, flags: flags, at: -1}
		flag.Value = count
		o.counts = append(o.counts, count)
	}
}

// checkCounts checks the numbers of --last and --first.
func (o *turnOptions) checkCounts() error {
	check := func(name string, n int) error {
		if n < 0 {
			return usageError("give the number of turns", "--%s cannot be %d", name, n)
		}
		return nil
	}
	return cmp.Or(check("last", o.last), check("first", o.first))
}

// complete completes arguments, of which those that are numbers of --last and
// --first are none.
func (o *turnOptions) complete(cmd *cobra.Command, args []string, word string, with cobra.CompletionFunc) ([]cobra.Completion, cobra.ShellCompDirective) {
	args, err := o.takeCounts(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return with(cmd, args, word)
}

// countFlag is the value of a flag whose number may be left out, or stand in a
// word of its own: --last, --last=3 and --last 3. The parser takes such a word for
// an argument, since it cannot know.
type countFlag struct {
	pflag.Value
	flags *pflag.FlagSet
	at    int // index of the argument that follows the flag where that has no number, else -1
}

// Set takes the number, which is 1 where there is none.
func (c *countFlag) Set(number string) error {
	c.at = -1
	if number == "1" {
		c.at = c.flags.NArg() // so many arguments stand before it
	}
	return c.Value.Set(number)
}

// takeCounts gives --last and --first the numbers that follow them, and returns
// the other arguments. An argument behind "--" is no number of a flag.
func (o *turnOptions) takeCounts(args []string) ([]string, error) {
	var others []string
	for i, arg := range args {
		wants := func(count *countFlag) bool {
			dash := count.flags.ArgsLenAtDash()
			return count.at == i && (dash < 0 || i < dash)
		}
		at := slices.IndexFunc(o.counts, wants)
		if at < 0 || !isCount(arg) {
			others = append(others, arg)
		} else if err := o.counts[at].Value.Set(arg); err != nil {
			return nil, err
		}
	}
	return others, nil
}

// isCount reports whether an argument is a number of turns. One of more than six
// digits can only be an id.
func isCount(arg string) bool {
	return arg != "" && len(arg) <= 6 && strings.Trim(arg, "0123456789") == ""
}

// selection is the turns that the flags ask for.
type selection struct {
	conversations.Turns
	first, last string // the numbers of turns, as given
	between     bool   // they are of --from and --to, which go as far as there are turns
}

// parse checks that the flags fit together and reads them.
func (o *turnOptions) parse(flags *pflag.FlagSet) (selection, error) {
	var s selection
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
	if err := o.checkCounts(); err != nil {
		return s, err
	}
	var err error
	switch {
	case flags.Changed("turn"):
		return parseRange(o.turn)
	case flags.Changed("last"):
		s.First = conversations.Bound{Kind: conversations.CountBack, N: o.last}
	case flags.Changed("first"):
		s.Last = conversations.Bound{Kind: conversations.Count, N: o.first}
	case between:
		s.first, s.last = o.from, o.to
		if s.First, err = parseBound("from", o.from, flags); err != nil {
			return s, err
		}
		if s.Last, err = parseBound("to", o.to, flags); err != nil {
			return s, err
		}
		if s.Last.Kind == conversations.Turn && s.Last.N > 0 {
			s.Last.Kind = conversations.Count // as far as there are
		}
		s.between = true
	}
	return s, err
}

// none reports whether the flags ask for no turns, whatever the conversation.
func (s selection) none() bool {
	return s.First.Kind == conversations.CountBack && s.First.N == 0 || s.Last.Kind == conversations.Count && s.Last.N == 0
}

// parseRange reads N, A..B, A.., ..B and .. .
func parseRange(text string) (selection, error) {
	var s selection
	from, to, isRange := strings.Cut(text, "..")
	if !isRange {
		to = from
	}
	if text == "" {
		return s, usageError("write --turn 3, --turn 2..5, --turn 2.. or --turn ..5", "--turn is empty")
	}
	for _, end := range []struct {
		text string
		b    *conversations.Bound
	}{{from, &s.First}, {to, &s.Last}} {
		if end.text == "" {
			continue
		}
		n, err := strconv.Atoi(end.text)
		if err != nil || n < 0 {
			return s, usageError("write --turn 3, --turn 2..5, --turn 2.. or --turn ..5; turns are counted from 1", "--turn cannot be %q", text)
		}
		*end.b = conversations.Bound{Kind: conversations.Turn, N: n}
	}
	s.first, s.last = from, to
	if s.First.Kind == conversations.Turn && s.Last.Kind == conversations.Turn && s.First.N > s.Last.N {
		return s, usageError(fmt.Sprintf("write --turn %d..%d", s.Last.N, s.First.N), "--turn %s ends before it begins", text)
	}
	return s, nil
}

// parseBound reads the value of --from or --to.
func parseBound(flag, text string, flags *pflag.FlagSet) (conversations.Bound, error) {
	n, err := strconv.Atoi(text)
	age, isAge := parseAge(text)
	hint := "use a turn number, -N for the Nth turn from the end, or an age such as 30m, 5h, 2d or 3w"
	if flag == "from" {
		hint += ", or last-compaction"
	}
	switch {
	case !flags.Changed(flag):
		return conversations.Bound{}, nil
	case flag == "from" && text == "last-compaction":
		return conversations.Bound{Kind: conversations.Compaction}, nil
	case err == nil && n < 0:
		return conversations.Bound{Kind: conversations.FromEnd, N: -n}, nil
	case err == nil:
		return conversations.Bound{Kind: conversations.Turn, N: n}, nil
	case isAge:
		return conversations.Bound{Kind: conversations.Age, Age: age}, nil
	}
	return conversations.Bound{}, usageError(hint, "--%s cannot be %q", flag, text)
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

// outOfRange words that a conversation does not have a turn.
func (s selection) outOfRange(e *conversations.TurnRangeError) error {
	text := s.last
	if s.First.Kind == conversations.Turn && s.First.N == e.Turn {
		text = s.first
	}
	hint := fmt.Sprintf("turns are numbered 1 to %d; --last prints the last one", e.Turns)
	if e.Turns == 0 {
		hint = "nothing has been said in it"
	}
	return failedHint(hint, "turn %s out of range (conversation has %s)", text, plural(e.Turns, "turn"))
}

// plural writes a number of things, without commas between its digits.
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
