package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io/fs"
	"iter"
	"maps"
	"math/bits"
	"slices"
)

// Writer changes an index. It is for one goroutine. What is written is seen by nobody until
// it is committed. Once a segment cannot be written, nothing can, until it is cleared.
type Writer struct {
	manifest
	segments []segment // newest first
	base     map[string]bool
	index    *Index
	unlock   func()
	builder  *builder
	building map[string]int // place of the conversations of the builder, by key
	writing  []*writing     // the oldest first
	failed   error          // of writing a segment: what it had is lost, and nothing is committed
	spare    []*writing     // of which the memory is used again
	gatherer gatherer
	purge    bool // what is removed leaves the disk with the next commit
}

// maxWriting is how many segments are written at a time, while the next one is read: each takes
// a processor, and about 40 MB of memory.
const maxWriting = 2

// writing is a segment that is written.
type writing struct {
	building map[string]int // as in the writer
	parted   string         // key of a conversation of which another segment has the rest and the record; empty for none
	size     int64
	done     chan struct{}
	builder  *builder
	using    assembler
	segment  segment
	err      error
}

// Write begins to change an index, which is made where there is none that can be used, and
// waits until no other process does until the context is done.
func (x *Index) Write(ctx context.Context) (*Writer, error) {
	unlock, err := x.files.lock(ctx)
	if err != nil {
		return nil, err
	}
	w := &Writer{index: x, unlock: unlock, builder: &builder{limits: x.limits, language: x.Language}, base: map[string]bool{}, building: map[string]int{}}
	if err := w.open(); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (w *Writer) open() error {
	m, err := readManifest(w.index.files, w.index.Language)
	var damage *DamageError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.As(err, &damage):
		return w.startOver()
	case err != nil:
		return err
	}
	w.manifest = *m
	for _, n := range m.Segments {
		f, err := openFile(w.index.files, n)
		if errors.Is(err, fs.ErrNotExist) || errors.As(err, &damage) {
			return w.startOver()
		}
		if err != nil {
			return err
		}
		w.segments = append(w.segments, segment{f, n})
		w.base[n.File] = true
	}
	_ = m.sweep(w.index.files) // what cannot be removed is in nobody's way
	return nil
}

// startOver begins an index with nothing in it.
func (w *Writer) startOver() error {
	_ = w.wait() // whatever came of it
	w.failed = nil
	w.builder.reset()
	clear(w.building)
	w.closeFiles()
	names, err := w.index.files.names()
	if err != nil {
		return err
	}
	w.manifest = manifest{Version: version, Language: w.index.Language}
	for _, name := range names {
		w.Sequence = max(w.Sequence, sequenceOf(name)+1)
	}
	_ = w.sweep(w.index.files)
	return nil
}

// Text returns how many bytes of messages there are.
func (w *Writer) Text() int64 {
	sum := int64(w.builder.size)
	for _, o := range w.writing {
		sum += o.size
	}
	for _, s := range w.segments {
		sum += s.Text
	}
	return sum
}

// Conversations calls yield with each conversation that was there when the writing began.
func (w *Writer) Conversations(yield func(*Conversation) bool) error {
	v := View{segments: w.segments}
	return v.Conversations(yield)
}

// Clear leaves nothing in the index.
func (w *Writer) Clear() error { return w.startOver() }

// Purge has the next commit leave nothing of what is removed on the disk, where else it stays
// until most of what it was written with is removed.
func (w *Writer) Purge() { w.purge = true }

// Close ends the writing. What was not committed is gone.
func (w *Writer) Close() {
	_ = w.wait() // it was not committed
	w.closeFiles()
	w.unlock()
}

func (w *Writer) closeFiles() {
	for _, s := range w.segments {
		s.file.close()
	}
	w.segments = nil
}

// Lookup returns the conversation with a key, as it was before the writing began or as it
// was put since, or nil.
func (w *Writer) Lookup(key string) (c *Conversation, err error) {
	err = guard(func(key string) error {
		if at, ok := w.building[key]; ok {
			building := w.builder.conversations[at]
			c = &building
			return nil
		}
		if err := w.waitFor(key); err != nil {
			return err
		}
		v := View{segments: w.segments}
		c, err = v.lookup(key)
		return err
	}, key)
	return c, err
}

