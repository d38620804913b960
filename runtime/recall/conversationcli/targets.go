package conversationcli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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

// isTarget reports whether an argument stands for conversations without being an
// id of one.
func isTarget(word string) bool {
	switch word {
	case ".", "active", "s", "session", "r", "recent", "n", "newest", "p", "pinned", "a", "archived",
		"+l", "+live", "+s", "+session", "+p", "+pinned", "+a", "+archived":
		return true
	}
	return false
}

// targets reads the conversations that arguments name: ids, each once, or one word
// that stands for some.
func (c *commands) targets(ctx context.Context, words []string, flag string) ([]string, error) {
	if i := slices.IndexFunc(words, isTarget); i >= 0 {
		if len(words) > 1 {
			return nil, usageError("name ids, or give that word alone", "%q stands for a conversation by itself, and there are %d arguments", words[i], len(words))
		}
		source, err := c.open()
		if err != nil {
			return nil, err
		}
		return c.target(ctx, source, words[0])
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

// titled names conversations with a text in their titles, for who takes it for the
// name of one; it is empty where there is none.
func (c *commands) titled(ctx context.Context, text string) string {
	const most = 5
	source, err := c.open()
	if err != nil || strings.TrimSpace(text) == "" {
		return ""
	}
	listing, err := source.List(ctx, conversations.ListQuery{TitleContains: text, Sort: conversations.ByActivation, Limit: most, NoEvents: true})
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

// target returns the conversations that a word stands for; none is an error.
func (c *commands) target(ctx context.Context, source conversations.Source, word string) ([]string, error) {
	var found []conversations.Listed
	var err error
	what := "live conversation"
	switch word {
	case ".", "active":
		what = "active conversation in this session"
		var active transcript.ID
		if active, err = c.active(ctx, source); err == nil && active != "" {
			return []string{string(active)}, nil
		}
	case "s", "session", "+s", "+session":
		what = "conversation that was activated before in this session"
		found, err = c.activated(ctx, source)
		if word == "s" || word == "session" {
			found = found[min(1, len(found)):]
			found = found[:min(1, len(found))]
		}
	case "r", "recent":
		found, err = c.newest(ctx, source, false, func(l *conversations.Listed) time.Time { return l.LastActivatedAt })
	case "n", "newest":
		found, err = c.newest(ctx, source, false, func(l *conversations.Listed) time.Time { return l.CreatedAt })
	case "p", "pinned":
		what = "pinned conversation"
		found, err = c.newest(ctx, source, false, func(l *conversations.Listed) time.Time { return l.PinnedAt })
	case "a", "archived":
		what = "archived conversation"
		found, err = c.newest(ctx, source, true, func(l *conversations.Listed) time.Time { return l.ArchivedAt })
	case "+l", "+live", "+p", "+pinned":
		found, err = c.all(ctx, source, conversations.Filter{})
		if word == "+p" || word == "+pinned" {
			what = "pinned conversation"
			found = slices.DeleteFunc(found, func(l conversations.Listed) bool { return l.PinnedAt.IsZero() })
		}
	case "+a", "+archived":
		what = "archived conversation"
		found, err = c.all(ctx, source, conversations.Filter{Archived: true})
	}
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, failedHint("conversation ls shows the conversations there are", "%s: there is no %s", word, what)
	}
	var ids []string
	for _, l := range found {
		ids = append(ids, string(l.ID))
	}
	return ids, nil
}

// all returns the conversations that a filter lets through, those begun first first.
func (c *commands) all(ctx context.Context, source conversations.Source, f conversations.Filter) ([]conversations.Listed, error) {
	listing, err := source.List(ctx, conversations.ListQuery{Filter: f, Sort: conversations.ByID, Ascending: true, NoEvents: true})
	return listing.Conversations, sourceFailure(err, nil)
}

// newest returns the conversation with the greatest time, if one has any.
func (c *commands) newest(ctx context.Context, source conversations.Source, archived bool, at func(*conversations.Listed) time.Time) ([]conversations.Listed, error) {
	all, err := c.all(ctx, source, conversations.Filter{Archived: archived})
	best := -1
	for i := range all {
		if t := at(&all[i]); !t.IsZero() && (best < 0 || !t.Before(at(&all[best]))) {
			best = i
		}
	}
	if best < 0 {
		return nil, err
	}
	return all[best : best+1], err
}

// activated returns the live conversations that were activated in JP's session,
// the last one first. JP goes no further back than to one that was archived.
func (c *commands) activated(ctx context.Context, source conversations.Source) ([]conversations.Listed, error) {
	w, err := c.workspace()
	if err != nil {
		return nil, err
	}
	history, err := w.Activated()
	if err != nil || len(history) == 0 {
		return nil, err
	}
	all, err := c.findAll(ctx, source)
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

// active returns the conversation that is active in JP's session, else the one
// that calls; empty where neither is known.
func (c *commands) active(ctx context.Context, source conversations.Source) (transcript.ID, error) {
	found, err := c.activated(ctx, source)
	if err != nil || len(found) > 0 {
		if len(found) > 0 {
			return found[0].ID, err
		}
		return "", err
	}
	if c.host.ConversationID == "" {
		return "", nil
	}
	id, err := conversations.ParseID(c.host.ConversationID)
	if err != nil {
		return "", fmt.Errorf("--conversation-id: %w", err)
	}
	return id, nil
}

// workspace finds the workspace that the command line is about.
func (c *commands) workspace() (*jp.Workspace, error) {
	return jp.Open(jp.Options{Dir: c.host.Dir, Getenv: c.host.Getenv})
}
