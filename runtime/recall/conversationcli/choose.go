package conversationcli

import (
	"cmp"
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

// targetWords are the words that targetsHelp has, and short ones for those with a plus.
const targetWords = " . active s session r recent n newest p pinned a archived +l +live +s +session +p +pinned +a +archived "

// meant returns the conversations that a word in the place of an id stands for, and
// what that is; empty for any other word.
func (c *commands) meant(ctx context.Context, word string) (found []conversations.Listed, what string, err error) {
	if word == "" || !strings.Contains(targetWords, " "+word+" ") {
		return nil, "", nil
	}
	name, isAll := strings.CutPrefix(word, "+")
	at := func(l *conversations.Listed) time.Time { return l.CreatedAt }
	what = "live conversation"
	switch name {
	case ".", "active":
		found, err = c.activated(ctx)
		return found[:min(1, len(found))], "active conversation in this session", err
	case "s", "session":
		if found, err = c.activated(ctx); !isAll {
			found = found[min(1, len(found)):min(2, len(found))]
		}
		return found, "conversation that was activated before in this session", err
	case "r", "recent":
		at = func(l *conversations.Listed) time.Time { return l.LastActivatedAt }
	case "p", "pinned":
		what = "pinned conversation"
		at = func(l *conversations.Listed) time.Time { return l.PinnedAt }
	case "a", "archived":
		what = "archived conversation"
		at = func(l *conversations.Listed) time.Time { return l.ArchivedAt }
	}
	found, err = c.all(ctx, conversations.Filter{Archived: what == "archived conversation"})
	if !isAll || what == "pinned conversation" {
		found = slices.DeleteFunc(found, func(l conversations.Listed) bool { return at(&l).IsZero() })
	}
	if !isAll {
		slices.SortStableFunc(found, func(a, b conversations.Listed) int { return at(&a).Compare(at(&b)) })
		found = found[max(len(found)-1, 0):]
	}
	return found, what, err
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
	if len(args) > 0 {
		return c.targets(ctx, args, "")
	}
	active, err := c.activated(ctx)
	if err != nil || len(active) == 0 {
		return c.targets(ctx, []string{"recent"}, "")
	}
	return []string{string(active[0].ID)}, nil
}

// maxStdin is how many bytes of ids are read from standard input.
const maxStdin = 6 << 20

// parseIDs reads ids, each once. "-" stands for ids on standard input.
func (c *commands) parseIDs(args []string, flag string) (ids []string, err error) {
	if i := slices.Index(args, "-"); i >= 0 {
		listed, err := io.ReadAll(io.LimitReader(c.host.Stdin, maxStdin))
		if err != nil {
			return nil, fmt.Errorf("reading ids from standard input: %w", err)
		}
		args = slices.Replace(slices.Clone(args), i, i+1, strings.Fields(string(listed))...)
	}
	var wrong []string
	seen := map[transcript.ID]bool{}
	for _, text := range args {
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

// named finds the conversations that arguments name, one at least.
func (c *commands) named(cmd *cobra.Command, args []string, flag string) ([]conversations.Listed, error) {
	if len(args) == 0 {
		return nil, usageError("name conversations by their ids; . is the active one", "%s needs a conversation", cmd.CommandPath())
	}
	ids, err := c.targets(cmd.Context(), args, flag)
	if err == nil && len(ids) == 0 {
		err = failedHint("one id on a line", "standard input holds no ids")
	}
	if err != nil {
		return nil, err
	}
	return c.all(cmd.Context(), conversations.Filter{IDs: ids})
}

// span is the flags that choose conversations by when they were begun, or used last.
type span struct{ from, until, inactive time.Time }

// addSpan defines them, but for the one about when they were used.
func (c *commands) addSpan(cmd *cobra.Command, s *span) {
	cmd.Flags().Func("from", "those begun at `TIME` or later: 2026-01-01, an age such as 3w, or an id", c.moment(&s.from))
	cmd.Flags().Func("until", "those begun before `TIME`", c.moment(&s.until))
}

// chosen returns the conversations that arguments name, or all live ones that are not
// hidden, as far as they are in the span.
func (c *commands) chosen(cmd *cobra.Command, args []string, s *span) (list []conversations.Listed, err error) {
	if *s == (span{}) || len(args) > 0 {
		list, err = c.named(cmd, args, "")
	} else {
		list, err = c.all(cmd.Context(), conversations.Filter{})
	}
	if err != nil || *s == (span{}) {
		return list, err
	}
	list = slices.DeleteFunc(list, func(l conversations.Listed) bool {
		return l.CreatedAt.Before(s.from) || !s.until.IsZero() && !l.CreatedAt.Before(s.until) ||
			!s.inactive.IsZero() && (l.LastActivatedAt.IsZero() || !l.LastActivatedAt.Before(s.inactive))
	})
	if len(list) == 0 {
		c.note("no conversations of that time")
	}
	return list, nil
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

// activated returns the live conversations that were activated in JP's session, the last
// one, which is active, first; where there are none, the one that calls. JP goes no
// further back than to one that was archived.
func (c *commands) activated(ctx context.Context) (found []conversations.Listed, err error) {
	w, err := c.workspace()
	if err != nil {
		return nil, err
	}
	history, err := w.Activated()
	if err != nil {
		return nil, err
	}
	var all []conversations.Listed
	if len(history) > 0 {
		if all, err = c.everything(ctx); err != nil {
			return nil, err
		}
	}
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
	if len(found) > 0 || c.host.ConversationID == "" {
		return found, nil
	}
	id, err := conversations.ParseID(c.host.ConversationID)
	if err != nil {
		return nil, fmt.Errorf("--conversation-id: %w", err)
	}
	return []conversations.Listed{{Conversation: transcript.Conversation{ID: id}}}, nil
}

// What a shell is offered: more could not be looked through, and typing on narrows it.
const (
	maxCompletions   = 200
	completionColumn = 60 // columns of a title
)

// completeIDs offers the ids of conversations, those used last first, without the ones
// that are named already.
func (c *commands) completeIDs(cmd *cobra.Command, named []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	f := conversations.Filter{Both: true}
	if archived := cmd.Flags().Lookup("archived"); archived != nil {
		f = conversations.Filter{Archived: archived.Value.String() == "true"}
	}
	names, _ := c.parseIDs(named, "")  // what cannot be read names nothing
	list, _ := c.all(cmd.Context(), f) // nothing is offered where they cannot be listed
	list = slices.DeleteFunc(list, func(l conversations.Listed) bool { return slices.Contains(names, string(l.ID)) })
	slices.SortFunc(list, func(a, b conversations.Listed) int {
		return cmp.Or(b.LastActivatedAt.Compare(a.LastActivatedAt), cmp.Compare(b.ID, a.ID))
	})
	return offered(list, word)
}

// offered are the ids that begin with a word, bare or with their prefix as the word
// is, with titles.
func offered(list []conversations.Listed, word string) (ids []cobra.Completion, directive cobra.ShellCompDirective) {
	for _, l := range list {
		id := string(l.ID)
		if word != "" && strings.Trim(word, "0123456789") == "" {
			id = strings.TrimPrefix(id, "jp-c")
		}
		if strings.HasPrefix(id, word) && len(ids) < maxCompletions {
			ids = append(ids, cobra.CompletionWithDesc(id, shortTitle(l.Title)))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// shortTitle is a title in a line for people.
func shortTitle(title string) string { return text.Truncate(text.Cell(title), completionColumn) }
