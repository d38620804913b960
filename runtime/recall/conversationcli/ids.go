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

// selectHelp describes ID in the help of the commands that take conversations.
const selectHelp = `ID is the id of a conversation or the beginning that no other one has, with or
without the program's name. It may be . or active for the active conversation of
JP's session, recent for the one activated last, or - for ids on standard input.`

// active returns the id of the live conversation that was activated last in JP's session. If the session has activated
// no conversation, it returns the live one that --conversation-id names. The id is "" if there is no such conversation.
func (c *commands) active(ctx context.Context) (transcript.ID, error) {
	w, err := c.workspace()
	if err != nil {
		return "", err
	}
	activated, err := w.Activated() // the last one first
	if err != nil {
		return "", err
	}
	if len(activated) == 0 {
		id, err := conversations.ParseID(c.host.ConversationID)
		if err != nil { // the flag is not given, or not an id
			return "", nil
		}
		activated = []transcript.ID{id}
	}
	live, err := c.all(ctx, conversations.Filter{Hidden: true})
	for _, id := range activated {
		if isLive := err == nil && indexOf(live, id) >= 0; isLive {
			return id, nil
		}
	}
	return "", err
}

// recent returns the id of the live conversation that was activated last; empty if there is none.
func (c *commands) recent(ctx context.Context) (transcript.ID, error) {
	live, err := c.all(ctx, conversations.Filter{})
	if err != nil || len(live) == 0 {
		return "", err
	}
	byActivation := func(a, b conversations.Listed) int { return a.LastActivatedAt.Compare(b.LastActivatedAt) }
	return slices.MaxFunc(live, byActivation).ID, nil
}

// maxStdin bounds the ids on standard input, in bytes.
const maxStdin = 6 << 20

// ids returns the ids of the conversations that arguments select. An argument is an id, the beginning of an id, or a word
// of selectHelp. The error is that of the first wrong argument, or else that of resolve.
func (c *commands) ids(ctx context.Context, args []string) (ids []string, err error) {
	for _, arg := range args {
		id := transcript.ID(arg)
		switch arg {
		case "-":
			listed, err := io.ReadAll(io.LimitReader(c.host.Stdin, maxStdin))
			if err != nil {
				return nil, fmt.Errorf("reading ids from standard input: %w", err)
			}
			ids = append(ids, strings.Fields(string(listed))...)
			continue
		case ".", "active":
			id, err = c.active(ctx)
		case "r", "recent":
			id, err = c.recent(ctx)
		}
		if err != nil {
			return nil, err
		}
		if id == "" && arg != "" {
			return nil, failed("conversation ls shows the conversations there are", "there is no conversation that %q stands for", arg)
		}
		ids = append(ids, string(id))
	}
	return c.resolve(ctx, ids)
}

// idsOrRecent returns the ids that arguments select, as ids does. Without arguments it returns the active conversation,
// or else the one that was activated last.
func (c *commands) idsOrRecent(ctx context.Context, args []string) ([]string, error) {
	if len(args) == 0 {
		active, _ := c.active(ctx)
		args = []string{cmp.Or(string(active), "recent")}
	}
	return c.ids(ctx, args)
}

// named returns the conversations that arguments select, sorted by id. Without arguments it returns an error.
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

// resolve returns the whole ids for texts, each of which is an id or the beginning of an id. The error says that
// several ids begin with a text, or is a [*conversations.NotFoundError] if no id does.
func (c *commands) resolve(ctx context.Context, texts []string) ([]string, error) {
	if _, err := c.all(ctx, conversations.Filter{IDs: texts}); err == nil || len(texts) == 0 {
		return texts, nil
	}
	ids := slices.Clone(texts)
	for i, text := range texts {
		f := conversations.Filter{Both: true, Hidden: true}
		source := conversations.SourceOf(transcript.ID(text))
		if isArchive := !conversations.IsProgram(source); isArchive { // only a filter that names an archive selects from it
			f.Sources = []string{source}
		}
		list, _ := c.all(ctx, f)
		l, err := c.one(list, text)
		if err != nil {
			return nil, err
		}
		if l != nil { // otherwise the text stays, and is not found below
			ids[i] = string(l.ID)
		}
	}
	_, err := c.all(ctx, conversations.Filter{IDs: ids})
	return ids, err
}

// one returns the conversation of a list with an id, or with an id that begins so; nil if there is none. If there are
// several, it notes which they are, and returns an error.
func (c *commands) one(list []conversations.Listed, id string) (*conversations.Listed, error) {
	found := withPrefix(list, id)
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return &found[0], nil
	}
	for i := range found[:min(len(found), maxNamed)] {
		c.note("%s", strings.TrimSpace(acted("", &found[i])))
	}
	return nil, failed("write more of the id that is meant", "%q begins the ids of %s", id, plural(len(found), "conversation"))
}

// withPrefix returns the conversations of a list whose ids, with or without the name of the program, begin with a text
// in any case. For a whole id it returns that conversation alone. The id of a part of a session, such as the work of a
// sub-agent, has a dot before the part. If the text has no part and fits whole sessions, withPrefix returns only these.
func withPrefix(list []conversations.Listed, text string) (found []conversations.Listed) {
	if id, err := conversations.ParseID(text); err == nil {
		if i := indexOf(list, id); i >= 0 {
			return list[i : i+1]
		}
	}
	session, part, _ := strings.Cut(strings.ToLower(text), ".")
	hasPrefix := func(id string) bool {
		sessionOfID, partOfID, _ := strings.Cut(strings.ToLower(id), ".")
		return session != "" && strings.HasPrefix(sessionOfID, session) && strings.HasPrefix(partOfID, part)
	}
	for _, l := range list {
		_, ownSession, ownPart := l.ID.Split()
		if hasPrefix(ownSession+ownPart) || hasPrefix(string(l.ID)) {
			found = append(found, l)
		}
	}
	isPart := func(l conversations.Listed) bool { return strings.Contains(string(l.ID), ".") }
	if sessions := slices.DeleteFunc(slices.Clone(found), isPart); part == "" && len(sessions) > 0 {
		return sessions
	}
	return found
}

