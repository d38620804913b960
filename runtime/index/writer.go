package index

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"sync"
)

// Writer changes an index. It is for one goroutine. Changes are visible after Commit. After an error of writing a
// segment, Commit fails.
//
// Each call of Put and Append makes a new part of a conversation. If a part belongs to no conversation, because it was
// replaced, removed, or not read to its end, its messages are invisible, and the next merge drops them.
type Writer struct {
	contents
	conversations map[string]*Conversation
	segments      []*segment
	index         *Index
	unlock        func()
	builder       *builder // of the next segment
	writing       sync.WaitGroup
	segmentWriter *segmentWriter
	written       *segment // the segment that was written and is not in segments yet; nil if there is none
	failed        error    // the error of writing a segment: its messages are lost, and nothing can be committed
	text          int64    // bytes of the messages that were put
	purge         bool     // the next commit rewrites segments with removed messages
}

// Write waits for the lock of the index, until ctx is done, and returns a writer. It makes the index anew if there is
// none that can be used. The caller must close the writer.
func (x *Index) Write(ctx context.Context) (*Writer, error) {
	unlock, err := x.files.lock(ctx)
	if err != nil {
		return nil, err
	}
	w := &Writer{index: x, unlock: unlock, conversations: map[string]*Conversation{}}
	w.Language = x.Language
	w.builder = w.newBuilder()
	w.segmentWriter = newSegmentWriter(x.files, x.Language)
	view, err := x.View()
	if err == nil {
		w.contents = view.contents
		for _, s := range view.segments {
			w.segments = append(w.segments, s.segment)
		}
		for _, c := range view.Conversations {
			w.conversations[c.Key] = c
		}
	}
	var damage *DamageError
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &damage) {
		w.Close()
		return nil, err
	}
	w.sweep(x.files)
	return w, nil
}

func (w *Writer) newBuilder() *builder { return &builder{limits: w.index.limits} }

// Text returns the number of bytes of the messages that were put.
func (w *Writer) Text() int64 { return w.text }

// Conversations returns all conversations, in no order.
func (w *Writer) Conversations() iter.Seq[*Conversation] { return maps.Values(w.conversations) }

// Purge makes the next commit erase all removed messages from the disk. Other commits leave some there.
func (w *Writer) Purge() { w.purge = true }

// Close releases the lock. It drops changes that are not committed.
func (w *Writer) Close() {
	w.writing.Wait()
	w.unlock()
}

// Lookup returns the conversation with a key, including changes by this writer, or nil. It must not be changed.
func (w *Writer) Lookup(key string) *Conversation { return w.conversations[key] }

// Put adds a conversation with its messages, or replaces the one with its key. If messages yield an error, Put
// returns it, and the conversation in the index stays as it was. Put reads the facts of c after all messages.
func (w *Writer) Put(ctx context.Context, c *Conversation, messages iter.Seq2[*Message, error]) error {
	return w.Append(ctx, c, &Conversation{}, messages)
}

// Append is like Put, for a conversation that has grown from old to c. messages yields only the messages that are new
// in c. old is the result of Lookup, and has the same Order as c.
func (w *Writer) Append(ctx context.Context, c, old *Conversation, messages iter.Seq2[*Message, error]) error {
	part := w.Part // the number of a new part, which the new messages get
	w.Part++
	c.Messages = old.Messages
	b, before := w.builder, len(w.builder.messages)
	for m, err := range messages {
		if err == nil {
			err = w.addMessage(ctx, part, c, m)
		}
		if err != nil {
			if b == w.builder { // addMessage replaces a full builder; the messages already written are invisible without their part
				b.messages = b.messages[:before]
			}
			return err
		}
		c.Messages++
		w.text += int64(len(m.Text))
	}
	if c.parts = old.parts; c.Messages > old.Messages {
		c.parts = append(slices.Clip(c.parts), part) // Clip: append must not write into the array of old.parts
	}
	put := *c
	w.conversations[c.Key] = &put
	return nil
}

// addMessage adds a message of a part of c to the builder. If the builder is full, it is written first.
func (w *Writer) addMessage(ctx context.Context, part uint32, c *Conversation, m *Message) error {
	err := ctx.Err()
	if err == nil && w.builder.full() {
		err = w.writeSegment(ctx)
	}
	if err == nil {
		w.builder.add(part, c, m)
	}
	return err
}

// Delete removes the conversation with a key.
func (w *Writer) Delete(key string) { delete(w.conversations, key) }

// Commit makes the changes visible, and stores a state and other data of the caller with them. It also merges segments.
func (w *Writer) Commit(ctx context.Context, state State, kept []byte) error {
	if err := cmp.Or(w.writeSegment(ctx), w.wait()); err != nil {
		return err
	}
	if err := w.merge(ctx); err != nil {
		return err
	}
	w.purge = false
	w.State, w.Segments = state, nil
	for _, s := range w.segments {
		w.Segments = append(w.Segments, s.named)
	}
	if err := w.contents.write(w.index.files, w.conversations, kept); err != nil {
		return err
	}
	w.sweep(w.index.files)
	return nil
}

// writeSegment begins to write the messages of the builder, if there are any, as a segment, and makes a new builder.
// It first waits for the segment before. After an error of writing, further calls return the same error.
func (w *Writer) writeSegment(ctx context.Context) error {
	err := cmp.Or(w.wait(), ctx.Err())
	if err != nil || len(w.builder.messages) == 0 {
		return err
	}
	b := w.builder
	w.builder = w.newBuilder()
	w.builder.messages = make([]message, 0, len(b.messages)) // the next segment has about as many
	w.writing.Go(func() {
		w.written, w.failed = w.segmentWriter.write(b)
		if b.size > 2*b.limits.segment { // a large message: its arrays would stay until the last segment
			w.segmentWriter = newSegmentWriter(w.segmentWriter.files, w.Language)
		}
	})
	return nil
}

// wait waits for the segment that is being written. It returns the error of writing.
func (w *Writer) wait() error {
	w.writing.Wait()
	if w.written != nil {
		w.segments = append(w.segments, w.written)
		w.written = nil
	}
	return w.failed
}
