package store

import (
	"context"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// Memory bounds the bytes that all readers of events which share it hold at one
// time. One that needs more than the bound waits until it is alone.
type Memory struct {
	limit int64
	free  *semaphore.Weighted
}

// DefaultMemory is a bound for one process, in bytes.
const DefaultMemory = 48 << 20

// NewMemory returns a bound.
func NewMemory(bytes int64) *Memory {
	return &Memory{limit: bytes, free: semaphore.NewWeighted(bytes)}
}

// Buffer is the memory of one reader at a time, for use from one conversation to
// the next. A reader must not wait for another one that shares its memory.
type Buffer struct {
	Bytes  []byte // of the reader; whatever was read last is no longer needed
	Text   []byte // of its user, for decoded text; about as large as Bytes
	memory *Memory
	held   int64
}

// NewBuffer returns an empty buffer whose sizes memory bounds.
func NewBuffer(memory *Memory) *Buffer { return &Buffer{memory: memory} }

// Resize replaces Bytes by a buffer of a size, which is empty, once there is
// memory for it and for as much decoded text.
func (b *Buffer) Resize(ctx context.Context, size int) error {
	if size == cap(b.Bytes) {
		b.Bytes = b.Bytes[:0]
		return nil
	}
	// Nothing is held while waiting, so that two cannot wait for each other.
	b.Release()
	cost := min(2*int64(size), b.memory.limit)
	if err := b.memory.free.Acquire(ctx, cost); err != nil {
		return err
	}
	b.held = cost
	b.Bytes = make([]byte, 0, size)
	return nil
}

// Reserve is [Buffer.Resize] for at least size bytes: it keeps a buffer that has them,
// unless most of that would not be needed.
func (b *Buffer) Reserve(ctx context.Context, size int) error {
	const waste = 1 << 20
	if room := cap(b.Bytes); size <= room && room <= max(size, waste) {
		b.Bytes = b.Bytes[:0]
		return nil
	}
	return b.Resize(ctx, size)
}

// Release gives the memory back. Much of it is collected at once: left to itself, the
// collector would let as much again be held before.
func (b *Buffer) Release() {
	const much = 32 << 20
	collect := cap(b.Bytes)+cap(b.Text) > much
	b.Bytes, b.Text = nil, nil
	if collect {
		runtime.GC()
	}
	if b.held > 0 {
		b.memory.free.Release(b.held)
		b.held = 0
	}
}
