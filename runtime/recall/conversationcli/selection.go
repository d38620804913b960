package conversationcli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// filter is the flags for which conversations a command is about.
type filter struct {
	ids      []string // when not empty: these, live or archived, hidden or not
	idFlag   string   // where they were given; empty for arguments
	exclude  []string
	archived bool // archived ones instead of live ones
	hidden   bool // hidden ones too
	labels   []string
	sources  []string
	// The newest or largest come first unless ascending is set.
	descending, ascending bool
}

// kind is what people call the conversations that it is about.
func (f *filter) kind() string {
	switch {
	case len(f.ids) > 0:
		return "named"
	case f.archived:
		return "archived"
	}
	return "live"
}

// addFlags defines the flags that all commands over several conversations have.
func (f *filter) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&f.descending, "descending", true, "newest or largest first")
	flags.BoolVar(&f.ascending, "ascending", false, "oldest or smallest first")
	flags.BoolVar(&f.archived, "archived", false, "archived conversations instead of live ones")
	flags.BoolVar(&f.hidden, "hidden", false, "hidden conversations too")
	flags.StringArrayVar(&f.labels, "label", nil, "only with the label `KEY` or KEY=VALUE; repeatable")
	flags.StringSliceVar(&f.exclude, "exclude-id", nil, "leave out the conversation with this `ID`; repeatable")
	flags.StringSliceVar(&f.sources, "source", nil, "only conversations that this `program` recorded: "+strings.Join(conversations.Sources(), ", ")+"; repeatable")
}

// isAscending reports whether the oldest or smallest come first.
func (f *filter) isAscending() bool { return f.ascending || !f.descending }

// parse returns the filter that the flags ask for.
func (f *filter) parse(ctx context.Context, c *commands) (conversations.Filter, error) {
	parsed := conversations.Filter{Archived: f.archived, Hidden: f.hidden, Sources: f.sources}
	var err error
	for _, source := range f.sources {
		if err := oneOf("source", source, conversations.Sources()...); err != nil {
			return parsed, err
		}
	}
	if parsed.Exclude, err = c.parseIDs(f.exclude, "--exclude-id"); err != nil {
		return parsed, err
	}
	for _, text := range f.labels {
		key, value, hasValue := strings.Cut(text, "=")
		if key == "" {
			return parsed, usageError("write --label KEY or --label KEY=VALUE", "label %q has no key", text)
		}
		label := conversations.Label{Key: key}
		if hasValue {
			label.Value = &value
		}
		parsed.Labels = append(parsed.Labels, label)
	}
	parsed.IDs, err = c.targets(ctx, f.ids, f.idFlag)
	return parsed, err
}

// skipped is a conversation that could not be used.
type skipped struct {
	id     transcript.ID // empty when it is a whole store
	reason string
}

// warnOf warns of what a query did not look at, and returns it. named reports
// whether the conversations were given by their ids: they are used without their
// metadata then.
func (c *commands) warnOf(problems []conversations.Problem, named bool) []skipped {
	var left []skipped
	for _, p := range problems {
		reason, whose, unused := p.Err.Error(), string(p.ID)+": ", true
		switch {
		case p.ID == "":
			reason, whose = fmt.Sprintf("%s: %s", p.Path, reason), ""
		case named && (p.Kind == conversations.BadMetadata || p.Kind == conversations.Outside || p.Kind == conversations.Vanishing):
			reason, unused = "metadata.json cannot be used: "+reason, false
		case p.Kind == conversations.BadField:
			unused = false
		case p.Kind == conversations.DamagedEvents:
			reason = "events.json is damaged, what stands before the damage was searched: " + reason
		}
		c.warn("%s%s", whose, reason)
		if unused {
			left = append(left, skipped{p.ID, reason})
		}
	}
	return left
}

func skippedObjects(left []skipped) []object {
	return objects(left, func(s skipped) object { return object{"id", orNull(s.id), "reason", s.reason} })
}

// maxListed bounds how many ids an error names; standard input may hold many.
const maxListed = 20

// notFound names all ids that no conversation has.
func notFound(e *conversations.NotFoundError) error {
	hint := "conversation ls shows the ids there are; add --archived for archived ones"
	if len(e.Nearest) > 0 {
		hint = "nearest ids: " + joinBounded(e.Nearest, ", ")
	}
	noun := "conversation"
	if len(e.IDs) > 1 {
		noun = "conversations"
	}
	return failedHint(hint, "%s %s not found in %s", noun, joinBounded(e.IDs, ", "), cmp.Or(e.Place, "any project"))
}

// joinBounded joins the first maxListed of some texts and counts the rest.
func joinBounded[T ~string](texts []T, separator string) string {
	if more := len(texts) - maxListed; more > 0 {
		return fmt.Sprintf("%s%sand %d more", join(texts[:maxListed], separator), separator, more)
	}
	return join(texts, separator)
}

func join[T ~string](texts []T, separator string) string {
	var b strings.Builder
	for i, text := range texts {
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(string(text))
	}
	return b.String()
}