// indexOf returns the index of a conversation in a list, or -1.
func indexOf(list []conversations.Listed, id transcript.ID) int {
	return slices.IndexFunc(list, func(l conversations.Listed) bool { return l.ID == id })
}

// shortID is the least number of characters of an id on a terminal.
const shortID = 8

// shortIDs returns a function that returns an id as a list shows it: short in a table on a terminal, otherwise whole. A
// short id has the beginning of the id that the program gave the session: at least shortID characters, and as many as
// distinguish the session from those of the conversations in all. Only an id of an archive has a name before it.
func (c *commands) shortIDs(all []conversations.Listed) func(transcript.ID) string {
	if !c.out.isTable() {
		return func(id transcript.ID) string { return string(id) }
	}
	var sessions []string
	for _, l := range all {
		_, session, _ := l.ID.Split()
		sessions = append(sessions, strings.ToLower(session))
	}
	slices.Sort(sessions)
	sessions = slices.Compact(sessions)
	return func(id transcript.ID) string {
		program, shown, part := id.Split()
		session := strings.ToLower(shown)
		length := min(shortID, len(session))
		i, _ := slices.BinarySearch(sessions, session)
		for _, other := range sessions[max(i-1, 0):min(i+2, len(sessions))] { // neighbours have most in common with the session
			for other != session && length < len(session) && strings.HasPrefix(other, session[:length]) {
				length++
			}
		}
		isArchive := !conversations.IsProgram(conversations.SourceOf(id))
		return either(isArchive, program+"-", "") + shown[:length] + part
	}
}

// span has the flags that select conversations by when they were begun, or used last.
type span struct{ from, until, inactive time.Time }

// addSpan defines --from and --until.
func (c *commands) addSpan(cmd *cobra.Command, s *span) {
	c.addTime(cmd, "from", "those begun at `TIME` or later: 2026-01-01, an age such as 3w, or an id of JP", func(t iso8601.Span) { s.from = t.First })
	c.addTime(cmd, "until", "those begun before `TIME`", func(t iso8601.Span) { s.until = t.First })
}

// chosen returns the conversations in s that arguments select, or without arguments all in s that are live and not
// hidden. Without arguments and with a zero s it returns an error. It writes a note if it returns no conversation.
func (c *commands) chosen(ctx context.Context, args []string, s span) (list []conversations.Listed, err error) {
	if hasSpan := s != (span{}); len(args) > 0 || !hasSpan {
		list, err = c.named(ctx, args) // an error without arguments
	} else {
		list, err = c.all(ctx, conversations.Filter{})
	}
	list = slices.DeleteFunc(list, func(l conversations.Listed) bool { return !s.has(&l) })
	if len(list) == 0 && err == nil {
		c.note("no conversations of that time")
	}
	return list, err
}

// has reports whether a conversation was begun at s.from or later, was begun before s.until, and was last used before
// s.inactive. A zero time in s is no limit.
func (s *span) has(l *conversations.Listed) bool {
	isAfter := l.CreatedAt.Compare(s.from) >= 0
	isBefore := s.until.IsZero() || l.CreatedAt.Before(s.until)
	isInactive := s.inactive.IsZero() || !l.LastActivatedAt.IsZero() && l.LastActivatedAt.Before(s.inactive) // zero is unknown
	return isAfter && isBefore && isInactive
}

// Bounds of what a shell is offered.
const (
	maxCompletions   = 200
	completionColumn = 60 // columns of a title
)

// completeIDs offers the ids of live and archived conversations that the command line does not name yet, the last used
// first.
func (c *commands) completeIDs(cmd *cobra.Command, named []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list, _ := c.all(cmd.Context(), conversations.Filter{Both: true}) // nothing is offered if they cannot be listed
	slices.SortFunc(list, func(a, b conversations.Listed) int {
		return cmp.Or(b.LastActivatedAt.Compare(a.LastActivatedAt), cmp.Compare(b.ID, a.ID))
	})
	list = slices.DeleteFunc(list, func(l conversations.Listed) bool { return slices.Contains(named, string(l.ID)) })
	return offered(list, word)
}

// offered returns the ids in a list that begin with a word, each with the title of the conversation. Where the word is the
// beginning of an id without the name of the program, such as 5afd of claude-5afd8764, offered returns the id without it.
func offered(list []conversations.Listed, word string) (ids []cobra.Completion, directive cobra.ShellCompDirective) {
	for _, l := range list {
		id := string(l.ID)
		if !strings.HasPrefix(id, word) {
			_, session, part := l.ID.Split()
			id = session + part
		}
		if strings.HasPrefix(id, word) && len(ids) < maxCompletions {
			ids = append(ids, cobra.CompletionWithDesc(id, shortTitle(l.Title)))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// shortTitle returns a title as it is shown in a line.
func shortTitle(title string) string { return text.Truncate(text.Cell(title), completionColumn) }
