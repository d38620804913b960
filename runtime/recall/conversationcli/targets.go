package conversationcli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// targetsHelp is what the commands that take conversations say about them.
const targetsHelp = `ID is the id of a conversation, or one word in its place: . or active (in JP's
session), s or session (the one before), r or recent, n or newest, p or pinned,
a or archived (the last that was activated, begun, pinned or archived), +live,
+session, +pinned or +archived for all of them, or - for ids on standard input.`

// target is a word in the place of an id.
type target struct {
	words []string // its forms
	what  string   // one of what it finds
	find  func(context.Context) ([]conversations.Listed, error)
}

// target returns what a word means; nil where it is none that has the place of an id.
func (c *commands) target(word string) *target {
	const live, pinned, archived = "live conversation", "pinned conversation", "archived conversation"
	const before = "conversation that was activated before in this session"
	all := []target{
		{[]string{".", "active"}, "active conversation in this session", c.activeOne},
		{[]string{"s", "session"}, before, c.activeBefore},
		{[]string{"+s", "+session"}, before, c.activated},
		{[]string{"r", "recent"}, live, c.last(false, func(l *conversations.Listed) time.Time { return l.LastActivatedAt })},
		{[]string{"n", "newest"}, live, c.last(false, func(l *conversations.Listed) time.Time { return l.CreatedAt })},
		{[]string{"+l", "+live"}, live, func(ctx context.Context) ([]conversations.Listed, error) { return c.all(ctx, conversations.Filter{}) }},
		{[]string{"p", "pinned"}, pinned, c.last(false, func(l *conversations.Listed) time.Time { return l.PinnedAt })},
		{[]string{"+p", "+pinned"}, pinned, c.allPinned},
		{[]string{"a", "archived"}, archived, c.last(true, func(l *conversations.Listed) time.Time { return l.ArchivedAt })},
		{[]string{"+a", "+archived"}, archived, func(ctx context.Context) ([]conversations.Listed, error) {
			return c.all(ctx, conversations.Filter{Archived: true})
		}},
	}
	i := slices.IndexFunc(all, func(t target) bool { return slices.Contains(t.words, word) })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// targets reads the conversations that arguments name: ids, each once, or one word
// for some.
func (c *commands) targets(ctx context.Context, words []string, flag string) ([]string, error) {
	for _, word := range words {
		t := c.target(word)
		if t == nil {
			continue
		}
		if len(words) > 1 {
			return nil, usageError("name ids, or give that word alone", "%q stands for a conversation by itself, and there are %d arguments", word, len(words))
		}
		found, err := t.find(ctx)
		if err == nil && len(found) == 0 {
			err = failedHint("conversation ls shows the conversations there are", "%s: there is no %s", word, t.what)
		}
		var ids []string
		for _, l := range found {
			ids = append(ids, string(l.ID))
		}
		return ids, err
	}
	for _, word := range words {
		if strings.HasPrefix(word, "?") {
			return nil, usageError("conversation ls --title-contains TEXT finds ids, and a shell with completion offers them", "%q: there is nothing to pick from a list with", word)
		}
	}
	ids, err := c.parseIDs(words, flag)
	if err != nil && flag == "" {
		if hint := c.titled(ctx, strings.Join(words, " ")); hint != "" {
			err = cli.Hint(err, hint)
		}
	}
	return ids, err
}

// targetsOrActive is targets, and without words the conversation that is active, else
// the one that was activated last.
func (c *commands) targetsOrActive(ctx context.Context, words []string) ([]string, error) {
	if len(words) == 0 {
		active, err := c.active(ctx)
		if err != nil || active != "" {
			return []string{string(active)}, err
		}
		words = []string{"recent"}
	}
	return c.targets(ctx, words, "")
}

// named finds the conversations that arguments name, one at least.
func (c *commands) named(cmd *cobra.Command, words []string, flag string) ([]conversations.Listed, error) {
	if len(words) == 0 {
		return nil, usageError("name conversations by their ids; . is the active one", "%s needs a conversation", cmd.CommandPath())
	}
	ids, err := c.targets(cmd.Context(), words, flag)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, failedHint("one id on a line", "standard input holds no ids")
	}
	return c.all(cmd.Context(), conversations.Filter{IDs: ids})
}

