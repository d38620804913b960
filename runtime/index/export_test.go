package index

import (
	"encoding/binary"
	"errors"
)

// SetLimits makes the parts of an index so small that a test has several.
func (x *Index) SetLimits(segment, messages int) {
	x.limits = limits{segment: segment, messages: messages, shard: segment / 2, aside: 5}
}

// ErrFull is the error of a disk that is full.
var ErrFull = errors.New("the disk is full")

// Fill makes the disk full once some bytes are written.
func (x *Index) Fill(room int) {
	x.create = func(path string) (output, error) {
		f, err := create(path)
		return &filling{f, &room}, err
	}
}

type filling struct {
	output
	room *int
}

func (f *filling) Write(p []byte) (int, error) {
	n, err := f.output.Write(p[:min(len(p), *f.room)])
	if *f.room -= n; err == nil && n < len(p) {
		err = ErrFull
	}
	return n, err
}

// RoundTrip encodes a text with symbols for samples, stores and reads these, and decodes it.
func RoundTrip(samples [][]byte, text []byte) (decoded []byte, codes int, ok bool) {
	var e encoder
	e.train(samples)
	s, ok := parseSymbols(e.symbols.append(nil))
	if !ok {
		return nil, 0, false
	}
	encoded := e.append(nil, text)
	return s.decode([]byte("before"), encoded)[len("before"):], len(encoded), true
}

// Differences writes a list of messages, and reads it again.
func Differences(list []uint32, messages uint32) (read []uint32, ok bool) {
	var w bitWriter
	last := uint32(0)
	for _, n := range list {
		w.difference(n-last, lowBits(uint32(len(list)), messages))
		last = n + 1
	}
	w.flush()
	m := make(set, messages/64+1)
	ok = addDifferences(m, append(w.data, make([]byte, behindLists)...), uint32(len(list)), messages)
	for n := m.next(0, messages); n < messages; n = m.next(n+1, messages) {
		read = append(read, n)
	}
	return read, ok
}

// FooterSizes returns how large a footer is taken to be, and how large it is.
func FooterSizes() (taken, is int) { return footerSize, binary.Size(footer{}) }
