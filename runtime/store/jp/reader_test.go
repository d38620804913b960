package jp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
)

// describeAll returns a description of the events of a conversation, which it reads twice.
func describeAll(ctx context.Context, c *store.Conversation) (string, error) {
	var rounds [2]strings.Builder
	for i := range rounds {
		totals, err := c.Read(ctx, func(e *transcript.Event) bool {
			fmt.Fprintf(&rounds[i], "%d %d %v %s %s\n", e.Index, e.Turn, e.Kind, eventtext.Searched(e), e.Time)
			return true
		})
		var damage *store.DamageError
		if err != nil && totals.Events == 0 && rounds[i].Len() == 0 && !errors.As(err, &damage) {
			return "", err
		}
		fmt.Fprintf(&rounds[i], "%+v %v", totals, err)
	}
	if rounds[0].String() != rounds[1].String() {
		return "", fmt.Errorf("read once: %s\nread again: %s", &rounds[0], &rounds[1])
	}
	return rounds[0].String(), nil
}

// TestReaders tests that several readers at once get the same events, and the same ones again.
func TestReaders(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	f := newFixture(t)
	const conversations = 12
	for i := range conversations {
		var b strings.Builder
		b.WriteString("[")
		for n := range rng.IntN(40) {
			if n > 0 {
				b.WriteString(",\n")
			}
			length := rng.IntN(30)
			if rng.IntN(10) == 0 {
				length = rng.IntN(4000)
			}
			fmt.Fprintf(&b, `{"timestamp":"2026-05-29 20:04:%02d.0","type":%q,"content":%q}`, n, []string{"chat_request", "turn_start"}[rng.IntN(2)], strings.Repeat("x", length))
		}
		text := b.String() + "]\n"
		if rng.IntN(3) == 0 {
			text = text[:rng.IntN(len(text))]
		}
		f.write(fmt.Sprintf("%s%d/metadata.json", inProject, 100+i), testTitle)
		f.write(fmt.Sprintf("%s%d/events.json", inProject, 100+i), text)
	}
	w := f.open()
	s, _, err := w.open()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, _, err := s.list(t.Context(), store.Scope{Set: store.Live})
	if err != nil || len(list) != conversations {
		t.Fatalf("%d conversations, %v", len(list), err)
	}
	var want []string
	for i := range list {
		text, err := describeAll(t.Context(), &list[i])
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, text)
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for i := range list {
				got, err := describeAll(t.Context(), &list[i])
				if err != nil {
					t.Errorf("conversation %d: %v", i, err)
				} else if diff := cmp.Diff(want[i], got); diff != "" {
					t.Errorf("conversation %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
	readers.Wait()
}

// TestReaderStops tests that reading stops when the context is done.
func TestReaderStops(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(inProject+"10/metadata.json", testTitle)
	f.write(inProject+"10/events.json", "["+strings.TrimSuffix(strings.Repeat(`{"type":"turn_start"},`, 1000), ",")+"]")
	s, _, err := f.open().open()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := s.find(t.Context(), "jp-c10")
	if err != nil {
		t.Fatal(err)
	}
	read := func(ctx context.Context, each func(n int)) error {
		_, err := c.Read(ctx, func(e *transcript.Event) bool {
			each(e.Index)
			return true
		})
		return err
	}

	ctx, cancel := context.WithCancel(t.Context())
	last := 0
	err = read(ctx, func(n int) {
		if last = n; n == 100 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || last > 100 {
		t.Errorf("stopped after event %d: %v", last, err)
	}
}