// titled names conversations with a text in their titles, as a hint for a person who
// gave a title in place of an id; it is empty where there is none.
func (c *commands) titled(ctx context.Context, text string) string {
	const most = 5
	if strings.TrimSpace(text) == "" {
		return ""
	}
	listing, err := c.list(ctx, conversations.ListQuery{TitleContains: text, Sort: conversations.ByActivation, Limit: most, NoEvents: true})
	if err != nil || len(listing.Conversations) == 0 {
		return ""
	}
	var found []string
	for _, l := range listing.Conversations {
		found = append(found, string(l.ID)+": "+l.Title)
	}
	if more := listing.Total - len(found); more > 0 {
		found = append(found, fmt.Sprintf("and %d more", more))
	}
	if len(found) == 1 {
		return "in the title of " + found[0]
	}
	return "in the titles of " + strings.Join(found, "; ")
}

// all returns the conversations that a filter lets through, those begun first first.
func (c *commands) all(ctx context.Context, f conversations.Filter) ([]conversations.Listed, error) {
	listing, err := c.list(ctx, conversations.ListQuery{Filter: f, Sort: conversations.ByID, Ascending: true, NoEvents: true})
	return listing.Conversations, err
}

// everything returns all conversations, live and archived, hidden or not.
func (c *commands) everything(ctx context.Context) ([]conversations.Listed, error) {
	return c.all(ctx, conversations.Filter{Both: true, Hidden: true})
}

func (c *commands) allPinned(ctx context.Context) ([]conversations.Listed, error) {
	found, err := c.all(ctx, conversations.Filter{})
	return slices.DeleteFunc(found, func(l conversations.Listed) bool { return l.PinnedAt.IsZero() }), err
}

// last returns what finds the conversation with the greatest time, if one has any.
func (c *commands) last(archived bool, at func(*conversations.Listed) time.Time) func(context.Context) ([]conversations.Listed, error) {
	return func(ctx context.Context) ([]conversations.Listed, error) {
		all, err := c.all(ctx, conversations.Filter{Archived: archived})
		var best []conversations.Listed
		for i := range all {
			if t := at(&all[i]); !t.IsZero() && (best == nil || !t.Before(at(&best[0]))) {
				best = all[i : i+1]
			}
		}
		return best, err
	}
}

// activated returns the live conversations that were activated in JP's session,
// the last one first. JP goes no further back than to one that was archived.
func (c *commands) activated(ctx context.Context) ([]conversations.Listed, error) {
	w, err := c.workspace()
	if err != nil {
		return nil, err
	}
	history, err := w.Activated()
	if err != nil || len(history) == 0 {
		return nil, err
	}
	all, err := c.everything(ctx)
	if err != nil {
		return nil, err
	}
	var found []conversations.Listed
	for _, id := range history {
		is := func(l conversations.Listed) bool { return l.ID == id }
		switch i := slices.IndexFunc(all, is); {
		case i < 0, slices.ContainsFunc(found, is):
		case all[i].Archived:
			return found, nil
		default:
			found = append(found, all[i])
		}
	}
	return found, nil
}

// activeBefore returns the one that was activated before the active one.
func (c *commands) activeBefore(ctx context.Context) ([]conversations.Listed, error) {
	found, err := c.activated(ctx)
	return found[min(1, len(found)):min(2, len(found))], err
}

// active returns the conversation that is active in JP's session, else the one
// that calls; empty where neither is known.
func (c *commands) active(ctx context.Context) (transcript.ID, error) {
	found, err := c.activated(ctx)
	switch {
	case err != nil:
		return "", err
	case len(found) > 0:
		return found[0].ID, nil
	case c.host.ConversationID == "":
		return "", nil
	}
	id, err := conversations.ParseID(c.host.ConversationID)
	if err != nil {
		return "", fmt.Errorf("--conversation-id: %w", err)
	}
	return id, nil
}

func (c *commands) activeOne(ctx context.Context) ([]conversations.Listed, error) {
	active, err := c.active(ctx)
	if err != nil || active == "" {
		return nil, err
	}
	return []conversations.Listed{{Conversation: transcript.Conversation{ID: active}}}, nil
}

// workspace finds the workspace that the command line is about.
func (c *commands) workspace() (*jp.Workspace, error) {
	return jp.Open(jp.Options{Dir: c.host.Dir, Getenv: c.host.Getenv})
}

// span is the flags that choose conversations by when they were begun, or used
// last.
type span struct{ from, until, inactive string }

// addFlags defines them; that for when they were used last only with inactive.
func (s *span) addFlags(cmd *cobra.Command, inactive bool) {
	flags := cmd.Flags()
	flags.StringVar(&s.from, "from", "", "those begun at `TIME` or later: 2026-01-01, an age such as 3w, or an id")
	flags.StringVar(&s.until, "until", "", "those begun before `TIME`")
	if inactive {
		flags.StringVar(&s.inactive, "inactive-since", "", "those not activated since `TIME`")
	}
}