// maxIDs bounds how many ids are read from standard input.
const maxIDs = 100_000

// parseIDs reads ids, each once. "-" stands for ids on standard input, one on a
// line.
func (c *commands) parseIDs(words []string, flag string) ([]string, error) {
	var texts []string
	for _, word := range words {
		if word != "-" {
			texts = append(texts, word)
			continue
		}
		lines := bufio.NewScanner(io.LimitReader(c.host.Stdin, maxIDs*64))
		for lines.Scan() {
			if strings.TrimSpace(lines.Text()) != "" {
				texts = append(texts, lines.Text())
			}
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("reading ids from standard input: %w", err)
		}
	}
	var ids, bad []string // bad: why texts cannot be read as ids
	seen := map[transcript.ID]bool{}
	for _, text := range texts {
		id, err := conversations.ParseID(strings.TrimSpace(text))
		if err != nil {
			bad = append(bad, err.Error())
		} else if !seen[id] {
			seen[id] = true
			ids = append(ids, string(id))
		}
	}
	if len(bad) > 0 {
		hint := "an id looks like jp-c17800836875; conversation ls shows the ids there are"
		if flag == "--id" {
			hint = "-i and --id take the id of a conversation; to ignore case use --ignore-case"
		}
		return nil, usageError(hint, "%s", joinBounded(bad, "; "))
	}
	return ids, nil
}

// oneOf checks the value of a flag that takes one of a few words.
func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return usageError("use one of "+strings.Join(allowed, ", "), "--%s cannot be %q", flag, value)
}

// notNegative checks the value of a flag that counts something.
func notNegative(flag string, value int) error {
	if value < 0 {
		zero := "no limit"
		switch flag {
		case "context":
			zero = "no lines around a match"
		case "offset":
			zero = "the head of the list"
		}
		return usageError("use 0 for "+zero+", or a positive number", "--%s cannot be %d", flag, value)
	}
	return nil
}

// sourceFailure words an error of a source. ids are those the query was about.
func sourceFailure(err error, ids []string) error {
	var (
		notFoundErr *conversations.NotFoundError
		unavailable *conversations.UnavailableError
		none        *conversations.NoConversationError
		nowhere     *conversations.NoWorkspaceError
		excluded    *conversations.ExcludedError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &notFoundErr):
		return notFound(notFoundErr)
	case errors.As(err, &unavailable) && len(ids) > 0:
		return fmt.Errorf("looking for conversation %s: %w", ids[0], unavailable.Err)
	case errors.As(err, &unavailable):
		return fmt.Errorf("listing the conversations: %w", unavailable.Err)
	case errors.As(err, &excluded) && excluded.Remembered != "":
		return failedHint("convtools stores include "+excluded.Remembered+" takes that back",
			"the conversations of this project are excluded: %s did that, and it stays so now that it is gone", excluded.By)
	case errors.As(err, &excluded):
		return failedHint("convtools stores shows what is read", "the conversations of this project are excluded by %s", excluded.By)
	case errors.As(err, &nowhere) && !nowhere.Missing:
		return failedHint("change to a project that has conversations, name it with -w DIR, or see all with --all-projects",
			"Could not locate workspace: no .jp directory in %s or above it, and no other program has recorded a conversation there", nowhere.Dir)
	case errors.As(err, &none):
		return failedHint("conversation ls --archived lists archived ones", "there is no live conversation to print in %s", cmp.Or(none.Place, "any project"))
	}
	return err
}

func failedHint(hint, format string, args ...any) error {
	return cli.Hint(fmt.Errorf(format, args...), hint)
}

func usageError(hint, format string, args ...any) error {
	return cli.Hint(cli.Usagef(format, args...), hint)
}

// flagError turns what the flag parser says into advice.
func flagError(cmd *cobra.Command, err error) error {
	hint := fmt.Sprintf("%s --help lists the flags", cmd.CommandPath())
	var unknown *pflag.NotExistError
	if cmd.Name() == "grep" && errors.As(err, &unknown) {
		hint = "to search for text that starts with '-', put -- before it: " + cmd.CommandPath() + " -- '-text'"
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		flag := invalid.GetFlag()
		switch {
		case flag.Value.Type() == "int" && errors.Is(err, strconv.ErrRange):
			return usageError(hint, "--%s cannot be %s: the number is too large", flag.Name, invalid.GetValue())
		case flag.Value.Type() == "int":
			return usageError(hint, "--%s must be a whole number, not %q", flag.Name, invalid.GetValue())
		case flag.Value.Type() == "bool":
			return usageError(hint, "--%s must be true or false, not %q", flag.Name, invalid.GetValue())
		}
	}
	return usageError(hint, "%w", err)
}

// excluded checks that of two flags at most one is given, for each pair.
func excluded(flags *pflag.FlagSet, pairs ...[2]string) error {
	for _, pair := range pairs {
		if flags.Changed(pair[0]) && flags.Changed(pair[1]) {
			return usageError("give only one of them", "--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	return nil
}
