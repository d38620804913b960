package messagedb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// hashBytes is how much of a hash stands in an id.
const hashBytes = 16

func hashOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:hashBytes])
}

func isHashed(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 2*hashBytes && s == strings.ToLower(s)
}

// database is an opened database.
type database struct {
	Shared
	path string
}

// session is the databases of a store, opened for one query. It implements
// [store.Session].
type session struct {
	store     *Store
	databases []*database
	unread    []store.Problem

	mu       sync.Mutex
	isListed bool // found and problems are what all has found
	found    []*info
	problems []store.Problem
}

// Close implements [store.Session].
func (s *session) Close() {
	for _, d := range s.databases {
		d.Release()
	}
	s.databases = nil
}

// info is what a database has about a conversation.
type info struct {
	database         *database
	key              any
	name, native     string // the key as text, and the id that it was recorded with
	title, version   string
	created, updated time.Time
	last, newest     time.Time
	archived         bool
	order            sql.NullInt64
	form             *Form // of the database as it was when order was looked up; nil where it was not
}

func (s *Store) id(i *info) transcript.ID { return ID(s.options.Prefix, i.name) }

// MaxText is how many bytes of a text beside the messages are read.
const MaxText = 64 << 10

// maxListed is how many bytes the conversations of a database take in a list, about.
const maxListed = 256 << 20

func (d *database) scan(rows *sql.Rows) (*info, error) {
	i := &info{database: d}
	var title, version, native sql.NullString
	var created, updated, last, newest any
	if err := rows.Scan(&i.key, &title, &created, &updated, &i.archived, &version, &last, &newest, &i.order, &native); err != nil {
		return nil, err
	}
	switch key := i.key.(type) {
	case nil:
	case []byte:
		i.name = string(key)
	default:
		i.name = fmt.Sprint(key)
	}
	i.native = i.name
	if native.Valid {
		i.native = native.String
	}
	i.title = strings.ToValidUTF8(title.String[:min(len(title.String), MaxText)], "\ufffd")
	i.version = version.String
	i.created, i.updated, i.last, i.newest = moment(created), moment(updated), moment(last), moment(newest)
	return i, nil
}

// all returns the conversations of all databases: where several have one, the first of
// them counts. They are looked up once: the rows of all messages may be read for that.
func (s *session) all(ctx context.Context) ([]*info, []store.Problem, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isListed {
		return s.found, slices.Clone(s.problems), nil
	}
	found, problems, err := s.lookUp(ctx)
	if err == nil {
		s.isListed, s.found, s.problems = true, found, problems
	}
	return found, slices.Clone(problems), err
}

func (s *session) lookUp(ctx context.Context) ([]*info, []store.Problem, error) {
	var found []*info
	var problems []store.Problem
	seen := map[transcript.ID]bool{}
	for _, d := range s.databases {
		var form *Form
		infos, err := d.collect(ctx, func(f *Form) string {
			form = f
			return f.Conversations
		})
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			problems = append(problems, problem(d.path, err))
		}
		for _, i := range infos {
			i.form = form
			if id := s.store.id(i); !seen[id] {
				seen[id] = true
				found = append(found, i)
			}
		}
	}
	return found, problems, nil
}

// List implements [store.Session].
func (s *session) List(ctx context.Context, set store.Set) ([]store.Conversation, []store.Problem, error) {
	all, problems, err := s.all(ctx)
	if err != nil {
		return nil, nil, err
	}
	return s.listed(all, set), problems, nil
}

// listed returns conversations of a set in the order of their ids.
func (s *session) listed(all []*info, set store.Set) []store.Conversation {
	type identified struct {
		id transcript.ID
		*info
	}
	var infos []identified
	for _, i := range all {
		if i.archived && set&store.Archived != 0 || !i.archived && set&store.Live != 0 {
			infos = append(infos, identified{s.store.id(i), i})
		}
	}
	slices.SortStableFunc(infos, func(a, b identified) int { return a.id.Compare(b.id) })
	infos = slices.CompactFunc(infos, func(a, b identified) bool { return a.id == b.id })
	list := make([]store.Conversation, len(infos))
	for n, i := range infos {
		list[n] = s.conversation(i.info)
	}
	return list
}

func (s *session) conversation(i *info) store.Conversation {
	return store.Conversation{
		Conversation: transcript.Conversation{
			ID: s.store.id(i), NativeID: i.native, Source: s.store.Name(), Title: i.title,
			CreatedAt: i.created, LastActivatedAt: i.updated, Archived: i.archived,
		},
		LastAt: i.last, NewestAt: i.newest, Order: i.order.Int64,
		Record: &record{store: s.store, info: i},
	}
}

// Find implements [store.Session].
func (s *session) Find(ctx context.Context, want transcript.ID) (store.Conversation, error) {
	key, ok := strings.CutPrefix(string(want), s.store.options.Prefix)
	if !ok {
		return store.Conversation{}, &store.NotFoundError{IDs: []transcript.ID{want}, Place: s.store.Place(), Unread: slices.Clone(s.unread)}
	}
	for _, d := range s.databases {
		infos, err := d.find(ctx, key)
		if err != nil {
			return store.Conversation{}, fmt.Errorf("%s: %w", d.path, err)
		}
		for _, i := range infos {
			if s.store.id(i) == want {
				return s.conversation(i), nil
			}
		}
	}
	// A key need not be a text, and an id has a hash in place of some.
	all, _, err := s.all(ctx)
	if err != nil {
		return store.Conversation{}, err
	}
	for _, i := range all {
		if s.store.id(i) == want {
			return s.conversation(i), nil
		}
	}
	ids := make([]transcript.ID, len(all))
	for n, i := range all {
		ids[n] = s.store.id(i)
	}
	return store.Conversation{}, history.NotFound(want, s.store.Place(), ids, s.unread)
}

func (d *database) find(ctx context.Context, key any) ([]*info, error) {
	return d.collect(ctx, func(f *Form) string { return f.Conversation }, key)
}

func (d *database) collect(ctx context.Context, query func(*Form) string, args ...any) ([]*info, error) {
	var found []*info
	held := 0
	err := d.Each(ctx, func() { found, held = nil, 0 }, func(rows *sql.Rows) error {
		i, err := d.scan(rows)
		if err != nil {
			return err
		}
		found = append(found, i)
		const row = 500 // bytes, about
		if held += row + len(i.name) + len(i.title) + len(i.version); held > maxListed {
			return sqlitefile.ErrTooMuch
		}
		return nil
	}, query, args...)
	return found, err
}
