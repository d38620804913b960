package conversations_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// placed is a store with a place of its own, which counts how often it is opened.
type placed struct {
	*messageStore
	place  string
	opened *int
}

func (p placed) Place() string { return p.place }

func (p placed) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	*p.opened++
	return p.messageStore.List(ctx, scope)
}

// versioned is a store that reports its version: another one when anything in it has changed.
type versioned struct{ placed }

func (v versioned) Version(context.Context) (string, error) {
	return fmt.Sprintf("%+v", v.chats), nil
}

// indexedLibrary is a library of stores with indexes in a directory.
func indexedLibrary(t *testing.T, dir string, stores []*messageStore, isVersioned bool) (l *conversations.Library, opened *int) {
	t.Helper()
	opened = new(int)
	var all []store.Store
	for i, s := range stores {
		p := placed{s, fmt.Sprint("place", i), opened}
		if isVersioned {
			all = append(all, versioned{p})
		} else {
			all = append(all, p)
		}
	}
	x := conversations.NewIndexes(dir)
	t.Cleanup(x.Close)
	return conversations.New(conversations.Options{Indexes: x}, all...), opened
}

func refresh(t *testing.T, l *conversations.Library) []conversations.IndexReport {
	t.Helper()
	reports, err := l.RefreshIndexes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	return reports
}

// compareWithNaive compares all pages of an answer with what it should be.
func compareWithNaive(t *testing.T, l *conversations.Library, q messageQuery, stores []*messageStore) {
	t.Helper()
	want, own := naive(&q, stores)
	var got []aMessage
	for {
		m, err := newest(t.Context(), l, q)
		var missing *conversations.NotFoundError
		if errors.As(err, &missing) && len(q.IDs) > 0 && len(want) == 0 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if m.Total != len(want) || m.AtLeast || m.Own != own {
			t.Fatalf("%+v: %d match, %d own, want %d and %d", q, m.Total, m.Own, len(want), own)
		}
		got = append(got, m.Messages...)
		if !m.More {
			break
		}
		q.After = &m.Messages[len(m.Messages)-1].Position
	}
	if diff := cmp.Diff(want, withoutConversation(t, got)); diff != "" {
		t.Fatalf("%+v: (-want +got)\n%s", q, diff)
	}
}

// change changes a conversation of some stores, in one of the ways in which they change.
func change(rng *rand.Rand, stores []*messageStore) {
	s := stores[rng.IntN(len(stores))]
	if len(s.chats) == 0 {
		return
	}
	at := rng.IntN(len(s.chats))
	c := &s.chats[at]
	switch rng.IntN(6) {
	case 0:
		s.chats = append(s.chats[:at:at], s.chats[at+1:]...)
	case 1:
		c.Title = trapText(rng, 3)
	case 2:
		c.Hidden = !c.Hidden
	case 3:
		if len(c.events) > 0 {
			c.events[rng.IntN(len(c.events))].text = trapText(rng, 6)
		}
	default:
		c.events = append(c.events, said{kind: transcript.KindUser, text: trapText(rng, 6), at: time.Date(2024, 1, 15, rng.IntN(9), 0, 0, 0, time.UTC)})
	}
}

// TestIndexesChangeNoAnswer holds answers with indexes, which are behind now and then, or
// damaged, against an oracle.
func TestIndexesChangeNoAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for seed := range cases.Of(uint64(12)) {
		rng := rand.New(rand.NewPCG(seed, 15))
		stores := randomStores(rng)
		dir := filepath.Join(dir, fmt.Sprint(seed))
		l, _ := indexedLibrary(t, dir, stores, seed%2 == 0)
		for range 4 {
			if rng.IntN(3) > 0 {
				refresh(t, l)
			}
			for range rng.IntN(3) {
				change(rng, stores)
			}
			if rng.IntN(8) == 0 {
				damageSome(t, rng, dir)
			}
			for range 6 {
				compareWithNaive(t, l, randomMessageQuery(rng), stores)
			}
		}
	}
}

