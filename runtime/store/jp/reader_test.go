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
)

// readAll describes the events of a conversation as a reader hands them over,
// first once and then again.
func readAll(ctx context.Context, c *store.Conversation, buffer *store.Buffer) (string, error) {
	events, err := c.Events(ctx, buffer)
	if err != nil {
		return "", err
	}
	defer events.Close()
	var rounds [2]strings.Builder
	for i := range rounds {
		for events.Next(ctx) {
			e := events.Event()
			text, _ := e.AppendText(nil)
			fmt.Fprintf(&rounds[i], "%d %d %v %s %s\n", e.Index, e.Turn, e.Kind, text, e.Time())
		}
		fmt.Fprintf(&rounds[i], "%+v %v", events.Totals(), events.Err())
		events.Restart()
	}
	if rounds[0].String() != rounds[1].String() {
		return "", fmt.Errorf("read once: %s\nread again: %s", &rounds[0], &rounds[1])
	}
	return rounds[0].String(), nil
}

// A file is read alike whatever the size of the buffer, also by readers that
// together need more memory than there is.
func TestReadersThatShareMemory(t *testing.T) {
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
	s, _, err := w.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, _, err := s.List(t.Context(), store.Live)
	if err != nil || len(list) != conversations {
		t.Fatalf("%d conversations, %v", len(list), err)
	}
	var want []string
	for i := range list {
		text, err := readAll(t.Context(), &list[i], store.NewBuffer(store.NewMemory(store.DefaultMemory)))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, text)
	}
	w.chunk = 100
	memory := store.NewMemory(1000)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			buffer := store.NewBuffer(memory)
			defer buffer.Release()
			for i := range list {
				got, err := readAll(t.Context(), &list[i], buffer)
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

// Who waits for memory, or reads many small events, stops when the context ends.
func TestReaderStops(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(inProject+"10/metadata.json", testTitle)
	f.write(inProject+"10/events.json", "["+strings.TrimSuffix(strings.Repeat(`{"type":"turn_start"},`, 1000), ",")+"]")
	s, _, err := f.open().Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := s.Find(t.Context(), "jp-c10")
	if err != nil {
		t.Fatal(err)
	}
	memory := store.NewMemory(store.DefaultMemory)
	read := func(ctx context.Context, memory *store.Memory, each func(n int)) error {
		buffer := store.NewBuffer(memory)
		defer buffer.Release()
		events, err := c.Events(ctx, buffer)
		if err != nil {
			return err
		}
		defer events.Close()
		for events.Next(ctx) {
			each(events.Event().Index)
		}
		return events.Err()
	}

	ctx, cancel := context.WithCancel(t.Context())
	last := 0
	err = read(ctx, memory, func(n int) {
		if last = n; n == 100 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || last > 100+eventsPerLook {
		t.Errorf("stopped after event %d: %v", last, err)
	}

	little := store.NewMemory(10)
	held := store.NewBuffer(little)
	if err := held.Resize(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() {
		waiting <- read(ctx, little, func(int) {})
	}()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for memory: %v", err)
	}
}

// A file that is read again is read with the buffer that it needed before.
func TestRestartKeepsBuffer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(inProject+"10/metadata.json", testTitle)
	f.write(inProject+"10/events.json", `[`+strings.Repeat(`{"type":"turn_start"},`, 50)+`{"type":"chat_request","content":"`+strings.Repeat("x", 3000)+`"}]`)
	w := f.open()
	w.chunk = 100
	s, _, err := w.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := s.Find(t.Context(), "jp-c10")
	if err != nil {
		t.Fatal(err)
	}
	buffer := store.NewBuffer(store.NewMemory(store.DefaultMemory))
	defer buffer.Release()
	events, err := c.Events(t.Context(), buffer)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	for events.Next(t.Context()) {
	}
	grown := &buffer.Bytes[:1][0]
	events.Restart()
	n := 0
	for ; events.Next(t.Context()); n++ {
		if &buffer.Bytes[:1][0] != grown {
			t.Fatalf("event %d is in another buffer", n)
		}
	}
	if n != 51 || events.Err() != nil {
		t.Errorf("%d events, %v", n, events.Err())
	}
}
