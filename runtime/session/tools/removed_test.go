package tools

import (
	"slices"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/store/jp"
)

// What is removed while it goes on is not recorded anew, whichever process has recorded it before.
func TestRemovedWhileItGoesOn(t *testing.T) {
	t.Parallel()
	events := talk(t)
	last := events[len(events)-1].state
	middle := slices.IndexFunc(events, func(e happened) bool { return e.Kind == session.TaskComplete }) + 1
	for name, next := range map[string]bool{"by the same process": false, "by the one before": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := aWorkspace(t)
			r := record(t, w)
			for _, e := range events[:middle] {
				r.observe(e.Event, e.state)
			}
			id := r.recordedAs(child)
			if next {
				r = record(t, w)
			}
			gone := false
			for _, e := range events[middle:] {
				r.observe(e.Event, e.state)
				if e.Conversation == child && !gone {
					gone = true
					if err := w.Writer(jp.WriterOptions{}).Delete(t.Context(), id); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := r.finish(last); !gone || err == nil || !strings.HasPrefix(err.Error(), "conversation "+string(id)+" was removed") || !strings.Contains(err.Error(), talking) {
				t.Errorf("gone: %v, %v", gone, err)
			}
			all := allRecorded(t, w)
			if strings.Contains(all, string(id)+" ") || strings.Contains(all, "The Post.") || !strings.Contains(all, "They are: The Adler.") {
				t.Errorf("of %s there is:\n%s", id, all)
			}
		})
	}
}
