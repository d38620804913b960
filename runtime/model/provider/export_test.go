package provider

import (
	"context"
	"io"
	"time"

	"github.com/convtools/convtools/runtime/model"
)

// Bound has a model read less of a response than it does otherwise.
func (m *Model) Bound(bytes int64) { m.most = bytes }

// Wait has a model wait between attempts as a test wants.
func (m *Model) Wait(wait func(context.Context, time.Duration) error) { m.wait = wait }

// ReadEvents returns the events of a stream, each as its data.
func ReadEvents(r io.Reader) (all []string) {
	for data := range events(r) {
		all = append(all, string(data))
	}
	return all
}

// Decode returns what an interface makes of a stream.
func Decode(api API, source io.Reader) (model.Response, error) {
	m := New(Options{API: api, Model: "m"})
	names, err := model.NamesOf(nil)
	if err != nil {
		return model.Response{}, err
	}
	s := &stream{names: names, from: string(api) + " m", delta: func(string) {}}
	err = m.read(context.Background(), s, source)
	return model.Response{Items: s.items, Usage: s.usage}, err
}
