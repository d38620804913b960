package conversations

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// sortNames are what the orders are called.
var sortNames = [...]string{
	ByActivity: "activity", ByCreation: "created", ByActivation: "activated", ByUpdate: "updated", ByID: "id", ByExpiry: "expires",
	BySize: "messages", ByLocality: "local",
}

func (s Sort) String() string { return sortNames[s] }

// SortNamed returns the order of a name; that by activity for any other name.
func SortNamed(name string) Sort { return Sort(max(slices.Index(sortNames[:], name), 0)) }

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
	type keyed struct {
		sortKey
		of      *Listed
		element E
		place   int // before, for what is equal
	}
	sorted := make([]keyed, len(list))
	for i, e := range list {
		of := listed(e)
		sorted[i] = keyed{by.key(of), of, e, i}
	}
	slices.SortFunc(sorted, func(a, b keyed) int {
		if a.missing != b.missing {
			if a.missing {
				return 1
			}
			return -1
		}
		byValue := cmp.Or(a.at.Compare(b.at), cmp.Compare(a.number, b.number), strings.Compare(a.text, b.text))
		if by == ByID {
			byValue = a.of.ID.Compare(b.of.ID)
		}
		if !ascending {
			byValue = -byValue
		}
		return cmp.Or(byValue, compareCreation(&a.of.Conversation, &b.of.Conversation), cmp.Compare(a.place, b.place))
	})
	for i := range sorted {
		list[i] = sorted[i].element
	}
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
