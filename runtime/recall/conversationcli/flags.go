package conversationcli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// Flags are read where they are parsed: what parses a flag is a function that
// stores the value, and returns a [*valueError].

// valueError is the error for the value of a flag. is completes a sentence that
// begins with the flag.
type valueError struct{ is, hint string }

func (e *valueError) Error() string { return e.is }

// cannotBe is the error for a value that a flag does not take.
func cannotBe(value, hint string) error {
	return &valueError{fmt.Sprintf("cannot be %q", value), hint}
}

// flagError turns what the flag parser says into advice.
func flagError(cmd *cobra.Command, err error) error {
	hint := cmd.CommandPath() + " --help lists the flags"
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var value *valueError
	switch isInvalid := errors.As(err, &invalid); {
	case isInvalid && errors.As(err, &value):
		return usageError(cmp.Or(value.hint, hint), "--%s %s", invalid.GetFlag().Name, value.is)
	case isInvalid && invalid.GetFlag().Value.Type() == "bool":
		return usageError(hint, "--%s must be true or false, not %q", invalid.GetFlag().Name, invalid.GetValue())
	case cmd.Name() == "grep" && errors.As(err, &unknown):
		hint = "to search for text that starts with '-', put -- before it: " + cmd.CommandPath() + " -- '-text'"
	}
	return usageError(hint, "%w", err)
}

// excluded checks that at most one flag of each group is given.
func excluded(flags *pflag.FlagSet, groups ...string) error {
	for _, group := range groups {
		given := slices.DeleteFunc(strings.Fields(group), func(name string) bool { return !flags.Changed(name) })
		if len(given) > 1 {
			return usageError("give only one of them", "--%s and --%s exclude each other", given[0], given[1])
		}
	}
	return nil
}

// noLimit is the hint of flags that bound something.
const noLimit = "use 0 for no limit, or a positive number"

// number parses a number that is not less than another.
func number(to *int, least int, hint string) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return &valueError{fmt.Sprintf("must be a whole number, not %q", text), ""}
		case n < least:
			return &valueError{"cannot be " + text, hint}
		}
		*to = n
		return nil
	}
}

// oneOf defines a flag that takes one of some words; what to has is its default.
func oneOf(cmd *cobra.Command, to *string, name, short, usage string, words ...string) {
	cmd.Flags().FuncP(name, short, usage, func(word string) error {
		if *to = word; !slices.Contains(words, word) {
			return cannotBe(word, "use one of "+strings.Join(words, ", "))
		}
		return nil
	})
	cmd.Flags().Lookup(name).DefValue = *to
	complete(cmd, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp), name)
}

// anyOf defines a flag that takes any of some words, repeated or between commas.
func anyOf(cmd *cobra.Command, to *[]string, name, short, usage string, words ...string) {
	cmd.Flags().FuncP(name, short, usage, func(text string) error {
		for word := range strings.SplitSeq(text, ",") {
			name := strings.ReplaceAll(strings.TrimSpace(word), "_", "-")
			if !slices.Contains(words, name) {
				return cannotBe(word, "use one of "+strings.Join(words, ", "))
			}
			*to = append(*to, name)
		}
		return nil
	})
	complete(cmd, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp), name)
}

// complete completes the values of flags.
func complete(cmd *cobra.Command, with cobra.CompletionFunc, flags ...string) {
	for _, flag := range flags {
		_ = cmd.RegisterFlagCompletionFunc(flag, with) // fails only for a flag that is not there
	}
}

// scopeNames are the values of --scope.
func scopeNames() []string {
	var names []string
	for _, s := range transcript.NamedScopes() {
		names = append(names, s.Name)
	}
	return names
}

// scopesOf is the set of scopes with some names.
func scopesOf(names []string) (set transcript.Scopes) {
	for _, s := range transcript.NamedScopes() {
		if slices.Contains(names, s.Name) {
			set |= s.Scopes
		}
	}
	return set
}

// truth parses true or false.
func truth(text string) (bool, error) {
	value, err := strconv.ParseBool(text)
	if err != nil {
		err = &valueError{fmt.Sprintf("must be true or false, not %q", text), ""}
	}
	return value, err
}

// ifTrue parses true or false, and calls set where it is true.
func ifTrue(set func()) func(string) error {
	return func(text string) error {
		value, err := truth(text)
		if value {
			set()
		}
		return err
	}
}

// jsonFlag defines the flag for output for programs, in a format.
func (c *commands) jsonFlag(cmd *cobra.Command, format, usage string) {
	cmd.Flags().BoolFunc("json", usage, ifTrue(func() { c.formatFlag = format }))
}

