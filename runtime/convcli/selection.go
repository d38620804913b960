package convcli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/workspace"
)

// filter says which conversations a command is about.
type filter struct {
	ids      []string // when not empty: these, live or archived, hidden or not
	idFlag   string   // where they were given; empty for arguments
	exclude  []string
	archived bool // archived ones instead of live ones
	hidden   bool // hidden ones too
	labels   []string
}

// addFlags defines the flags that all commands over several conversations have.
func (f *filter) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&f.archived, "archived", false, "archived conversations instead of live ones")
	flags.BoolVar(&f.hidden, "hidden", false, "hidden conversations too")
	flags.StringArrayVar(&f.labels, "label", nil, "only with the label `KEY` or KEY=VALUE; repeatable")
	flags.StringSliceVar(&f.exclude, "exclude-id", nil, "leave out the conversation with this `ID`; repeatable")
}

// selection is the conversations a command is about, in the order of their ids
// or as they were named.
type selection struct {
	conversations []*workspace.Conversation
	skipped       []skipped
	excluded      []transcript.ID // those that --exclude-id left out
	hidden        int             // how many were left out because they are hidden
}

// skipped is a conversation that could not be used.
type skipped struct {
	id     transcript.ID // 0 when the id is not known
	reason string
}

func (s *selection) skip(c *cli, id transcript.ID, reason string) {
	s.skipped = append(s.skipped, skipped{id, reason})
	if id == 0 {
		c.warn("%s", reason)
		return
	}
	c.warn("%s: %s", id, reason)
}

func (r *record) skipped(list []skipped) {
	r.objects("skipped", len(list), func(i int, r *record) {
		if list[i].id == 0 {
			r.null("id")
		} else {
			r.string("id", list[i].id.String())
		}
		r.string("reason", list[i].reason)
	})
}

// find opens the workspace and returns the conversations the filter lets through.
func (c *cli) find(ctx context.Context, cmd *cobra.Command, f filter) (*selection, error) {
	exclude, err := c.parseIDs(f.exclude, "--exclude-id")
	if err != nil {
		return nil, err
	}
	labels, err := parseLabels(f.labels)
	if err != nil {
		return nil, err
	}
	ids, err := c.parseIDs(f.ids, f.idFlag)
	if err != nil {
		return nil, err
	}
	ws, err := c.open(cmd)
	if err != nil {
		return nil, err
	}
	s := &selection{}
	var found []*workspace.Conversation
	if len(f.ids) > 0 {
		found, err = c.named(ctx, ws, ids)
	} else {
		found, err = c.listed(ctx, ws, f.archived, s)
	}
	if err != nil {
		return nil, err
	}
	for _, conv := range found {
		switch {
		case !labels.match(conv.Metadata.Labels):
		case conv.Metadata.Hidden && !f.hidden && len(f.ids) == 0:
			s.hidden++
		case slices.Contains(exclude, conv.ID):
			s.excluded = append(s.excluded, conv.ID)
		default:
			s.conversations = append(s.conversations, conv)
		}
	}
	return s, nil
}

// named returns the conversations with these ids.
func (c *cli) named(ctx context.Context, ws *workspace.Workspace, ids []transcript.ID) ([]*workspace.Conversation, error) {
	var found []*workspace.Conversation
	var missing []*workspace.NotFoundError
	for _, id := range ids {
		conv, err := c.lookUp(ctx, ws, id)
		var notFound *workspace.NotFoundError
		switch {
		case errors.As(err, &notFound):
			missing = append(missing, notFound)
		case err != nil:
			return nil, failed(err)
		default:
			found = append(found, conv)
		}
	}
	if len(missing) > 0 {
		return nil, notFoundFailure(ws, missing)
	}
	return found, nil
}

