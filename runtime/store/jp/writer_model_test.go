package jp

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// modelled is a conversation in the model.
type modelled struct {
	title          string
	hidden         bool
	labels         []string
	archived, gone bool
	parent         transcript.ID
	events         int
}

func (m modelled) String() string {
	labels := slices.Clone(m.labels)
	if m.hidden {
		labels = append(labels, labelHidden)
	}
	if m.parent != "" {
		labels = append(labels, labelParent)
	}
	slices.Sort(labels)
	return fmt.Sprintf("%q %v hidden=%t archived=%t gone=%t parent=%s events=%d", m.title, labels, m.hidden, m.archived, m.gone, m.parent, m.events)
}

// model returns the model of the conversations of a fixture.
func (f *fixture) model(t *rapid.T) map[transcript.ID]modelled {
	w := f.open()
	all, problems, err := w.conversations(f.t.Context(), store.Live|store.Archived)
	if err != nil || len(problems) > 0 {
		t.Fatalf("listing: %v, %v", problems, err)
	}
	trash, err := w.Trash(f.t.Context())
	if err != nil {
		t.Fatal(err)
	}
	state := map[transcript.ID]modelled{}
	add := func(c transcript.Conversation, gone bool, events int) {
		labels := slices.DeleteFunc(slices.Sorted(maps.Keys(c.Labels)), func(key string) bool { return key == labelHidden || key == labelParent })
		state[c.ID] = modelled{title: c.Title, hidden: c.Hidden, labels: labels, archived: c.Archived, gone: gone, parent: c.Parent, events: events}
	}
	for _, c := range trash {
		add(c.Conversation, true, 0)
	}
	for _, c := range all {
		n, _ := numberOf(c.ID)
		there, err := w.find(f.t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		text, err := there.readEvents(f.t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var events []json.RawMessage
		if err := json.Unmarshal([]byte(text), &events); err != nil {
			t.Fatal(err)
		}
		add(c.Conversation, false, len(events))
	}
	return state
}

// TestModel makes random changes, fails some at a random step, and compares with a model after each: a
// change that failed is made to a conversation, or is not.
func TestModel(t *testing.T) {
	t.Parallel()
	if seed := flag.Lookup("rapid.seed").Value; seed.String() == "0" { // which is a new one each time
		if err := seed.Set("1"); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) { checkChanges(t, rt) })
}

// FuzzModel is TestModel with changes that coverage finds.
func FuzzModel(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) {
		rapid.MakeFuzz(func(rt *rapid.T) { checkChanges(t, rt) })(t, input)
	})
}

// checkChanges makes changes and compares with the model.
func checkChanges(t *testing.T, rt *rapid.T) {
	t.Helper()
	f := newWritten(t)
	want := f.model(rt)
	clock := writtenAt
	for range rapid.IntRange(1, 8).Draw(rt, "changes") {
		clock = clock.Add(time.Duration(rapid.IntRange(-2, 20).Draw(rt, "tenths of a second")) * 100 * time.Millisecond)
		w := f.open().Writer(WriterOptions{Now: func() time.Time { return clock }})
		disk := &faults{killed: rapid.Bool().Draw(rt, "killed"), at: rapid.IntRange(0, 40).Draw(rt, "at")}
		if disk.at == 0 {
			disk.killed = false
		}
		w.before, w.stage = disk.before, safefile.StageUnsynced
		id := rapid.SampledFrom(slices.Sorted(maps.Keys(want))).Draw(rt, "id")
		old := want[id]
		now, err := change(t, rt, w, id, old)
		var missing *store.NotFoundError
		switch {
		case errors.As(err, &missing) != (now == nil):
			rt.Fatalf("%s is %s: %v", id, old, err)
		case now == nil:
			continue
		case err != nil && !errors.Is(err, errKilled) && !errors.Is(err, errFull):
			rt.Fatal(err)
		}
		got := f.model(rt)
		f.checkForJP()
		for other, state := range got {
			_, known := want[other]
			switch {
			case other == id && (state.String() == now.String() || err != nil && state.String() == old.String()):
			case other != id && known && state.String() == want[other].String():
			case !known && strings.HasPrefix(state.String(), fmt.Sprintf("%q", old.title)) && state.parent == id && state.events == old.events && !state.hidden && !state.archived:
			default:
				rt.Fatalf("%s is %s, was %s; %s was to be %s: %v", other, state, want[other], id, now, err)
			}
		}
		if len(got) < len(want) {
			rt.Fatalf("of %d conversations %d are left", len(want), len(got))
		}
		want = got
	}
}

// change makes a random change and returns the conversation in the model after it; nil if it cannot be
// made.
func change(t *testing.T, rt *rapid.T, w *Writer, id transcript.ID, m modelled) (*modelled, error) {
	ctx := t.Context()
	m.labels = slices.Clone(m.labels)
	kind := rapid.SampledFrom([]string{"title", "hide", "label", "archive", "unarchive", "append", "local", "remove", "restore", "fork"}).Draw(rt, "change")
	if kind == "restore" {
		if !m.gone { // a copy may be in the trash of one store, where a removal was ended
			return &m, nil
		}
		err := w.Restore(ctx, id)
		m.gone = false
		m.events = restoredEvents(ctx, w, id, m.events)
		return &m, err
	}
	if m.gone {
		_, err := w.Edit(ctx, id, always(Change{}))
		return nil, err
	}
	var err error
	switch kind {
	case "title":
		m.title = rapid.SampledFrom([]string{"", "A", "B/ü", "\x1b[1m\n"}).Draw(rt, "title")
		_, err = w.Edit(ctx, id, always(Change{Title: &m.title}))
	case "hide":
		m.hidden = rapid.Bool().Draw(rt, "hide")
		_, err = w.Edit(ctx, id, always(Change{Hidden: &m.hidden}))
	case "label":
		key := rapid.SampledFrom([]string{"area", "x"}).Draw(rt, "key")
		value := to("")
		m.labels = slices.DeleteFunc(m.labels, func(k string) bool { return k == key })
		if rapid.Bool().Draw(rt, "remove") {
			value = nil
		} else {
			m.labels = append(m.labels, key)
		}
		_, err = w.Edit(ctx, id, always(Change{Labels: map[string]*string{key: value}}))
	case "archive":
		m.archived = true
		_, err = w.SetArchived(ctx, id, true)
	case "unarchive":
		m.archived = false
		_, err = w.SetArchived(ctx, id, false)
	case "append":
		m.events++
		err = w.Append(ctx, id, NewEvent{At: time.Date(2026, 6, 1, 12, 0, 1, 0, time.UTC), Kind: transcript.KindUser, Text: "more"})
	case "local":
		_, err = w.SetLocal(ctx, id, rapid.Bool().Draw(rt, "local"))
	case "remove":
		m.gone, m.events = true, 0
		err = w.Remove(ctx, id)
	case "fork":
		_, err = w.Fork(ctx, id, ForkOptions{})
	}
	return &m, err
}

// restoredEvents returns the number of events of a restored conversation: the model counts none in the
// trash.
func restoredEvents(ctx context.Context, w *Writer, id transcript.ID, none int) int {
	n, _ := numberOf(id)
	c, err := w.w.find(ctx, n)
	if err != nil {
		return none
	}
	text, _ := c.readEvents(ctx)
	return strings.Count(text, `"type"`)
}
