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
	"github.com/convtools/convtools/runtime/transcript"
)

// ending is a store that calls end once, with the last event that is read.
type ending struct {
	store.Store
	end *func()
}

func (e ending) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	l, err := e.Store.List(ctx, scope)
	if err == nil {
		for i := range l.Conversations {
			l.Conversations[i].Record = endingRecord{l.Conversations[i].Record, e.end}
		}
	}
	return l, err
}

type endingRecord struct {
	store.Record
	end *func()
}

func (e endingRecord) Read(ctx context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	all, err := e.Record.Read(ctx, nil)
	if err != nil {
		return all, err
	}
	return e.Record.Read(ctx, func(event *transcript.Event) bool {
		more := yield == nil || yield(event)
		if end := *e.end; end != nil && event.Index == all.Events-1 {
			*e.end = nil
			end()
		}
		return more
	})
}

// rewriting is a store with one file that grows, and a library of it with an index.
type rewriting struct {
	t     *testing.T
	g     *grower
	of    growing
	path  string
	times int    // the file was written
	end   func() // see [ending]
	store store.Store
	*conversations.Library
}

func rewritingOf(t *testing.T, of growing) *rewriting {
	t.Helper()
	home, dir := t.TempDir(), realDir(t)
	cwd, _ := json.Marshal(dir)
	r := &rewriting{t: t, of: of, path: filepath.Join(home, filepath.FromSlash(of.file))}
	r.g = &grower{rng: rand.New(rand.NewPCG(1, 2)), cwd: string(cwd)}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o755); err != nil {
		t.Fatal(err)
	}
	r.write(of.first(r.g) + "\n")
	r.store, _ = of.open(store.Options{Home: home, Project: project.New(project.Options{All: true})})
	x := conversations.NewIndexes(t.TempDir())
	t.Cleanup(x.Close)
	r.Library = conversations.New(conversations.Options{Indexes: x}, ending{r.store, &r.end})
	return r
}

// lines returns lines that an index goes on behind.
func (r *rewriting) lines(n int) (text string) {
	for n > 0 {
		before := *r.g
		r.g.n++
		line := r.of.next(r.g) + "\n"
		if r.g.tangled {
			*r.g = before
			continue
		}
		text += line
		n--
	}
	return text
}

// write writes the file in place.
func (r *rewriting) write(text string) {
	r.t.Helper()
	if err := os.WriteFile(r.path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	r.times++
	modified := time.Date(2026, 6, 1, 0, 0, r.times, 0, time.UTC)
	if err := os.Chtimes(r.path, modified, modified); err != nil {
		r.t.Fatal(err)
	}
}

// check compares what the index has with what is recorded.
func (r *rewriting) check() {
	r.t.Helper()
	for _, text := range []string{"", "alpha", "alpho"} {
		want := withText(r.t, conversations.New(conversations.Options{}, r.store), text)
		if diff := cmp.Diff(want, withText(r.t, r.Library, text), cmpopts.EquateEmpty()); diff != "" {
			r.t.Errorf("%q (-recorded +index):\n%s", text, diff)
		}
	}
}

// TestRewrittenWhileIndexed has a file be edited in place once it was read, and before the index
// is done with it. When the file has grown, the index does not go on behind what it has.
func TestRewrittenWhileIndexed(t *testing.T) {
	t.Parallel()
	for name, of := range growingStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rewritingOf(t, of)
			whole := of.first(r.g) + "\n" + r.lines(30)
			edited := strings.ReplaceAll(whole, "alpha", "alpho")
			r.write(whole)
			r.end = func() { r.write(edited) }
			refresh(t, r.Library)
			r.write(edited + r.lines(1))
			refresh(t, r.Library)
			r.check()
		})
	}
}

// TestGoneWhileIndexed has a file that was cut be gone when it is read a second time: where it
// is there again, the index does not go on behind messages that it does not have.
func TestGoneWhileIndexed(t *testing.T) {
	t.Parallel()
	for name, of := range growingStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rewritingOf(t, of)
			cut := of.first(r.g) + "\n" + r.lines(10)
			r.write(cut + r.lines(10))
			refresh(t, r.Library)
			r.write(cut)
			away := r.path + ".away"
			r.end = func() {
				if err := os.Rename(r.path, away); err != nil {
					t.Error(err)
				}
			}
			refresh(t, r.Library)
			if err := os.Rename(away, r.path); err != nil {
				t.Fatal(err)
			}
			r.write(cut + r.lines(2))
			refresh(t, r.Library)
			r.check()
		})
	}
}
