package conversationcli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
)

// explained words an error for people, with advice.
func explained(err error) error {
	var (
		missing  *conversations.NotFoundError
		none     *conversations.NoConversationError
		nowhere  *conversations.NoWorkspaceError
		excluded *conversations.ExcludedError
		turn     *conversations.TurnRangeError
		event    *conversations.EventRangeError
		locked   *jp.LockedError
		store    *jp.StoreError
		noStore  *jp.NoUserStoreError
		exists   *jp.ExistsError
		label    *jp.BadLabelError
	)
	switch {
	case errors.As(err, &missing):
		return notFound(missing)
	case errors.As(err, &none):
		return failedHint("conversation ls --archived lists archived ones", "there is no live conversation to print in %s", cmp.Or(none.Place, "any project"))
	case errors.As(err, &nowhere) && !nowhere.Missing:
		return failedHint("change to a project that has conversations, name it with -w DIR, or see all with --all-projects",
			"Could not locate workspace: no .jp directory in %s or above it, and no other program has recorded a conversation there", nowhere.Dir)
	case errors.As(err, &excluded) && excluded.Remembered != "":
		return failedHint("convtools stores include "+excluded.Remembered+" takes that back",
			"the conversations of this project are excluded: %s did that, and it stays so now that it is gone", excluded.By)
	case errors.As(err, &excluded):
		return failedHint("convtools stores shows what is read", "the conversations of this project are excluded by %s", excluded.By)
	case errors.As(err, &turn) && turn.Turns == 0:
		return failedHint("nothing has been said in it", "turn %d out of range (conversation has 0 turns)", turn.Turn)
	case errors.As(err, &turn):
		return failedHint(fmt.Sprintf("turns are numbered 1 to %d; --last prints the last one", turn.Turns),
			"turn %d out of range (conversation has %s)", turn.Turn, plural(turn.Turns, "turn"))
	case errors.As(err, &event):
		return failedHint("recall shows the numbers of events", "event %d out of range (conversation has %s)", event.Number, plural(event.Events, "event"))
	case errors.As(err, &locked) && locked.Waited > 0:
		return cli.Hint(err, "try again when it is done, or wait longer than "+locked.Waited.String())
	case errors.As(err, &locked):
		return cli.Hint(err, "try again when it is done, or wait for it with --wait=30s")
	case errors.As(err, &store):
		return cli.Hint(store, "nothing that was there is lost; the command can be given again")
	case errors.As(err, &noStore):
		return failedHint("run jp once in the project: it makes that store", "the user has no store of this workspace, so nothing can be only in it")
	case errors.As(err, &exists):
		return failedHint("conversation ls --hidden shows it, with --archived too", "%s is there already; what is in the trash stays there", exists.ID)
	case errors.As(err, &label):
		return usageError("a key begins with a letter, and has letters, digits, '_' and '-'", "a label cannot have the key %q", label.Key)
	}
	return err
}

// notFound names all ids that no conversation has.
func notFound(e *conversations.NotFoundError) error {
	hint := "conversation ls shows the ids there are; add --archived for archived ones"
	if len(e.Nearest) > 0 {
		hint = "nearest ids: " + joinBounded(e.Nearest, ", ")
	}
	noun := "conversation"
	if len(e.IDs) > 1 {
		noun = "conversations"
	}
	return failedHint(hint, "%s %s not found in %s", noun, joinBounded(e.IDs, ", "), cmp.Or(e.Place, "any project"))
}

// maxListed bounds how many ids an error names; standard input may hold many.
const maxListed = 20

// joinBounded joins the first maxListed of some texts and counts the rest.
func joinBounded[T ~string](texts []T, separator string) string {
	var all []string
	for _, text := range texts[:min(len(texts), maxListed)] {
		all = append(all, string(text))
	}
	if more := len(texts) - maxListed; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, separator)
}

// failedHint is why a command failed, with advice.
func failedHint(hint, format string, args ...any) error {
	return cli.Hint(fmt.Errorf(format, args...), hint)
}

// plural writes a number of things, without commas between its digits.
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// warnOf warns of what a query did not look at, and returns it for JSON. named reports
// whether the conversations were given by their ids: they are used without their
// metadata then.
func (c *commands) warnOf(problems []conversations.Problem, named bool) []object {
	left := []object{}
	for _, p := range problems {
		reason, whose, isUnused := p.Err.Error(), string(p.ID)+": ", true
		switch {
		case p.ID == "":
			reason, whose = fmt.Sprintf("%s: %s", p.Path, reason), ""
		case named && (p.Kind == conversations.BadMetadata || p.Kind == conversations.Outside || p.Kind == conversations.Vanishing):
			reason, isUnused = "metadata.json cannot be used: "+reason, false
		case p.Kind == conversations.BadField:
			isUnused = false
		case p.Kind == conversations.DamagedEvents:
			reason = "events.json is damaged, what stands before the damage was searched: " + reason
		}
		c.warn("%s%s", whose, reason)
		if isUnused {
			left = append(left, object{"id", orNull(p.ID), "reason", reason})
		}
	}
	return left
}
