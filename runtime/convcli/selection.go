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
	flags.StringArrayVar(&f.labels, "label", nil, "only conversations with this label, as `KEY` or KEY=VALUE; repeat for more")
	flags.StringSliceVar(&f.exclude, "exclude-id", nil, "leave out the conversation with this `ID`; repeat or separate by commas")
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
	for _, id := range ids {
		conv, err := c.findOne(ctx, ws, id)
		if err != nil {
			return nil, err
		}
		found = append(found, conv)
	}
	return found, nil
}

// findOne returns the conversation with an id, also when its metadata is broken.
func (c *cli) findOne(ctx context.Context, ws *workspace.Workspace, id transcript.ID) (*workspace.Conversation, error) {
	conv, err := ws.Find(ctx, id)
	var notFound *workspace.NotFoundError
	switch {
	case errors.As(err, &notFound):
		hint := "conversation ls shows the ids there are; add --archived for archived ones"
		if len(notFound.Nearest) > 0 {
			var names []string
			for _, near := range notFound.Nearest {
				names = append(names, near.String())
			}
			hint = "nearest ids: " + strings.Join(names, ", ")
		}
		return nil, failedHint(hint, "conversation %s not found in %s", id, ws.Root())
	case err != nil:
		return nil, failed(fmt.Errorf("looking for conversation %s: %w", id, err))
	}
	if conv.MetadataErr != nil {
		c.warn("%s: metadata.json cannot be used: %v", id, conv.MetadataErr)
	}
	return conv, nil
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
	add := func(text string) error {
		id, err := transcript.ParseID(text)
		if err != nil {
			hint := "an id looks like jp-c17800836875; conversation ls shows the ids there are"
			if flag == "--id" {
				hint = "-i and --id take the id of a conversation; to ignore case use --ignore-case"
			}
			return usageError(hint, "%w", err)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		return nil
	}
	for _, text := range texts {
		if text != "-" {
			if err := add(strings.TrimSpace(text)); err != nil {
				return nil, err
			}
			continue
		}
		lines := bufio.NewScanner(io.LimitReader(c.env.Stdin, maxIDs*64))
		for lines.Scan() {
			if line := strings.TrimSpace(lines.Text()); line != "" {
				if err := add(line); err != nil {
					return nil, err
				}
			}
		}
		if err := lines.Err(); err != nil {
			return nil, failed(fmt.Errorf("reading ids from standard input: %w", err))
		}
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
		return usageError("use 0 for no limit, or a positive number", "--%s cannot be %d", flag, value)
	}
	return nil
}
