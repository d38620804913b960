package recall

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/command"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/transcript"
)

// Program returns the external conversation command line of a line, which was read
// from the environment variable setting. It is called as the specs of the tools
// say.
func Program(line, setting string, runner process.Runner) *command.Program {
	return command.New(command.Config{
		Line: line, Setting: setting, Runner: runner,
		List: listCall, Search: searchCall, Read: readCall,
	})
}

func unsupported(what string) (command.Call, error) {
	return command.Call{}, fmt.Errorf("%s: %w", what, conversations.ErrUnsupported)
}

func listCall(q conversations.ListQuery) (command.Call, error) {
	known := []string{conversation.ListSortActivity, conversation.ListSortCreated, conversation.ListSortUpdated}
	if !slices.Contains(known, q.Sort.String()) || q.Both || len(q.IDs) > 0 || len(q.Exclude) > 0 || len(q.Labels) > 0 || q.UserOnly {
		return unsupported("listing conversations in this way")
	}
	p := conversation.ListParams{
		Limit: q.Limit, Offset: q.Offset, Sort: q.Sort.String(), Descending: !q.Ascending,
		Archived: q.Archived, IncludeHidden: q.Hidden, Sources: q.Sources,
	}
	if q.TitleContains != "" {
		p.TitleContains = &q.TitleContains
	}
	args := conversation.ListArgs(p, contract.Context{})
	if !q.Sizes {
		args = without(args, "--sizes")
	}
	return command.Call{Args: args, OK: conversation.ListExitOK}, nil
}

func searchCall(q conversations.SearchQuery) (command.Call, error) {
	if q.Archived || q.Both || len(q.Labels) > 0 || len(q.Exclude) > 1 || q.Regexp || q.Sort != conversations.ByActivity || q.Ascending || q.MaxConversations > 0 || q.MaxMatchesOfEach > 0 {
		return unsupported("searching conversations in this way")
	}
	p := conversation.GrepParams{
		Pattern: q.Pattern, IgnoreCase: q.IgnoreCase, IDs: q.IDs, Scopes: scopeNames(q.Scopes),
		Context: q.Context, Limit: q.MaxMatches, IncludeHidden: q.Hidden, Sources: q.Sources,
	}
	var where contract.Context
	if len(q.Exclude) > 0 {
		where.ConversationID = q.Exclude[0]
	}
	args := conversation.GrepArgs(p, where)
	if !q.ByEvent {
		args = without(args, "--by-event")
	}
	const exclude, only = "--exclude-tool=", "--tool="
	switch { // Own is the conversation tools, where it is not nil
	case q.Own == nil:
		args = without(args, exclude)
	case q.OwnToo:
		i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, exclude) })
		args[i] = only + strings.TrimPrefix(args[i], exclude)
	}
	return command.Call{Args: args, OK: conversation.GrepExitOK}, nil
}

func readCall(q conversations.ReadQuery) (command.Call, error) {
	args := conversation.ReadArgs(conversation.ReadParams{ID: q.ID}, contract.Context{})
	if q.Part > 0 {
		args = without(args, "--max-text=") // a part is one of the whole text
	}
	return command.Call{Args: args, OK: conversation.ReadExitOK}, nil
}

// without leaves out the flags that begin with a text, which stand before "--".
func without(args []string, flag string) []string {
	return slices.DeleteFunc(args, func(arg string) bool { return strings.HasPrefix(arg, flag) })
}

// scopesOf returns the scopes that some names of the parameter scopes stand for.
func scopesOf(names []string) transcript.Scopes {
	var scopes transcript.Scopes
	for _, known := range transcript.NamedScopes() {
		if slices.Contains(names, known.Name) {
			scopes |= known.Scopes
		}
	}
	return scopes
}

// scopeNames returns the fewest names for some scopes, sets before single ones.
func scopeNames(scopes transcript.Scopes) []string {
	var names []string
	known := transcript.NamedScopes()
	slices.SortStableFunc(known, func(a, b transcript.NamedScope) int {
		return bits.OnesCount16(uint16(b.Scopes)) - bits.OnesCount16(uint16(a.Scopes))
	})
	for _, n := range known {
		if scopes != 0 && scopes&n.Scopes == n.Scopes {
			names = append(names, n.Name)
			scopes &^= n.Scopes
		}
	}
	return names
}
