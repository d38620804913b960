package conversationcli

import (
	"errors"
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

// exclusive returns an error if more than one flag of a group is given. It reuses group.
func exclusive(flags *pflag.FlagSet, group []string) error {
	given := slices.DeleteFunc(group, func(name string) bool { return !flags.Changed(name) })
	if len(given) > 1 {
		return misused("give only one of them", "--%s and --%s exclude each other", given[0], given[1])
	}
	return nil
}

// oneOf defines a flag that sets *to to one of some words; *to has the default. Of several given words the last counts.
func oneOf(cmd *cobra.Command, to *string, name, short, usage string, words ...string) {
	anyOf(cmd, cmd.Flags(), name, short, usage, words, func(word string) { *to = word })
	cmd.Flags().Lookup(name).DefValue = *to
}

// anyOf defines a flag that takes one or more of words, separated by commas, and calls the function set with each.
func anyOf(cmd *cobra.Command, flags *pflag.FlagSet, name, short, usage string, words []string, set func(string)) {
	list := strings.Join(words, ", ")
	flags.FuncP(name, short, usage+": "+list, func(given string) error {
		for word := range strings.SplitSeq(strings.ReplaceAll(given, "_", "-"), ",") {
			word = strings.TrimSpace(word)
			if !slices.Contains(words, word) {
				return cli.Hint(errors.New("unknown"), "use one of "+list)
			}
			set(word)
		}
		return nil
	})
	complete(cmd, name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// complete makes the function with complete the values of a flag.
func complete(cmd *cobra.Command, flag string, with cobra.CompletionFunc) {
	_ = cmd.RegisterFlagCompletionFunc(flag, with) // fails only for a flag that does not exist
}

// addScopes defines the flag for the kinds of text to search.
func addScopes(cmd *cobra.Command, to *transcript.Scopes) {
	var names []string
	for _, s := range transcript.NamedScopes() {
		names = append(names, s.Name)
	}
	anyOf(cmd, cmd.Flags(), "scope", "s", "search only in this `scope`; repeatable", names, func(name string) { *to |= transcript.ScopesNamed(name) })
}

// addSources defines the flag for the programs that recorded conversations.
func addSources(cmd *cobra.Command, to *[]string) {
	anyOf(cmd, cmd.Flags(), "source", "", "only what this `program` recorded; repeatable", conversations.Sources(), func(name string) { *to = append(*to, name) })
}

// addLabel defines the flag --label, which takes KEY or KEY=VALUE with a key that JP allows, and calls add with each.
func addLabel(cmd *cobra.Command, usage string, add func(key, value string, hasValue bool)) {
	cmd.Flags().Func("label", usage+" `KEY` or KEY=VALUE; repeatable", func(label string) error {
		key, value, hasValue := strings.Cut(label, "=")
		add(key, value, hasValue)
		return jp.CheckLabel(key)
	})
}

// addFilter defines the flags of ls and grep that select conversations, which it sets in f, and their order.
func addFilter(cmd *cobra.Command, f *conversations.Filter, ascending *bool) {
	flags := cmd.Flags()
	addSwitch(flags, "descending", "newest or largest first (default)", func(is bool) { *ascending = !is })
	flags.BoolVar(ascending, "ascending", false, "oldest or smallest first")
	flags.BoolVar(&f.Archived, "archived", false, "archived conversations instead of live ones")
	flags.BoolVar(&f.Hidden, "hidden", false, "hidden conversations too")
	addLabel(cmd, "only with the label", func(key, value string, hasValue bool) {
		label := conversations.Label{Key: key}
		if hasValue {
			label.Value = &value
		}
		f.Labels = append(f.Labels, label)
	})
	addSources(cmd, &f.Sources)
}

// kindOf returns a word for the conversations that a filter selects: named, archived or live.
func kindOf(f *conversations.Filter) string {
	if len(f.IDs) > 0 {
		return "named"
	}
	return either(f.Archived, "archived", "live")
}

// addTime defines a flag for a time, and calls set with its span. The value is a date in ISO 8601, an age such as 3w,
// or a whole id of JP. An age is the moment so long ago; an id is the moment at which the conversation began.
func (c *commands) addTime(cmd *cobra.Command, name, usage string, set func(iso8601.Span)) {
	const firstYear = 2000 // the beginning of an id of JP, such as jp-c1772, is an earlier time
	cmd.Flags().Func(name, usage, func(given string) error {
		span, err := iso8601.Parse(given)
		at := jp.CreatedAt(transcript.ID(given)) // the zero time if the value is no id
		if age, ageErr := parseAge(given); ageErr == nil {
			at = c.host.Now().Add(-age)
		}
		if at.Year() >= firstYear { // the value is an id or an age, and err is only that it is no date
			span, err = iso8601.Span{First: at, Last: at}, nil
		}
		if span.First.IsZero() { // the date 0001-01-01: a zero time would be no bound, and this leaves out events without a time
			span.First = span.First.Add(1)
		}
		set(span)
		return err
	})
}

// unit is a unit of time.
type unit struct {
	length      time.Duration
	short, name string
}

// units returns the units of ages, the largest first.
func units() []unit {
	const day = 24 * time.Hour
	return []unit{
		{365 * day, "y", "year"},
		{365 * day / 12, "M", "month"},
		{7 * day, "w", "week"},
		{day, "d", "day"},
		{time.Hour, "h", "hour"},
		{time.Minute, "m", "minute"},
		{time.Second, "s", "second"},
	}
}

// parseAge returns the duration for a text such as "5h" or "3 weeks"; an error for another text, or if it is too long.
func parseAge(given string) (time.Duration, error) {
	name := strings.TrimLeft(given, "0123456789")
	n, err := strconv.ParseInt(given[:len(given)-len(name)], 10, 64)
	name = strings.TrimSpace(name)
	for _, u := range units() {
		if isUnit := name == u.short || name != "" && strings.TrimSuffix(name, "s") == u.name; !isUnit {
			continue
		}
		age := time.Duration(n) * u.length
		if overflows := age/u.length != time.Duration(n); overflows {
			err = errors.New("too long ago")
		}
		return age, err
	}
	return 0, errors.New("it has no unit, such as h, d or w")
}

// fullTime is the layout of a full time, in UTC.
const fullTime = "2006-01-02 15:04:05Z"

// age returns how long ago a time was, or how far ahead it is, in the largest unit that fits; "?" for the zero time.
func (c *commands) age(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	d := c.host.Now().Sub(t)
	for _, u := range units()[:6] { // without seconds
		switch n := plural(int(d.Abs()/u.length), u.name); {
		case d <= -u.length:
			return "in " + n
		case d >= u.length:
			return n + " ago"
		}
	}
	return "just now"
}
