//go:build unix && !solaris && !aix

package jp

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

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