// date parses a date in a form of ISO 8601.
func date(set func(iso8601.Span)) func(string) error {
	return func(text string) error {
		span, err := iso8601.Parse(text)
		if err != nil {
			return cannotBe(text, "use a date such as 2026-03-17 or 2026-03-17T14:30")
		}
		set(span)
		return nil
	}
}

// moment parses a time: a day, RFC 3339, how long ago, or the id of a
// conversation for when it was begun.
func (c *commands) moment(to *time.Time) func(string) error {
	return func(text string) error {
		for _, layout := range []string{time.DateOnly, time.RFC3339} {
			if at, err := time.Parse(layout, text); err == nil {
				*to = at
				return nil
			}
		}
		age, isAge := parseAge(text)
		id, err := conversations.ParseID(text)
		switch {
		case isAge:
			*to = c.host.Now().Add(-age)
		case err == nil && strings.HasPrefix(text, "jp-") && !jp.CreatedAt(id).IsZero():
			*to = jp.CreatedAt(id)
		default:
			return cannotBe(text, "use a day such as 2026-01-31, an age such as 30d or 3w, a time in RFC 3339, or an id")
		}
		return nil
	}
}

// parseAge reads a duration such as "5h", "2d 3h" or "90min".
func parseAge(text string) (time.Duration, bool) {
	rest := strings.ReplaceAll(text, " ", "")
	next := func(of string) string {
		head := rest[:len(rest)-len(strings.TrimLeft(rest, of))]
		rest = rest[len(head):]
		return head
	}
	var total time.Duration
	for rest != "" {
		n, err := strconv.Atoi(next("0123456789"))
		unit := unitLength(next("abcdefghijklmnopqrstuvwxyzM"))
		if err != nil || unit == 0 || n > int(math.MaxInt64/unit) {
			return 0, false
		}
		if total += time.Duration(n) * unit; total < 0 {
			return 0, false
		}
	}
	return total, text != ""
}

// unitLength is the length of a unit of time; 0 for none.
func unitLength(name string) time.Duration {
	const day = 24 * time.Hour
	for length, names := range map[time.Duration]string{
		time.Second:                            "s sec secs second seconds",
		time.Minute:                            "m min mins minute minutes",
		time.Hour:                              "h hr hrs hour hours",
		day:                                    "d day days",
		7 * day:                                "w week weeks",
		30*day + 10*time.Hour + 30*time.Minute: "M month months", // a twelfth of a year
		365*day + 6*time.Hour:                  "y year years",
	} {
		if slices.Contains(strings.Fields(names), name) {
			return length
		}
	}
	return 0
}

// addFilterFlags defines the flags of commands that list or search conversations.
func (c *commands) addFilterFlags(cmd *cobra.Command, f *conversations.Filter, ascending *bool) {
	flags := cmd.Flags()
	flags.BoolFunc("descending", "newest or largest first", func(text string) error {
		isDescending, err := truth(text)
		*ascending = !isDescending
		return err
	})
	flags.Lookup("descending").DefValue = "true"
	flags.BoolVar(ascending, "ascending", false, "oldest or smallest first")
	flags.BoolVar(&f.Archived, "archived", false, "archived conversations instead of live ones")
	flags.BoolVar(&f.Hidden, "hidden", false, "hidden conversations too")
	flags.Func("label", "only with the label `KEY` or KEY=VALUE; repeatable", func(text string) error {
		key, value, hasValue := strings.Cut(text, "=")
		if key == "" {
			return cannotBe(text, "write --label KEY or --label KEY=VALUE")
		}
		label := conversations.Label{Key: key}
		if hasValue {
			label.Value = &value
		}
		f.Labels = append(f.Labels, label)
		return nil
	})
	sources := conversations.Sources()
	anyOf(cmd, &f.Sources, "source", "", "only conversations that this `program` recorded: "+strings.Join(sources, ", ")+"; repeatable", sources...)
}

// usageError is wrong use of a command, with advice.
func usageError(hint, format string, args ...any) error {
	return cli.Hint(cli.Usagef(format, args...), hint)
}

// turnFlags is the flags that select turns.
type turnFlags struct {
	conversations.Turns
	last, first *int
	// after has what parses the argument of an index as the number of the flag before it.
	after map[int]func(string) error
}

