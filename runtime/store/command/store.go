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
type Store struct{ Options }

// New returns the conversations that a program finds.
func New(o Options) *Store { return &Store{o} }

// Name implements [store.Store].
func (s *Store) Name() string { return Name }

// Place implements [store.Store]. It is the directory and the command line.
func (s *Store) Place() string { return s.Dir + string(filepath.ListSeparator) + s.Line }

// ParseID implements [store.Store].
func (s *Store) ParseID(text string) (transcript.ID, error) { return s.Options.ParseID(text) }

// Version implements [store.Store].
func (s *Store) Version(context.Context) (string, error) { return "", nil }

// List implements [store.Store]. A conversation that is both live and archived is live. If the scope has ids, archived
// conversations are only listed if an id is missing among the live ones.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	l := &store.Listing{}
	isMissing := func(id transcript.ID) bool {
		return !slices.ContainsFunc(l.Conversations, func(c store.Conversation) bool { return c.ID == id })
	}
	for _, set := range []store.Set{store.Live, store.Archived} {
		isWanted := scope.Set&set != 0
		if len(scope.IDs) > 0 {
			isWanted = slices.ContainsFunc(scope.IDs, isMissing)
		}
		if !isWanted {
			continue
		}
		if err := s.list(ctx, l, set == store.Archived); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(l.Conversations, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	l.Conversations = slices.CompactFunc(l.Conversations, func(a, b store.Conversation) bool { return a.ID == b.ID })
	return l, nil
}

// list adds the live or the archived conversations to a listing, and a problem for each that the program cannot read.
func (s *Store) list(ctx context.Context, l *store.Listing, archived bool) error {
	args := []string{"--summary", "--hidden"}
	if archived {
		args = append(args, "--archived")
	}
	out, err := s.run(ctx, "ls", args...)
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
		r, _ := jsontext.Parse[listRecord](raw)
		if r.Summary != nil {
			for _, p := range r.Summary.Skipped {
				id, _ := s.ParseID(p.ID) // empty if it is not a valid id
				reason := text.Line(text.CutMiddle(p.Reason, maxReason))
				l.Problems = append(l.Problems, store.Problem{ID: id, Kind: store.Reported, Err: errors.New(reason)})
			}
			continue
		}
		c, err := s.conversation(&r, archived)
		if err != nil {
			return out.formError("record %d: its id is not the id of a conversation", n)
		}
		c.Record = &record{store: s, id: c.ID, listed: r, version: digest(raw)}
		l.Conversations = append(l.Conversations, c)
	}
	return nil
}

// listRecord is an element of the output of "ls": a conversation, or the summary at the end. A
// member of a wrong type counts as missing.
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
		} `json:"skipped"` // conversations that the program cannot read
	} `json:"summary"`
}

const maxReason = 300 // characters of a reason that a problem repeats

// conversation converts a record of a list. It returns the conversation also with an error, which says that
// the id of the record is not valid.
func (s *Store) conversation(r *listRecord, archived bool) (store.Conversation, error) {
	id, err := s.ParseID(r.ID)
	c := store.Conversation{
		Conversation: transcript.Conversation{
			ID: id, Title: r.Title, Source: s.SourceOf(id), Locality: r.Locality,
			CreatedAt: r.CreatedAt, LastActivatedAt: r.LastActivatedAt, PinnedAt: r.PinnedAt, ArchivedAt: r.ArchivedAt, ExpiresAt: r.ExpiresAt,
			Archived: archived || !r.ArchivedAt.IsZero(), Hidden: r.Hidden,
		},
		LastAt: r.LastEventAt,
	}
	c.Parent, _ = s.ParseID(r.Parent) // empty if it is not a valid id
	for m := range jsontext.Members(r.Labels) {
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		c.Labels[string(jsontext.Unescape(m.Key))] = jsontext.String(m.Value)
	}
	return c, err
}
