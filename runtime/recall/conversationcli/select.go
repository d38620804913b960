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

	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// selectHelp is what the commands that take conversations say about them.
const selectHelp = `ID is the id of a conversation or the beginning that no other one has, with or
without the program's name, or a word in its place: . or active (in JP's
session), s or session (the one before), r or recent, n or newest, p or pinned,
a or archived (the last that was activated, begun, pinned or archived), +live,
+session, +pinned or +archived for all of them, or - for ids on standard input.`

// meant returns the conversations that a word in the place of an id stands for, and
// reports whether it is such a word.
func (c *commands) meant(ctx context.Context, word string) (found []conversations.Listed, isWord bool, err error) {
	name, isAll := strings.CutPrefix(word, "+")
	at := func(l conversations.Listed) time.Time { return l.CreatedAt }
	switch name {
	case ".", "active":
		found, err = c.activated(ctx)
		return found[:min(1, len(found))], true, err
	case "s", "session":
		if found, err = c.activated(ctx); !isAll {
			found = found[min(1, len(found)):min(2, len(found))]
		}
		return found, true, err
	case "l", "live", "n", "newest":
	case "r", "recent":
		at = func(l conversations.Listed) time.Time { return l.LastActivatedAt }
	case "p", "pinned":
		at = func(l conversations.Listed) time.Time { return l.PinnedAt }
	case "a", "archived":
		at = func(l conversations.Listed) time.Time { return l.ArchivedAt }
	default:
		return nil, false, nil
	}
	found, err = c.all(ctx, conversations.Filter{Archived: name[0] == 'a'})
	if name[0] == 'p' {
		found = slices.DeleteFunc(found, func(l conversations.Listed) bool { return l.PinnedAt.IsZero() })
	}
	if !isAll {
		slices.SortStableFunc(found, func(a, b conversations.Listed) int { return at(a).Compare(at(b)) })
		found = found[max(len(found)-1, 0):]
	}
	return found, true, err
}

// activated returns the live conversations that were activated in JP's session, the last one,
// which is active, first; where there are none, the one that calls.
func (c *commands) activated(ctx context.Context) (found []conversations.Listed, err error) {
	var history []transcript.ID
	w, err := c.workspace()
	if err == nil {
		history, err = w.Activated()
	}
	if id, notID := conversations.ParseID(c.host.ConversationID); len(history) == 0 && notID == nil {
		history = append(history, id)
	}
	if err != nil || len(history) == 0 {
		return nil, err
	}
	live, err := c.all(ctx, conversations.Filter{Hidden: true})
	for _, id := range history {
		if i := slices.IndexFunc(live, func(l conversations.Listed) bool { return l.ID == id }); i >= 0 {
			found = append(found, live[i])
		}
	}
	return found, err
}

// maxStdin is how many bytes of ids are read from standard input.
const maxStdin = 6 << 20

// ids returns the ids that arguments name: as they are, by a prefix, or by a word.
func (c *commands) ids(ctx context.Context, args []string) (ids []string, err error) {
	for _, arg := range args {
		if arg == "-" {
			listed, err := io.ReadAll(io.LimitReader(c.host.Stdin, maxStdin))
			if err != nil {
				return nil, fmt.Errorf("reading ids from standard input: %w", err)
			}
			ids = append(ids, strings.Fields(string(listed))...)
			continue
		}
		found, isWord, err := c.meant(ctx, arg)
		switch {
		case err != nil:
			return nil, err
		case !isWord:
			ids = append(ids, arg)
		case len(found) == 0:
			return nil, failed("conversation ls shows the conversations there are", "there is no conversation that %q stands for", arg)
		}
		for _, l := range found {
			ids = append(ids, string(l.ID))
		}
	}
	return c.whole(ctx, ids)
}

// idsOrRecent is ids, and without arguments the conversation that is active, or else the
// one that was activated last.
func (c *commands) idsOrRecent(ctx context.Context, args []string) ([]string, error) {
	if len(args) > 0 {
		return c.ids(ctx, args)
	}
	if active, _ := c.activated(ctx); len(active) > 0 {
		return []string{string(active[0].ID)}, nil
	}
	return c.ids(ctx, []string{"recent"})
}

// named finds the conversations that arguments name, one at least.
func (c *commands) named(ctx context.Context, args []string) ([]conversations.Listed, error) {
	ids, err := c.ids(ctx, args)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, misused("name conversations by their ids; . is the active one", "this needs a conversation")
	}
	return c.all(ctx, conversations.Filter{IDs: ids})
}

// span is the flags that choose conversations by when they were begun, or used last.
type span struct{ from, until, inactive time.Time }

// addSpan defines them, but for the one about when they were used.
func (c *commands) addSpan(cmd *cobra.Command, s *span) {
	c.addTime(cmd, "from", "those begun at `TIME` or later: 2026-01-01, an age such as 3w, or an id", func(t iso8601.Span) { s.from = t.First })
	c.addTime(cmd, "until", "those begun before `TIME`", func(t iso8601.Span) { s.until = t.First })
}

// chosen returns the conversations that arguments name, or all live ones that are not
// hidden, as far as they are in the span.
func (c *commands) chosen(ctx context.Context, args []string, s span) (list []conversations.Listed, err error) {
	if s == (span{}) || len(args) > 0 {
		list, err = c.named(ctx, args)
	} else {
		list, err = c.all(ctx, conversations.Filter{})
	}
	list = slices.DeleteFunc(list, func(l conversations.Listed) bool {
		return l.CreatedAt.Before(s.from) || !s.until.IsZero() && !l.CreatedAt.Before(s.until) ||
			!s.inactive.IsZero() && (l.LastActivatedAt.IsZero() || !l.LastActivatedAt.Before(s.inactive))
	})
	if len(list) == 0 && err == nil {
		c.note("no conversations of that time")
	}
	return list, err
}

// What a shell is offered: more could not be looked through, and typing on narrows it.
const (
	maxCompletions   = 200
	completionColumn = 60 // columns of a title
)

// completeIDs offers the ids of conversations, those used last first, without those that are
// named already.
func (c *commands) completeIDs(cmd *cobra.Command, named []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	f := conversations.Filter{Both: true}
	if archived := cmd.Flags().Lookup("archived"); archived != nil {
		f = conversations.Filter{Archived: archived.Value.String() == "true"}
	}
	list, _ := c.all(cmd.Context(), f) // nothing is offered where they cannot be listed
	slices.SortFunc(list, func(a, b conversations.Listed) int {
		return cmp.Or(b.LastActivatedAt.Compare(a.LastActivatedAt), cmp.Compare(b.ID, a.ID))
	})
	list = slices.DeleteFunc(list, func(l conversations.Listed) bool { return slices.Contains(named, string(l.ID)) })
	return offered(list, word)
}

// offered returns the ids that begin with a word, with the program's name or without it as
// the word is, with titles.
func offered(list []conversations.Listed, word string) (ids []cobra.Completion, directive cobra.ShellCompDirective) {
	for _, l := range list {
		id := string(l.ID)
		if !strings.HasPrefix(id, word) {
			_, id = bare(l.ID)
		}
		if strings.HasPrefix(id, word) && len(ids) < maxCompletions {
			ids = append(ids, cobra.CompletionWithDesc(id, shortTitle(l.Title)))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// shortTitle is a title in a line for people.
func shortTitle(title string) string { return text.Truncate(text.Cell(title), completionColumn) }
