package conversationcli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// targetsHelp is what the commands that take conversations say about them.
const targetsHelp = `ID is the id of a conversation, or one word in its place: . or active (in JP's
session), s or session (the one before), r or recent, n or newest, p or pinned,
a or archived (the last that was activated, begun, pinned or archived), +live,
+session, +pinned or +archived for all of them, or - for ids on standard input.`

// meant returns the conversations that a word in the place of an id stands for, and
// what that is; empty for any other word.
func (c *commands) meant(ctx context.Context, word string) (found []conversations.Listed, what string, err error) {
	activated := func(l *conversations.Listed) time.Time { return l.LastActivatedAt }
	begun := func(l *conversations.Listed) time.Time { return l.CreatedAt }
	pinned := func(l *conversations.Listed) time.Time { return l.PinnedAt }
	archived := func(l *conversations.Listed) time.Time { return l.ArchivedAt }
	switch what = "live conversation"; word {
	case "+l", "+live":
		found, err = c.all(ctx, conversations.Filter{})
	case "r", "recent":
		found, err = c.last(ctx, false, activated)
	case "n", "newest":
		found, err = c.last(ctx, false, begun)
	case "p", "pinned":
		what = "pinned conversation"
		found, err = c.last(ctx, false, pinned)
	case "+p", "+pinned":
		what = "pinned conversation"
		found, err = c.all(ctx, conversations.Filter{})
		found = slices.DeleteFunc(found, func(l conversations.Listed) bool { return l.PinnedAt.IsZero() })
	case "a", "archived":
		what = "archived conversation"
		found, err = c.last(ctx, true, archived)
	case "+a", "+archived":
		what = "archived conversation"
		found, err = c.all(ctx, conversations.Filter{Archived: true})
	case "s", "session", "+s", "+session":
		what = "conversation that was activated before in this session"
		if found, err = c.activated(ctx); word[0] != '+' {
			found = found[min(1, len(found)):min(2, len(found))]
		}
	case ".", "active":
		what = "active conversation in this session"
		var id transcript.ID
		if id, err = c.active(ctx); id != "" {
			found = []conversations.Listed{{Conversation: transcript.Conversation{ID: id}}}
		}
	default:
		what = ""
	}
	return found, what, err
}

// last finds the conversation with the greatest time, if one has any.
func (c *commands) last(ctx context.Context, isArchived bool, at func(*conversations.Listed) time.Time) ([]conversations.Listed, error) {
	all, err := c.all(ctx, conversations.Filter{Archived: isArchived})
	slices.SortStableFunc(all, func(a, b conversations.Listed) int { return at(&a).Compare(at(&b)) })
	all = all[max(len(all)-1, 0):]
	return slices.DeleteFunc(all, func(l conversations.Listed) bool { return at(&l).IsZero() }), err
}

// targets reads the conversations that arguments name: ids, each once, or one word
// for some. flag is where they were given; empty for arguments.
func (c *commands) targets(ctx context.Context, args []string, flag string) ([]string, error) {
	for _, arg := range args {
		found, what, err := c.meant(ctx, arg)
		switch {
		case strings.HasPrefix(arg, "?"):
			return nil, usageError("conversation ls --title-contains TEXT finds ids, and a shell with completion offers them", "%q: there is nothing to pick from a list with", arg)
		case what == "":
			continue
		case len(args) > 1:
			return nil, usageError("name ids, or give that word alone", "%q stands for a conversation by itself, and there are %d arguments", arg, len(args))
		case err == nil && len(found) == 0:
			err = failedHint("conversation ls shows the conversations there are", "%s: there is no %s", arg, what)
		}
		var ids []string
		for _, l := range found {
			ids = append(ids, string(l.ID))
		}
		return ids, err
	}
	return c.parseIDs(args, flag)
}

// targetsOrActive is targets, and without arguments the conversation that is active,
// else the one that was activated last.
func (c *commands) targetsOrActive(ctx context.Context, args []string) ([]string, error) {
	if len(args) == 0 {
		active, err := c.active(ctx)
		if err != nil || active != "" {
			return []string{string(active)}, err
		}
		args = []string{"recent"}
	}
	return c.targets(ctx, args, "")
}

// maxStdin is how many bytes of ids are read from standard input.
const maxStdin = 6 << 20

// parseIDs reads ids, each once. "-" stands for ids on standard input.
func (c *commands) parseIDs(args []string, flag string) ([]string, error) {
	var texts []string
	for _, arg := range args {
		if arg != "-" {
			texts = append(texts, arg)
			continue
		}
		listed, err := io.ReadAll(io.LimitReader(c.host.Stdin, maxStdin))
		if err != nil {
			return nil, fmt.Errorf("reading ids from standard input: %w", err)
		}
		texts = append(texts, strings.Fields(string(listed))...)
	}
	var ids, wrong []string
	seen := map[transcript.ID]bool{}
	for _, text := range texts {
		id, err := conversations.ParseID(strings.TrimSpace(text))
		if err != nil {
			wrong = append(wrong, err.Error())
		} else if !seen[id] {
			seen[id] = true
			ids = append(ids, string(id))
		}
	}
	if len(wrong) == 0 {
		return ids, nil
	}
	hint := "an id looks like jp-c17800836875; conversation ls shows the ids there are"
	if flag == "--id" {
		hint = "-i and --id take the id of a conversation; to ignore case use --ignore-case"
	}
	return nil, usageError(hint, "%s", joinBounded(wrong, "; "))
}