// addFlags defines the flags that select turns.
func (t *turnFlags) addFlags(flags *pflag.FlagSet) {
	flags.Func("turn", "only turn `N`, or turns A..B, A.. or ..B", t.parseRange)
	t.addCounts(flags, "", "")
	const forms = "a turn number, -N for the Nth turn from the end, or an age such as 30m, 5h, 2d or 3w"
	flags.Func("from", "from turn `X` on: a number, -N counted from the end, an age such as 5h, or last-compaction", func(text string) error {
		if text == "last-compaction" {
			t.First = conversations.Bound{Kind: conversations.Compaction}
			return nil
		}
		return parseBound(&t.First, text, "use "+forms+", or last-compaction")
	})
	flags.Func("to", "up to turn `X`: a number, -N counted from the end, or an age such as 5h", func(text string) error {
		err := parseBound(&t.Last, text, "use "+forms)
		if t.Last.Kind == conversations.Turn && t.Last.N > 0 {
			t.Last.Kind = conversations.Count // as far as there are
		}
		return err
	})
}

// addCounts defines --last and --first, with one letter for each, or none. Their
// number may be left out, or be a word of its own: --last, --last=3, --last 3. The
// parser takes such a word for an argument.
func (t *turnFlags) addCounts(flags *pflag.FlagSet, last, first string) {
	t.after = map[int]func(string) error{}
	add := func(name, short string, to **int) {
		set := func(text string) error {
			n := 0
			*to = &n
			return number(&n, 0, "give the number of turns")(text)
		}
		flags.FuncP(name, short, "only the "+name+" `N` turns", func(text string) error {
			if text == "1" {
				t.after[flags.NArg()] = set
			}
			return set(text)
		})
		flags.Lookup(name).NoOptDefVal = "1"
	}
	add("last", last, &t.last)
	add("first", first, &t.first)
}

// arguments returns the arguments that are not the number of --last or --first. One
// after "--" is none.
func (t *turnFlags) arguments(flags *pflag.FlagSet, args []string) ([]string, error) {
	var others []string
	for i, arg := range args {
		set, dash := t.after[i], flags.ArgsLenAtDash()
		if set == nil || dash >= 0 && i >= dash || !isCount(arg) {
			others = append(others, arg)
		} else if err := set(arg); err != nil {
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

// selected returns the turns that the flags select.
func (t *turnFlags) selected(flags *pflag.FlagSet) (conversations.Turns, error) {
	turns := t.Turns
	if t.last != nil {
		turns.First = conversations.Bound{Kind: conversations.CountBack, N: *t.last}
	}
	if t.first != nil {
		turns.Last = conversations.Bound{Kind: conversations.Count, N: *t.first}
	}
	return turns, excluded(flags, "turn last first from", "turn last first to")
}

// parseRange parses N, A..B, A.., ..B and .. .
func (t *turnFlags) parseRange(text string) error {
	const hint = "write --turn 3, --turn 2..5, --turn 2.. or --turn ..5"
	from, to, isRange := strings.Cut(text, "..")
	if !isRange {
		to = from
	}
	if text == "" {
		return &valueError{"is empty", hint}
	}
	parse := func(end string) (conversations.Bound, error) {
		if end == "" {
			return conversations.Bound{}, nil
		}
		n, err := strconv.Atoi(end)
		if err != nil || n < 0 {
			err = cannotBe(text, hint+"; turns are counted from 1")
		}
		return conversations.Bound{Kind: conversations.Turn, N: n}, err
	}
	var err1, err2 error
	t.First, err1 = parse(from)
	t.Last, err2 = parse(to)
	if err1 == nil && err2 == nil && to != "" && t.First.N > t.Last.N {
		return &valueError{text + " ends before it begins", fmt.Sprintf("write --turn %d..%d", t.Last.N, t.First.N)}
	}
	return cmp.Or(err1, err2)
}

// parseBound parses the value of --from or --to.
func parseBound(to *conversations.Bound, text, hint string) error {
	n, err := strconv.Atoi(text)
	age, isAge := parseAge(text)
	switch {
	case err == nil && n < 0:
		*to = conversations.Bound{Kind: conversations.FromEnd, N: -n}
	case err == nil:
		*to = conversations.Bound{Kind: conversations.Turn, N: n}
	case isAge:
		*to = conversations.Bound{Kind: conversations.Age, Age: age}
	default:
		return cannotBe(text, hint)
	}
	return nil
}

// completing completes arguments, of which the numbers of --last and --first are none.
func (t *turnFlags) completing(with cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		args, _ = t.arguments(cmd.Flags(), args) // it is completed what can be read
		return with(cmd, args, word)
	}
}