// Put puts a conversation with its messages in place of the one with its key, if there is
// one. Where that has some of the messages, the first ones, only the others are added.
// Messages is called a second time where what is there is not what the conversation begins
// with. Where it has an error, which is returned, the index stays as it is. The facts of the
// conversation are those that it has once the messages have ended.
func (w *Writer) Put(ctx context.Context, c *Conversation, messages iter.Seq2[*Message, error]) error {
	if err := w.makeRoom(ctx, c.Key); err != nil {
		return err
	}
	old, err := w.Lookup(c.Key)
	if err != nil {
		return err
	}
	if old != nil && old.Order == c.Order {
		grown, err := w.put(ctx, c, old, false, messages)
		if grown || err != nil {
			return err
		}
	}
	_, err = w.put(ctx, c, &Conversation{}, false, messages)
	return err
}

// Append is Put of a conversation that has the messages of the one with its key, which Lookup
// returned and which has the same Order. Messages are only those behind these.
func (w *Writer) Append(ctx context.Context, c, old *Conversation, messages iter.Seq2[*Message, error]) error {
	if err := w.makeRoom(ctx, c.Key); err != nil {
		return err
	}
	_, err := w.put(ctx, c, old, true, messages)
	return err
}

// makeRoom makes room for a conversation.
func (w *Writer) makeRoom(ctx context.Context, key string) error {
	if _, ok := w.building[key]; ok {
		return w.flush(ctx)
	}
	if w.builder.nearlyFull() {
		return w.begin(ctx)
	}
	return nil
}

// put puts a conversation that has what old has, and more, or reports that it does not. Behind
// old the messages are those that it has more; else they are all.
func (w *Writer) put(ctx context.Context, c, old *Conversation, behind bool, messages iter.Seq2[*Message, error]) (grown bool, err error) {
	before := len(w.segments)
	at := w.beginConversation(c)
	mark := len(w.builder.added)
	parted := false
	drop := func(err error) (bool, error) {
		w.builder.cut(at, mark)
		delete(w.building, c.Key)
		if parted {
			if e := w.wait(); e != nil {
				return false, errors.Join(err, e)
			}
		}
		return false, errors.Join(err, kill(w.segments[:len(w.segments)-before], c.Key, true))
	}
	digest := digest{hash: sha256.New()}
	c.Messages = 0
	verified := old.Messages == 0 || behind
	if behind {
		digest.sum, c.Messages = old.Digest, old.Messages
	}
	for m, err := range messages {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && w.builder.full() && verified {
			if err = w.begin(ctx); err != nil {
				return false, err
			}
			w.writing[len(w.writing)-1].parted, parted = c.Key, true
			at, mark = w.beginConversation(c), 0
		}
		if err != nil {
			return drop(err)
		}
		digest.add(m)
		c.Messages++
		if verified {
			w.builder.add(at, m)
		} else if c.Messages == old.Messages {
			if digest.sum != old.Digest {
				return drop(nil)
			}
			verified = true
		}
	}
	if !verified {
		return drop(nil)
	}
	c.Digest = digest.sum
	w.builder.conversations[at] = *c
	return true, kill(w.segments[len(w.segments)-before:], c.Key, old.Key == "")
}

func (w *Writer) beginConversation(c *Conversation) int {
	at := len(w.builder.conversations)
	w.builder.conversations = append(w.builder.conversations, *c)
	w.building[c.Key] = at
	return at
}

// kill notes that another segment has the record of a conversation, and where dead, that its
// messages in these segments are gone.
func kill(segments []segment, key string, dead bool) error {
	for i := range segments {
		s := &segments[i]
		n, ok, err := s.find(key)
		if err != nil {
			return err
		}
		if ok {
			s.Superseded.add(n)
			if dead {
				s.Dead.add(n)
			}
		}
	}
	return nil
}

