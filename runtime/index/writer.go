package index

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"slices"

	"github.com/convtools/convtools/runtime/index/terms"
)

// Writer changes an index. It is for one goroutine. What is written is seen by nobody until
// it is committed. Once a segment cannot be written, nothing can.
//
// Each call of Put and of Append makes another part of a conversation. Messages of a part that no
// conversation has, because it was put anew, removed, or not read to its end, are gone: nobody sees
// them, and the next merge drops them.
type Writer struct {
	contents
	conversations map[string]*Conversation
	segments      []*segment
	index         *Index
	unlock        func()
	builder       *builder
	terms         *terms.Reader
	failed        error // of writing a segment: what it had is lost, and nothing is committed
	text          int64
	purge         bool // what is removed leaves the disk with the next commit
}

// Write begins to change an index, which is made where there is none that can be used, and
// waits until no other process does until the context is done.
func (x *Index) Write(ctx context.Context) (*Writer, error) {
	unlock, err := x.files.lock(ctx)
	if err != nil {
		return nil, err
	}
	w := &Writer{index: x, unlock: unlock, terms: terms.NewReader(x.Language), conversations: map[string]*Conversation{}}
	w.Language = x.Language
	w.builder = w.newBuilder()
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

// Text returns how many bytes of messages were put.
func (w *Writer) Text() int64 { return w.text }

// Conversations returns all conversations, in no order.
func (w *Writer) Conversations() iter.Seq[*Conversation] { return maps.Values(w.conversations) }

// Purge has the next commit leave nothing of what is removed on the disk, where else it stays
// until most of what it was written with is removed.
func (w *Writer) Purge() { w.purge = true }

// Close ends the writing. What was not committed is gone.
func (w *Writer) Close() { w.unlock() }

// Lookup returns the conversation with a key, as it was before the writing began or as it
// was put since, or nil. It is not to be changed.
func (w *Writer) Lookup(key string) *Conversation { return w.conversations[key] }

// Put puts a conversation with its messages in place of the one with its key, if there is
// one. Where messages have an error, which is returned, the index stays as it is. The facts of
// the conversation are those that it has once the messages have ended.
func (w *Writer) Put(ctx context.Context, c *Conversation, messages iter.Seq2[*Message, error]) error {
	return w.Append(ctx, c, &Conversation{}, messages)
}

// Append is Put of a conversation that has the messages of the one with its key, which Lookup
// returned and which has the same Order. Messages are only those after these.
func (w *Writer) Append(ctx context.Context, c, old *Conversation, messages iter.Seq2[*Message, error]) error {
	part := w.Part
	w.Part++
	c.Messages = old.Messages
	to, mark := w.builder, len(w.builder.messages)
	for m, err := range messages {
		if err == nil {
			err = w.add(ctx, part, c, m)
		}
		if err != nil {
			if to == w.builder {
				to.messages = to.messages[:mark]
			}
			return err
		}
		c.Messages++
		w.text += int64(len(m.Text))
	}
	if c.parts = old.parts; c.Messages > old.Messages {
		c.parts = append(slices.Clip(c.parts), part)
	}
	put := *c
	w.conversations[c.Key] = &put
	return nil
}

// add adds a message of a part of a conversation to the builder, or to the next one.
func (w *Writer) add(ctx context.Context, part uint32, c *Conversation, m *Message) error {
	err := ctx.Err()
	if err == nil && w.builder.full() {
		err = w.write(ctx)
	}
	if err == nil {
		w.builder.add(part, c, m)
	}
	return err
}

// Delete removes the conversation with a key.
func (w *Writer) Delete(key string) { delete(w.conversations, key) }

// Commit makes what was written the state of the index, with this said of it, and this kept in it.
func (w *Writer) Commit(ctx context.Context, state State, kept []byte) error {
	if err := w.write(ctx); err != nil {
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

// write writes what is in the builder.
func (w *Writer) write(ctx context.Context) error {
	err := cmp.Or(w.failed, ctx.Err())
	if err != nil || len(w.builder.messages) == 0 {
		return err
	}
	b := w.builder
	w.builder = w.newBuilder()
	s, err := b.write(w.index.files, w.terms)
	if w.failed = err; err == nil {
		w.segments = append(w.segments, s)
	}
	return err
}
