package opencode

import (
	"context"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// forks returns what sessions were forked from, of those in a list. opencode records no
// link: a fork is called one, begins with messages of before it was made, and has them
// at the times that the other one has them. The one of which it has the most counts, and
// of several the earliest.
func forks(ctx context.Context, all []*info) map[string]transcript.ID {
	parents := map[string]transcript.ID{} // by session
	begins := map[*info]time.Time{}
	begin := func(i *info) time.Time {
		at, ok := begins[i]
		if !ok {
			if first, err := i.source.messages(ctx, i.session, -1); err == nil && len(first) > 0 { // else it is no fork
				at = first[0].created
			}
			begins[i] = at
		}
		return at
	}
	for _, i := range all {
		at := time.Time{}
		if strings.Contains(i.title, forkMark) && !isSession(i.parent) {
			at = begin(i)
		}
		if at.IsZero() || !at.Before(i.created) {
			continue
		}
		told := momentsOf(ctx, i)
		most := 0
		var from *info
		for _, other := range all {
			if other == i || !other.created.Before(i.created) || !begin(other).Equal(at) {
				continue
			}
			common := 0
			for m := range momentsOf(ctx, other) {
				if told[m] && m.at.Before(i.created) {
					common++
				}
			}
			if common > most || from != nil && common == most && other.created.Before(from.created) {
				from, most = other, common
			}
		}
		if from != nil {
			parents[i.session] = id(from.session)
		}
	}
	return parents
}

// forkMark is in the title of a fork, with its number behind.
const forkMark = " (fork #"

// moment is what a message and its copy have in common.
type moment struct {
	at   time.Time
	role role
}

// momentsOf returns those of the messages of a session; none where it cannot be read.
func momentsOf(ctx context.Context, i *info) map[moment]bool {
	messages, err := i.source.messages(ctx, i.session, 0)
	if err != nil {
		return nil
	}
	return moments(messages)
}

func moments(messages []message) map[moment]bool {
	found := make(map[moment]bool, len(messages))
	for _, m := range messages {
		found[moment{m.created, m.role}] = true
	}
	return found
}
