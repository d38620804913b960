package conversationcli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
)

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
func (c *commands) chosen(ctx context.Context, cmd *cobra.Command, source conversations.Source, words []string, s span) ([]conversations.Listed, error) {
	if s == (span{}) {
		return c.named(ctx, cmd, source, words, "")
	}
	var from, until, inactive time.Time
	for _, bound := range []struct {
		flag, text string
		at         *time.Time
	}{{"from", s.from, &from}, {"until", s.until, &until}, {"inactive-since", s.inactive, &inactive}} {
		var err error
		if *bound.at, err = parseMoment(bound.flag, bound.text, c.host.Now()); err != nil {
			return nil, err
		}
	}
	var list []conversations.Listed
	var err error
	if len(words) > 0 {
		list, err = c.named(ctx, cmd, source, words, "")
	} else {
		list, err = c.all(ctx, source, conversations.Filter{})
	}
	if err != nil {
		return nil, err
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
