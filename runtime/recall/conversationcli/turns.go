package conversationcli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/conversations"
)

// turnFlags is the flags that select turns.
type turnFlags struct {
	conversations.Turns
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

// selected returns the turns that the flags select.
func (t *turnFlags) selected(flags *pflag.FlagSet) (conversations.Turns, error) {
	turns := t.Turns
	if t.last != nil {
		turns.First = conversations.Bound{Kind: conversations.CountBack, N: *t.last}
	}
	if t.first != nil {
		turns.Last = conversations.Bound{Kind: conversations.Count, N: *t.first}
	}
	return turns, excluded(flags, "turn last first")
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
