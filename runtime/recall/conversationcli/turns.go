package conversationcli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// turnFlags is the flags that select turns.
type turnFlags struct {
	from, to    *int // of a range; nil for an end that is open
	last, first *int
	// bare are --last and --first as they were given without a number, which may be a
	// word of its own then: --last, --last=3, --last 3. The parser takes it for an
	// argument.
	bare []*int
}

// addFlags defines the flags that select turns.
func (t *turnFlags) addFlags(flags *pflag.FlagSet) {
	flags.Func("turn", "only turn `N`, or turns A..B, A.. or ..B", t.parseRange)
	t.addCounts(flags, "", "")
}

// addCounts defines --last and --first, with one letter for each, or none.
func (t *turnFlags) addCounts(flags *pflag.FlagSet, last, first string) {
	const bare = "1"
	add := func(name, short string, to **int) {
		flags.FuncP(name, short, "only the "+name+" `N` turns", func(text string) error {
			*to = new(int)
			if text == bare {
				t.bare = append(t.bare, *to)
			}
			return number(*to, 0, "give the number of turns")(text)
		})
		flags.Lookup(name).NoOptDefVal = bare
	}
	add("last", last, &t.last)
	add("first", first, &t.first)
}

// arguments returns the arguments that are not the number of --last or --first. One of
// more than six digits can only be an id, and what stands after "--" is an argument.
func (t *turnFlags) arguments(flags *pflag.FlagSet, args []string) []string {
	var others []string
	bare := t.bare
	for i, arg := range args {
		n, err := strconv.Atoi(arg)
		dash := flags.ArgsLenAtDash()
		if err != nil || len(arg) > 6 || len(bare) == 0 || dash >= 0 && i >= dash {
			others = append(others, arg)
			continue
		}
		*bare[0] = n
		bare = bare[1:]
	}
	return others
}

// selected returns the first and the last of so many turns that the flags select.
func (t *turnFlags) selected(of int) (first, last int) {
	first, last = 1, of
	switch {
	case t.last != nil:
		first = max(of-*t.last+1, 1)
	case t.first != nil:
		last = min(*t.first, of)
	}
	if t.from != nil {
		first, last = *t.from, max(*t.from, of)
	}
	if t.to != nil {
		last = *t.to
	}
	return first, last
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
	parse := func(end string) (*int, error) {
		if end == "" {
			return nil, nil
		}
		n, err := strconv.Atoi(end)
		if err != nil || n < 0 {
			err = cannotBe(text, hint+"; turns are counted from 1")
		}
		return &n, err
	}
	var err1, err2 error
	t.from, err1 = parse(from)
	t.to, err2 = parse(to)
	if err1 == nil && err2 == nil && t.from != nil && t.to != nil && *t.from > *t.to {
		return &valueError{text + " ends before it begins", fmt.Sprintf("write --turn %d..%d", *t.to, *t.from)}
	}
	return cmp.Or(err1, err2)
}
