//go:build unix && !solaris && !aix

package jp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/transcript"
)

// jp is a JP that works in the stores of a fixture.
func (f *fixture) jp() jptest.JP {
	return jptest.JP{
		Project: filepath.Join(f.root, ".jp"), User: filepath.Join(f.data, "workspace", "project-"+testID), Now: time.Now,
	}
}

// TestNewBesideJP makes conversations, and has a JP make one after each of them, and more at each tenth of a second that
// follows: JP replaces the conversation that has the number of the moment.
func TestNewBesideJP(t *testing.T) {
	t.Parallel()
	const many = 8
	for name, add := range map[string]func(t *testing.T, w *Writer, i int) (transcript.ID, error){
		"forks": func(t *testing.T, w *Writer, _ int) (transcript.ID, error) {
			return w.Fork(t.Context(), projected, ForkOptions{})
		},
		"recorded, which began at one time": func(t *testing.T, w *Writer, i int) (transcript.ID, error) {
			begun := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // when the clock of the test begins
			id, made, err := w.Create(t.Context(), New{Begun: begun, Label: "origin", Value: fmt.Sprint(i)})
			if !made {
				t.Errorf("the conversation %d is there", i)
			}
			return id, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newWritten(t)
			var ours []transcript.ID
			theirs := map[string]bool{}
			synctest.Test(t, func(t *testing.T) {
				w, jp := f.open().Writer(WriterOptions{Now: time.Now}), f.jp()
				fork := func() {
					t.Helper()
					id, err := jp.Fork(string(projected))
					if err != nil {
						t.Fatal(err)
					}
					if slices.Contains(ours, transcript.ID(id)) {
						t.Errorf("jp replaces %s", id)
					}
					theirs[id] = true // two of its own in one tenth of a second are one
				}
				for i := range many {
					id, err := add(t, w, i)
					if err != nil {
						t.Fatal(err)
					}
					if CreatedAt(id).After(time.Now()) || slices.Contains(ours, id) || theirs[string(id)] {
						t.Errorf("%s at %v beside %v and %v", id, time.Now(), ours, theirs)
					}
					ours = append(ours, id)
					fork()
				}
				for range many {
					time.Sleep(100 * time.Millisecond)
					fork()
				}
			})
			if list, _ := f.list(store.Live); len(list) != 3+many+len(theirs) {
				t.Errorf("%d conversations are there of 3, %v and %v", len(list), ours, theirs)
			}
		})
	}
}

// TestKeep has a JP read a conversation before it is edited, and write it afterwards.
func TestKeep(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ before, change Change }{
		"title":         {Change{}, Change{Title: to("New")}},
		"no title":      {Change{}, Change{Title: to("")}},
		"pin":           {Change{}, Change{Pinned: to(true)}},
		"unpin":         {Change{Pinned: to(true)}, Change{Pinned: to(false)}},
		"hide":          {Change{}, Change{Hidden: to(true)}},
		"unhide":        {Change{Hidden: to(true)}, Change{Hidden: to(false)}},
		"expire":        {Change{}, Change{Expires: to(writtenAt)}},
		"keep":          {Change{Expires: to(writtenAt)}, Change{Expires: to(time.Time{})}},
		"label":         {Change{}, Change{Labels: map[string]*string{"mine": to("")}}},
		"another label": {Change{}, Change{Labels: map[string]*string{"area": to("")}}},
		"no label":      {Change{}, Change{Labels: map[string]*string{"area": nil}}},
		"parent":        {Change{}, Change{Parent: to(userOnly)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newWritten(t)
			w := f.writer()
			if _, err := w.Edit(t.Context(), projected, always(tc.before)); err != nil {
				t.Fatal(err)
			}
			read := func() transcript.Conversation { return f.find(17000000001).Conversation.Conversation }
			jp := f.jp()
			var edited Edited
			var err error
			jp.Read = func() { edited, err = w.Edit(t.Context(), projected, always(tc.change)) }
			if jpErr := jp.Label(string(projected), "theirs", ""); jpErr != nil || err != nil {
				t.Fatal(jpErr, err)
			}
			if now := read(); cmp.Equal(edited.After, now) {
				t.Fatalf("JP has undone nothing: %+v", now)
			}
			synctest.Test(t, func(t *testing.T) {
				if err := w.Keep(t.Context(), Edited{}, edited); err != nil {
					t.Error(err)
				}
			})
			now, want := read(), edited.After
			want.Dir, want.Labels = now.Dir, maps.Clone(want.Labels)
			want.Labels["theirs"] = ""
			if diff := cmp.Diff(want, now); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

// TestKeepOfWhatIsGone has others remove or lock what was changed.
func TestKeepOfWhatIsGone(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	w := f.writer()
	edit := func(id transcript.ID, title string) Edited {
		edited, err := w.Edit(t.Context(), id, always(Change{Title: &title}))
		if err != nil {
			t.Fatal(err)
		}
		return edited
	}
	removed := edit(userOnly, "Mine")
	if err := w.Delete(t.Context(), userOnly); err != nil {
		t.Fatal(err)
	}
	if err := w.Keep(t.Context(), removed); err != nil {
		t.Error(err)
	}

	locked := edit(external, "Mine")
	l, err := f.open().openLocks(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	release, busy, err := l.try(lockName(17000000003))
	if err != nil || busy != nil {
		t.Fatal(busy, err)
	}
	defer release()
	if err := w.Keep(t.Context(), locked); !errors.As(err, &busy) || busy.ID != external {
		t.Errorf("locked: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Keep(ctx, locked); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits: %v", err)
	}
}
