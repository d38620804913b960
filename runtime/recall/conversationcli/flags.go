package conversationcli

import (
	"cmp"
	"errors"
	"fmt"
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

// usageError is wrong use of a command, with advice.
func usageError(hint, format string, args ...any) error {
	return cli.Hint(cli.Usagef(format, args...), hint)
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
	cmd.Flags().FuncP(name, short, usage, func(word string) error { return wordsIn([]string{word}, words, func() { *to = word }) })
	cmd.Flags().Lookup(name).DefValue = *to
	complete(cmd, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp), name)
}

// anyOf defines a flag that takes any of some words, repeated or between commas.
func anyOf(cmd *cobra.Command, to *[]string, name, short, usage string, words ...string) {
	cmd.Flags().FuncP(name, short, usage, func(text string) error {
		given := strings.Split(strings.ReplaceAll(text, "_", "-"), ",")
		return wordsIn(given, words, func() { *to = append(*to, given...) })
	})
	complete(cmd, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp), name)
}

// wordsIn calls set where all that is given, which it trims, is among some words.
func wordsIn(given, words []string, set func()) error {
	for i, word := range given {
		if given[i] = strings.TrimSpace(word); !slices.Contains(words, given[i]) {
			return cannotBe(word, "use one of "+strings.Join(words, ", "))
		}
	}
	set()
	return nil
}

// complete completes the values of a flag.
func complete(cmd *cobra.Command, with cobra.CompletionFunc, flag string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, with) // fails only for a flag that is not there
}

// addScopes defines the flag for what of conversations is searched.
func addScopes(cmd *cobra.Command, to *[]string, usage string) {
	var names []string
	for _, s := range transcript.NamedScopes() {
		names = append(names, s.Name)
	}
	anyOf(cmd, to, "scope", "s", usage+": "+strings.Join(names, ", ")+"; repeatable", names...)
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
		day, notDay := time.Parse(time.DateOnly, text)
		at, notTime := time.Parse(time.RFC3339, text)
		age, isAge := parseAge(text)
		id, notID := conversations.ParseID(text)
		switch {
		case notDay == nil:
			*to = day
		case notTime == nil:
			*to = at
		case isAge:
			*to = c.host.Now().Add(-age)
		case notID == nil && strings.HasPrefix(text, "jp-") && !jp.CreatedAt(id).IsZero():
			*to = jp.CreatedAt(id)
		default:
			return cannotBe(text, "use a day such as 2026-01-31, an age such as 30d or 3w, a time in RFC 3339, or an id")
		}
		return nil
	}
}

// parseAge reads a duration such as "5h", "90min" or "3 weeks".
func parseAge(text string) (time.Duration, bool) {
	digits := strings.TrimRight(text, " abcdefghijklmnopqrstuvwxyzM")
	name := strings.TrimSpace(text[len(digits):])
	if len(name) > 1 {
		name = strings.TrimSuffix(name, "s")
	}
	n, err := strconv.Atoi(digits)
	for _, u := range units() {
		if slices.Contains(u.names, name) {
			age := time.Duration(n) * u.length
			return age, err == nil && n >= 0 && age/u.length == time.Duration(n)
		}
	}
	return 0, false
}

// unit is a unit of time, with its names, the whole one last.
type unit struct {
	length time.Duration
	names  []string
}

// units are those in which people write ages, the largest first.
func units() []unit {
	const day = 24 * time.Hour
	return []unit{
		{365 * day, []string{"y", "year"}},
		{365 * day / 12, []string{"M", "month"}},
		{7 * day, []string{"w", "week"}},
		{day, []string{"d", "day"}},
		{time.Hour, []string{"h", "hr", "hour"}},
		{time.Minute, []string{"m", "min", "minute"}},
		{time.Second, []string{"s", "sec", "second"}},
	}
}

// ascending reads the flags for the order of conversations.
func ascending(flags *pflag.FlagSet) (bool, error) {
	isAscending, _ := flags.GetBool("ascending")
	isDescending, _ := flags.GetBool("descending") // both are there
	return isAscending || !isDescending, excluded(flags, "ascending descending")
}

// addFilter defines the flags of commands that list or search conversations.
func addFilter(cmd *cobra.Command, f *conversations.Filter) {
	flags := cmd.Flags()
	flags.Bool("descending", true, "newest or largest first")
	flags.Bool("ascending", false, "oldest or smallest first")
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

// kindOf is what people call the conversations that a filter is about.
func kindOf(f *conversations.Filter) string {
	if len(f.IDs) > 0 {
		return "named"
	}
	return either(f.Archived, "archived", "live")
}
