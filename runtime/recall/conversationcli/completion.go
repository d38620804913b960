package conversationcli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// What a shell is offered: more could not be looked through, and typing on
// narrows it.
const (
	maxCompletions   = 200
	completionColumn = 60 // columns of a title
)

// completeIDs offers the ids of conversations that begin with a word, else those
// of conversations with the word in their titles, those used last first and with
// their titles. Those that are named already are left out.
func (c *commands) completeIDs(cmd *cobra.Command, named []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	source, err := c.open()
	if err != nil {
		return nil, directive
	}
	found, err := c.completing(cmd, source, named, "")
	if err != nil {
		return nil, directive
	}
	begun := slices.DeleteFunc(slices.Clone(found), func(l conversations.Listed) bool { return !strings.HasPrefix(spelled(l.ID, word), word) })
	if len(begun) == 0 && strings.TrimSpace(word) != "" {
		if begun, err = c.completing(cmd, source, named, word); err != nil {
			return nil, directive
		}
		word = "" // ids are offered as a whole
	}
	var ids []cobra.Completion
	for _, l := range begun[:min(len(begun), maxCompletions)] {
		title := text.Truncate(text.Cell(l.Title), completionColumn)
		ids = append(ids, cobra.CompletionWithDesc(spelled(l.ID, word), title))
	}
	return ids, directive
}

// completing returns the conversations with a text in their titles that a command
// can be about and that are not named yet, those used last first.
func (c *commands) completing(of *cobra.Command, source conversations.Source, named []string, titled string) ([]conversations.Listed, error) {
	filter := conversations.Filter{Both: true}
	if archived := of.Flags().Lookup("archived"); archived != nil {
		filter = conversations.Filter{Archived: archived.Value.String() == "true"}
	}
	listing, err := source.List(contextOf(of), conversations.ListQuery{Filter: filter, TitleContains: titled, NoEvents: true, Sort: conversations.ByID})
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

// contextOf returns the context of a command, which completion may run without
// one.
func contextOf(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
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
