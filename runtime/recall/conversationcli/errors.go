package conversationcli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
)

// warn writes one line about something that did not stop the command.
func (c *commands) warn(format string, args ...any) { cli.Warn(c.host.Stderr, format, args...) }

// note writes one line of advice.
func (c *commands) note(format string, args ...any) {
	_, _ = io.WriteString(c.host.Stderr, text.Line(fmt.Sprintf(format, args...))+"\n") // there is nowhere to report an error to
}

// failed returns why a command failed, with advice.
func failed(hint, format string, args ...any) error {
	return cli.Hint(fmt.Errorf(format, args...), hint)
}

// misused returns what is wrong with a command line, with advice.
func misused(hint, format string, args ...any) error {
	return cli.Hint(cli.Usagef(format, args...), hint)
}

// foundAny returns the error of a search that found nothing.
func foundAny(any bool) error {
	if any {
		return nil
	}
	return cli.ErrFailed
}

// explained words an error for people, with advice.
func explained(err error) error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		switch e := e.(type) {
		case *conversations.BadIDError:
			return cli.Hint(cli.Usage(err), "an id looks like jp-c17800836875; conversation ls shows the ids there are")
		case *conversations.NotFoundError:
			if len(e.IDs) == 0 {
				return failed("conversation ls --archived lists archived ones", "there is no live conversation in %s", cmp.Or(e.Place, "any project"))
			}
			hint := "conversation ls shows the ids there are; add --archived for archived ones"
			if len(e.Nearest) > 0 {
				hint = "nearest ids: " + joined(e.Nearest)
			}
			noun := either(len(e.IDs) > 1, "conversations", "conversation")
			return failed(hint, "%s %s not found in %s", noun, joined(e.IDs), cmp.Or(e.Place, "any project"))
		case *conversations.NoWorkspaceError:
			if !e.Missing {
				return failed("change to a project that has conversations, name it with -w DIR, or see all with --all-projects",
					"Could not locate workspace: no .jp directory in %s or above it, and no other program has recorded a conversation there", e.Dir)
			}
		case *conversations.ExcludedError:
			if e.Remembered != "" {
				return failed("convtools stores include "+e.Remembered+" takes that back",
					"the conversations of this project are excluded: %s did that, and it stays so now that it is gone", e.By)
			}
			return failed("convtools stores shows what is read", "the conversations of this project are excluded by %s", e.By)
		case *conversations.RangeError:
			if e.Events {
				return failed("recall shows the numbers of events", "event %d out of range (conversation has %s)", e.N, plural(e.Of, "event"))
			}
			return failed("turns are numbered from 1; --last prints the last one", "turn %d out of range (conversation has %s)", e.N, plural(e.Of, "turn"))
		case *jp.LockedError:
			return cli.Hint(err, "try again when it is done, or wait for it with --wait=30s")
		case *jp.BadLabelError:
			return cli.Usage(err)
		}
	}
	if errors.Is(err, jp.ErrExists) {
		return cli.Hint(err, "conversation ls --hidden shows it, with --archived too; what is in the trash stays there")
	}
	return err
}

// maxNamed bounds how many conversations a message names.
const maxNamed = 20

// joined joins the first maxNamed of some texts and counts the rest.
func joined[T ~string](texts []T) string {
	var all []string
	for _, text := range texts[:min(len(texts), maxNamed)] {
		all = append(all, string(text))
	}
	if more := len(texts) - maxNamed; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// plural writes a number of things, without commas between its digits.
func plural(n int, one string) string {
	return fmt.Sprintf("%d %s%s", n, one, either(n == 1, "", "s"))
}

// either returns one of two texts.
func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// warnOf warns of what a query did not look at, or only in part.
func (c *commands) warnOf(problems []conversations.Problem) {
	for _, p := range problems {
		c.warn("%s: %v", cmp.Or(string(p.ID), p.Path), p.Err)
	}
}