// Delete removes the conversation with a key.
func (w *Writer) Delete(ctx context.Context, key string) error {
	if _, ok := w.building[key]; ok {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	if err := w.waitFor(key); err != nil {
		return err
	}
	return kill(w.segments, key, true)
}

// Commit makes what was written the state of the index, with this said of it.
func (w *Writer) Commit(ctx context.Context, state State) error {
	if err := w.flush(ctx); err != nil {
		return err
	}
	if err := w.merge(ctx); err != nil {
		return err
	}
	w.purge = false
	w.manifest.State = state
	w.manifest.Segments = nil
	for _, s := range w.segments {
		w.manifest.Segments = append(w.manifest.Segments, s.named)
		w.base[s.File] = true
	}
	if err := w.manifest.write(w.index.files); err != nil {
		return err
	}
	_ = w.sweep(w.index.files) // what is left over is removed another time
	return nil
}

// flush writes what is in the builder as the newest segment.
func (w *Writer) flush(ctx context.Context) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	return w.wait()
}

// begin begins to write what is in the builder, while the next segment is read.
func (w *Writer) begin(ctx context.Context) error {
	if w.failed != nil || len(w.builder.conversations) == 0 {
		return w.failed
	}
	if len(w.writing) == maxWriting {
		if err := w.waitForOldest(); err != nil {
			return err
		}
	}
	o := w.taken()
	o.building, o.size, o.done = w.building, int64(w.builder.size), make(chan struct{})
	o.builder, w.builder = w.builder, o.builder
	w.building, w.writing = map[string]int{}, append(w.writing, o)
	name := w.next()
	go func() {
		defer close(o.done)
		o.segment, o.err = w.index.write(ctx, name, o.builder, &o.using)
	}()
	return nil
}

// taken returns what a segment can be written with.
func (w *Writer) taken() *writing {
	if last := len(w.spare) - 1; last >= 0 {
		o := w.spare[last]
		w.spare = w.spare[:last]
		return o
	}
	return &writing{builder: &builder{limits: w.index.limits, language: w.index.Language}, using: assembler{gatherer: &w.gatherer}}
}

// wait waits until all segments that are being written are the newest ones.
func (w *Writer) wait() error {
	for len(w.writing) > 0 {
		_ = w.waitForOldest() // the error stays
	}
	return w.failed
}

// waitForOldest waits until the oldest segment that is being written is the newest one of those that are.
func (w *Writer) waitForOldest() error {
	o := w.writing[0]
	<-o.done
	w.writing = w.writing[1:]
	err := o.err
	if err == nil {
		w.segments = append([]segment{o.segment}, w.segments...)
		if o.parted != "" {
			err = kill(w.segments[:1], o.parted, false)
		}
	}
	w.failed = cmp.Or(w.failed, err)
	o.builder.reset()
	o.building, o.parted, o.segment, o.err = nil, "", segment{}, nil
	w.spare = append(w.spare, o)
	return w.failed
}

// waitFor is wait where a segment has a conversation.
func (w *Writer) waitFor(key string) error {
	for _, o := range w.writing {
		if _, ok := o.building[key]; ok {
			return w.wait()
		}
	}
	return nil
}

// next returns the name of the next segment.
func (w *Writer) next() string {
	w.Sequence++
	return segmentName(w.Sequence - 1)
}

// write writes a segment with a name.
func (x *Index) write(ctx context.Context, name string, b *builder, using *assembler) (segment, error) {
	if err := ctx.Err(); err != nil {
		return segment{}, err
	}
	n := &named{File: name, Text: int64(b.size)}
	f, err := x.files.create(name)
	if err != nil {
		return segment{}, err
	}
	n.Size, n.Sum, err = b.write(f, using)
	var opened *file
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		opened, err = openFile(x.files, n)
	}
	if err != nil {
		return segment{}, errors.Join(err, x.files.remove(name))
	}
	return segment{opened, n}, nil
}

// mergeAt is how many segments of about one size are merged.
const mergeAt = 4

// merge merges segments of about one size, and writes those anew of which most is gone.
func (w *Writer) merge(ctx context.Context) error {
	for {
		classes := map[int][]int{}
		for i := range w.segments {
			s := &w.segments[i]
			class := bits.Len64(uint64(max(s.Text, int64(w.builder.segment)/256))) / 2 //nolint:gosec // a size
			if dead := s.Dead.count(); 2*dead > int(s.Conversations) || w.purge && dead > 0 {
				class = -1
			}
			if class >= 0 && s.Text > int64(w.builder.segment)/2 {
				continue
			}
			classes[class] = append(classes[class], i)
		}
		var group []int
		for _, class := range slices.Sorted(maps.Keys(classes)) {
			if all := classes[class]; group == nil && (class < 0 || len(all) >= mergeAt) {
				group = all
			}
		}
		if group == nil {
			return nil
		}
		if err := w.mergeGroup(ctx, group); err != nil {
			return err
		}
	}
}

