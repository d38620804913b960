package provider

import (
	"context"
	"errors"
	"io"

	"github.com/convtools/convtools/runtime/model"
)

// Bound has a model read less of a response than it does otherwise.
func (m *Model) Bound(bytes int64, event, events int) {
	m.bounds.bytes, m.bounds.event, m.bounds.events = bytes, event, events
}

// ReadEvents returns the events of a stream, each as its data, and whether the stream was read to
// its end.
func ReadEvents(r io.Reader, most int) (events []string, whole bool) {
	reader := newEventReader(r, most)
	for {
		e, err := reader.next()
		if err != nil {
			return events, errors.Is(err, io.EOF)
		}
		events = append(events, string(e))
	}
}

// Decode returns what an interface makes of a stream.
func Decode(api API, stream io.Reader) (model.Response, error) {
	return DecodeKeeping(api, stream, defaultBounds().kept)
}

// DecodeKeeping is Decode, with a bound on the bytes that are kept.
func DecodeKeeping(api API, stream io.Reader, kept int) (model.Response, error) {
	m := New(Options{API: api, Model: "m"})
	m.bounds.kept = kept
	names, err := model.NamesOf(nil)
	if err != nil {
		return model.Response{}, err
	}
	t := try{model: m, request: request{from: m.from()}, names: names, delta: func(string) {}}
	r, err := t.read(context.Background(), stream)
	return model.Response{Items: r.items, Usage: r.usage, Truncated: r.truncated}, err
}