// chosen returns the conversations that arguments name, or all live ones that are
// not hidden, as far as they are in the span.
func (c *commands) chosen(cmd *cobra.Command, words []string, s span) ([]conversations.Listed, error) {
	now := c.host.Now()
	from, err1 := parseMoment("from", s.from, now)
	until, err2 := parseMoment("until", s.until, now)
	inactive, err3 := parseMoment("inactive-since", s.inactive, now)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	var list []conversations.Listed
	var err error
	if len(words) > 0 || s == (span{}) {
		list, err = c.named(cmd, words, "")
	} else {
		list, err = c.all(cmd.Context(), conversations.Filter{})
	}
	if err != nil || s == (span{}) {
		return list, err
	}
	list = slices.DeleteFunc(slices.Clone(list), func(l conversations.Listed) bool {
		return l.CreatedAt.Before(from) || !until.IsZero() && !l.CreatedAt.Before(until) ||
			!inactive.IsZero() && (l.LastActivatedAt.IsZero() || !l.LastActivatedAt.Before(inactive))
	})
	if len(list) == 0 {
		c.note("no conversations of that time")
	}
	return list, nil
}

// parseMoment reads a time: a day, RFC 3339, how long ago, or the id of a
// conversation for when it was begun. Empty is the zero time.
func parseMoment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	if age, ok := parseAge(text); ok {
		return now.Add(-age), nil
	}
	if id, err := conversations.ParseID(text); err == nil && strings.HasPrefix(text, "jp-") {
		if at := jp.CreatedAt(id); !at.IsZero() {
			return at, nil
		}
	}
	return time.Time{}, usageError("use a day such as 2026-01-31, an age such as 30d or 3w, a time in RFC 3339, or an id", "--%s cannot be %q", flag, text)
}

// What a shell is offered: more could not be looked through, and typing on
// narrows it.
const (
	maxCompletions   = 200
	completionColumn = 60 // columns of a title
)

// completeIDs offers the ids of conversations that begin with a word, else those
// of conversations with the word in their titles, those used last first and with
// their titles, without the ones that are named already.
func (c *commands) completeIDs(cmd *cobra.Command, named []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	found, err := c.completing(cmd, named, "")
	ids := offered(found, word)
	if err == nil && len(ids) == 0 && strings.TrimSpace(word) != "" {
		found, _ = c.completing(cmd, named, word) // nothing is offered where they cannot be listed
		ids = offered(found, "")
	}
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// offered are the ids that begin with a word, with their titles.
func offered(list []conversations.Listed, word string) []cobra.Completion {
	var ids []cobra.Completion
	for _, l := range list {
		if id := spelled(l.ID, word); strings.HasPrefix(id, word) && len(ids) < maxCompletions {
			ids = append(ids, cobra.CompletionWithDesc(id, shortTitle(l.Title)))
		}
	}
	return ids
}

// shortTitle is a title in a line for people.
func shortTitle(title string) string { return text.Truncate(text.Cell(title), completionColumn) }

// completing returns the conversations with a text in their titles that a command
// can be about and that are not named yet, those used last first.
func (c *commands) completing(of *cobra.Command, named []string, titled string) ([]conversations.Listed, error) {
	filter := conversations.Filter{Both: true}
	if archived := of.Flags().Lookup("archived"); archived != nil {
		filter = conversations.Filter{Archived: archived.Value.String() == "true"}
	}
	listing, err := c.list(of.Context(), conversations.ListQuery{Filter: filter, TitleContains: titled, NoEvents: true, Sort: conversations.ByID})
	found := slices.DeleteFunc(listing.Conversations, func(l conversations.Listed) bool {
		return slices.ContainsFunc(named, func(text string) bool {
			id, err := conversations.ParseID(text)
			return err == nil && id == l.ID
		})
	})
	slices.SortStableFunc(found, func(a, b conversations.Listed) int {
		return b.LastActivatedAt.Compare(a.LastActivatedAt)
	})
	return found, err
}

// spelled is an id in the form in which word begins it: bare, or with its prefix.
func spelled(id transcript.ID, word string) string {
	full := string(id)
	if word != "" && strings.Trim(word, "0123456789") == "" {
		return strings.TrimPrefix(full, "jp-c")
	}
	return full
}

// completeFlags has the shell complete the flags that take ids, or one of a few
// values.
func (c *commands) completeFlags(cmd *cobra.Command, values map[string][]string) {
	for flag, words := range values {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that is not there
	}
	for _, flag := range []string{"id", "exclude-id"} {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, c.completeIDs) // as above
		}
	}
}
