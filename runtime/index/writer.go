package index

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/convtools/convtools/runtime/index/terms"
)

// Writer changes an index. It is for one goroutine. What is written is seen by nobody until
// it is committed. Once a segment cannot be written, nothing can, until it is cleared.
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
	writing       chan written // a segment, while the next one is read; nil for none
	failed        error        // of writing a segment: what it had is lost, and nothing is committed
	text          int64
	purge         bool // what is removed leaves the disk with the next commit
}

// written is a segment that was written.
type written struct {
	*segment
	err error
}

// Write begins to change an index, which is made where there is none that can be used, and
// waits until no other process does until the context is done.
func (x *Index) Write(ctx context.Context) (*Writer, error) {
	unlock, err := x.files.lock(ctx)
	if err != nil {
		return nil, err
	}
	w := &Writer{index: x, unlock: unlock, terms: terms.NewReader(x.Language)}
	view, err := x.View()
	switch {
	case err == nil:
		w.contents, w.conversations, w.builder = view.contents, map[string]*Conversation{}, w.newBuilder()
		for _, s := range view.segments {
			w.segments = append(w.segments, s.segment)
		}
		for _, c := range view.conversations {
			w.conversations[c.Key] = c
		}
		w.sweep(x.files)
	case isUnusable(err):
		err = w.Clear()
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (w *Writer) newBuilder() *builder { return &builder{limits: w.index.limits} }

// Clear leaves nothing in the index.
func (w *Writer) Clear() error {
	_ = w.wait() // whatever came of it
	names, err := w.index.files.names()
	if err != nil {
		return err
	}
	w.contents, w.segments, w.failed = contents{Language: w.index.Language}, nil, nil
	w.conversations, w.builder = map[string]*Conversation{}, w.newBuilder()
	for _, name := range names {
		w.Sequence = max(w.Sequence, sequenceOf(name)+1)
	}
	w.sweep(w.index.files)
	return nil
}

// Text returns how many bytes of messages were put.
func (w *Writer) Text() int64 { return w.text }

// Conversations returns all conversations, in no order.
func (w *Writer) Conversations() iter.Seq[*Conversation] { return maps.Values(w.conversations) }

// Purge has the next commit leave nothing of what is removed on the disk, where else it stays
// until most of what it was written with is removed.
func (w *Writer) Purge() { w.purge = true }

// Close ends the writing. What was not committed is gone.
func (w *Writer) Close() {
	_ = w.wait() // it was not committed
	w.unlock()
}

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
		err = w.begin(ctx)
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
	err := w.begin(ctx)
	if err = cmp.Or(err, w.wait()); err == nil {
		err = w.merge(ctx)
	}
	if err != nil {
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

// begin begins to write what is in the builder, once the segment before is written. Two at a time
// would take too much memory.
func (w *Writer) begin(ctx context.Context) error {
	err := cmp.Or(w.wait(), ctx.Err())
	if err != nil || len(w.builder.messages) == 0 {
		return err
	}
	b, name, to := w.builder, segmentName(w.Sequence), make(chan written, 1)
	w.Sequence++
	w.builder, w.writing = w.newBuilder(), to
	go func() {
		s, err := b.write(w.index.files, name, w.terms)
		to <- written{s, err}
	}()
	return nil
}

// wait waits until no segment is being written.
func (w *Writer) wait() error {
	if w.writing != nil {
		s := <-w.writing
		w.writing = nil
		if w.failed = s.err; s.err == nil {
			w.segments = append(w.segments, s.segment)
		}
	}
	return w.failed
}