// damageSome changes a byte of a file of an index.
func damageSome(t *testing.T, rng *rand.Rand, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
	if err != nil || len(files) == 0 {
		return
	}
	file := files[rng.IntN(len(files))]
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[rng.IntN(len(data))] ^= 1
	if err := errors.Join(os.Remove(file), os.WriteFile(file, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// A store that has not changed since it was indexed is not opened.
func TestIndexInsteadOfStore(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 16))
	stores := randomStores(rng)[:1]
	for i := range stores[0].chats {
		stores[0].chats[i].Hidden = false
	}
	l, opened := indexedLibrary(t, t.TempDir(), stores, true)
	refresh(t, l)
	*opened = 0
	q := messageQuery{Text: "k", Limit: 1000}
	compareWithNaive(t, l, q, stores)
	refresh(t, l)
	if *opened != 0 {
		t.Errorf("stores were opened %d times", *opened)
	}
	stores[0].chats[0].events = append(stores[0].chats[0].events, said{kind: transcript.KindUser, text: "kk"})
	compareWithNaive(t, l, q, stores)
	if *opened != 1 {
		t.Errorf("stores were opened %d times, want one time", *opened)
	}
	if r := refresh(t, l); r[0].Changed != 0 {
		t.Errorf("%+v", r)
	}
}

// A store that cannot be read is missed, and takes nothing from what an index answers.
func TestIndexBesideAStoreThatCannotBeRead(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	one := func(id, text string) *messageStore {
		c := chat{events: []said{{kind: transcript.KindUser, text: text}}}
		c.ID = transcript.ID(id)
		return &messageStore{chats: []chat{c}}
	}
	for name, fail := range map[string]func(*messageStore){
		"opened": func(s *messageStore) { s.memoryStore.err = broken },
		"listed": func(s *messageStore) { s.err = broken },
	} {
		stores := []*messageStore{one("memory-a", "a tide"), one("memory-b", "b tide")}
		l, _ := indexedLibrary(t, t.TempDir(), stores, true)
		refresh(t, l)
		stores[1].chats[0].Title = "changed"
		fail(stores[1])
		m, err := newest(t.Context(), l, messageQuery{Text: "tide", Limit: 9})
		if err != nil || len(m.Messages) == 0 || m.Messages[0].Text != "a tide" || len(m.Problems) != 1 || !errors.Is(m.Problems[0].Err, broken) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// A conversation that could not be read once, as a machine was too slow for it, is read with the next
// query, also where it has not changed.
func TestUnreadIsReadAgain(t *testing.T) {
	t.Parallel()
	s := &messageStore{chats: []chat{{events: []said{{kind: transcript.KindUser, text: "a tide"}, {kind: transcript.KindUser, text: "a tide again"}}}}}
	s.chats[0].ID = "memory-a"
	slow := errors.New("it took too long")
	s.fail = func() error { return slow }
	l, _ := indexedLibrary(t, t.TempDir(), []*messageStore{s}, true)
	for range 2 {
		m, err := newest(t.Context(), l, messageQuery{Text: "again", Limit: 9})
		if err != nil || len(m.Messages) != 0 || len(m.Problems) != 1 || m.Problems[0].Err.Error() != slow.Error() {
			t.Errorf("unread: %+v, %v", m, err)
		}
	}
	s.fail = nil
	for range 2 {
		m, err := newest(t.Context(), l, messageQuery{Text: "again", Limit: 9})
		if err != nil || len(m.Messages) != 1 || len(m.Problems) != 0 {
			t.Errorf("read: %+v, %v", m, err)
		}
	}
}

// A cache that cannot be written is a store that is read.
func TestCacheThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	stores := randomStores(rand.New(rand.NewPCG(1, 18)))
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, _ := indexedLibrary(t, filepath.Join(file, "cache"), stores, true)
	reports, err := l.RefreshIndexes(t.Context())
	if err != nil || len(reports) != 2 || reports[0].Err == nil {
		t.Errorf("%+v, %v", reports, err)
	}
	compareWithNaive(t, l, messageQuery{Text: "k", Limit: 1000}, stores)
}

// TestIndexesChangeNoListing holds lists and searches with indexes that are behind against those
// with indexes that are made for each.
func TestIndexesChangeNoListing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for seed := range cases.Of(uint64(8)) {
		rng := rand.New(rand.NewPCG(seed, 19))
		stores := randomStores(rng)
		l, _ := indexedLibrary(t, filepath.Join(dir, fmt.Sprint(seed)), stores, seed%2 == 0)
		for range 3 {
			refresh(t, l)
			for range rng.IntN(2) {
				change(rng, stores)
			}
			for range 6 {
				text := randomPart(rng, stores)
				filter := conversations.Filter{Archived: rng.IntN(3) == 0}
				plain := messagesLibrary(stores)
				ask := func(l *conversations.Library) (all []any) {
					listing, err := l.List(t.Context(), conversations.ListQuery{Filter: filter, Sizes: seed%3 == 0})
					all = append(all, listing, err)
					all = append(all, search(t, l, &conversations.SearchQuery{Filter: filter, Pattern: literal(t, text, seed%5 > 0), Own: ownTool}))
					return all
				}
				if diff := cmp.Diff(ask(plain), ask(l)); diff != "" {
					t.Fatalf("seed %d, %q: (-without index +with)\n%s", seed, text, diff)
				}
			}
		}
	}
}

// randomPart returns a part of some text that is in stores, or nearly.
func randomPart(rng *rand.Rand, stores []*messageStore) string {
	text := trapText(rng, 5)
	if s := stores[rng.IntN(len(stores))]; len(s.chats) > 0 {
		if c := s.chats[rng.IntN(len(s.chats))]; len(c.events) > 0 {
			text = c.events[rng.IntN(len(c.events))].text
		}
	}
	runes := []rune(text)
	from := rng.IntN(len(runes) + 1)
	text = string(runes[from:min(len(runes), from+3+rng.IntN(3))])
	if strings.ContainsAny(text, "\x00\n\r") || text == "" {
		return "kkk"
	}
	return text
}

// TestOlderFormats: what earlier versions kept is removed when indexes are brought up to date
// next, and what a later one keeps stays.
func TestOlderFormats(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	older := []string{"v1", "v4", "v6", "v7", "facts", "facts-0123456789abcdef", "facts2", "facts2-0123456789abcdef"}
	newer := []string{"v999999", "facts999999", "facts999999-01234567", "v", "v4x", "v-4", "other"}
	for _, name := range slices.Concat(older, newer) {
		path := filepath.Join(dir, name, "one", "manifest")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("12345"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	x := conversations.NewIndexes(dir)
	defer x.Close()
	refresh(t, conversations.New(conversations.Options{Indexes: x}, placed{&messageStore{}, t.TempDir(), new(int)}))
	for _, name := range older {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range newer {
		if _, err := os.Stat(filepath.Join(dir, name, "one", "manifest")); err != nil {
			t.Error(err)
		}
	}
}

// TestUnusedIndexes has the indexes of stores that a library does not ask: those of what is
// gone are removed; others may be asked again.
func TestUnusedIndexes(t *testing.T) {
	t.Parallel()
	dir, place := t.TempDir(), t.TempDir()
	there, gone, asked := filepath.Join(place, "there"), filepath.Join(place, "gone"), filepath.Join(place, "asked")
	x := conversations.NewIndexes(dir)
	defer x.Close()
	library := func(places ...string) *conversations.Library {
		var stores []store.Store
		for _, p := range places {
			stores = append(stores, placed{&messageStore{}, p, new(int)})
		}
		return conversations.New(conversations.Options{Indexes: x}, stores...)
	}
	if err := os.Mkdir(there, 0o700); err != nil {
		t.Fatal(err)
	}
	refresh(t, library(there, gone, asked))
	l := library(asked)
	kept := func() int {
		catalogs, err := filepath.Glob(filepath.Join(dir, "*", "*", "catalog"))
		if err != nil {
			t.Fatal(err)
		}
		return len(catalogs)
	}
	before := kept()
	for range 2 {
		if refresh(t, l); kept() != before-1 {
			t.Errorf("%d of %d are kept", kept(), before)
		}
	}
	for _, r := range l.IndexReports() {
		if r.Err != nil || r.Bytes == 0 && r.Updated == 0 {
			t.Errorf("%+v", r)
		}
	}
}

// TestDamagedIndexIsReported damages the catalog of an index.
func TestDamagedIndexIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, _ := indexedLibrary(t, dir, []*messageStore{{}}, true)
	refresh(t, l)
	catalogs, err := filepath.Glob(filepath.Join(dir, "*", "*", "catalog"))
	if err != nil || len(catalogs) != 1 {
		t.Fatal(catalogs, err)
	}
	if err := os.WriteFile(catalogs[0], []byte("nothing of use"), 0o600); err != nil {
		t.Fatal(err)
	}
	var damage *index.DamageError
	if r := l.IndexReports(); len(r) != 1 || !errors.As(r[0].Err, &damage) {
		t.Errorf("%+v", r)
	}
	refresh(t, l)
	if r := l.IndexReports(); r[0].Err != nil {
		t.Errorf("made anew: %+v", r)
	}
}