// findOne returns the conversation with an id, also when its metadata is broken.
func (c *cli) findOne(ctx context.Context, ws *workspace.Workspace, id transcript.ID) (*workspace.Conversation, error) {
	found, err := c.named(ctx, ws, []transcript.ID{id})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// lookUp returns the conversation with an id, or an error that wraps a
// [workspace.NotFoundError] when there is none.
func (c *cli) lookUp(ctx context.Context, ws *workspace.Workspace, id transcript.ID) (*workspace.Conversation, error) {
	conv, err := ws.Find(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("looking for conversation %s: %w", id, err)
	}
	if conv.MetadataErr != nil {
		c.warn("%s: metadata.json cannot be used: %v", id, conv.MetadataErr)
	}
	return conv, nil
}

// maxListed bounds how many ids an error names; standard input may hold many.
const maxListed = 20

// notFoundFailure names all ids that no conversation has.
func notFoundFailure(ws *workspace.Workspace, missing []*workspace.NotFoundError) error {
	var ids, nearest []string
	for _, m := range missing {
		ids = append(ids, m.ID.String())
		for _, near := range m.Nearest {
			if name := near.String(); len(nearest) < maxListed && !slices.Contains(nearest, name) {
				nearest = append(nearest, name)
			}
		}
	}
	hint := "conversation ls shows the ids there are; add --archived for archived ones"
	if len(nearest) > 0 {
		hint = "nearest ids: " + strings.Join(nearest, ", ")
	}
	noun := "conversation"
	if len(ids) > 1 {
		noun = "conversations"
	}
	return failedHint(hint, "%s %s not found in %s", noun, joinBounded(ids, ", "), ws.Root())
}

// joinBounded joins the first maxListed of some texts and counts the rest.
func joinBounded(texts []string, separator string) string {
	if more := len(texts) - maxListed; more > 0 {
		return strings.Join(texts[:maxListed], separator) + fmt.Sprintf("%sand %d more", separator, more)
	}
	return strings.Join(texts, separator)
}

// listed returns all live or all archived conversations.
func (c *cli) listed(ctx context.Context, ws *workspace.Workspace, archived bool, s *selection) ([]*workspace.Conversation, error) {
	set := workspace.Live
	if archived {
		set = workspace.Archived
	}
	found, left, err := ws.Conversations(ctx, set)
	if err != nil {
		return nil, failed(fmt.Errorf("listing the conversations: %w", err))
	}
	for _, l := range left {
		reason := l.Reason
		if l.ID == 0 {
			reason = fmt.Sprintf("%s: %s", l.Path, l.Reason)
		}
		s.skip(c, l.ID, reason)
	}
	return found, nil
}

// maxIDs bounds how many ids are read from standard input.
const maxIDs = 100_000

// parseIDs reads ids, each once. "-" stands for ids on standard input, one on a
// line.
func (c *cli) parseIDs(texts []string, flag string) ([]transcript.ID, error) {
	var ids []transcript.ID
	var bad []string // what is wrong with the ids that cannot be read
	add := func(text string) {
		id, err := transcript.ParseID(text)
		if err != nil {
			bad = append(bad, err.Error())
		} else if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, text := range texts {
		if text != "-" {
			add(strings.TrimSpace(text))
			continue
		}
		lines := bufio.NewScanner(io.LimitReader(c.env.Stdin, maxIDs*64))
		for lines.Scan() {
			if line := strings.TrimSpace(lines.Text()); line != "" {
				add(line)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, failed(fmt.Errorf("reading ids from standard input: %w", err))
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

// labelFilter is labels a conversation must all have.
type labelFilter []struct {
	key, value string
	anyValue   bool
}

func parseLabels(texts []string) (labelFilter, error) {
	var labels labelFilter
	for _, text := range texts {
		key, value, hasValue := strings.Cut(text, "=")
		if key == "" {
			return nil, usageError("write --label KEY or --label KEY=VALUE", "label %q has no key", text)
		}
		labels = append(labels, struct {
			key, value string
			anyValue   bool
		}{key, value, !hasValue})
	}
	return labels, nil
}

func (f labelFilter) match(labels map[string]string) bool {
	for _, want := range f {
		value, ok := labels[want.key]
		if !ok || !want.anyValue && value != want.value {
			return false
		}
	}
	return true
}

// order is the direction of a sort: newest or largest first unless --ascending
// is given.
type order struct {
	descending, ascending bool
}

func (o *order) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.descending, "descending", true, "newest or largest first")
	flags.BoolVar(&o.ascending, "ascending", false, "oldest or smallest first")
}

func (o *order) resolve(flags *pflag.FlagSet) error {
	if o.ascending && o.descending && flags.Changed("descending") {
		return usageError("give only one of them", "--ascending and --descending contradict each other")
	}
	if o.ascending {
		o.descending = false
	}
	return nil
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
