package recording_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/recording"
	"github.com/convtools/convtools/runtime/store/jp"
)

// What is removed while it goes on is not recorded anew, whichever process has recorded it before.
func TestRemovedWhileItGoesOn(t *testing.T) {
	t.Parallel()
	logs := t.TempDir()
	events := script(t, logs)
	middle := slices.IndexFunc(events, func(e session.Event) bool { _, ok := e.Body.(session.TaskComplete); return ok }) + 1
	for name, next := range map[string]bool{"by the same process": false, "by the one before": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := workspace(t)
			r := record(t, w, logs)
			for _, e := range events[:middle] {
				r.Observe(e)
			}
			id := r.RecordedAs(child)
			if next {
				r = record(t, w, logs)
			}
			gone := false
			for _, e := range events[middle:] {
				r.Observe(e)
				if e.Conversation == child && !gone {
					gone = true
					if err := w.Writer(jp.WriterOptions{}).Delete(t.Context(), id); err != nil {
						t.Fatal(err)
					}
				}
			}
			var removed *recording.RemovedError
			if err := r.Finish(); !gone || !errors.As(err, &removed) || removed.ID != id || removed.Session != root {
				t.Errorf("gone: %v, %v", gone, err)
			}
			all := recorded(t, w)
			if strings.Contains(all, string(id)+" ") || strings.Contains(all, "The Post.") || !strings.Contains(all, "They are: The Adler.") {
				t.Errorf("of %s there is:\n%s", id, all)
			}
		})
	}
}