// resolve reads the ids of a filter.
func (c *commands) resolve(ctx context.Context, f *conversations.Filter, flag string) (err error) {
	f.IDs, err = c.targets(ctx, f.IDs, flag)
	return err
}

// named finds the conversations that arguments name, one at least.
func (c *commands) named(cmd *cobra.Command, args []string, flag string) ([]conversations.Listed, error) {
	if len(args) == 0 {
		return nil, usageError("name conversations by their ids; . is the active one", "%s needs a conversation", cmd.CommandPath())
	}
	ids, err := c.targets(cmd.Context(), args, flag)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, failedHint("one id on a line", "standard input holds no ids")
	}
	return c.all(cmd.Context(), conversations.Filter{IDs: ids})
}

// span is the flags that choose conversations by when they were begun, or used last.
type span struct{ from, until, inactive time.Time }

// addSpanFlags defines them.
func (c *commands) addSpanFlags(cmd *cobra.Command, s *span) {
	flags := cmd.Flags()
	flags.Func("from", "those begun at `TIME` or later: 2026-01-01, an age such as 3w, or an id", c.moment(&s.from))
	flags.Func("until", "those begun before `TIME`", c.moment(&s.until))
}

// chosen returns the conversations that arguments name, or all live ones that are not
// hidden, as far as they are in the span.
func (c *commands) chosen(cmd *cobra.Command, args []string, s span) ([]conversations.Listed, error) {
	if s == (span{}) {
		return c.named(cmd, args, "")
	}
	list, err := c.all(cmd.Context(), conversations.Filter{})
	if len(args) > 0 {
		list, err = c.named(cmd, args, "")
	}
	list = slices.DeleteFunc(slices.Clone(list), func(l conversations.Listed) bool {
		return l.CreatedAt.Before(s.from) || !s.until.IsZero() && !l.CreatedAt.Before(s.until) ||
			!s.inactive.IsZero() && (l.LastActivatedAt.IsZero() || !l.LastActivatedAt.Before(s.inactive))
	})
	if err == nil && len(list) == 0 {
		c.note("no conversations of that time")
	}
	return list, err
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

// activated returns the live conversations that were activated in JP's session, the
// last one first. JP goes no further back than to one that was archived.
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
	var found []conversations.Listed
	for _, id := range history {
		is := func(l conversations.Listed) bool { return l.ID == id }
		i := slices.IndexFunc(all, is)
		if i >= 0 && all[i].Archived {
			break
		}
		if i >= 0 && !slices.ContainsFunc(found, is) {
			found = append(found, all[i])
		}
	}
	return found, err
}

// active returns the conversation that is active in JP's session, else the one that
// calls; empty where neither is known.
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

// What a shell is offered: more could not be looked through, and typing on narrows it.
const (
	maxCompletions   = 200
	completionColumn = 60 // columns of a title
)

// completeIDs offers the ids of conversations that begin with a word, else those of
// conversations with the word in their titles, those used last first and with their
// titles, without the ones that are named already.
func (c *commands) completeIDs(cmd *cobra.Command, named []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	q := conversations.ListQuery{Filter: conversations.Filter{Both: true}, NoEvents: true, Sort: conversations.ByID}
	if archived := cmd.Flags().Lookup("archived"); archived != nil {
		q.Both, q.Archived = false, archived.Value.String() == "true"
	}
	names, _ := c.parseIDs(named, "") // what cannot be read names nothing
	offer := func(word string) []cobra.Completion {
		listing, _ := c.list(cmd.Context(), q) // nothing is offered where they cannot be listed
		list := slices.DeleteFunc(listing.Conversations, func(l conversations.Listed) bool { return slices.Contains(names, string(l.ID)) })
		slices.SortStableFunc(list, func(a, b conversations.Listed) int { return b.LastActivatedAt.Compare(a.LastActivatedAt) })
		return offered(list, word)
	}
	ids := offer(word)
	if q.TitleContains = word; len(ids) == 0 && strings.TrimSpace(word) != "" {
		ids = offer("")
	}
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// offered are the ids that begin with a word, bare or with their prefix as the word
// is, with titles.
func offered(list []conversations.Listed, word string) []cobra.Completion {
	var ids []cobra.Completion
	for _, l := range list {
		id := string(l.ID)
		if word != "" && strings.Trim(word, "0123456789") == "" {
			id = strings.TrimPrefix(id, "jp-c")
		}
		if strings.HasPrefix(id, word) && len(ids) < maxCompletions {
			ids = append(ids, cobra.CompletionWithDesc(id, shortTitle(l.Title)))
		}
	}
	return ids
}

// shortTitle is a title in a line for people.
func shortTitle(title string) string { return text.Truncate(text.Cell(title), completionColumn) }
