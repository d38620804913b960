package conversations_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/project"
)

// ending is a store that calls end once, behind the last event that is read.
type ending struct {
	store.Store
	end *func()
}

func (e ending) Open(ctx context.Context) (store.Session, []store.Problem, error) {
	s, unread, err := e.Store.Open(ctx)
	return endingSession{s, e.end}, unread, err
}

type endingSession struct {
	store.Session
	end *func()
}

func (e endingSession) List(ctx context.Context, set store.Set) ([]store.Conversation, []store.Problem, error) {
	list, problems, err := e.Session.List(ctx, set)
	for i := range list {
		list[i].Record = endingRecord{list[i].Record, e.end}
	}
	return list, problems, err
}

type endingRecord struct {
	store.Record
	end *func()
}

func (e endingRecord) Events(ctx context.Context, buffer *store.Buffer) (store.Events, error) {
	events, err := e.Record.Events(ctx, buffer)
	if err != nil {
		return nil, err
	}
	return &endingEvents{events, events.(store.Resumable), e.end}, nil
}

type endingEvents struct {
	store.Events
	store.Resumable
	end *func()
}

func (e *endingEvents) Next(ctx context.Context) bool {
	more := e.Events.Next(ctx)
	if end := *e.end; !more && end != nil {
		*e.end = nil
		end()
	}
	return more
}

// TestRewrittenWhileIndexed has a file be edited in place once it was read, and before the index
// is done with it. When the file has grown, the index does not go on behind what it has.
func TestRewrittenWhileIndexed(t *testing.T) {
	t.Parallel()
	for name, of := range growingStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), realDir(t)
			cwd, _ := json.Marshal(dir)
			g := &grower{rng: rand.New(rand.NewPCG(1, 2)), cwd: string(cwd)}
			next := func() string { // what is gone on from
				for {
					before := *g
					g.n++
					if text := of.next(g) + "\n"; !g.tangled {
						return text
					}
					*g = before
				}
			}
			path := filepath.Join(home, filepath.FromSlash(of.file))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			whole := of.first(g) + "\n"
			for range 30 {
				whole += next()
			}
			step := 0
			write := func(text string) {
				t.Helper()
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil { // the same file
					t.Fatal(err)
				}
				step++
				modified := time.Date(2026, 6, 1, 0, 0, step, 0, time.UTC)
				if err := os.Chtimes(path, modified, modified); err != nil {
					t.Fatal(err)
				}
			}
			write(whole)
			edited := strings.ReplaceAll(whole, "alpha", "alpho")
			if edited == whole {
				t.Fatal("there is nothing to edit")
			}
			end := func() { write(edited) }
			s, _ := of.open(store.Options{Home: home, Project: project.New(project.Options{Dir: dir})})
			x := conversations.NewIndexes(t.TempDir(), nil)
			x.SetLeast(0)
			defer x.Close()
			l := conversations.New(conversations.Options{Indexes: x}, ending{s, &end})
			refresh(t, l)
			write(edited + next())
			refresh(t, l)
			for _, text := range []string{"alpha", "alpho"} {
				want := withText(t, conversations.New(conversations.Options{}, s), text)
				if diff := cmp.Diff(want, withText(t, l, text), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%q (-recorded +index):\n%s", text, diff)
				}
			}
		})
	}
}
