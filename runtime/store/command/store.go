package command

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store. Its conversations are of any other kind.
const Name = "command"

// Store is the conversations that a program finds in a directory, as a [store.Store].
type Store struct {
	program *Program
	dir     string
}

// Name implements [store.Store].
func (s *Store) Name() string { return Name }

// Place implements [store.Store]. It is the directory and the line of the program: another
// program, and the same in another directory, finds other conversations.
func (s *Store) Place() string {
	return s.dir + string(filepath.ListSeparator) + s.program.options.Line
}

// ParseID implements [store.Store].
func (s *Store) ParseID(text string) (transcript.ID, error) { return s.program.options.ParseID(text) }

// Version implements [store.Store].
func (s *Store) Version(context.Context) (string, error) { return "", nil }

// List implements [store.Store]. A conversation that is live and archived is live.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	l := &listing{store: s}
	isMissing := func(id transcript.ID) bool {
		return !slices.ContainsFunc(l.Conversations, func(c store.Conversation) bool { return c.ID == id })
	}
	for _, set := range []store.Set{store.Live, store.Archived} {
		if len(scope.IDs) == 0 && scope.Set&set == 0 || len(scope.IDs) > 0 && !slices.ContainsFunc(scope.IDs, isMissing) {
			continue
		}
		if err := l.list(ctx, set == store.Archived); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(l.Conversations, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	l.Conversations = slices.CompactFunc(l.Conversations, func(a, b store.Conversation) bool { return a.ID == b.ID })
	return &l.Listing, nil
}

// listing is what the program lists.
type listing struct {
	store.Listing
	store *Store
}

// list has the program list the live or the archived conversations.
func (l *listing) list(ctx context.Context, archived bool) error {
	args := []string{"--summary", "--hidden"}
	if archived {
		args = append(args, "--archived")
	}
	out, err := l.store.run(ctx, "ls", args...)
	if err != nil {
		return err
	}
	records, err := out.records()
	if err != nil {
		return err
	}
	n := 0
	for raw := range jsontext.Elements(records) {
		n++
		if !l.add(raw, archived) {
			return out.wrong("record %d: its id is not the id of a conversation", n)
		}
	}
	return nil
}

// listRecord is a conversation as "ls" prints it, or the summary behind them. What has another
// type than it should have is missing.
type listRecord struct {
	ID              string       `json:"id"`
	Title           string       `json:"title"`
	Events          *int64       `json:"events_count"`
	CreatedAt       time.Time    `json:"created_at"`
	LastEventAt     time.Time    `json:"last_event_at"`
	ArchivedAt      time.Time    `json:"archived_at"`
	ExpiresAt       time.Time    `json:"expires_at"`
	LastActivatedAt time.Time    `json:"last_activated_at"`
	PinnedAt        time.Time    `json:"pinned_at"`
	Hidden          bool         `json:"hidden"`
	Locality        string       `json:"local"`
	Parent          string       `json:"parent_id"`
	Labels          jsontext.Raw `json:"labels"`
	Error           string       `json:"error"` // why its events end early
	Summary         *struct {
		Skipped []struct {
			ID     string `json:"id"`
			Reason string `json:"reason"`
		} `json:"skipped"` // what the program could not use
	} `json:"summary"`
}

// maxReason is how many characters of a reason are kept. It is for people: it may repeat what
// is recorded.
const maxReason = 300

// add adds the conversation of a record, or what a summary has. It reports false for an id that
// could not be used in another call.
func (l *listing) add(raw []byte, archived bool) bool {
	var r listRecord
	jsontext.Decode(raw, &r)
	parse := l.store.ParseID
	if r.Summary != nil {
		for _, p := range r.Summary.Skipped {
			id, err := parse(p.ID)
			if err != nil {
				id = ""
			}
			l.Problems = append(l.Problems, store.Problem{ID: id, Kind: store.Reported, Err: errors.New(text.Line(text.CutMiddle(p.Reason, maxReason)))})
		}
		return true
	}
	id, err := parse(r.ID)
	if err != nil {
		return false
	}
	c := store.Conversation{
		Conversation: transcript.Conversation{
			ID: id, Title: r.Title, Source: l.store.program.options.SourceOf(id), Locality: r.Locality,
			CreatedAt: r.CreatedAt, LastActivatedAt: r.LastActivatedAt, PinnedAt: r.PinnedAt, ArchivedAt: r.ArchivedAt, ExpiresAt: r.ExpiresAt,
			Archived: archived || !r.ArchivedAt.IsZero(), Hidden: r.Hidden,
		},
		LastAt: r.LastEventAt,
		Record: &record{store: l.store, id: id, listed: r, version: digest(raw)},
	}
	if parent, err := parse(r.Parent); err == nil {
		c.Parent = parent
	}
	for m := range jsontext.Members(r.Labels) {
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		c.Labels[string(jsontext.Unescape(m.Key))] = jsontext.String(m.Value)
	}
	l.Conversations = append(l.Conversations, c)
	return true
}