// mergeGroup replaces some segments by one, or by several where that would be too large.
func (w *Writer) mergeGroup(ctx context.Context, group []int) error {
	in := map[int]bool{}
	var size int64
	for i, n := range group {
		if size += w.segments[n].Text; i > 0 && size > int64(w.builder.segment) {
			break
		}
		in[n] = true
	}
	b := w.builder // which is empty
	place := map[string]int{}
	current := map[string]bool{}
	err := guard(func(in map[int]bool) error {
		for i := range w.segments {
			if !in[i] {
				continue
			}
			if err := w.copy(ctx, b, &w.segments[i], place, current); err != nil {
				return err
			}
		}
		return nil
	}, in)
	if err != nil {
		b.reset()
		return err
	}
	var merged []segment
	if len(b.conversations) > 0 {
		o := w.taken()
		s, err := w.index.write(ctx, w.next(), b, &o.using)
		w.spare = append(w.spare, o)
		b.reset()
		if err != nil {
			return err
		}
		merged = append(merged, s)
		for key := range place {
			if !current[key] {
				if err := kill(merged, key, false); err != nil {
					return err
				}
			}
		}
	}
	var kept []segment
	for i, s := range w.segments {
		if in[i] {
			s.file.close()
			continue
		}
		kept = append(kept, s)
	}
	w.segments = append(kept, merged...)
	return nil
}

// copy adds what is left of a segment to a builder.
func (w *Writer) copy(ctx context.Context, b *builder, s *segment, place map[string]int, current map[string]bool) error {
	places := make([]int, s.Conversations)
	for n := range s.Conversations {
		places[n] = -1
		if s.Dead.has(n) {
			continue
		}
		c, err := s.conversation(n)
		if err != nil {
			return err
		}
		at, ok := place[c.Key]
		if !ok {
			at = len(b.conversations)
			place[c.Key] = at
			b.conversations = append(b.conversations, *c)
		}
		if !s.Superseded.has(n) {
			b.conversations[at], current[c.Key] = *c, true
		}
		places[n] = at
	}
	v := View{segments: []segment{*s}}
	scans, err := v.scans(&Query{})
	if err != nil {
		return err
	}
	scan := scans[0]
	if err := scan.load(); err != nil {
		return err
	}
	for n := range s.Messages {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		owner := scan.ownerOf(n)
		if owner >= s.Conversations {
			return s.damaged()
		}
		if places[owner] < 0 {
			continue
		}
		stored, err := scan.texts.stored(n)
		if err != nil {
			return err
		}
		m := Message{Number: binary.LittleEndian.Uint32(scan.numbers[4*n:]), Kind: scan.kinds[n], Time: timeOf(scan.time(n))}
		if m.Extra, m.Text, err = s.split(stored); err != nil {
			return err
		}
		b.add(places[owner], &m)
	}
	return nil
}

// digest is of messages, one after the other: of that of those before and the next one.
type digest struct {
	sum  [32]byte
	hash hash.Hash
	head []byte
}

func (d *digest) add(m *Message) {
	seconds, nanoseconds := unixOf(m.Time)
	b := append(append(d.head[:0], d.sum[:]...), m.Kind)
	b = binary.LittleEndian.AppendUint32(b, m.Number)
	b = binary.LittleEndian.AppendUint64(b, uint64(seconds)) //nolint:gosec // the same bits
	b = binary.LittleEndian.AppendUint32(b, nanoseconds)
	b = binary.AppendUvarint(b, uint64(len(m.Extra)))
	b = append(b, m.Extra...)
	b = binary.AppendUvarint(b, uint64(len(m.Text)))
	d.head = b
	d.hash.Reset()
	_, _ = d.hash.Write(b)
	_, _ = d.hash.Write(m.Text)
	d.hash.Sum(d.sum[:0])
}
