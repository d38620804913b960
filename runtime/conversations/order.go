package conversations

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// needsEvents reports whether only the events tell where a conversation stands.
func (s Sort) needsEvents() bool { return s == ByActivity || s == ByUpdate || s == BySize }

// ActiveAt is when something last happened in a conversation: its last event, or
// else that it was created.
func (l *Listed) ActiveAt() time.Time {
	if l.LastEventAt.IsZero() {
		return l.CreatedAt
	}
	return l.LastEventAt
}

// sortKey is a value to sort by.
type sortKey struct {
	missing bool
	at      time.Time
	number  int
	text    string
}

func (s Sort) key(l *Listed) sortKey {
	timeKey := func(t time.Time) sortKey { return sortKey{missing: t.IsZero(), at: t} }
	switch s {
	case ByActivity:
		return timeKey(l.ActiveAt())
	case ByActivation:
		return timeKey(l.LastActivatedAt)
	case ByUpdate:
		if at := l.ActiveAt(); at.After(l.LastActivatedAt) {
			return timeKey(at)
		}
		return timeKey(l.LastActivatedAt)
	case ByExpiry:
		return timeKey(l.ExpiresAt)
	case BySize:
		return sortKey{missing: l.Damage != nil, number: l.Events}
	case ByLocality:
		return sortKey{text: l.Locality}
	case ByID:
		return sortKey{}
	}
	return timeKey(l.CreatedAt)
}

// sortBy sorts conversations with missing values last in either direction, and
// those with equal values by creation, then by id.
func sortBy[E any](list []E, by Sort, ascending bool, listed func(E) *Listed) {
	slices.SortStableFunc(list, func(x, y E) int {
		a, b := listed(x), listed(y)
		k, l := by.key(a), by.key(b)
		if k.missing != l.missing {
			if k.missing {
				return 1
			}
			return -1
		}
		byValue := cmp.Or(k.at.Compare(l.at), cmp.Compare(k.number, l.number), strings.Compare(k.text, l.text))
		if by == ByID {
			byValue = a.ID.Compare(b.ID)
		}
		if !ascending {
			byValue = -byValue
		}
		return cmp.Or(byValue, compareCreation(&a.Conversation, &b.Conversation))
	})
}

func compareCreation(a, b *transcript.Conversation) int {
	switch {
	case a.CreatedAt.IsZero() == b.CreatedAt.IsZero():
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), a.ID.Compare(b.ID))
	case a.CreatedAt.IsZero():
		return 1
	}
	return -1
}
