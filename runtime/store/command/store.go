package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store. Its conversations are of any other kind.
const Name = "command"

// Store is the conversations that a program finds in a directory, as a [store.Store].
type Store struct {
	program *Program
	dir     string
	printed atomic.Pointer[printout]
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

// Open implements [store.Store]. The program is run once something is asked of it.
func (s *Store) Open(context.Context) (store.Session, []store.Problem, error) {
	return &session{store: s}, nil, nil
}

// session implements [store.Session]. What the program lists, it lists once.
type session struct {
	store  *Store
	mu     sync.Mutex
	listed [2]*listing // live, archived; nil before they are asked for
}

// listing is what the program lists. Nobody changes it.
type listing struct {
	found    []store.Conversation
	problems []store.Problem
}

// Close implements [store.Session].
func (s *session) Close() {}

// List implements [store.Session].
func (s *session) List(ctx context.Context, set store.Set) (found []store.Conversation, problems []store.Problem, err error) {
	for i, one := range []store.Set{store.Live, store.Archived} {
		if set&one == 0 {
			continue
		}
		l, err := s.list(ctx, i)
		if err != nil {
			return nil, nil, err
		}
		found, problems = append(found, l.found...), append(problems, l.problems...)
	}
	slices.SortStableFunc(found, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	found = slices.CompactFunc(found, func(a, b store.Conversation) bool { return a.ID == b.ID })
	return found, problems, nil
}

// Find implements [store.Session].
func (s *session) Find(ctx context.Context, id transcript.ID) (store.Conversation, error) {
	var ids []transcript.ID
	for i := range s.listed {
		l, err := s.list(ctx, i)
		if err != nil {
			return store.Conversation{}, err
		}
		for _, c := range l.found {
			if c.ID == id {
				return c, nil
			}
			ids = append(ids, c.ID)
		}
	}
	return store.Conversation{}, history.NotFound(id, s.store.dir, ids, nil)
}

// list has the program list the live or the archived conversations.
func (s *session) list(ctx context.Context, i int) (*listing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listed[i] != nil {
		return s.listed[i], nil
	}
	args := []string{"--summary", "--hidden", "--archived"}
	out, err := s.store.run(ctx, "ls", args[:2+i]...)
	if err != nil {
		return nil, err
	}
	records, err := out.records()
	if err != nil {
		return nil, err
	}
	l := &listing{}
	for n, raw := range records {
		if summary := jsontext.Get(raw, "summary"); summary != nil {
			err = l.sum(s.store, summary)
		} else {
			err = l.add(s.store, raw, i > 0)
		}
		if err != nil {
			return nil, out.wrong("record %d: %s", n+1, mismatch(err))
		}
	}
	s.listed[i] = l
	return l, nil
}

// mismatch is what is wrong with a record.
func mismatch(err error) string {
	var wrongType *json.UnmarshalTypeError
	var wrongTime *time.ParseError
	switch {
	case errors.As(err, &wrongType):
		return "its " + text.Quote(wrongType.Field) + " is a JSON " + wrongType.Value
	case errors.As(err, &wrongTime):
		return text.Quote(wrongTime.Value) + " is not a time in the form of RFC 3339"
	}
	return text.Line(err.Error())
}

// listRecord is a conversation as "ls" prints it.
type listRecord struct {
	ID              string            `json:"id"`
	Title           string            `json:"title"`
	Events          *int              `json:"events_count"`
	CreatedAt       time.Time         `json:"created_at"`
	LastEventAt     time.Time         `json:"last_event_at"`
	ArchivedAt      time.Time         `json:"archived_at"`
	ExpiresAt       time.Time         `json:"expires_at"`
	LastActivatedAt time.Time         `json:"last_activated_at"`
	PinnedAt        time.Time         `json:"pinned_at"`
	Hidden          bool              `json:"hidden"`
	Locality        string            `json:"local"`
	Parent          string            `json:"parent_id"`
	Labels          map[string]string `json:"labels"`
	Error           string            `json:"error"` // why its events end early
}

// errNoID refuses a record whose id could not be used in another call.
var errNoID = errors.New("its id is not the id of a conversation")

// add adds a conversation.
func (l *listing) add(s *Store, raw []byte, archived bool) error {
	var r listRecord
	if !bytes.Contains(raw, []byte(`"id"`)) { // the heading "ID" of a table would pass for it
		return errNoID
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	id, err := s.ParseID(r.ID)
	if err != nil {
		return errNoID
	}
	c := store.Conversation{
		Conversation: transcript.Conversation{
			ID: id, Title: r.Title, Source: s.program.options.SourceOf(id), Locality: r.Locality,
			CreatedAt: r.CreatedAt, LastActivatedAt: r.LastActivatedAt, PinnedAt: r.PinnedAt, ArchivedAt: r.ArchivedAt, ExpiresAt: r.ExpiresAt,
			Archived: archived || !r.ArchivedAt.IsZero(), Hidden: r.Hidden,
		},
		LastAt: r.LastEventAt,
		Record: &record{store: s, id: id, listed: r, version: digest(raw)},
	}
	if parent, err := s.ParseID(r.Parent); err == nil {
		c.Parent = parent
	}
	if len(r.Labels) > 0 {
		c.Labels = r.Labels
	}
	l.found = append(l.found, c)
	return nil
}

// sum adds what the program could not use, of which it says why.
func (l *listing) sum(s *Store, raw []byte) error {
	var summary struct {
		Skipped []struct {
			ID     string `json:"id"`
			Reason string `json:"reason"`
		} `json:"skipped"`
	}
	if err := json.Unmarshal(raw, &summary); err != nil {
		return err
	}
	for _, p := range summary.Skipped {
		id, err := s.ParseID(p.ID)
		if err != nil {
			id = ""
		}
		l.problems = append(l.problems, store.Problem{ID: id, Kind: store.Reported, Err: errors.New(text.Line(text.CutMiddle(p.Reason, maxReason)))})
	}
	return nil
}

// maxReason is how many characters of a reason are kept. It is for people: it may repeat what
// is recorded.
const maxReason = 300
